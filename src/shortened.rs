//! Values of the input in messages: short and printable, whatever they are.

use std::fmt;

/// Prints at most 120 characters, control characters replaced.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shortened<'a>(pub &'a str);

impl fmt::Display for Shortened<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LONGEST: usize = 120;
        for letter in self.0.chars().take(LONGEST) {
            write!(formatter, "{}", if letter.is_control() { '\u{fffd}' } else { letter })?;
        }
        if self.0.chars().nth(LONGEST).is_some() { formatter.write_str("…") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_and_unprintable_values_can_be_shown() {
        assert_eq!(Shortened("a\nb").to_string(), "a\u{fffd}b");
        assert_eq!(Shortened(&"x".repeat(500)).to_string().chars().count(), 121);
    }
}
