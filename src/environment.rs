//! The world around one build, taken once at its start: settings and the environment variables that matter.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::model::Platform;
use crate::store::cache::CacheSettings;
use crate::toolchain::host::HostSearch;
use crate::toolchain::{CannSearch, DebugInfo, Optimization};

/// Variables through which a compiler can be told about other headers or programs.
const COMPILER_VARIABLES: [&str; 6] =
    ["CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "GCC_EXEC_PREFIX", "COMPILER_PATH", "CCC_OVERRIDE_OPTIONS"];

/// Which toolchain is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolchainChoice {
    /// The device's if it is installed, else the machine's own.
    Auto,
    /// The device's.
    Cann,
    /// The machine's own.
    Host,
}

impl ToolchainChoice {
    /// The choice with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "auto" => Some(Self::Auto),
            "cann" => Some(Self::Cann),
            "host" => Some(Self::Host),
            _ => None,
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
    pub fn from_words<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        let words: Vec<&str> = words.into_iter().collect();
        let has = |word: &str| words.contains(&word);
        Self {
            debug_info: if has("ccec_g") { DebugInfo::Keep } else { DebugInfo::Omit },
            optimization: if has("ccec_O0") { Optimization::None } else { Optimization::Usual },
            intermediates: if has("dump_cce") { Intermediates::Keep } else { Intermediates::Remove },
        }
    }

    /// The words again, those of no meaning here left out.
    pub fn words(&self) -> Vec<&'static str> {
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
        words
    }

    /// What of it changes the result.
    pub fn facts(&self) -> Vec<(String, String)> {
        let debug_info = match self.debug_info {
            DebugInfo::Omit => "no",
            DebugInfo::Keep => "yes",
        };
        let optimization = match self.optimization {
            Optimization::Usual => "usual",
            Optimization::None => "none",
        };
        vec![
            ("debug information".to_owned(), debug_info.to_owned()),
            ("optimization".to_owned(), optimization.to_owned()),
        ]
    }
}

/// Everything a build wants to know that is not in `kernel_infos`.
#[derive(Debug, Clone)]
pub struct Environment {
    /// What it is built for.
    pub platform: Platform,
    /// Where `kernel_meta` is, or will be.
    pub kernel_meta_parent_dir: PathBuf,
    /// Debug configuration.
    pub debug: DebugConfig,
    /// Which toolchain.
    pub toolchain: ToolchainChoice,
    /// Where finished kernels are kept for other directories and processes.
    pub cache: Option<CacheSettings>,
    /// Threads used for copies and reading; `None`: one per processor.
    pub jobs: Option<usize>,
    /// Longest run of one tool.
    pub tool_timeout: Option<Duration>,
    /// The emulation headers of the host toolchain.
    pub include_dir: PathBuf,
    /// Environment variables.
    pub variables: Variables,
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
            compiler: COMPILER_VARIABLES.into_iter().filter_map(|name| Some((name, get(name)?))).collect(),
        }
    }
}

impl Environment {
    /// The output directory.
    pub fn kernel_meta(&self) -> PathBuf {
        self.kernel_meta_parent_dir.join("kernel_meta")
    }

    /// Where host tools are looked for.
    pub fn host_search(&self) -> HostSearch {
        HostSearch { cxx: self.variables.cxx.clone(), path: self.variables.path.clone() }
    }

    /// Where device tools are looked for.
    pub fn cann_search(&self) -> CannSearch {
        CannSearch {
            path: self.variables.path.clone(),
            home: self.variables.ascend_home.clone(),
            launcher: self.variables.compiler_cache.clone(),
        }
    }

    /// Is a compiler cache in front of the compiler?
    pub fn has_compiler_cache(&self) -> bool {
        self.variables.compiler_cache.is_some()
    }
}

/// `path` seen from the current directory, which may be another one when the path is used.
pub fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
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
        assert_ne!(config.facts(), DebugConfig::from_words(["ccec_O0"]).facts());
    }
}
