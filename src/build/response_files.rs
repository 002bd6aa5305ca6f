//! Response files in `compile-options` (`@FILE`): a compiler reads its arguments from them, so their content decides
//! about the result, and whoever can write them about what the compiler does.

use std::path::{Path, PathBuf};

use crate::arguments::arguments;
use crate::fs::{self, absolute};
use crate::store::digest::ContentDigest;
use crate::toolchain::{ToolchainError, ToolchainKind};

/// The most a response file may hold.
const LIMIT: u64 = 1 << 20;

/// What a result depends on: the content of every response file. The host toolchain takes none.
pub(crate) fn facts(options: &[String], kind: ToolchainKind) -> Result<Vec<(String, String)>, ToolchainError> {
    let mut facts = Vec::new();
    for path in arguments(options).flat_map(|argument| argument.response_files()) {
        match kind {
            ToolchainKind::Host => return Err(refused(path, "the host compiler takes no response files")),
            ToolchainKind::Cann => facts.push((format!("response file {path}"), content(path)?)),
        }
    }
    Ok(facts)
}

/// The words as a tool gets them that runs in another directory.
pub(crate) fn with_absolute_paths(options: &[String]) -> Vec<String> {
    let word = |word: &String| match word.strip_prefix('@') {
        Some(path) if !path.is_empty() => format!("@{}", place(path).display()),
        _ => word.clone(),
    };
    options.iter().map(word).collect()
}

fn place(path: &str) -> PathBuf {
    absolute(Path::new(path))
}

fn content(path: &str) -> Result<String, ToolchainError> {
    let file = place(path);
    if fs::metadata(&file)?.len() > LIMIT {
        return Err(refused(path, "it is larger than 1 MiB"));
    }
    let bytes = match fs::read(&file) {
        Err(error) if error.is_not_regular() => return Err(refused(path, "it is not a regular file")),
        read => read?,
    };
    // A file in the file would have to be followed by the compiler's own rules, which differ.
    let text = String::from_utf8_lossy(&bytes);
    if text.split_whitespace().any(|word| word.trim_start_matches(['"', '\'']).starts_with('@')) {
        return Err(refused(path, "it names another response file"));
    }
    Ok(ContentDigest::of(&bytes).to_string())
}

fn refused(path: &str, problem: &'static str) -> ToolchainError {
    ToolchainError::ResponseFile { path: path.to_owned(), problem }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn the_content_is_a_fact_for_the_device_and_an_error_on_the_host() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.rsp");
        let options = words(&["-g", "-D", &format!("@{}", path.display())]);
        assert!(facts(&options, ToolchainKind::Cann).is_err(), "it is missing");
        std::fs::write(&path, "-DX=1").unwrap();
        let one = facts(&options, ToolchainKind::Cann).unwrap();
        std::fs::write(&path, "-DX=2").unwrap();
        let two = facts(&options, ToolchainKind::Cann).unwrap();
        assert!(one.len() == 1 && one != two);
        std::fs::write(&path, "-g '@other'").unwrap();
        assert!(facts(&options, ToolchainKind::Cann).unwrap_err().to_string().contains("another response file"));
        assert!(facts(&options, ToolchainKind::Host).unwrap_err().to_string().contains("a.rsp"));
        assert_eq!(facts(&words(&["-DX=@file", "@"]), ToolchainKind::Host).unwrap(), []);
    }

    #[test]
    fn a_relative_path_is_seen_from_here() {
        let here = std::env::current_dir().unwrap();
        let found = with_absolute_paths(&words(&["-g", "@a.rsp", "-DX=@b"]));
        assert_eq!(found, words(&["-g", &format!("@{}/a.rsp", here.display()), "-DX=@b"]));
    }
}
