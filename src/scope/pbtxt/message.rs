//! The tree of fields of a protobuf text.
//!
//! ```text
//! message = { field [ "," | ";" ] }
//! field   = name [ ":" ] "{" message "}"  |  name [ ":" ] "<" message ">"
//!         | name ":" scalar  |  name ":" "[" [ value { "," value } ] "]"
//! name    = identifier | "[" anything "]"            an extension or a packed message of any type
//! scalar  = string { string } | [ "-" ] number | [ "-" ] identifier
//! ```

use super::lexer::{Lexer, Located, Token, error_at, line_of};
use crate::scope::error::ScopeError;

/// Deeper nesting is no graph dump, and would only serve to exhaust the stack.
const DEEPEST: usize = 100;

/// A value of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    /// Unescaped bytes.
    Text(Vec<u8>),
    /// A number or a name, as written.
    Scalar(String),
    /// A nested message.
    Message(Message),
}

/// One occurrence of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    /// Its name.
    pub name: String,
    /// Its value; one element of a list.
    pub value: Value,
    /// The line it begins on.
    pub line: usize,
}

/// Fields in the order of the text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Message {
    /// All occurrences.
    pub fields: Vec<Field>,
}

impl Message {
    /// All occurrences of a field.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Field> {
        self.fields.iter().filter(move |field| field.name == name)
    }

    /// The last occurrence of a field: the one that counts where a field is not repeated.
    pub(crate) fn last(&self, name: &str) -> Option<&Field> {
        self.fields.iter().rev().find(|field| field.name == name)
    }
}

/// Parses a whole text.
pub(crate) fn parse(text: &[u8]) -> Result<Message, ScopeError> {
    // Some writers begin the file with a byte order mark.
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut parser = Parser { text, lexer: Lexer::new(text), ahead: None, counted: (0, 1) };
    parser.ahead = parser.lexer.next_token()?;
    let message = parser.message(None, 0)?;
    match parser.ahead {
        None => Ok(message),
        Some(located) => Err(error_at(text, located.offset, "expected a field name")),
    }
}

struct Parser<'a> {
    text: &'a [u8],
    lexer: Lexer<'a>,
    ahead: Option<Located>,
    /// Line of the last field asked for, so that counting lines stays linear.
    counted: (usize, usize),
}

impl Parser<'_> {
    fn advance(&mut self) -> Result<Option<Located>, ScopeError> {
        let next = self.lexer.next_token()?;
        Ok(std::mem::replace(&mut self.ahead, next))
    }

    fn offset(&self) -> usize {
        self.ahead.as_ref().map_or(self.lexer.offset(), |located| located.offset)
    }

    fn fail<T>(&self, problem: &str) -> Result<T, ScopeError> {
        Err(error_at(self.text, self.offset(), problem))
    }

    fn at_sign(&self, sign: u8) -> bool {
        self.ahead.as_ref().is_some_and(|located| located.token == Token::Sign(sign))
    }

    fn skip_sign(&mut self, sign: u8) -> Result<bool, ScopeError> {
        let found = self.at_sign(sign);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    /// The line of the token ahead.
    fn line(&mut self) -> usize {
        let (offset, line) = self.counted;
        let here = self.offset();
        let line = line + line_of(&self.text[offset..], here - offset) - 1;
        self.counted = (here, line);
        line
    }

    /// Fields up to `end`, which stays ahead.
    fn message(&mut self, end: Option<u8>, depth: usize) -> Result<Message, ScopeError> {
        if depth > DEEPEST {
            return self.fail("messages are nested too deeply");
        }
        let mut message = Message::default();
        loop {
            match &self.ahead {
                None if end.is_none() => return Ok(message),
                None => return self.fail("the text ends inside a message"),
                Some(Located { token: Token::Sign(sign), .. }) if Some(*sign) == end => return Ok(message),
                Some(_) => self.field(&mut message, depth)?,
            }
            if !self.skip_sign(b',')? {
                self.skip_sign(b';')?;
            }
        }
    }

    fn field(&mut self, message: &mut Message, depth: usize) -> Result<(), ScopeError> {
        let line = self.line();
        let name = self.name()?;
        let colon = self.skip_sign(b':')?;
        if colon && self.skip_sign(b'[')? {
            loop {
                if self.skip_sign(b']')? {
                    return Ok(());
                }
                let value = self.value(depth)?;
                message.fields.push(Field { name: name.clone(), value, line });
                if !self.skip_sign(b',')? && !self.at_sign(b']') {
                    return self.fail("expected `,` or `]`");
                }
            }
        }
        if !colon && !self.at_sign(b'{') && !self.at_sign(b'<') {
            return self.fail("expected `:` or `{`");
        }
        let value = self.value(depth)?;
        message.fields.push(Field { name, value, line });
        Ok(())
    }

    fn name(&mut self) -> Result<String, ScopeError> {
        match &self.ahead {
            Some(Located { token: Token::Identifier(_), .. }) => {}
            Some(Located { token: Token::Sign(b'['), .. }) => {
                while !self.skip_sign(b']')? {
                    if self.advance()?.is_none() {
                        return self.fail("the text ends inside an extension name");
                    }
                }
                // No field we read is an extension; the name only has to differ from all of those.
                return Ok("[extension]".to_owned());
            }
            _ => return self.fail("expected a field name"),
        }
        match self.advance()? {
            Some(Located { token: Token::Identifier(name), .. }) => Ok(name),
            _ => self.fail("expected a field name"),
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value, ScopeError> {
        for (open, close) in [(b'{', b'}'), (b'<', b'>')] {
            if self.skip_sign(open)? {
                let message = self.message(Some(close), depth + 1)?;
                self.advance()?;
                return Ok(Value::Message(message));
            }
        }
        let negative = self.skip_sign(b'-')?;
        let sign = if negative { "-" } else { "" };
        match &self.ahead {
            Some(Located { token: Token::Number(text) | Token::Identifier(text), .. }) => {
                let scalar = format!("{sign}{text}");
                self.advance()?;
                Ok(Value::Scalar(scalar))
            }
            Some(Located { token: Token::Text(_), .. }) if !negative => {
                let mut bytes = Vec::new();
                while let Some(Located { token: Token::Text(part), .. }) = &mut self.ahead {
                    bytes.append(part);
                    self.advance()?;
                }
                Ok(Value::Text(bytes))
            }
            _ => self.fail("expected a value"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(message: &Message) -> String {
        let field = |field: &Field| match &field.value {
            Value::Text(bytes) => format!("{}={:?}", field.name, String::from_utf8_lossy(bytes)),
            Value::Scalar(text) => format!("{}={text}", field.name),
            Value::Message(inner) => format!("{}({})", field.name, shown(inner)),
        };
        message.fields.iter().map(field).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_whole_grammar() {
        let text = r#"
            # a comment
            name: "two " 'parts' ; op { id: 7, stream_id: -1 } op: < x: -inf y: nan >
            list: [1, 2, 3] empty: [] messages: [{a: 1}, <a: 2>]
            [type.googleapis.com/some.Type] { b: true } kind: VT_LIST_INT
        "#;
        assert_eq!(
            shown(&parse(text.as_bytes()).unwrap()),
            "name=\"two parts\" op(id=7 stream_id=-1) op(x=-inf y=nan) list=1 list=2 list=3 \
             messages(a=1) messages(a=2) [extension](b=true) kind=VT_LIST_INT"
        );
    }

    #[test]
    fn lines_are_kept() {
        let message = parse(b"a: 1\n\nb {\n c: 2\n}\nd: 3").unwrap();
        let lines: Vec<usize> = message.fields.iter().map(|field| field.line).collect();
        assert_eq!(lines, [1, 3, 6]);
    }

    #[test]
    fn broken_texts_are_refused() {
        for text in ["a", "a {", "a: }", "a }", "a: [1 2]", "a: [1", "a: -'x'", "[x", "a: 1 }", ": 1", "a: -", "{"] {
            assert!(matches!(parse(text.as_bytes()), Err(ScopeError::Dump { .. })), "{text}");
        }
        let deep = "a {".repeat(5000);
        assert!(parse(deep.as_bytes()).unwrap_err().to_string().contains("too deeply"));
    }

    proptest! {
        #[test]
        fn never_panics(text in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&text);
        }

        #[test]
        fn never_panics_on_near_dumps(parts in proptest::collection::vec(
            proptest::sample::select(vec!["op", "{", "}", ":", "\"a\\", "\"", "-1", "[", "]", "<", ">", ",", "id", "#\n", "'x'"]), 0..40)) {
            let _ = parse(parts.join(" ").as_bytes());
        }
    }
}
