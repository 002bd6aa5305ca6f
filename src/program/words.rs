//! Words of the text form: how names are written, and how a line is cut into words again.

use std::borrow::Cow;
use std::collections::VecDeque;

use crate::model::{EventId, SlotNumber};

pub(super) type Read<T> = Result<T, String>;

/// A name as one word: as it is if that is one, otherwise in quotes, as JSON writes it.
pub(super) fn word(name: &str) -> Cow<'_, str> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-.:/@$".contains(letter);
    if !name.is_empty() && name != "-" && name.chars().all(plain) {
        Cow::Borrowed(name)
    } else {
        Cow::Owned(serde_json::Value::from(name).to_string())
    }
}

/// A word of a line, or a field `NAME=VALUE`.
pub(super) enum Token {
    Word(String),
    Field(String, String),
}

impl Token {
    pub(super) fn into_text(self) -> String {
        match self {
            Self::Word(word) => word,
            Self::Field(name, value) => format!("{name}={value}"),
        }
    }
}

/// A line, cut into words.
pub(super) struct Line {
    pub(super) tokens: VecDeque<Token>,
    comment: Option<String>,
}

impl Line {
    pub(super) fn of(text: &str) -> Result<Self, String> {
        let mut line = Self { tokens: VecDeque::new(), comment: None };
        let mut rest = text.trim();
        while !rest.is_empty() {
            if let Some(comment) = rest.strip_prefix('#') {
                line.comment = Some(comment.trim().to_owned());
                break;
            }
            let (token, behind) = token(rest)?;
            line.tokens.push_back(token);
            rest = behind.trim_start();
        }
        Ok(line)
    }

    /// The next word; `what` says what it should be.
    pub(super) fn word(&mut self, what: &str) -> Result<String, String> {
        match self.tokens.pop_front() {
            Some(Token::Word(word)) => Ok(word),
            Some(Token::Field(name, _)) => Err(format!("`{name}=` is where {what} belongs")),
            None => Err(format!("{what} is missing")),
        }
    }

    /// The value of the field of this name, wherever it stands.
    pub(super) fn field(&mut self, wanted: &str) -> Option<String> {
        let place = self.tokens.iter().position(|token| matches!(token, Token::Field(name, _) if name == wanted))?;
        match self.tokens.remove(place)? {
            Token::Field(_, value) => Some(value),
            Token::Word(_) => None,
        }
    }

    /// What stands behind `#`.
    pub(super) fn comment(&mut self) -> Option<String> {
        self.comment.take()
    }

    /// Nothing may be left.
    pub(super) fn end(mut self) -> Result<(), String> {
        match (self.tokens.pop_front(), self.comment) {
            (None, None) => Ok(()),
            (Some(token), _) => Err(format!("`{}` does not belong here", token.into_text())),
            (None, Some(comment)) => Err(format!("`# {comment}` does not belong here")),
        }
    }
}

/// The first word or field, and what is behind it.
fn token(text: &str) -> Result<(Token, &str), String> {
    if text.starts_with('"') {
        let (name, behind) = quoted(text)?;
        return Ok((Token::Word(name), behind));
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    // `aic[block<4]=f` is a field, `aic[block>=4]` a word.
    let sign = text[..end].match_indices('=').map(|(at, _)| at).find(|&at| !text[..at].ends_with('>'));
    match sign {
        Some(sign) if text[sign + 1..].starts_with('"') => {
            let (value, behind) = quoted(&text[sign + 1..])?;
            Ok((Token::Field(text[..sign].to_owned(), value), behind))
        }
        Some(sign) => Ok((Token::Field(text[..sign].to_owned(), text[sign + 1..end].to_owned()), &text[end..])),
        None => Ok((Token::Word(text[..end].to_owned()), &text[end..])),
    }
}

/// The JSON string at the start of `text`, and what is behind it.
fn quoted(text: &str) -> Result<(String, &str), String> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<String>();
    match values.next() {
        Some(Ok(name)) => {
            let end = values.byte_offset();
            Ok((name, &text[end..]))
        }
        Some(Err(_)) | None => Err(format!("`{text}` is no name in quotes")),
    }
}

/// What lines have in common.
impl Line {
    pub(super) fn required(&mut self, name: &str) -> Read<String> {
        self.field(name).ok_or_else(|| format!("`{name}=` is missing"))
    }

    pub(super) fn required_number<N: std::str::FromStr>(&mut self, name: &str) -> Read<N> {
        number(&self.required(name)?, name)
    }

    pub(super) fn number_field<N: std::str::FromStr>(&mut self, name: &str) -> Read<Option<N>> {
        self.field(name).map(|text| number(&text, name)).transpose()
    }

    pub(super) fn slot(&mut self, name: &str) -> Read<SlotNumber> {
        Ok(SlotNumber(self.required_number(name)?))
    }

    pub(super) fn event(&mut self) -> Read<EventId> {
        Ok(EventId(self.required_number("event")?))
    }

    pub(super) fn number<N: std::str::FromStr>(&mut self, what: &str) -> Read<N> {
        number(&self.word(what)?, what)
    }

    pub(super) fn expect(&mut self, wanted: &str) -> Read<()> {
        let found = self.word(&format!("`{wanted}`"))?;
        if found == wanted { Ok(()) } else { Err(format!("`{found}` is where `{wanted}` belongs")) }
    }

    /// All words that are left, as they stand.
    pub(super) fn rest(&mut self) -> String {
        let words: Vec<String> = self.tokens.drain(..).map(Token::into_text).collect();
        words.join(" ")
    }
}

/// The one of `all` that prints as `text`.
pub(super) fn among<T: Copy + ToString>(all: impl IntoIterator<Item = T>, text: &str, what: &str) -> Read<T> {
    all.into_iter().find(|known| known.to_string() == text).ok_or_else(|| format!("`{text}` is no {what}"))
}

pub(super) fn number<N: std::str::FromStr>(text: &str, what: &str) -> Read<N> {
    text.parse().map_err(|_| format!("`{text}` is no number for {what}"))
}
