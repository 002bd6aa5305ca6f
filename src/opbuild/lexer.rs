//! The few things about C++ text that can be known without understanding it: what is a comment, what is in quotes, what
//! belongs together in brackets.

/// Text with the same length and lines, in which comments, preprocessor lines and everything in quotes are blanks. What is
/// found in it is at the same place in the original.
pub(crate) fn blanked(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut result = bytes.to_vec();
    let mut at = 0;
    let mut line_start = true;
    while at < bytes.len() {
        let end = match bytes[at] {
            b'/' if bytes.get(at + 1) == Some(&b'/') => line_end(bytes, at),
            b'/' if bytes.get(at + 1) == Some(&b'*') => find(bytes, at + 2, b"*/").map_or(bytes.len(), |end| end + 2),
            b'#' if line_start => directive_end(bytes, at),
            b'"' => quoted_end(bytes, at),
            // An apostrophe between digits separates them.
            b'\'' if at == 0 || !bytes[at - 1].is_ascii_alphanumeric() => quoted_end(bytes, at),
            letter => {
                line_start = letter == b'\n' || (line_start && letter.is_ascii_whitespace());
                at += 1;
                continue;
            }
        };
        for byte in &mut result[at..end] {
            // Other than line breaks; parts of letters beyond ASCII too.
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at = end;
    }
    String::from_utf8_lossy(&result).into_owned()
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    find(bytes, at, b"\n").unwrap_or(bytes.len())
}

/// A preprocessor line goes on behind a backslash.
fn directive_end(bytes: &[u8], at: usize) -> usize {
    let mut end = line_end(bytes, at);
    while end < bytes.len() && end > 0 && bytes[..end].trim_ascii_end().last() == Some(&b'\\') {
        end = line_end(bytes, end + 1);
    }
    end
}

/// Bytes of the text or letter in quotes, with what is in front of them, at the start of `text`.
pub(crate) fn literal_length(text: &str) -> Option<usize> {
    const PREFIXES: [&str; 10] = ["", "u8", "u", "U", "L", "R", "u8R", "uR", "UR", "LR"];
    let quotes = |prefix: &str| if prefix.ends_with('R') { ['"'].as_slice() } else { &['"', '\''] };
    let is_prefix = |prefix: &&&str| text.strip_prefix(**prefix).is_some_and(|rest| rest.starts_with(quotes(prefix)));
    let prefix = PREFIXES.iter().find(is_prefix)?;
    Some(quoted_end(text.as_bytes(), prefix.len()))
}

/// The end of what the quotes at `at` open; a line's end ends what is not raw.
fn quoted_end(bytes: &[u8], at: usize) -> usize {
    if bytes[at] == b'"' && is_raw(bytes, at) {
        return raw_end(bytes, at);
    }
    let mut end = at + 1;
    while end < bytes.len() && bytes[end] != b'\n' {
        if bytes[end] == bytes[at] {
            return end + 1;
        }
        end += if bytes[end] == b'\\' { 2 } else { 1 };
    }
    end.min(bytes.len())
}

fn is_raw(bytes: &[u8], quote: usize) -> bool {
    let Some(before) = bytes[..quote].strip_suffix(b"R") else { return false };
    let prefixes = [b"u8".as_slice(), b"u", b"U", b"L"];
    let before = prefixes.into_iter().find_map(|prefix| before.strip_suffix(prefix)).unwrap_or(before);
    before.last().is_none_or(|letter| !is_word(*letter))
}

fn raw_end(bytes: &[u8], at: usize) -> usize {
    let Some(open) = find(bytes, at, b"(") else { return bytes.len() };
    let close = [b")".as_slice(), &bytes[at + 1..open], b"\""].concat();
    find(bytes, open, &close).map_or(bytes.len(), |end| end + close.len())
}

fn find(bytes: &[u8], from: usize, what: &[u8]) -> Option<usize> {
    bytes.get(from..)?.windows(what.len()).position(|window| window == what).map(|at| from + at)
}

/// Where the bracket at `open` is closed, if it is.
pub(crate) fn closing(blanked: &str, open: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (at, letter) in blanked.bytes().enumerate().skip(open) {
        match letter {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// Is it part of an identifier?
pub(crate) fn is_word(letter: u8) -> bool {
    letter.is_ascii_alphanumeric() || letter == b'_'
}

/// The places of a word that stands alone.
pub(crate) fn words<'a>(blanked: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let bytes = blanked.as_bytes();
    blanked.match_indices(word).map(|(at, _)| at).filter(move |at| {
        let before = at.checked_sub(1).is_none_or(|before| !is_word(bytes[before]));
        before && bytes.get(at + word.len()).is_none_or(|after| !is_word(*after))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_stay_where_they_are() {
        let text = "a /* <<< \n */ b \"<<<\\\"\" c '\\'' // <<<\n#define X \\\n <<<\nd R\"x(<<<)\" )x\" u8R\"(\"<<<)\" 1'000 é e ";
        let blank = blanked(text);
        assert_eq!(blank.lines().count(), text.lines().count());
        assert!(!blank.contains("<<<"), "{blank}");
        for word in ["a", "b", "c", "d", "e"] {
            let place = text.rfind(&format!("{word} ")).unwrap();
            assert_eq!(words(&blank, word).collect::<Vec<_>>(), [place]);
        }
    }

    #[test]
    fn brackets_close() {
        assert_eq!(closing("f(a[1], {b}) c", 1), Some(11));
        assert_eq!(closing("f(a", 1), None);
        assert_eq!(closing("f)", 1), None);
    }
}
