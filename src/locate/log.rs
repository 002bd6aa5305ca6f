//! Program counters in a device's log.

/// One core that stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stopped {
    /// Number of the line, from 1.
    pub line: usize,
    /// Where its code starts.
    pub start: u64,
    /// Where it stopped.
    pub pc: u64,
    /// `aic` or `aiv`, if the line says.
    pub kind: Option<&'static str>,
}

/// The cores that the text tells of, in order; equal lines once.
pub(crate) fn stopped(text: &str) -> Vec<Stopped> {
    let mut found: Vec<Stopped> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let lower = line.to_ascii_lowercase();
        let Some((_, rest)) = lower.split_once("pc start") else { continue };
        let Some(start) = number_in(rest) else { continue };
        let Some(pc) = rest.split_once("current").and_then(|(_, rest)| number_in(rest)) else { continue };
        let kind = match (lower.contains("aivec") || lower.contains("vector"), lower.contains("aicore")) {
            (true, _) => Some("aiv"),
            (false, true) => Some("aic"),
            (false, false) => None,
        };
        let known = found.iter().any(|known| (known.start, known.pc, known.kind) == (start, pc, kind));
        if !known {
            found.push(Stopped { line: number + 1, start, pc, kind });
        }
    }
    found
}

/// The first hexadecimal number.
fn number_in(text: &str) -> Option<u64> {
    let (_, digits) = text.split_once("0x")?;
    let end = digits.find(|letter: char| !letter.is_ascii_hexdigit()).unwrap_or(digits.len());
    u64::from_str_radix(&digits[..end], 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_found_wherever_they_stand() {
        let text = "nothing here\n\
            [ERROR] there is an aivec error exception, core id is 3, pc start: 0x124080024000, current: 0x1240800240f8, x\n\
            [ERROR] there is an aicore error exception, PC start: 0x12c0, current: 0x12D8.\n\
            [ERROR] there is an aicore error exception, PC start: 0x12c0, current: 0x12D8.\n\
            pc start: none\npc start: 0x10\npc start: 0x10000000000000000, current: 0x1\n\
            pc start: 0x10 current: 0x14";
        let found = stopped(text);
        let shown: Vec<_> = found.iter().map(|core| (core.line, core.start, core.pc, core.kind)).collect();
        assert_eq!(
            shown,
            [
                (2, 0x1240_8002_4000, 0x1240_8002_40f8, Some("aiv")),
                (3, 0x12c0, 0x12d8, Some("aic")),
                (8, 0x10, 0x14, None)
            ]
        );
    }
}
