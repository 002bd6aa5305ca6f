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

/// Prints a whole name on one line: line ends, tabs and other control characters as they are written in source code.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OneLine<'a>(pub &'a str);

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in self.0.chars() {
            match letter.is_control() {
                true => write!(formatter, "{}", letter.escape_default())?,
                false => fmt::Write::write_char(formatter, letter)?,
            }
        }
        Ok(())
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

    #[test]
    fn a_name_stays_on_its_line() {
        assert_eq!(OneLine("a\n\"b\"\t层\u{7f}").to_string(), "a\\n\"b\"\\t层\\u{7f}");
    }
}
