//! A writer for C++ that owns indentation and braces.

use std::fmt::{Display, Write as _};

/// Text being written, line by line.
#[derive(Debug, Default)]
pub(crate) struct CppWriter {
    text: String,
    depth: usize,
}

impl CppWriter {
    /// One line at the current indentation; preprocessor lines start at the margin.
    pub(crate) fn line(&mut self, line: impl Display) {
        let start = self.text.len();
        for _ in 0..self.depth {
            self.text.push_str("    ");
        }
        let indented = self.text.len();
        // Writing to a string cannot fail.
        let _ = write!(self.text, "{line}");
        if self.text[indented..].starts_with('#') {
            self.text.replace_range(start..indented, "");
        }
        self.text.push('\n');
    }

    /// Several lines that are already laid out.
    pub(crate) fn lines(&mut self, lines: &str) {
        for line in lines.lines() {
            if line.is_empty() {
                self.text.push('\n');
            } else {
                self.line(line);
            }
        }
    }

    /// An empty line.
    pub(crate) fn blank(&mut self) {
        self.text.push('\n');
    }

    /// `head {`, the body one level deeper, `}`.
    pub(crate) fn block(&mut self, head: impl Display, body: impl FnOnce(&mut Self)) {
        self.line(format_args!("{head} {{"));
        self.depth += 1;
        body(self);
        self.depth -= 1;
        self.line("}");
    }

    /// The body one level deeper, without braces.
    pub(crate) fn indented(&mut self, body: impl FnOnce(&mut Self)) {
        self.depth += 1;
        body(self);
        self.depth -= 1;
    }

    /// Opens a block that [`CppWriter::close`] ends.
    pub(crate) fn open(&mut self, head: impl Display) {
        self.line(format_args!("{head} {{"));
        self.depth += 1;
    }

    /// Ends a block; one that holds a single line and no comment becomes one line.
    pub(crate) fn close_short(&mut self) {
        self.close();
        let mut ends = self.text.rmatch_indices('\n').map(|(at, _)| at);
        // From the back: the end of `}`, of the body's last line, of the line before it, of the one before that.
        let (_, Some(body_end), Some(head_end)) = (ends.next(), ends.next(), ends.next()) else { return };
        let head_start = ends.next().map_or(0, |at| at + 1);
        let (head, body) = (&self.text[head_start..head_end], self.text[head_end + 1..body_end].trim_start());
        if head.trim_start().starts_with("if (") && head.ends_with('{') && body.ends_with(';') {
            let joined = format!("{head} {body} }}\n");
            self.text.truncate(head_start);
            self.text.push_str(&joined);
        }
    }

    /// Ends a block.
    pub(crate) fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.line("}");
    }

    /// Ends the first half of a condition and opens the second.
    pub(crate) fn else_block(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.line("} else {");
        self.depth += 1;
    }

    /// The text.
    pub(crate) fn finish(self) -> String {
        self.text
    }
}

/// Foreign text for a comment: one line, no character that could end the comment or the line.
pub(super) fn comment_text(text: &str) -> String {
    const LONGEST: usize = 120;
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-.:/ ".contains(letter);
    let mut out: String = text.chars().take(LONGEST).map(|letter| if plain(letter) { letter } else { '_' }).collect();
    if text.chars().nth(LONGEST).is_some() {
        out.push_str("...");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_indented_between_braces() {
        let mut out = CppWriter::default();
        out.block("void f()", |out| out.line("g();"));
        assert_eq!(out.finish(), "void f() {\n    g();\n}\n");
    }

    #[test]
    fn foreign_text_cannot_leave_its_comment() {
        for text in ["a\nb", "a\\", "a??/", "*/ x", "a\r\u{2028}b", "\u{7}"] {
            let shown = comment_text(text);
            assert!(!shown.contains(['\n', '\r', '\\', '?', '*', '\u{2028}', '\u{7}']), "{shown:?}");
        }
        assert_eq!(comment_text(&"x".repeat(500)).len(), 123);
    }

    #[test]
    fn preprocessor_lines_stay_at_the_margin() {
        let mut out = CppWriter::default();
        out.block("if (x)", |out| {
            out.line("#if A");
            out.line("f();");
        });
        assert_eq!(out.finish(), "if (x) {\n#if A\n    f();\n}\n");
    }
}
