//! The frames that `scope_enter` puts on a stack and `scope_exit` takes away.

use crate::scope::attributes::{self, AttributeValue, STREAM_LABEL};
use crate::scope::error::ScopeError;
use crate::scope::graph::Node;

/// Attributes that a frame gives to every node made under it.
type Frame = Vec<(String, String)>;

/// All frames in force, the outermost first.
#[derive(Debug, Default)]
pub(super) struct Frames(Vec<Frame>);

impl Frames {
    /// `['key', ...], ['value', ...])`; `None`: the arguments are not two lists of strings.
    pub(super) fn enter(&mut self, arguments: &str) -> Option<()> {
        let (keys, rest) = strings(arguments)?;
        let (values, _) = strings(rest.trim_start_matches(|byte: char| byte == ',' || byte.is_whitespace()))?;
        self.0.push(keys.into_iter().zip(values).collect());
        Some(())
    }

    /// One more than were entered does no harm.
    pub(super) fn exit(&mut self) {
        self.0.pop();
    }

    /// The label of the stream in force; empty: the default one.
    pub(super) fn stream(&self) -> &str {
        let label = |frame: &'_ Frame| frame.iter().position(|(key, _)| key == STREAM_LABEL);
        let innermost = self.0.iter().rev().find_map(|frame| Some(&frame[label(frame)?].1));
        innermost.map_or("", String::as_str)
    }

    /// A later frame overwrites an earlier one; one with an empty scope takes both marks away.
    pub(super) fn apply(&self, node: &mut Node) -> Result<(), ScopeError> {
        for frame in &self.0 {
            for (key, value) in frame {
                if key == "_super_kernel_scope" && value.is_empty() {
                    (node.scope, node.options) = Default::default();
                    break;
                }
                attributes::apply(node, key, || Ok(AttributeValue::Text(value.clone())))?;
            }
        }
        Ok(())
    }
}

/// A list of strings as Python prints it, and what follows.
fn strings(text: &str) -> Option<(Vec<String>, &str)> {
    let mut rest = text.strip_prefix('[')?;
    let mut found = Vec::new();
    loop {
        rest = rest.trim_start_matches([',', ' ']);
        if let Some(rest) = rest.strip_prefix(']') {
            return Some((found, rest));
        }
        let (text, behind) = string(rest)?;
        found.push(text);
        rest = behind;
    }
}

/// One string in either kind of quotes.
fn string(text: &str) -> Option<(String, &str)> {
    let quote = text.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
    let mut value = String::new();
    let mut letters = text.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            _ if letter == quote => return Some((value, &text[at + 1..])),
            '\\' => {
                let (_, kind) = letters.next()?;
                let digits = match kind {
                    'x' => 2,
                    'u' => 4,
                    'U' => 8,
                    _ => 0,
                };
                match kind {
                    'n' => value.push('\n'),
                    't' => value.push('\t'),
                    'r' => value.push('\r'),
                    'x' | 'u' | 'U' => {
                        let code: String = letters.by_ref().take(digits).map(|(_, digit)| digit).collect();
                        value.push(char::from_u32(u32::from_str_radix(&code, 16).ok()?)?);
                    }
                    other => value.push(other),
                }
            }
            _ => value.push(letter),
        }
    }
    None
}
