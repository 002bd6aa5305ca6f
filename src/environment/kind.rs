//! The kinds of value a setting can have: what is accepted, in which form it is kept, and how it is called.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use crate::fs::absolute;
use crate::model::Soc;
use crate::named::Named;

/// A value as somebody gave it: a caller, an environment variable, CANN.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Given {
    /// Text.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// Another number.
    Real(f64),
    /// `true` or `false`.
    Switch(bool),
    /// A path that is not text.
    Path(PathBuf),
    /// Several texts.
    List(Vec<String>),
    /// Something else.
    Other,
}

/// A value in the one form its setting has.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// Of [`Kind::Text`], [`Kind::Soc`] and [`Kind::Choice`].
    Text(String),
    /// Of [`Kind::Count`].
    Count(u32),
    /// Of [`Kind::Seconds`].
    Seconds(f64),
    /// Of [`Kind::Switch`].
    Switch(bool),
    /// Of [`Kind::Size`].
    Size(u64),
    /// Of the directories and of [`Kind::Reproducers`].
    Path(PathBuf),
    /// Of [`Kind::Words`].
    Words(Vec<String>),
}

/// What a setting accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Any text but none.
    Text,
    /// The name of a SoC, kept as its short version; an unknown one as it is, for the message about it.
    Soc,
    /// A number of things, from 1 up.
    Count,
    /// A time.
    Seconds,
    /// A number of bytes.
    Size,
    /// On or off.
    Switch,
    /// A directory.
    Directory,
    /// A directory; empty: none, also against what would hold otherwise.
    DirectoryOrNone,
    /// A directory for reproducers, and for which builds; empty: none.
    Reproducers,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Some of these words. Others are kept: they mean something to other software.
    Words(&'static [&'static str]),
}

impl Kind {
    /// What would be accepted, for messages.
    pub(crate) fn expects(self) -> String {
        match self {
            Self::Text | Self::Soc => "a non-empty string".to_owned(),
            Self::Count => "a whole number from 1 up".to_owned(),
            Self::Seconds => "a number of seconds above 0".to_owned(),
            Self::Size => "a size such as `500M`".to_owned(),
            Self::Switch => "`True` or `False`, written also as `1` or `0`".to_owned(),
            Self::Directory | Self::DirectoryOrNone => "a path".to_owned(),
            Self::Reproducers => format!("a folder, or `FOLDER{ON_FAILURE}`"),
            Self::Choice(words) => format!("one of {}", quoted(words)),
            Self::Words(words) => format!("a list of strings such as {}", quoted(words)),
        }
    }

    /// The type of an argument of `superkernel.configure`.
    pub(crate) fn python_type(self) -> String {
        match self {
            Self::Text | Self::Soc => "str".to_owned(),
            Self::Choice(words) => {
                format!("Literal[{}]", words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", "))
            }
            Self::Count => "int".to_owned(),
            Self::Size => "int | str".to_owned(),
            Self::Seconds => "float".to_owned(),
            Self::Switch => "bool".to_owned(),
            Self::Directory | Self::DirectoryOrNone | Self::Reproducers => "str | os.PathLike[str]".to_owned(),
            Self::Words(_) => "str | Sequence[str]".to_owned(),
        }
    }

    /// What stands for the value of setting `name` in the help of the command line; a switch has none.
    pub(crate) fn placeholder(self, name: &str) -> Option<String> {
        match self {
            Self::Text | Self::Soc => Some(name.to_uppercase()),
            Self::Count => Some("N".to_owned()),
            Self::Seconds => Some("SECONDS".to_owned()),
            Self::Switch => None,
            Self::Size => Some("SIZE".to_owned()),
            Self::Directory | Self::DirectoryOrNone => Some("DIR".to_owned()),
            Self::Reproducers => Some(format!("DIR[{ON_FAILURE}]")),
            Self::Choice(_) => Some("WHICH".to_owned()),
            Self::Words(_) => Some("FLAGS".to_owned()),
        }
    }

    /// The words it knows.
    pub(crate) fn words(self) -> &'static [&'static str] {
        match self {
            Self::Choice(words) | Self::Words(words) => words,
            Self::Text
            | Self::Soc
            | Self::Count
            | Self::Seconds
            | Self::Size
            | Self::Switch
            | Self::Directory
            | Self::DirectoryOrNone
            | Self::Reproducers => &[],
        }
    }

    /// Does an empty text say something? Elsewhere an empty environment variable is as good as none.
    pub(crate) fn takes_empty(self) -> bool {
        match self {
            Self::DirectoryOrNone | Self::Reproducers => true,
            Self::Text
            | Self::Soc
            | Self::Count
            | Self::Seconds
            | Self::Size
            | Self::Switch
            | Self::Directory
            | Self::Choice(_)
            | Self::Words(_) => false,
        }
    }

    /// The value in its one form; `None` if it is refused.
    pub(crate) fn read(self, given: Given) -> Option<Value> {
        match (self, given) {
            (Self::Text, Given::Text(text)) => {
                Some(text.trim().to_owned()).filter(|text| !text.is_empty()).map(Value::Text)
            }
            (Self::Soc, Given::Text(text)) => {
                Some(text.trim()).filter(|text| !text.is_empty()).map(|text| Value::Text(SocName::new(text).0))
            }
            (Self::Count, Given::Integer(number)) => count(number),
            (Self::Count, Given::Text(text)) if text.bytes().all(|byte| byte.is_ascii_digit()) => {
                count(text.parse().ok()?)
            }
            (Self::Seconds, Given::Integer(number)) => seconds(number as f64),
            (Self::Seconds, Given::Real(number)) => seconds(number),
            (Self::Seconds, Given::Text(text)) => seconds(text.trim().parse().ok()?),
            (Self::Size, Given::Integer(number)) => u64::try_from(number).ok().map(Value::Size),
            (Self::Size, Given::Text(text)) => size(&text),
            (Self::Switch, Given::Switch(on)) => Some(Value::Switch(on)),
            (Self::Switch, Given::Text(text)) => match text.trim().to_ascii_lowercase().as_str() {
                "1" | "true" => Some(Value::Switch(true)),
                "0" | "false" => Some(Value::Switch(false)),
                _ => None,
            },
            (Self::Directory | Self::DirectoryOrNone, Given::Text(text)) => self.directory(text.into()),
            (Self::Directory | Self::DirectoryOrNone, Given::Path(path)) => self.directory(path),
            (Self::Reproducers, Given::Text(text)) => self.read(Given::Path(text.into())),
            (Self::Reproducers, Given::Path(path)) => {
                let is_readable = path.as_os_str().is_empty() || Reproducers::from_path(&path).is_some();
                self.directory(path).filter(|_| is_readable)
            }
            (Self::Choice(words), Given::Text(text)) => words.contains(&text.as_str()).then_some(Value::Text(text)),
            (Self::Words(_), Given::Text(text)) => Some(Value::Words(words(&[text]))),
            (Self::Words(_), Given::List(texts)) => Some(Value::Words(words(&texts))),
            (
                Self::Text
                | Self::Soc
                | Self::Count
                | Self::Seconds
                | Self::Size
                | Self::Switch
                | Self::Directory
                | Self::DirectoryOrNone
                | Self::Reproducers
                | Self::Choice(_)
                | Self::Words(_),
                _,
            ) => None,
        }
    }

    fn directory(self, path: PathBuf) -> Option<Value> {
        let is_empty = path.as_os_str().is_empty();
        let has_nul = path.as_os_str().as_encoded_bytes().contains(&0);
        (!has_nul && (!is_empty || self.takes_empty())).then_some(Value::Path(path))
    }
}

fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

fn count(number: i64) -> Option<Value> {
    i32::try_from(number).ok().filter(|number| *number >= 1).map(|number| Value::Count(number.unsigned_abs()))
}

fn seconds(number: f64) -> Option<Value> {
    (number > 0.0 && number.is_finite()).then_some(Value::Seconds(number))
}

/// Bytes, with the units that people write: `500M`, `5 GB`.
fn size(text: &str) -> Option<Value> {
    let text = text.trim().to_ascii_uppercase();
    let text = text.strip_suffix('B').unwrap_or(&text);
    let digits = text.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    let unit = match text[digits.len()..].trim() {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return None,
    };
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse::<u64>().ok()?.checked_mul(1 << unit).map(Value::Size)
}

/// The words in some texts, each once; whatever cannot be part of a word separates them.
fn words(texts: &[String]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let parts = texts.iter().flat_map(|text| text.split(|letter: char| !letter.is_alphanumeric() && letter != '_'));
    for word in parts.filter(|word| !word.is_empty()) {
        if !found.iter().any(|known| known == word) {
            found.push(word.to_owned());
        }
    }
    found
}

/// A type a setting can have inside.
pub(crate) trait SettingType: Sized {
    /// What is accepted.
    const KIND: Kind;

    /// From a value of that kind; `None` where there must be one, or for one of another kind.
    fn from_value(value: Option<Value>) -> Option<Self>;

    /// For the record of a build.
    fn to_json(&self) -> serde_json::Value;
}

/// Types that are a value of their kind as it is.
macro_rules! taken_as_it_is {
    ($($type:ty: $kind:ident,)+) => {$(
        impl SettingType for $type {
            const KIND: Kind = Kind::$kind;

            fn from_value(value: Option<Value>) -> Option<Self> {
                match value {
                    Some(Value::$kind(value)) => Some(value),
                    _ => None,
                }
            }

            fn to_json(&self) -> serde_json::Value {
                json!(self)
            }
        }
    )+};
}

taken_as_it_is! {
    String: Text,
    u64: Size,
    bool: Switch,
}

/// A choice is one of its names.
impl<T: Named> SettingType for T {
    const KIND: Kind = Kind::Choice(T::NAMES);

    fn from_value(value: Option<Value>) -> Option<Self> {
        match value {
            Some(Value::Text(name)) => T::named(&name),
            _ => None,
        }
    }

    fn to_json(&self) -> serde_json::Value {
        json!(self.name())
    }
}

/// The name of a SoC, its short version where it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SocName(pub(crate) String);

impl SocName {
    /// From any of its names.
    pub(crate) fn new(name: &str) -> Self {
        Self(Soc::parse(name).map_or_else(|_| name.to_owned(), |soc| soc.to_string()))
    }
}

impl SettingType for SocName {
    const KIND: Kind = Kind::Soc;

    fn from_value(value: Option<Value>) -> Option<Self> {
        match value {
            Some(Value::Text(text)) => Some(Self(text)),
            _ => None,
        }
    }

    fn to_json(&self) -> serde_json::Value {
        json!(self.0)
    }
}

impl SettingType for Option<u32> {
    const KIND: Kind = Kind::Count;

    fn from_value(value: Option<Value>) -> Option<Self> {
        match value {
            None => Some(None),
            Some(Value::Count(count)) => Some(Some(count)),
            Some(_) => None,
        }
    }

    fn to_json(&self) -> serde_json::Value {
        json!(self)
    }
}

impl SettingType for Option<Duration> {
    const KIND: Kind = Kind::Seconds;

    fn from_value(value: Option<Value>) -> Option<Self> {
        match value {
            None => Some(None),
            // What is too long to be a time is no limit.
            Some(Value::Seconds(seconds)) => Some(Duration::try_from_secs_f64(seconds).ok()),
            Some(_) => None,
        }
    }

    fn to_json(&self) -> serde_json::Value {
        json!(self.map(|time| time.as_secs_f64()))
    }
}

impl SettingType for PathBuf {
    const KIND: Kind = Kind::Directory;

    fn from_value(value: Option<Value>) -> Option<Self> {
        match value {
            Some(Value::Path(path)) => Some(absolute(&path)),
            _ => None,
        }
    }

    fn to_json(&self) -> serde_json::Value {
        json!(self.to_string_lossy())
    }
}

impl SettingType for Option<PathBuf> {
    const KIND: Kind = Kind::DirectoryOrNone;

    fn from_value(value: Option<Value>) -> Option<Self> {
        match value {
            None => Some(None),
            Some(Value::Path(path)) if path.as_os_str().is_empty() => Some(None),
            Some(Value::Path(path)) => Some(Some(absolute(&path))),
            Some(_) => None,
        }
    }

    fn to_json(&self) -> serde_json::Value {
        json!(self.as_ref().map(|path| path.to_string_lossy()))
    }
}

/// What stands behind a directory of reproducers where builds that succeed are of no interest.
const ON_FAILURE: &str = ":on-failure";

/// Where builds leave reproducers by themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reproducers {
    /// The directory.
    pub directory: PathBuf,
    /// Of which builds.
    pub of: RecordedBuilds,
}

/// Which builds leave a reproducer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordedBuilds {
    /// All.
    All,
    /// Those that fail.
    Failures,
}

impl Reproducers {
    /// From `DIR` or `DIR:on-failure`. Another word after a colon is more likely a mistake than part of a name: a folder
    /// that is called so can be written with a slash at its end.
    fn from_path(path: &Path) -> Option<Self> {
        let (directory, of) = match path.file_name().and_then(|name| name.to_str()).and_then(|name| name.rfind(':')) {
            None => (path.to_path_buf(), RecordedBuilds::All),
            Some(_) if path.as_os_str().as_encoded_bytes().ends_with(b"/") => (path.to_path_buf(), RecordedBuilds::All),
            Some(_) => (path.to_str()?.strip_suffix(ON_FAILURE)?.into(), RecordedBuilds::Failures),
        };
        (!directory.as_os_str().is_empty()).then_some(Self { directory, of })
    }
}

impl SettingType for Option<Reproducers> {
    const KIND: Kind = Kind::Reproducers;

    fn from_value(value: Option<Value>) -> Option<Self> {
        match value {
            None => Some(None),
            Some(Value::Path(path)) if path.as_os_str().is_empty() => Some(None),
            Some(Value::Path(path)) => {
                let wanted = Reproducers::from_path(&path)?;
                Some(Some(Reproducers { directory: absolute(&wanted.directory), of: wanted.of }))
            }
            Some(_) => None,
        }
    }

    fn to_json(&self) -> serde_json::Value {
        json!(self.as_ref().map(|wanted| match wanted.of {
            RecordedBuilds::All => wanted.directory.display().to_string(),
            RecordedBuilds::Failures => format!("{}{ON_FAILURE}", wanted.directory.display()),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [Kind; 11] = [
        Kind::Text,
        Kind::Soc,
        Kind::Count,
        Kind::Seconds,
        Kind::Switch,
        Kind::Directory,
        Kind::DirectoryOrNone,
        Kind::Size,
        Kind::Reproducers,
        Kind::Choice(&["auto", "host"]),
        Kind::Words(&["oom"]),
    ];

    fn text(kind: Kind, text: &str) -> Option<Value> {
        kind.read(Given::Text(text.to_owned()))
    }

    #[test]
    fn nothing_sensible_is_refused_by_every_kind() {
        for kind in KINDS {
            assert_eq!(kind.read(Given::Other), None, "{kind:?}");
        }
    }

    #[test]
    fn an_empty_text_is_a_value_only_where_it_means_something() {
        for kind in KINDS {
            let is_words = matches!(kind, Kind::Words(_));
            assert_eq!(text(kind, "").is_some(), kind.takes_empty() || is_words, "{kind:?}");
        }
        assert_eq!(<Option<PathBuf>>::from_value(text(Kind::DirectoryOrNone, "")), Some(None));
    }

    #[test]
    fn counts_and_times_have_limits() {
        for bad in ["0", "-1", "+1", "1.5", "2147483648", "99999999999999999999"] {
            assert_eq!(text(Kind::Count, bad), None, "{bad}");
        }
        assert_eq!(text(Kind::Count, "2147483647"), Some(Value::Count(i32::MAX.unsigned_abs())));
        for bad in ["0", "-1", "inf", "nan", "soon"] {
            assert_eq!(text(Kind::Seconds, bad), None, "{bad}");
        }
        assert_eq!(text(Kind::Seconds, " 2.5 "), Some(Value::Seconds(2.5)));
        assert_eq!(<Option<Duration>>::from_value(Some(Value::Seconds(1e300))), Some(None));
    }

    #[test]
    fn sizes_have_units() {
        for (given, bytes) in [("0", 0), ("500", 500), ("1k", 1 << 10), (" 5 GB ", 5 << 30), ("2tb", 2 << 40)] {
            assert_eq!(text(Kind::Size, given), Some(Value::Size(bytes)), "{given}");
        }
        for bad in ["much", "5X", "-1", "+1", "1.5G", "G", "999999999999999999T"] {
            assert_eq!(text(Kind::Size, bad), None, "{bad}");
        }
        assert_eq!(Kind::Size.read(Given::Integer(-1)), None);
    }

    #[test]
    fn a_folder_of_reproducers_says_for_which_builds() {
        let read = |given: &str| <Option<Reproducers>>::from_value(text(Kind::Reproducers, given)).flatten();
        let wanted = |directory: &str, of| Some(Reproducers { directory: directory.into(), of });
        assert_eq!(read("/kept"), wanted("/kept", RecordedBuilds::All));
        assert_eq!(read("/kept:on-failure"), wanted("/kept", RecordedBuilds::Failures));
        assert_eq!(read("/a:b/kept"), wanted("/a:b/kept", RecordedBuilds::All));
        assert_eq!(read("/a:b/"), wanted("/a:b/", RecordedBuilds::All));
        assert_eq!(text(Kind::Reproducers, ""), Some(Value::Path(PathBuf::new())));
        for bad in [":on-failure", "/kept:always", "/kept:on-failures"] {
            assert_eq!(text(Kind::Reproducers, bad), None, "{bad}");
        }
    }

    #[test]
    fn switches_are_read_from_words_and_values() {
        for (given, on) in [("1", true), ("TRUE", true), ("0", false), ("false", false)] {
            assert_eq!(bool::from_value(text(Kind::Switch, given)), Some(on), "{given}");
        }
        assert_eq!(text(Kind::Switch, "2"), None);
        assert_eq!(Kind::Switch.read(Given::Switch(true)), Some(Value::Switch(true)));
        assert_eq!(Kind::Count.read(Given::Switch(true)), None);
    }

    #[test]
    fn words_are_found_between_anything_else() {
        let read = Kind::Words(&[]).read(Given::List(vec!["a,b".to_owned(), "b; c_1".to_owned()]));
        assert_eq!(read, Some(Value::Words(vec!["a".to_owned(), "b".to_owned(), "c_1".to_owned()])));
    }
}
