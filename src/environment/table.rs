//! The one table of settings. Everything that lists settings follows from it: the typed [`Settings`], what
//! `superkernel.configure` takes and checks, environment variables, what CANN is asked for, the arguments of the
//! command line, the record of a build, what a replay repeats, and the table in `docs/configuration.md`.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Map;

use super::kind::{Given, Kind, Reproducers, SettingType, SocName, Value};
use super::{DebugConfig, LinkerChoice, ToolchainChoice};
use crate::model::{CoreKind, Soc};

/// A row of the table.
#[derive(Debug)]
pub(crate) struct Setting {
    /// Its name in Python; on the command line with hyphens.
    pub name: &'static str,
    /// What it accepts.
    pub kind: Kind,
    /// What it means, for the documents.
    pub meaning: &'static str,
    /// What it does, in a few words, for the command line.
    pub help: &'static str,
    /// The environment variable that sets it.
    pub variable: Option<&'static str>,
    /// Where CANN's Python tells it.
    pub cann: Option<CannSource>,
    /// What holds when nobody says anything.
    pub default: DefaultValue,
    /// What it decides about.
    pub role: Role,
}

/// Where CANN's Python tells a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CannSource {
    /// The SoC, under this key of the SoC's facts, if somebody else has imported CANN's Python; else the environment
    /// variable, then the device's own answer. Where there is a CANN but no answer, that is an error.
    Soc(&'static str),
    /// A number of cores of that SoC, under this key of its facts.
    Cores(&'static str),
    /// Under this key of the build configuration.
    BuildConfig(&'static str),
}

/// What holds when nobody says anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DefaultValue {
    /// What this text says.
    Text(&'static str),
    /// Nothing; in words for the documents.
    Nothing(&'static str),
    /// What the SoC has of these cores.
    Cores(CoreKind),
}

/// What a setting decides about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The result. It is recorded with a build and set again by a replay, also of somebody else's record: it must not
    /// be able to name a file or a program.
    Result,
    /// How this machine comes to the result: never recorded, never taken from a record.
    Machine,
}

/// A setting without a value that must have one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MissingSetting(pub &'static str);

impl fmt::Display for MissingSetting {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "setting `{}` has no value", self.0)
    }
}

impl std::error::Error for MissingSetting {}

macro_rules! settings {
    ($(
        $(#[doc = $documentation:literal])+
        $name:ident: $type:ty { $($fact:ident: $value:expr,)+ }
    )+) => {
        /// Every setting with the value in force.
        #[derive(Debug, Clone)]
        pub struct Settings {
            $($(#[doc = $documentation])+ pub $name: $type,)+
        }

        /// All settings, in the order in which they are decided: a default may depend on a setting above.
        pub(crate) static SETTINGS: &[Setting] = &[
            $(Setting { name: stringify!($name), kind: <$type as SettingType>::KIND, $($fact: $value),+ },)+
        ];

        impl Settings {
            /// Asks `value` for every setting.
            pub(crate) fn read<E: From<MissingSetting>>(
                mut value: impl FnMut(&'static str, Kind) -> Result<Option<Value>, E>,
            ) -> Result<Self, E> {
                Ok(Self {
                    $($name: <$type>::from_value(value(stringify!($name), <$type as SettingType>::KIND)?)
                        .ok_or(MissingSetting(stringify!($name)))?,)+
                })
            }

            /// Those that decide about the result, for the record of a build.
            pub(crate) fn recorded(&self) -> Map<String, serde_json::Value> {
                let all = [$((stringify!($name), self.$name.to_json())),+];
                let decisive = SETTINGS.iter().zip(all).filter(|(setting, _)| match setting.role {
                    Role::Result => true,
                    Role::Machine => false,
                });
                decisive.map(|(_, (name, value))| (name.to_owned(), value)).collect()
            }
        }
    };
}

settings! {
    /// Short version of the SoC.
    soc: SocName {
        meaning: "SoC: `Ascend910B`, `Ascend910_93`, `Ascend950`, or a device's name such as `Ascend910B3`",
        help: "SoC to build for, such as `Ascend910_93`",
        variable: Some("SUPERKERNEL_SOC"),
        cann: Some(CannSource::Soc("SHORT_SOC_VERSION")),
        default: DefaultValue::Text("Ascend910_93"),
        role: Role::Result,
    }
    /// Its cube cores.
    aic_num: Option<u32> {
        meaning: "cube cores, from 1 up",
        help: "cube cores of the SoC",
        variable: None,
        cann: Some(CannSource::Cores("ai_core_cnt")),
        default: DefaultValue::Cores(CoreKind::Aic),
        role: Role::Result,
    }
    /// Its vector cores.
    aiv_num: Option<u32> {
        meaning: "vector cores, from 1 up",
        help: "vector cores of the SoC",
        variable: None,
        cann: Some(CannSource::Cores("vector_core_cnt")),
        default: DefaultValue::Cores(CoreKind::Aiv),
        role: Role::Result,
    }
    /// Where `kernel_meta` is, or will be.
    kernel_meta_parent_dir: PathBuf {
        meaning: "results are written to its sub-folder `kernel_meta`",
        help: "write to DIR/kernel_meta",
        variable: None,
        cann: Some(CannSource::BuildConfig("kernel_meta_parent_dir")),
        default: DefaultValue::Text("."),
        role: Role::Machine,
    }
    /// Debug configuration.
    op_debug_config: DebugConfig {
        meaning: "a list of `dump_cce` (keep the source and the objects), `ccec_g` (debug information), \
                  `ccec_O0` (no optimisation), `oom` (memory checks), `sanitizer` (refused by the device toolchain); \
                  others have no effect",
        help: "debug flags, separated by commas: `dump_cce`, `ccec_g`, `ccec_O0`, `oom`, `sanitizer`",
        variable: None,
        cann: Some(CannSource::BuildConfig("tir.op_debug_config")),
        default: DefaultValue::Text(""),
        role: Role::Result,
    }
    /// Does what a build makes on its way stay?
    keep: bool {
        meaning: "keep the generated source and the kernel's own objects; nothing is taken from a cache then",
        help: "keep the generated source and the kernel's own objects",
        variable: Some("SUPERKERNEL_KEEP"),
        cann: None,
        default: DefaultValue::Text("False"),
        role: Role::Machine,
    }
    /// Which toolchain.
    toolchain: ToolchainChoice {
        meaning: "`cann`, `host`, or `auto`: CANN's compiler where it is found, else the machine's",
        help: "`auto`, `cann` or `host`",
        variable: Some("SUPERKERNEL_TOOLCHAIN"),
        cann: None,
        default: DefaultValue::Text("auto"),
        role: Role::Result,
    }
    /// Who links for a device.
    linker: LinkerChoice {
        meaning: "what links a kernel for a device: `vendor` (`ld.lld` of CANN), `own` (this package, in process), or `both`: \
                  the vendor's result is taken, and what is different in ours is reported ([build.md](build.md))",
        help: "linker for a device: `vendor`, `own` or `both`",
        variable: Some("SUPERKERNEL_LINKER"),
        cann: None,
        default: DefaultValue::Text("vendor"),
        role: Role::Result,
    }
    /// Where finished kernels are kept for other directories and processes.
    cache_dir: Option<PathBuf> {
        meaning: "folder of results that can be reused ([cache.md](cache.md)); empty: none",
        help: "folder of reusable results; empty: no reuse",
        variable: Some("SUPERKERNEL_CACHE_DIR"),
        cann: None,
        default: DefaultValue::Nothing("none; on the command line a folder of the user"),
        role: Role::Machine,
    }
    /// Bytes that the finished kernels kept there may take.
    cache_size: u64 {
        meaning: "bytes that folder may take, such as `500M`: the kernels least recently used go first",
        help: "how large the folder of reusable results may grow, such as 500M",
        variable: Some("SUPERKERNEL_CACHE_SIZE"),
        cann: None,
        default: DefaultValue::Text("5G"),
        role: Role::Machine,
    }
    /// May others write where finished kernels are kept?
    cache_shared: bool {
        meaning: "use a cache folder that other users can write, too: anyone who can write there decides what runs \
                  ([security.md](security.md))",
        help: "use a cache folder that other users can write",
        variable: Some("SUPERKERNEL_CACHE_SHARED"),
        cann: None,
        default: DefaultValue::Text("False"),
        role: Role::Machine,
    }
    /// Is what looks wrong refused?
    strict: bool {
        meaning: "an object that is not the one its JSON's `sha256` states is an error instead of a warning",
        help: "treat warnings about contradicting inputs as errors",
        variable: Some("SUPERKERNEL_STRICT"),
        cann: None,
        default: DefaultValue::Text("False"),
        role: Role::Machine,
    }
    /// Where the vendor's AscendC headers are.
    ascendc: Option<PathBuf> {
        meaning: "folder of the vendor's AscendC headers that `sim.build_op` compiles against: an installed CANN toolkit, or \
                  a checkout of its development kit; empty: the built-in subset",
        help: "folder of AscendC's headers, for operators built for the simulator; empty: the built-in subset",
        variable: Some("SUPERKERNEL_ASCENDC"),
        cann: None,
        default: DefaultValue::Nothing("the built-in subset"),
        role: Role::Machine,
    }
    /// Where builds leave reproducers.
    save_reproducer: Option<Reproducers> {
        meaning: "every build leaves a reproducer for `superkernel replay` in this folder ([build.md](build.md)); \
                  `FOLDER:on-failure`: only builds that fail; empty: none",
        help: "leave a reproducer of every build in DIR, or of those that fail; a name that ends with `.tar`: exactly \
               this file (`compile` only)",
        variable: Some("SUPERKERNEL_SAVE_REPRODUCER"),
        cann: None,
        default: DefaultValue::Nothing("none"),
        role: Role::Machine,
    }
    /// Bytes that those may take.
    reproducer_size: u64 {
        meaning: "bytes all reproducers in that folder may take together; what does not fit is not saved",
        help: "how large that folder may grow, such as 500M",
        variable: Some("SUPERKERNEL_REPRODUCER_SIZE"),
        cann: None,
        default: DefaultValue::Text("1G"),
        role: Role::Machine,
    }
    /// Threads and tools at the same time; `None`: one per processor.
    jobs: Option<u32> {
        meaning: "how many tools run at the same time, from 1 up",
        help: "how many tools run at the same time",
        variable: Some("SUPERKERNEL_JOBS"),
        cann: None,
        default: DefaultValue::Nothing("one per processor"),
        role: Role::Machine,
    }
    /// Longest run of one tool.
    tool_timeout: Option<Duration> {
        meaning: "the longest a compiler or linker may take, in seconds",
        help: "the longest a compiler or linker may take",
        variable: Some("SUPERKERNEL_TOOL_TIMEOUT"),
        cann: None,
        default: DefaultValue::Nothing("no limit"),
        role: Role::Machine,
    }
}

impl Setting {
    /// The setting called `name`, if there is one.
    pub(crate) fn from_name(name: &str) -> Option<&'static Self> {
        SETTINGS.iter().find(|setting| setting.name == name)
    }

    /// What holds when nobody says anything, and who says that; a SoC that is not supported has no cores.
    pub(crate) fn default_for(&self, soc: &str) -> (Option<Value>, &'static str) {
        match self.default {
            DefaultValue::Text(text) => (self.kind.read(Given::Text(text.to_owned())), "default"),
            DefaultValue::Nothing(_) => (None, "default"),
            DefaultValue::Cores(kind) => (Soc::parse(soc).ok().map(|soc| Value::Count(cores(soc, kind))), "SoC table"),
        }
    }

    /// The default, in words.
    pub(crate) fn default_text(&self) -> String {
        match self.default {
            DefaultValue::Text("") => "none".to_owned(),
            DefaultValue::Text(text) => format!("`{text}`"),
            DefaultValue::Nothing(words) => words.to_owned(),
            DefaultValue::Cores(kind) => {
                format!("by SoC: {}", Soc::ALL.map(|soc| cores(soc, kind).to_string()).join(", "))
            }
        }
    }
}

fn cores(soc: Soc, kind: CoreKind) -> u32 {
    match kind {
        CoreKind::Aic => soc.default_cores().aic,
        CoreKind::Aiv => soc.default_cores().aiv,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn defaults() -> Settings {
        Settings::read::<MissingSetting>(|name, _| Ok(Setting::from_name(name).unwrap().default_for("Ascend950").0))
            .unwrap()
    }

    #[test]
    fn every_default_is_a_value_of_its_setting() {
        let settings = defaults();
        assert_eq!((settings.soc.0.as_str(), settings.aic_num, settings.aiv_num), ("Ascend910_93", Some(32), Some(64)));
        assert_eq!(settings.toolchain, ToolchainChoice::Auto);
        for setting in SETTINGS {
            let wanted = matches!(setting.default, DefaultValue::Text(_));
            assert_eq!(setting.default_for("another").0.is_some(), wanted, "{}", setting.name);
        }
    }

    #[test]
    fn what_is_recorded_can_be_set_again_and_names_no_file() {
        let recorded = defaults().recorded();
        assert!(!recorded.is_empty());
        for setting in SETTINGS {
            match setting.role {
                Role::Machine => assert!(!recorded.contains_key(setting.name), "{}", setting.name),
                Role::Result => {
                    assert!(recorded.contains_key(setting.name), "{}", setting.name);
                    let names_a_file =
                        matches!(setting.kind, Kind::Directory | Kind::DirectoryOrNone | Kind::Reproducers);
                    assert!(!names_a_file, "{}: a record may come from anywhere", setting.name);
                }
            }
        }
    }

    #[test]
    fn names_and_variables_are_unique_and_variables_follow_their_names() {
        for (position, setting) in SETTINGS.iter().enumerate() {
            assert!(SETTINGS[..position].iter().all(|other| other.name != setting.name));
            if let Some(variable) = setting.variable {
                assert_eq!(variable, format!("SUPERKERNEL_{}", setting.name.to_uppercase()));
            }
        }
    }

    #[test]
    fn the_words_of_a_setting_are_all_explained() {
        for setting in SETTINGS {
            for word in setting.kind.words() {
                for text in [setting.meaning, setting.help] {
                    assert!(text.contains(&format!("`{word}`")), "{}: `{word}` is missing in {text:?}", setting.name);
                }
            }
        }
        let meaning = Setting::from_name("soc").unwrap().meaning;
        for soc in Soc::ALL {
            assert!(meaning.contains(&format!("`{soc}`")), "{soc} is missing in {meaning:?}");
        }
    }
}
