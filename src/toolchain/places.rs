//! Where the files of a build can be found afterwards.

use std::path::{Path, PathBuf};

/// Tools run in a private directory, with the names of files there: nothing that is unique to one build may get into an
/// object or a compiler cache. People who repeat a command need the places where those files are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Places {
    directory: PathBuf,
    /// Files that are kept elsewhere, with their directory.
    elsewhere: Option<(PathBuf, Vec<PathBuf>)>,
}

impl Places {
    /// All files are in `directory`.
    pub(crate) fn inside(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into(), elsewhere: None }
    }

    /// These files are in another directory.
    pub(crate) fn but(mut self, directory: impl Into<PathBuf>, files: Vec<PathBuf>) -> Self {
        self.elsewhere = Some((directory.into(), files));
        self
    }

    /// The place of a file that a tool calls `name`.
    pub(crate) fn of(&self, name: &Path) -> PathBuf {
        match &self.elsewhere {
            Some((directory, files)) if files.iter().any(|file| file == name) => directory.join(name),
            // A path from the root stays what it is.
            Some(_) | None => self.directory.join(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_a_place() {
        let places = Places::inside("/kept/k_build").but("/kept", vec![PathBuf::from("k.cpp")]);
        let of = |name: &str| places.of(Path::new(name)).display().to_string();
        assert_eq!(of("k.cpp"), "/kept/k.cpp");
        assert_eq!(of("objects/0.o"), "/kept/k_build/objects/0.o");
        assert_eq!(of("/elsewhere/x.o"), "/elsewhere/x.o");
    }
}
