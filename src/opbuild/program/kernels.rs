//! Which cores a kernel of a program runs on: what its definition says, or what its source uses.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::KernelType;
use crate::opbuild::kernel_type::{FLAGS, MATMUL, Uses};
use crate::opbuild::lexer::{blanked, closing, is_word, words};

/// Kernel types by name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Kernels {
    known: BTreeMap<String, KernelType>,
    /// Functions that are defined, and never as kernels.
    functions: BTreeSet<String>,
    /// For kernels whose definition says nothing.
    usual: Option<KernelType>,
}

impl Kernels {
    /// Of the sources of a program: its own files, not those of any toolkit.
    pub(crate) fn of(sources: &[&str]) -> Self {
        let blanks: Vec<String> = sources.iter().map(|source| blanked(source)).collect();
        let uses =
            |list: &[&str]| blanks.iter().any(|blank| list.iter().any(|word| words(blank, word).next().is_some()));
        // Preprocessor lines are blanks there.
        let defines = |word: &str| sources.iter().any(|source| source.contains(&format!("#define {word}")));
        let usual = Uses::of(uses, uses(&MATMUL) && !defines("ASCENDC_CUBE_ONLY")).kernel_type();
        let mut known = BTreeMap::new();
        for blank in &blanks {
            for at in words(blank, "__global__") {
                if let Some((name, kernel_type)) = definition(blank, at, uses(&FLAGS)) {
                    known.entry(name).or_insert(kernel_type);
                }
            }
        }
        Self { known, functions: plain_functions(sources, &blanks), usual: Some(usual) }
    }

    /// Is this the name of functions only that are no kernels?
    pub(crate) fn is_plain_function(&self, name: &str) -> bool {
        self.functions.contains(name)
    }

    /// The type of a kernel, as the simulator spells it.
    pub(crate) fn kernel_type(&self, name: &str) -> &'static str {
        self.known.get(name).or(self.usual.as_ref()).map_or("", |kernel_type| kernel_type.as_str())
    }
}

/// Name and type of the function whose definition has `__global__` at `at`, if it says its type.
fn definition(blank: &str, at: usize, uses_flags: bool) -> Option<(String, KernelType)> {
    let bytes = blank.as_bytes();
    let body = at + blank[at..].find(['{', ';'])?;
    // Marks may stand in front of it, behind the end of what was before.
    let start = blank[..at].rfind([';', '}', '{']).map_or(0, |end| end + 1);
    let head = &blank[start..body];
    let parameters = head.rfind(')').and_then(|close| opening(head, close))?;
    let end = head[..parameters].trim_end().len();
    let name: String = head[..end].chars().rev().take_while(|letter| is_word(*letter as u8)).collect();
    let name: String = name.chars().rev().collect();
    let has = |word: &str| words(head, word).next().is_some();
    // Flags between cores work in mixed types only.
    let marked = if has("__cube__") {
        Some(if uses_flags { KernelType::MixAic1_0 } else { KernelType::AicOnly })
    } else if has("__vector__") {
        Some(if uses_flags { KernelType::MixAiv1_0 } else { KernelType::AivOnly })
    } else {
        words(head, "__mix__").next().and_then(|at| mix(&head[at..]))
    };
    let named =
        || (bytes[body] == b'{').then(|| closing(blank, body)).flatten().and_then(|end| task_type(&blank[body..end]));
    Some((name, named().or(marked)?))
}

/// Names of the functions that have a body, and nowhere the mark of a kernel.
fn plain_functions(sources: &[&str], blanks: &[String]) -> BTreeSet<String> {
    // The mark itself, and macros with it in them.
    let mut marks = vec!["__global__"];
    for line in sources.iter().flat_map(|source| source.lines()) {
        let definition = line.trim_start().strip_prefix('#').and_then(|line| line.trim_start().strip_prefix("define"));
        let Some(definition) = definition.map(str::trim_start).filter(|text| text.contains("__global__")) else {
            continue;
        };
        let name = definition.bytes().take_while(|byte| is_word(*byte)).count();
        marks.push(&definition[..name]);
    }
    let (mut kernels, mut functions) = (BTreeSet::new(), BTreeSet::new());
    for blank in blanks {
        for body in blank.match_indices(['{', ';']).map(|(at, _)| at) {
            let start = blank[..body].rfind([';', '}', '{']).map_or(0, |end| end + 1);
            let head = blank[start..body].trim_end();
            let marked = marks.iter().any(|mark| words(head, mark).next().is_some());
            // A declaration can say it too; without the mark it says nothing.
            if !marked && blank.as_bytes()[body] == b';' {
                continue;
            }
            if let Some(name) = function_name(head) {
                if marked {
                    kernels.insert(name)
                } else {
                    functions.insert(name)
                };
            }
        }
    }
    functions.retain(|name| !kernels.contains(name));
    functions
}

/// `void k(int x)`: a name with a type in front of it and parameters behind.
fn function_name(head: &str) -> Option<String> {
    let head = head.strip_suffix("noexcept").map_or(head, str::trim_end);
    let parameters = head.ends_with(')').then(|| opening(head, head.len() - 1)).flatten()?;
    let before = head[..parameters].trim_end();
    let length = before.bytes().rev().take_while(|byte| is_word(*byte)).count();
    let (before, name) = before.split_at(before.len() - length);
    let last = before.trim_end().bytes().last()?;
    (!name.is_empty() && (is_word(last) || matches!(last, b'>' | b'*' | b'&' | b')'))).then(|| name.to_owned())
}

/// Where the bracket that `close` closes is opened.
fn opening(text: &str, close: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (at, letter) in text[..=close].char_indices().rev() {
        match letter {
            ')' => depth += 1,
            '(' if depth == 1 => return Some(at),
            '(' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// `__mix__(1, 2)`.
fn mix(text: &str) -> Option<KernelType> {
    let inside = &text[text.find('(')? + 1..text.find(')')?];
    let numbers: Vec<&str> = inside.split(',').map(str::trim).collect();
    match numbers.as_slice() {
        ["1", "2"] => Some(KernelType::MixAic1_2),
        ["1", "1"] => Some(KernelType::MixAic1_1),
        ["1", "0"] => Some(KernelType::MixAic1_0),
        ["0", "1"] => Some(KernelType::MixAiv1_0),
        _ => None,
    }
}

/// `KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_...)` in a body.
fn task_type(body: &str) -> Option<KernelType> {
    let at = body.find("KERNEL_TASK_TYPE")?;
    let open = at + body[at..].find('(')?;
    let inside = &body[open + 1..closing(body, open)?];
    KernelType::from_name(inside.rsplit(',').next()?.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn type_of(source: &str, name: &str) -> &'static str {
        Kernels::of(&[source]).kernel_type(name)
    }

    #[test]
    fn marks_and_calls_in_the_body_say_it() {
        let text = "template <int M> __global__ __cube__ void a(GM_ADDR x) {}\n\
                    extern \"C\" __global__ __aicore__ void b(GM_ADDR x)\n{\n    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);\n}\n\
                    __global__ __mix__(1, 2) void c(GM_ADDR x) {}\n__vector__ __global__ void d(GM_ADDR x) { Mmad(x); }";
        let types = ["a", "b", "c", "d"].map(|name| type_of(text, name));
        assert_eq!(
            types,
            ["KERNEL_TYPE_AIC_ONLY", "KERNEL_TYPE_MIX_AIC_1_1", "KERNEL_TYPE_MIX_AIC_1_2", "KERNEL_TYPE_AIV_ONLY"]
        );
    }

    #[test]
    fn functions_that_are_no_kernels_are_known() {
        let text = "#define ENTRY extern \"C\" __global__ __aicore__\n\
                    __global__ __aicore__ void kernel(GM_ADDR x);\nvoid kernel(GM_ADDR x) {}\n\
                    ENTRY void hidden(GM_ADDR x) { if (x) { helper(x); } }\n\
                    template <class T> __aicore__ inline void helper(GM_ADDR x) { while (x) {} }\n\
                    template <class T>\n__global__ __aicore__ void both(T x) {}\nvoid Class::both(int x) {}\n\
                    std::vector<int> *other(int x) noexcept { return nullptr; }\nvoid declared(int x);\n\
                    auto lambda = [](int x) { return x; };\nint main() { kernel<<<1, 0, 0>>>(x); }";
        let kernels = Kernels::of(&[text]);
        let plain = |name: &&str| kernels.is_plain_function(name);
        let names = ["kernel", "hidden", "helper", "both", "other", "declared", "lambda", "main", "if", "while"];
        assert_eq!(names.iter().copied().filter(plain).collect::<Vec<_>>(), ["helper", "other", "main"]);
    }

    #[test]
    fn otherwise_the_source_tells() {
        let kernel = |body: &str| format!("__global__ __aicore__ void k(GM_ADDR x) {{ {body} }}");
        for (body, expected) in [
            ("Add(a, b, c, n);", "KERNEL_TYPE_AIV_ONLY"),
            ("SyncAll();", "KERNEL_TYPE_MIX_AIV_1_0"),
            ("Mmad(c, a, b, p);", "KERNEL_TYPE_AIC_ONLY"),
            ("Mmad(c, a, b, p); if ASCEND_IS_AIV { Add(a, b, c, n); }", "KERNEL_TYPE_MIX_AIC_1_2"),
            ("REGIST_MATMUL_OBJ(&pipe, p, mm, &t);", "KERNEL_TYPE_MIX_AIC_1_2"),
            ("// Mmad\n", "KERNEL_TYPE_AIV_ONLY"),
        ] {
            assert_eq!(type_of(&kernel(body), "k"), expected, "{body}");
        }
        let cube_only = format!("#define ASCENDC_CUBE_ONLY\n{}", kernel("REGIST_MATMUL_OBJ(&pipe, p, mm, &t);"));
        assert_eq!(type_of(&cube_only, "k"), "KERNEL_TYPE_AIC_ONLY");
        let marked = "__global__ __vector__ void k(GM_ADDR x) { SyncAll(); }";
        assert_eq!(type_of(marked, "k"), "KERNEL_TYPE_MIX_AIV_1_0");
    }
}
