//! Launches: `kernel<T><<<blocks, memory, stream>>>(arguments)` as a call that a C++ compiler understands.
//!
//! Everything else stays as it is, every line on its line.

use super::kernels::Kernels;
use crate::opbuild::OpBuildError;
use crate::opbuild::lexer::{blanked, closing, is_word};
use crate::opbuild::scan::Place;

/// The text with its launches replaced; `None` if it has none.
pub(crate) fn rewrite(text: &str, file: &str, kernels: &Kernels) -> Result<Option<String>, OpBuildError> {
    let blank = blanked(text);
    let mut result = String::with_capacity(text.len());
    let mut done = 0;
    let mut from = 0;
    while let Some(at) = blank[from..].find("<<<").map(|at| from + at) {
        let line = text[..at].matches('\n').count() + 1;
        let broken =
            |reason: &'static str| OpBuildError::Launch { place: Place { file: file.to_owned(), line }, reason };
        let callee = callee_start(&blank, at).ok_or_else(|| broken("no kernel is named in front of `<<<`"))?;
        let close = configuration_end(&blank, at + 3).ok_or_else(|| broken("`>>>` is missing"))?;
        let open = close + 3 + leading_blanks(&blank[close + 3..]);
        let end = closing(&blank, open)
            .filter(|_| blank.as_bytes()[open] == b'(')
            .ok_or_else(|| broken("no arguments follow `>>>`"))?;
        if kernels.is_plain_function(base_name(&blank[callee..at])) {
            return Err(broken("the function in front of `<<<` is no kernel: its definition has no `__global__`"));
        }
        let kernel = text[callee..at].trim_end();
        let arguments = &text[open + 1..end];
        let comma = if blank[open + 1..end].trim().is_empty() { "" } else { ", " };
        result.push_str(&text[done..callee]);
        result.push_str(&format!(
            "::sk_program::Run({{\"{}\", \"{}\", __FILE__, __LINE__}}, ::sk_program::Blocks({}), \
             [=](auto... sk_program_values) {{ {kernel}(sk_program_values...); }}{comma}{arguments})",
            base_name(&blank[callee..at]),
            kernels.kernel_type(base_name(&blank[callee..at])),
            &text[at + 3..close],
        ));
        done = end + 1;
        from = done;
    }
    if done == 0 {
        return Ok(None);
    }
    result.push_str(&text[done..]);
    Ok(Some(result))
}

fn leading_blanks(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

/// Where the name in front of `at` begins: identifiers with `::` and template arguments.
fn callee_start(blank: &str, at: usize) -> Option<usize> {
    let bytes = blank.as_bytes();
    let mut start = at;
    loop {
        let mut end = blank[..start].trim_end().len();
        if end > 0 && bytes[end - 1] == b'>' {
            end = blank[..template_start(bytes, end - 1)?].trim_end().len();
        }
        let word = bytes[..end].iter().rev().take_while(|letter| is_word(**letter)).count();
        if word == 0 {
            return None;
        }
        start = end - word;
        let before = blank[..start].trim_end();
        match before.strip_suffix("::") {
            Some(outer) => start = outer.len(),
            None => return Some(start),
        }
        let outer = blank[..start].trim_end();
        if !outer.ends_with(|letter: char| letter == '>' || is_word(letter as u8)) {
            // `::name`, from the global namespace.
            return Some(start);
        }
    }
}

/// Where the template arguments that end at `end` begin.
fn template_start(bytes: &[u8], end: usize) -> Option<usize> {
    let mut angles = 0usize;
    let mut brackets = 0usize;
    for at in (0..=end).rev() {
        match bytes[at] {
            b')' | b']' | b'}' => brackets += 1,
            b'(' | b'[' | b'{' => brackets = brackets.checked_sub(1)?,
            b'>' if brackets == 0 => angles += 1,
            b'<' if brackets == 0 => {
                angles -= 1;
                if angles == 0 {
                    return Some(at);
                }
            }
            b';' => return None,
            _ => {}
        }
    }
    None
}

/// Where `>>>` is, outside of brackets.
fn configuration_end(blank: &str, from: usize) -> Option<usize> {
    let bytes = blank.as_bytes();
    let mut at = from;
    while at < bytes.len() {
        match bytes[at] {
            b'(' | b'[' | b'{' => at = closing(blank, at)?,
            b'>' if bytes[at..].starts_with(b">>>") => return Some(at),
            b';' => return None,
            _ => {}
        }
        at += 1;
    }
    None
}

/// The last identifier of a name, without template arguments.
fn base_name(name: &str) -> &str {
    let plain = name.split('<').next().unwrap_or(name).trim();
    plain.rsplit("::").next().unwrap_or(plain).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launched(text: &str) -> String {
        rewrite(text, "f.asc", &Kernels::default()).unwrap().unwrap()
    }

    #[test]
    fn names_arguments_and_lines_survive() {
        let text = "int main() {\n    ns::add<float, Pair<1, (2 > 1)>><<<f(a, b), nullptr,\n        s>>>(x, g({1, 2}),\n y);\n}\n";
        let result = launched(text);
        assert_eq!(result.lines().count(), text.lines().count());
        assert!(result.contains("::sk_program::Run({\"add\", "), "{result}");
        assert!(result.contains("::sk_program::Blocks(f(a, b), nullptr,\n        s)"), "{result}");
        assert!(
            result.contains("{ ns::add<float, Pair<1, (2 > 1)>>(sk_program_values...); }, x, g({1, 2}),\n y);"),
            "{result}"
        );
    }

    #[test]
    fn a_launch_without_arguments_and_two_in_a_row() {
        let result = launched("void f() { hello<<<8, nullptr, s>>>(); ::add <<<1, 0, s>>> (a); }");
        assert!(result.contains("{ hello(sk_program_values...); });"), "{result}");
        assert!(result.contains("{ ::add(sk_program_values...); }, a);"), "{result}");
    }

    #[test]
    fn text_without_launches_is_left_alone() {
        assert_eq!(rewrite("// a<<<1>>>(b)\nint x = 1 << 2;", "f", &Kernels::default()).unwrap(), None);
    }

    #[test]
    fn a_broken_launch_is_told_with_its_line() {
        for text in ["\nvoid f() { k<<<1; }", "\n= <<<1>>>(a);", "\nk<<<1>>>;"] {
            let error = rewrite(text, "f.asc", &Kernels::default()).unwrap_err();
            assert!(error.to_string().starts_with("f.asc:2: "), "{error}");
        }
    }
}
