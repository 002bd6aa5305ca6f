//! Values of the constant expressions that operators write into declarations: keys, counts, conditions on keys.

/// What a name stands for.
pub(crate) trait Names {
    /// Its value, if it has one.
    fn value(&self, name: &str) -> Option<i128>;
}

impl<F: Fn(&str) -> Option<i128>> Names for F {
    fn value(&self, name: &str) -> Option<i128> {
        self(name)
    }
}

/// The value of an expression over whole numbers; `None` where it holds anything else.
pub(crate) fn evaluate(text: &str, names: &impl Names) -> Option<i128> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: &tokens, at: 0, names };
    let value = parser.choice()?;
    (parser.at == tokens.len()).then_some(value)
}

/// A number as C++ writes it.
pub(crate) fn number(text: &str) -> Option<i128> {
    let plain: String = text.chars().filter(|letter| *letter != '\'').collect::<String>().to_ascii_lowercase();
    let digits = plain.trim_end_matches(['u', 'l']);
    let (digits, radix) = match digits.get(..2) {
        Some("0x") => (&digits[2..], 16),
        Some("0b") => (&digits[2..], 2),
        _ if digits.len() > 1 && digits.starts_with('0') => (&digits[1..], 8),
        _ => (digits, 10),
    };
    i128::from_str_radix(digits, radix).ok().filter(|_| !digits.starts_with(['+', '-']))
}

/// From those that bind least to those that bind most; a single `=` compares all that stands beside it.
const LEVELS: [&[&str]; 11] = [
    &["="],
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];
const SIGNS: [&str; 24] = [
    "||", "&&", "==", "!=", "<=", ">=", "<<", ">>", "::", "=", "|", "^", "&", "<", ">", "+", "-", "*", "/", "%", "!",
    "~", "?", ":",
];

fn tokens(text: &str) -> Option<Vec<&str>> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(letter) = rest.chars().next() {
        let length = if letter.is_ascii_alphanumeric() || letter == '_' {
            rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_' && letter != '\'')
                .unwrap_or(rest.len())
        } else if "(){}".contains(letter) {
            1
        } else {
            SIGNS.iter().find(|sign| rest.starts_with(**sign))?.len()
        };
        found.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    Some(found)
}

struct Parser<'a, N> {
    tokens: &'a [&'a str],
    at: usize,
    names: &'a N,
}

impl<N: Names> Parser<'_, N> {
    fn peek(&self) -> Option<&str> {
        self.tokens.get(self.at).copied()
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.peek() == Some(token);
        self.at += usize::from(found);
        found
    }

    fn choice(&mut self) -> Option<i128> {
        let condition = self.level(0)?;
        if !self.take("?") {
            return Some(condition);
        }
        let yes = self.choice()?;
        let no = self.take(":").then(|| self.choice()).flatten()?;
        Some(if condition != 0 { yes } else { no })
    }

    fn level(&mut self, level: usize) -> Option<i128> {
        let Some(signs) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.level(level + 1)?;
        while let Some(sign) = signs.iter().find(|sign| self.peek() == Some(**sign)) {
            self.at += 1;
            let right = self.level(level + 1)?;
            left = apply(sign, left, right)?;
        }
        Some(left)
    }

    fn unary(&mut self) -> Option<i128> {
        for (sign, change) in
            [("-", (|v| -v) as fn(i128) -> i128), ("+", |v| v), ("!", |v| i128::from(v == 0)), ("~", |v| !v)]
        {
            if self.take(sign) {
                return self.unary().map(change);
            }
        }
        self.atom()
    }

    fn atom(&mut self) -> Option<i128> {
        if self.take("(") {
            // A cast, or brackets.
            if self.peek().is_some_and(is_type) && self.tokens.get(self.at + 1) == Some(&")") {
                self.at += 2;
                return self.unary();
            }
            let value = self.choice()?;
            return self.take(")").then_some(value);
        }
        let token = *self.tokens.get(self.at)?;
        self.at += 1;
        if token == "static_cast" {
            let is_cast = self.take("<") && self.peek().is_some_and(is_type) && {
                self.at += 1;
                self.take(">")
            };
            return if is_cast { self.atom() } else { None };
        }
        if token.starts_with(|letter: char| letter.is_ascii_digit()) {
            return number(token);
        }
        let mut name = token;
        while self.take("::") {
            name = self.tokens.get(self.at)?;
            self.at += 1;
        }
        match name {
            "true" => Some(1),
            "false" => Some(0),
            name => self.names.value(name),
        }
    }
}

fn is_type(word: &str) -> bool {
    word.ends_with("_t") || ["int", "unsigned", "long", "bool", "short", "char"].contains(&word)
}

fn apply(sign: &str, left: i128, right: i128) -> Option<i128> {
    let shift = u32::try_from(right).ok().filter(|by| *by < 64);
    match sign {
        "=" | "==" => Some(i128::from(left == right)),
        "!=" => Some(i128::from(left != right)),
        "||" => Some(i128::from(left != 0 || right != 0)),
        "&&" => Some(i128::from(left != 0 && right != 0)),
        "<" => Some(i128::from(left < right)),
        ">" => Some(i128::from(left > right)),
        "<=" => Some(i128::from(left <= right)),
        ">=" => Some(i128::from(left >= right)),
        "|" => Some(left | right),
        "^" => Some(left ^ right),
        "&" => Some(left & right),
        "<<" => left.checked_shl(shift?),
        ">>" => left.checked_shr(shift?),
        "+" => left.checked_add(right),
        "-" => left.checked_sub(right),
        "*" => left.checked_mul(right),
        "/" => left.checked_div(right),
        _ => left.checked_rem(right),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<i128> {
        evaluate(text, &|name: &str| (name == "KEY").then_some(0x1199))
    }

    #[test]
    fn expressions_have_the_values_of_cpp() {
        for (text, expected) in [
            ("1 + 2 * 3", 7),
            ("(1 + 2) * 3", 9),
            ("1 << 4 | 1", 17),
            ("0x10UL + 0b11 + 010 + 1'000", 16 + 3 + 8 + 1000),
            ("-1 + ~0 + !0", -1),
            ("KEY == 0x1199 && KEY > 3 ? 5 : 6", 5),
            ("static_cast<uint32_t>(ns::KEY) % 2", 1),
            ("(uint64_t)7 / (1 + 1)", 3),
            ("KEY & 0xFFF = 0x199", 1),
            ("KEY & 0xFFF = 0x198", 0),
            ("true || false", 1),
        ] {
            assert_eq!(value(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn everything_else_has_no_value() {
        for text in
            ["", "OTHER", "1 +", "(1", "1)", "1 / 0", "sizeof(int)", "1.5", "\"x\"", "1 << 64", "f(1)", "x[1]", "08"]
        {
            assert_eq!(value(text), None, "{text}");
        }
    }
}
