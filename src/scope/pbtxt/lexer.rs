//! Tokens of the protobuf text format.
//!
//! ```text
//! token   = identifier | number | string | one of { } < > [ ] : , ; / -
//! number  = decimal, octal, hexadecimal, or a float with optional `f`
//! string  = "..." or '...' with C escapes, on one line
//! comment = "#" up to the end of the line
//! ```

use crate::scope::error::ScopeError;

/// One token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    /// A name, also `true`, `inf`, an enum value.
    Identifier(String),
    /// As written.
    Number(String),
    /// Unescaped bytes.
    Text(Vec<u8>),
    /// A single sign.
    Sign(u8),
}

/// A token and where it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Located {
    /// The token.
    pub token: Token,
    /// Byte offset in the text.
    pub offset: usize,
}

/// An error at a byte offset.
pub(crate) fn error_at(text: &[u8], offset: usize, problem: impl Into<String>) -> ScopeError {
    let before = &text[..offset.min(text.len())];
    let line = line_of(text, offset);
    let column = before.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
    ScopeError::Dump { line, column, problem: problem.into() }
}

/// The line a byte offset is on, counted from 1.
pub(crate) fn line_of(text: &[u8], offset: usize) -> usize {
    text[..offset.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1
}

/// Walks the text once.
pub(crate) struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Lexer<'a> {
    /// Starts at the beginning.
    pub(crate) fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    /// Where the next token would begin.
    pub(crate) fn offset(&self) -> usize {
        self.at
    }

    /// The next token; `None` at the end.
    pub(crate) fn next_token(&mut self) -> Result<Option<Located>, ScopeError> {
        self.skip_blanks();
        let offset = self.at;
        let Some(&byte) = self.text.get(offset) else {
            return Ok(None);
        };
        let token = match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                Token::Identifier(self.take_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
            }
            b'0'..=b'9' => Token::Number(self.number()),
            b'.' if self.text.get(offset + 1).is_some_and(u8::is_ascii_digit) => Token::Number(self.number()),
            b'"' | b'\'' => Token::Text(self.string(byte)?),
            b'{' | b'}' | b'<' | b'>' | b'[' | b']' | b':' | b',' | b';' | b'/' | b'-' | b'.' => {
                self.at += 1;
                Token::Sign(byte)
            }
            other => {
                let shown = char::from(other).escape_default().to_string();
                return Err(error_at(self.text, offset, format!("`{shown}` cannot begin anything")));
            }
        };
        Ok(Some(Located { token, offset }))
    }

    fn skip_blanks(&mut self) {
        while let Some(&byte) = self.text.get(self.at) {
            if byte == b'#' {
                while self.text.get(self.at).is_some_and(|byte| *byte != b'\n') {
                    self.at += 1;
                }
            } else if byte.is_ascii_whitespace() || byte == b'\x0b' {
                self.at += 1;
            } else {
                return;
            }
        }
    }

    fn take_while(&mut self, belongs: impl Fn(u8) -> bool) -> String {
        let start = self.at;
        while self.text.get(self.at).is_some_and(|byte| belongs(*byte)) {
            self.at += 1;
        }
        self.text[start..self.at].iter().map(|byte| char::from(*byte)).collect()
    }

    /// Digits, letters and dots; a sign belongs to it only behind an exponent.
    fn number(&mut self) -> String {
        let mut number = String::new();
        while let Some(&byte) = self.text.get(self.at) {
            let hexadecimal = number.starts_with("0x") || number.starts_with("0X");
            let exponent = !hexadecimal && number.ends_with(['e', 'E']);
            if byte.is_ascii_alphanumeric() || byte == b'.' || (exponent && (byte == b'+' || byte == b'-')) {
                number.push(char::from(byte));
                self.at += 1;
            } else {
                break;
            }
        }
        number
    }

    fn string(&mut self, quote: u8) -> Result<Vec<u8>, ScopeError> {
        let start = self.at;
        self.at += 1;
        let mut bytes = Vec::new();
        loop {
            match self.text.get(self.at) {
                None | Some(b'\n') => return Err(error_at(self.text, start, "this string has no end")),
                Some(&byte) if byte == quote => {
                    self.at += 1;
                    return Ok(bytes);
                }
                Some(b'\\') => self.escape(&mut bytes)?,
                Some(&byte) => {
                    bytes.push(byte);
                    self.at += 1;
                }
            }
        }
    }

    fn escape(&mut self, bytes: &mut Vec<u8>) -> Result<(), ScopeError> {
        let start = self.at;
        let wrong = |text: &[u8]| error_at(text, start, "this escape is not one of C's");
        self.at += 1;
        let Some(&letter) = self.text.get(self.at) else {
            return Err(wrong(self.text));
        };
        self.at += 1;
        match letter {
            b'a' => bytes.push(0x07),
            b'b' => bytes.push(0x08),
            b'f' => bytes.push(0x0c),
            b'n' => bytes.push(b'\n'),
            b'r' => bytes.push(b'\r'),
            b't' => bytes.push(b'\t'),
            b'v' => bytes.push(0x0b),
            b'\\' | b'\'' | b'"' | b'?' => bytes.push(letter),
            b'0'..=b'7' => {
                self.at -= 1;
                let value = self.digits(8, 3).ok_or_else(|| wrong(self.text))?;
                bytes.push(u8::try_from(value).map_err(|_| wrong(self.text))?);
            }
            b'x' | b'X' => {
                let value = self.digits(16, 2).ok_or_else(|| wrong(self.text))?;
                bytes.push(u8::try_from(value).map_err(|_| wrong(self.text))?);
            }
            b'u' | b'U' => {
                let length = if letter == b'u' { 4 } else { 8 };
                let from = self.at;
                let value = self.digits(16, length).filter(|_| self.at - from == length);
                let letter = value.and_then(char::from_u32).ok_or_else(|| wrong(self.text))?;
                bytes.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
            }
            _ => return Err(wrong(self.text)),
        }
        Ok(())
    }

    /// Up to `most` digits of a radix; `None` without any.
    fn digits(&mut self, radix: u32, most: usize) -> Option<u32> {
        let start = self.at;
        let mut value = 0_u32;
        while self.at - start < most
            && let Some(digit) = self.text.get(self.at).and_then(|byte| char::from(*byte).to_digit(radix))
        {
            value = value.wrapping_mul(radix).wrapping_add(digit);
            self.at += 1;
        }
        (self.at > start).then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<Token> {
        let mut lexer = Lexer::new(text.as_bytes());
        let mut tokens = Vec::new();
        while let Some(located) = lexer.next_token().unwrap() {
            tokens.push(located.token);
        }
        tokens
    }

    #[test]
    fn every_escape() {
        assert_eq!(
            tokens(r#""\a\b\f\n\r\t\v\\\'\"\?\0\12\377\x7\x7fA\u00e9\U0001F600""#),
            [Token::Text(b"\x07\x08\x0c\n\r\t\x0b\\'\"?\0\n\xff\x07\x7fA\xc3\xa9\xf0\x9f\x98\x80".to_vec())]
        );
    }

    #[test]
    fn numbers_keep_their_form() {
        let numbers = ["0", "017", "0x1F", "1.5", ".5", "1e-3", "2.5E+7f"];
        let expected: Vec<Token> = numbers.iter().map(|number| Token::Number((*number).to_owned())).collect();
        assert_eq!(tokens(&numbers.join(" ")), expected);
        assert_eq!(tokens("-1"), [Token::Sign(b'-'), Token::Number("1".to_owned())]);
    }

    #[test]
    fn errors_have_a_place() {
        for (text, line, column) in
            [("a\n  \"open", 2, 3), ("a: $", 1, 4), ("'\\q'", 1, 2), ("'\\x'", 1, 2), ("'\\400'", 1, 2)]
        {
            let mut lexer = Lexer::new(text.as_bytes());
            let error = loop {
                match lexer.next_token() {
                    Ok(token) => assert!(token.is_some(), "{text}"),
                    Err(error) => break error,
                }
            };
            assert!(
                matches!(error, ScopeError::Dump { line: l, column: c, .. } if (l, c) == (line, column)),
                "{text}: {error}"
            );
        }
    }
}
