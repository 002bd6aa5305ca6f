//! The world around one build, taken once at its start: settings and the environment variables that matter.
//!
//! A setting is a row of [`table`]; the kinds of value are in [`kind`].

pub(crate) mod kind;
pub(crate) mod table;

use crate::named::named;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use serde_json::json;

use self::kind::{Kind, SettingType, Value};
pub use self::table::Settings;
pub(crate) use self::table::{SETTINGS, Setting};
use crate::model::{ModelError, Platform};
use crate::store::cache::{CacheSettings, Sharing};
use crate::toolchain::host::HostSearch;
use crate::toolchain::{CannSearch, DebugInfo, LinkerUse, MemoryCheck, Optimization, ToolchainKind};

/// Variables that compilers and linkers read: other headers, programs, flags, or words that end up in the result.
const COMPILER_VARIABLES: [&str; 13] = [
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "GCC_EXEC_PREFIX",
    "COMPILER_PATH",
    "LIBRARY_PATH",
    "GCC_COMPARE_DEBUG",
    "CCC_OVERRIDE_OPTIONS",
    "CLANG_CONFIG_FILE_USER_DIR",
    "SOURCE_DATE_EPOCH",
    "LD_RUN_PATH",
    "LDEMULATION",
    "GNUTARGET",
];

named! {
    /// Which toolchain is wanted.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ToolchainChoice {
        /// The device's if it is installed, else the machine's own.
        Auto = "auto",
        /// The device's.
        Cann = "cann",
        /// The machine's own.
        Host = "host",
    }
}

impl ToolchainChoice {
    /// The family of tools that it means where `search` looks: with `auto` the device compiler decides.
    pub(crate) fn kind(self, search: &CannSearch) -> ToolchainKind {
        match self {
            Self::Cann => ToolchainKind::Cann,
            Self::Auto if search.has_compiler() => ToolchainKind::Cann,
            Self::Auto | Self::Host => ToolchainKind::Host,
        }
    }
}

named! {
    /// Who links a kernel for a device.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum LinkerChoice {
        /// The vendor's linker.
        Vendor = "vendor",
        /// This package, in process.
        Own = "own",
        /// Both, and what differs is reported; the vendor's result is taken.
        Both = "both",
    }
}

impl LinkerChoice {
    /// Is the vendor's linker needed?
    pub(crate) fn of_vendor(self) -> LinkerUse {
        match self {
            Self::Vendor | Self::Both => LinkerUse::Needed,
            Self::Own => LinkerUse::None,
        }
    }
}

/// The debug configuration (`op_debug_config`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DebugConfig {
    /// `ccec_g`.
    pub debug_info: DebugInfo,
    /// `ccec_O0`.
    pub optimization: Optimization,
    /// `dump_cce`.
    pub intermediates: Intermediates,
    /// `oom`.
    pub memory_check: MemoryCheck,
    /// `sanitizer`: known, and refused when a kernel is built for a device.
    pub wants_sanitizer: bool,
}

/// What becomes of the generated source and the super kernel's own objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intermediates {
    /// Removed.
    Remove,
    /// Kept beside the result.
    Keep,
}

impl DebugConfig {
    /// Reads the words of `op_debug_config`; words of no meaning here are other software's.
    pub(crate) fn from_words<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        let words: Vec<&str> = words.into_iter().collect();
        let has = |word: &str| words.contains(&word);
        Self {
            debug_info: if has("ccec_g") { DebugInfo::Keep } else { DebugInfo::Omit },
            optimization: if has("ccec_O0") { Optimization::None } else { Optimization::Usual },
            intermediates: if has("dump_cce") { Intermediates::Keep } else { Intermediates::Remove },
            memory_check: if has("oom") { MemoryCheck::On } else { MemoryCheck::Off },
            wants_sanitizer: has("sanitizer"),
        }
    }

    /// The words again, those of no meaning here left out.
    pub(crate) fn words(&self) -> Vec<&'static str> {
        let mut words = Vec::new();
        match self.debug_info {
            DebugInfo::Omit => {}
            DebugInfo::Keep => words.push("ccec_g"),
        }
        match self.optimization {
            Optimization::Usual => {}
            Optimization::None => words.push("ccec_O0"),
        }
        match self.intermediates {
            Intermediates::Remove => {}
            Intermediates::Keep => words.push("dump_cce"),
        }
        match self.memory_check {
            MemoryCheck::Off => {}
            MemoryCheck::On => words.push("oom"),
        }
        if self.wants_sanitizer {
            words.push("sanitizer");
        }
        words
    }

    /// What of it changes the result.
    pub(crate) fn facts(&self) -> Vec<(String, String)> {
        let debug_info = match self.debug_info {
            DebugInfo::Omit => "no",
            DebugInfo::Keep => "yes",
        };
        let optimization = match self.optimization {
            Optimization::Usual => "usual",
            Optimization::None => "none",
        };
        let memory_check = match self.memory_check {
            MemoryCheck::Off => "no",
            MemoryCheck::On => "yes",
        };
        vec![
            ("debug information".to_owned(), debug_info.to_owned()),
            ("optimization".to_owned(), optimization.to_owned()),
            ("memory check".to_owned(), memory_check.to_owned()),
        ]
    }
}

impl SettingType for DebugConfig {
    const KIND: Kind = Kind::Words(&["dump_cce", "ccec_g", "ccec_O0", "oom", "sanitizer"]);

    fn from_value(value: Option<Value>) -> Option<Self> {
        match value {
            Some(Value::Words(words)) => Some(Self::from_words(words.iter().map(String::as_str))),
            _ => None,
        }
    }

    fn to_json(&self) -> serde_json::Value {
        json!(self.words())
    }
}

/// Everything a build wants to know that is not in `kernel_infos`.
#[derive(Debug, Clone)]
pub struct Environment {
    /// The settings in force.
    pub settings: Settings,
    /// What it is built for, as the settings say.
    pub platform: Platform,
    /// The emulation headers of the host toolchain.
    pub include_dir: PathBuf,
    /// Environment variables.
    pub variables: Variables,
    /// What CANN says about the platform, by its key in a kernel's description.
    pub platform_info: BTreeMap<String, u64>,
}

/// The environment variables that matter, as values.
#[derive(Debug, Clone, Default)]
pub struct Variables {
    /// `PATH`.
    pub path: Option<OsString>,
    /// `CXX`.
    pub cxx: Option<OsString>,
    /// `ASCEND_HOME_PATH`.
    pub ascend_home: Option<OsString>,
    /// `ASCENDC_CCACHE_EXECUTABLE`.
    pub compiler_cache: Option<PathBuf>,
    /// `ASCENDC_COV=1`: coverage is measured, which needs debug information.
    pub coverage: bool,
    /// Those of [`COMPILER_VARIABLES`] that are set.
    pub compiler: Vec<(&'static str, OsString)>,
}

impl Variables {
    /// What this process's environment says now.
    pub fn from_process() -> Self {
        let get = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        Self {
            path: get("PATH"),
            cxx: get("CXX"),
            ascend_home: get("ASCEND_HOME_PATH"),
            compiler_cache: get("ASCENDC_CCACHE_EXECUTABLE").map(PathBuf::from),
            coverage: get("ASCENDC_COV").is_some_and(|value| value == "1"),
            compiler: COMPILER_VARIABLES.into_iter().filter_map(|name| Some((name, get(name)?))).collect(),
        }
    }

    /// Where host tools are looked for.
    pub(crate) fn host_search(&self) -> HostSearch {
        HostSearch { cxx: self.cxx.clone(), path: self.path.clone() }
    }

    /// Where device tools are looked for.
    pub(crate) fn cann_search(&self) -> CannSearch {
        CannSearch { path: self.path.clone(), home: self.ascend_home.clone(), launcher: self.compiler_cache.clone() }
    }
}

impl Environment {
    /// The world as the settings and this process's environment say.
    pub fn new(settings: Settings, include_dir: PathBuf) -> Result<Self, ModelError> {
        let platform = Platform::new(&settings.soc.0, settings.aic_num, settings.aiv_num)?;
        let (variables, platform_info) = (Variables::from_process(), BTreeMap::new());
        Ok(Self { settings, platform, include_dir, variables, platform_info })
    }

    /// The debug configuration, as the settings and the variables say together.
    pub(crate) fn debug_config(&self) -> DebugConfig {
        let mut config = self.settings.op_debug_config;
        if self.variables.coverage {
            config.debug_info = DebugInfo::Keep;
        }
        config
    }

    /// The output directory.
    pub(crate) fn kernel_meta(&self) -> PathBuf {
        self.settings.kernel_meta_parent_dir.join("kernel_meta")
    }

    /// The cache, if there is one.
    pub(crate) fn cache(&self) -> Option<CacheSettings> {
        let directory = self.settings.cache_dir.clone()?;
        let sharing = Sharing::with_others(self.settings.cache_shared);
        Some(CacheSettings { directory, limit: self.settings.cache_size, sharing })
    }

    /// Where host tools are looked for.
    pub(crate) fn host_search(&self) -> HostSearch {
        self.variables.host_search()
    }

    /// Where device tools are looked for.
    pub(crate) fn cann_search(&self) -> CannSearch {
        self.variables.cann_search()
    }

    /// Is a compiler cache in front of the compiler?
    pub(crate) fn has_compiler_cache(&self) -> bool {
        self.variables.compiler_cache.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_words_are_found_among_others() {
        let config = DebugConfig::from_words(["oom", "ccec_g", "dump_cce"]);
        assert_eq!(config.debug_info, DebugInfo::Keep);
        assert_eq!(config.optimization, Optimization::Usual);
        assert_eq!(config.intermediates, Intermediates::Keep);
        assert_eq!(config.memory_check, MemoryCheck::On);
        assert_eq!(config.words(), ["ccec_g", "dump_cce", "oom"]);
        assert_ne!(config.facts(), DebugConfig::from_words(["ccec_O0"]).facts());
    }
}
