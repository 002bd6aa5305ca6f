//! Arguments of a compiler: which words belong together, and which of them can do harm.

/// Arguments that the word behind them belongs to.
const WITH_A_WORD: [&str; 15] = [
    "-D",
    "-I",
    "-U",
    "-Xassembler",
    "-Xclang",
    "-Xlinker",
    "-Xpreprocessor",
    "-idirafter",
    "-imacros",
    "-include",
    "-iquote",
    "-isystem",
    "-mllvm",
    "-o",
    "-x",
];

/// Those of them that host compilers take, and whose word names a file or a folder of the user.
const WITH_A_PATH: [&str; 5] = ["-idirafter", "-imacros", "-include", "-iquote", "-isystem"];

/// One argument with its word, if it has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Argument<'a>(&'a [String]);

/// The words of a command line as arguments, pairs together.
pub(crate) fn arguments(words: &[String]) -> impl Iterator<Item = Argument<'_>> {
    let mut rest = words;
    std::iter::from_fn(move || {
        let length = if WITH_A_WORD.contains(&rest.first()?.as_str()) { 2 } else { 1 };
        let (argument, behind) = rest.split_at(length.min(rest.len()));
        rest = behind;
        Some(Argument(argument))
    })
}

impl<'a> Argument<'a> {
    /// Its words.
    pub(crate) fn words(self) -> &'a [String] {
        self.0
    }

    /// Its name, in one word with its value or not.
    fn name(self) -> &'a str {
        self.0.first().map_or("", String::as_str)
    }

    /// Would it take the next word of whatever stands behind it?
    pub(crate) fn lacks_its_word(self) -> bool {
        self.0.len() == 1 && WITH_A_WORD.contains(&self.name())
    }

    /// Files whose content takes the place of a word: compilers read `@FILE` wherever it stands.
    pub(crate) fn response_files(self) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter_map(|word| word.strip_prefix('@')).filter(|path| !path.is_empty())
    }

    /// Does a host compiler understand it, and is it for the compiler itself? (`-Wl,…` is for another tool.)
    pub(crate) fn is_for_host(self) -> bool {
        let name = self.name();
        let to_other_tool = ["-Wl,", "-Wa,", "-Wp,"].iter().any(|prefix| name.starts_with(prefix));
        let is_usual = ["-D", "-U", "-I", "-O", "-g", "-W"].iter().any(|prefix| name.starts_with(prefix));
        (is_usual && !to_other_tool) || self.path().is_some()
    }

    /// The file or folder that it names in a word of its own.
    pub(crate) fn path(self) -> Option<&'a str> {
        self.0.get(1).map(String::as_str).filter(|_| WITH_A_PATH.contains(&self.name()))
    }

    /// The macro that it defines, and the value.
    pub(crate) fn definition(self) -> Option<(&'a str, &'a str)> {
        let text = match self.0 {
            [name, word] if name == "-D" => word,
            [name] => name.strip_prefix("-D")?,
            _ => return None,
        };
        Some(text.split_once('=').unwrap_or((text, "1")))
    }

    /// Macros and places to look for files: nothing that changes what the compiler makes of a text.
    pub(crate) fn is_about_text(self) -> bool {
        let name = self.name();
        ["-D", "-U", "-I", "-l", "-L"].iter().any(|prefix| name.starts_with(prefix)) || self.path().is_some()
    }

    /// Can it come from a stranger? Macros, warnings, optimisation and debug information: nothing that names a file
    /// or a program.
    pub(crate) fn is_harmless(self) -> bool {
        let names_files = self.name().starts_with("-I") || self.path().is_some();
        self.is_for_host() && !names_files && self.response_files().next().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(',').map(str::to_owned).collect()
    }

    #[test]
    fn pairs_stay_together() {
        let words = words("-D,X,-g,-I,dir,-mllvm,-D,-Dlast");
        let found: Vec<String> = arguments(&words).map(|argument| argument.words().join(" ")).collect();
        assert_eq!(found, ["-D X", "-g", "-I dir", "-mllvm -D", "-Dlast"]);
    }

    #[test]
    fn an_argument_without_its_word_is_found() {
        for bad in WITH_A_WORD {
            assert!(arguments(&words(&format!("-g,{bad}"))).last().unwrap().lacks_its_word(), "{bad}");
            assert!(!arguments(&words(&format!("{bad},word"))).last().unwrap().lacks_its_word(), "{bad}");
        }
        // The last one is the word of the first.
        assert!(!arguments(&words("-D,-D")).last().unwrap().lacks_its_word());
    }

    #[test]
    fn what_names_files_or_programs_is_not_harmless() {
        for good in ["-DX=1", "-D,X", "-U,X", "-O2", "-g", "-Wall", "-Wno-x"] {
            assert!(arguments(&words(good)).all(Argument::is_harmless), "{good}");
        }
        let bad = "-D,@file;@file;-fplugin=x.so;-Xclang,-load;-I,dir;-Idir;-include,x;-Wl,-x;-Bdir;-o,x;-mllvm,-load=x;\
                   -specs=x;--config=x;-wrapper,x;-B,x;x.so;-I@file;-isystem,x";
        for bad in bad.split(';') {
            assert!(arguments(&words(bad)).any(|argument| !argument.is_harmless()), "{bad}");
        }
    }

    #[test]
    fn definitions_and_paths_are_found_in_one_word_or_two() {
        let words = words("-DA=1,-D,B=x=y,-DC,-include,f.h,-O2,-U,D");
        let found: Vec<_> = arguments(&words).map(|argument| (argument.definition(), argument.path())).collect();
        let none = (None, None);
        let defined = |name, value| (Some((name, value)), None);
        let expected = [defined("A", "1"), defined("B", "x=y"), defined("C", "1"), (None, Some("f.h")), none, none];
        assert_eq!(found, expected);
        let code: Vec<bool> = arguments(&words).map(|argument| !argument.is_about_text()).collect();
        assert_eq!(code, [false, false, false, false, true, false]);
    }

    #[test]
    fn response_files_are_found_wherever_they_stand() {
        let words = words("@a,-D,@b,-Dx=@c,@");
        let found: Vec<&str> = arguments(&words).flat_map(Argument::response_files).collect();
        assert_eq!(found, ["a", "b"]);
    }
}
