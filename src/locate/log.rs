//! Program counters in a device's log.
//!
//! Logs differ between versions and tools: `pc start: 0x1, current: 0x2`, `start_pc=0x1 current_pc=0x2`, both on lines of
//! their own, or a list of counters behind one start. So numbers are known by the words in front of them, wherever they
//! stand. A start counts until the next one.

use crate::model::CoreKind;

/// Cores that stopped at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    /// Number of the first line that tells of it, from 1.
    pub line: usize,
    /// What the log calls the start of the code, if it does.
    pub start: Option<u64>,
    /// Where they stopped.
    pub pc: u64,
    /// Their kind, if the log says.
    pub kind: Option<CoreKind>,
    /// Their numbers, as far as the log says.
    pub cores: Vec<u32>,
}

/// The places that the text tells of, in order; each once.
pub(crate) fn stopped(text: &str) -> Vec<Stopped> {
    let mut found: Vec<Stopped> = Vec::new();
    let mut last = Context::default();
    for (number, line) in text.lines().enumerate() {
        let numbers = numbers(line);
        let first_start = numbers.iter().find(|number| number.meaning == Meaning::Start);
        let has_counters = numbers.iter().any(|number| number.meaning == Meaning::Counter);
        if first_start.is_none() && !has_counters {
            continue;
        }
        let told = Context::of(line, first_start.map(|start| start.value));
        if first_start.is_some() || told.kind.is_some() || !told.cores.is_empty() {
            last = Context { start: told.start.or(last.start), ..told };
        }
        for one in numbers {
            match one.meaning {
                Meaning::Start => last.start = Some(one.value),
                Meaning::Counter => last.add(&mut found, number + 1, one.value),
                Meaning::Other => {}
            }
        }
    }
    found
}

/// What counters belong to.
#[derive(Debug, Clone, Default)]
struct Context {
    start: Option<u64>,
    kind: Option<CoreKind>,
    cores: Vec<u32>,
}

impl Context {
    /// What a line says in front of its addresses: behind them every kind of core has error registers.
    fn of(line: &str, start: Option<u64>) -> Self {
        let words = words(line);
        let addresses = words.iter().position(|word| matches!(word.as_str(), "pc" | "current"));
        let words = &words[..addresses.unwrap_or(words.len())];
        let has = |names: &[&str]| words.iter().any(|word| names.contains(&word.as_str()));
        let kind = match (has(&["aivec", "aiv", "vector"]), has(&["aicore", "aicube", "aic", "cube"])) {
            (true, _) => Some(CoreKind::Aiv),
            (false, true) => Some(CoreKind::Aic),
            (false, false) => None,
        };
        Self { start, kind, cores: core_number(words).into_iter().collect() }
    }

    fn add(&self, found: &mut Vec<Stopped>, line: usize, pc: u64) {
        let same = |known: &&mut Stopped| (known.start, known.pc, known.kind) == (self.start, pc, self.kind);
        match found.iter_mut().find(same) {
            Some(known) => known
                .cores
                .extend(self.cores.iter().filter(|core| !known.cores.contains(core)).copied().collect::<Vec<_>>()),
            None => found.push(Stopped { line, start: self.start, pc, kind: self.kind, cores: self.cores.clone() }),
        }
    }
}

/// `core id is 3`, `core_id=3`, `core 3`.
fn core_number(words: &[String]) -> Option<u32> {
    let behind = words.iter().position(|word| matches!(word.as_str(), "core" | "coreid"))?;
    let mut rest = words[behind + 1..].iter().skip_while(|word| matches!(word.as_str(), "id" | "is" | "no"));
    rest.next()?.parse().ok()
}

/// What a number is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// Where code starts.
    Start,
    /// A program counter.
    Counter,
    /// Something else.
    Other,
}

/// A number of a line.
#[derive(Debug, Clone, Copy)]
struct Number {
    value: u64,
    meaning: Meaning,
}

/// The hexadecimal numbers of a line.
fn numbers(line: &str) -> Vec<Number> {
    let mut found: Vec<Number> = Vec::new();
    let line = line.to_ascii_lowercase();
    let mut rest = line.as_str();
    while let Some(at) = rest.find("0x") {
        let (label, digits) = (&rest[..at], &rest[at + 2..]);
        let end = digits.find(|letter: char| !letter.is_ascii_hexdigit()).unwrap_or(digits.len());
        rest = &digits[end..];
        let meaning = meaning(&words(label), &found);
        let number = u64::from_str_radix(&digits[..end], 16).ok();
        // What is too long for an address is none, and what follows it is not known by its words.
        found.push(number.map_or(Number { value: 0, meaning: Meaning::Other }, |value| Number { value, meaning }));
    }
    found
}

/// What the words in front of a number make of it.
fn meaning(label: &[String], before: &[Number]) -> Meaning {
    let last = before.last().map(|number| number.meaning);
    let has_start = before.iter().any(|number| number.meaning == Meaning::Start);
    let filler = |word: &&str| !matches!(*word, "is" | "at" | "addr" | "address" | "value" | "list");
    let mut words = label.iter().rev().map(String::as_str).filter(filler);
    let (nearest, next) = (words.next(), words.next());
    match (nearest, next) {
        (Some("start" | "base"), Some("pc" | "code" | "text"))
        | (Some("pc" | "code"), Some("start" | "base"))
        | (Some("pcstart" | "startpc" | "pcbase" | "basepc"), _) => Meaning::Start,
        (Some("pc" | "pcs" | "currentpc" | "curpc" | "pccurrent"), _) | (Some("current" | "cur"), Some("pc")) => {
            Meaning::Counter
        }
        (Some("current" | "cur"), _) if has_start => Meaning::Counter,
        // One of a list.
        (None, _) if last == Some(Meaning::Counter) => Meaning::Counter,
        (_, _) => Meaning::Other,
    }
}

/// The words of a text in small letters: `current_pc=` has two.
fn words(text: &str) -> Vec<String> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_ascii_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const AIC: Option<CoreKind> = Some(CoreKind::Aic);
    const AIV: Option<CoreKind> = Some(CoreKind::Aiv);

    type Told = (usize, Option<u64>, u64, Option<CoreKind>, Vec<u32>);

    fn told(text: &str) -> Vec<Told> {
        stopped(text).into_iter().map(|core| (core.line, core.start, core.pc, core.kind, core.cores)).collect()
    }

    #[test]
    fn the_lines_of_a_runtime() {
        let text = "nothing here, error code = 0x800000\n\
            [ERROR] RUNTIME(77,python):2024-01-01-00:00:00.1.2 [device_error_proc.cc:1]7 there is an aivec error \
            exception, core id is 3, error code = 0x4, dump info: pc start: 0x124080024000, current: 0x1240800240f8, \
            vec error info: 0x10, mte error info: 0x30, aic error mask: 0x6500020bd00028c, para base: 0x12c100008000.\n\
            [ERROR] there is an exception of aicore error, core id is 12, dump info: pc start: 0x10001240c0038000, \
            current: 0x1240c0038468, cube error info: 0\n\
            [ERROR] there is an aivec error exception, core id is 5, dump info: pc start: 0x124080024000, current: \
            0x1240800240f8, x";
        assert_eq!(
            told(text),
            [
                (2, Some(0x1240_8002_4000), 0x1240_8002_40f8, AIV, vec![3, 5]),
                (3, Some(0x1000_1240_c003_8000), 0x1240_c003_8468, AIC, vec![12]),
            ]
        );
    }

    #[test]
    fn other_words_and_other_orders() {
        assert_eq!(told("core_id=2 current_pc=0x14 start_pc=0x10"), [(1, Some(0x10), 0x14, None, vec![2])]);
        assert_eq!(told("aiv: PC Start 0X10; PC Current 0X14"), [(1, Some(0x10), 0x14, AIV, vec![])]);
        assert_eq!(told("pc start address is 0x10, current pc is 0x14"), [(1, Some(0x10), 0x14, None, vec![])]);
        assert_eq!(told("fault at pc: 0x14"), [(1, None, 0x14, None, vec![])]);
        assert_eq!(told("pc start: 0X10, current: 0x14"), [(1, Some(0x10), 0x14, None, vec![])]);
    }

    #[test]
    fn a_start_counts_until_the_next_one() {
        let text = "aicore, core id: 1\nstart   pc   : 0x1000\ncurrent pc   : 0x1010\nerror code 0x5\n\
            pc list: 0x1020, 0x1024 0x1028, mask: 0x1\nstart pc: 0x2000\ncore 4 pc 0x2004\ncore 7 pc 0x2004";
        assert_eq!(
            told(text),
            [
                (3, Some(0x1000), 0x1010, None, vec![]),
                (5, Some(0x1000), 0x1020, None, vec![]),
                (5, Some(0x1000), 0x1024, None, vec![]),
                (5, Some(0x1000), 0x1028, None, vec![]),
                (7, Some(0x2000), 0x2004, None, vec![4, 7]),
            ]
        );
    }

    #[test]
    fn what_is_no_counter() {
        let text = "pc start: none\npc start: 0x10\npc: 0x10000000000000000\ncurrent stream: 0x1\ncurrent: 0x14\n\
            the pc\n0x\nupc 0x3\npc:";
        assert_eq!(told(text), []);
    }
}
