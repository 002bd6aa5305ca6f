//! One statement `results = ge.Type(arguments)`, split at its brackets, commas and strings.

/// One argument of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Argument<'a> {
    /// Positional: an input, or one of a list of inputs.
    Input(&'a str),
    /// `name=value`.
    Named(&'a str, &'a str),
}

/// A call that makes a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call<'a> {
    /// Variables of its outputs.
    pub results: Vec<&'a str>,
    pub op_type: &'a str,
    pub arguments: Vec<Argument<'a>>,
}

impl<'a> Call<'a> {
    /// `None`: it is no such statement.
    pub(super) fn parse(statement: &'a str) -> Option<Self> {
        let (results, rest) = statement.split_once(" = ge.")?;
        let (function, rest) = rest.split_once('(')?;
        let inside = rest.trim_end().strip_suffix(')')?;
        let mut op_type = function.trim_start_matches('_');
        let mut arguments = Vec::new();
        for part in split(inside) {
            match named(part) {
                Some((name, value)) => arguments.push(Argument::Named(name, value)),
                // An operator without a function of its own is called by its name.
                None if op_type == "custom_op" => op_type = part.trim_matches(['"', '\'']),
                None if is_list_of_inputs(part) => arguments.extend(items(part).into_iter().map(Argument::Input)),
                None => arguments.push(Argument::Input(part)),
            }
        }
        let results = results.split(['[', ']', ',', ' ']).filter(|name| !name.is_empty() && *name != "_").collect();
        Some(Self { results, op_type, arguments })
    }
}

/// Are all brackets and strings closed?
pub(super) fn is_complete(statement: &str) -> bool {
    let mut scan = Scan::default();
    statement.bytes().for_each(|byte| scan.step(byte));
    scan.depth == 0
}

/// The elements of `[a, b]`.
pub(super) fn items(list: &str) -> Vec<&str> {
    split(list.trim().trim_start_matches('[').trim_end_matches(']'))
}

/// A list of numbers is one constant.
fn is_list_of_inputs(part: &str) -> bool {
    let is_variable =
        |item: &&str| item.starts_with(|first: char| first.is_alphabetic()) && !matches!(*item, "True" | "False");
    part.starts_with('[') && items(part).iter().any(is_variable)
}

fn named(part: &str) -> Option<(&str, &str)> {
    let (name, value) = part.split_once('=')?;
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') && !name.is_empty();
    is_name.then(|| (name, value.trim()))
}

/// The parts between commas that are in no bracket and no string.
fn split(text: &str) -> Vec<&str> {
    let mut scan = Scan::default();
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte == b',' && scan.depth == 0 && scan.quote.is_none() {
            parts.push(text[start..at].trim());
            start = at + 1;
        }
        scan.step(byte);
    }
    let last = text[start..].trim();
    if !last.is_empty() {
        parts.push(last);
    }
    parts
}

/// Where in a statement one is.
#[derive(Default)]
struct Scan {
    depth: usize,
    quote: Option<u8>,
    escaped: bool,
}

impl Scan {
    fn step(&mut self, byte: u8) {
        match (self.quote, byte) {
            _ if self.escaped => self.escaped = false,
            (Some(_), b'\\') => self.escaped = true,
            // A string does not go on behind its line, however odd it is.
            (Some(quote), _) if byte == quote || byte == b'\n' => self.quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => self.quote = Some(byte),
            (None, b'(' | b'[' | b'{') => self.depth += 1,
            (None, b')' | b']' | b'}') => self.depth = self.depth.saturating_sub(1),
            (None, _) => {}
        }
    }
}
