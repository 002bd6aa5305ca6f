//! The options there are.

use std::fmt;

/// Every option a super kernel takes, in the order of the documentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OptionName {
    /// Alignment attribute of the entry.
    FuncAlign,
    /// Instruction-cache preload.
    PreloadCode,
    /// Overlap the end of one op with the start of the next.
    EarlyStart,
    /// Allow ops of several streams.
    StreamFusion,
    /// Flush the whole data cache after every op.
    DebugDcciAll,
    /// A full barrier after every op.
    DebugSyncAll,
    /// Let idle cores follow the `SyncAll` calls of ops with fewer blocks.
    FeedSyncAll,
    /// Write time records.
    Profiling,
    /// Extra arguments of the device compiler.
    CompileOptions,
    /// How the scope planner treats what cannot be fused; no effect on code.
    StrictScopeCheck,
    /// Op types in front of which the data cache is flushed.
    DcciBeforeKernelStart,
    /// Op types after which the data cache is flushed.
    DcciAfterKernelEnd,
    /// Op types around which the data cache is never flushed.
    DcciDisableOnKernel,
    /// Number of code copies.
    SplitMode,
    /// Force the number of cube cores.
    DebugAicNum,
    /// Force the number of vector cores.
    DebugAivNum,
}

impl OptionName {
    /// All options, in the order of the documentation.
    pub const ALL: [Self; 16] = [
        Self::FuncAlign,
        Self::PreloadCode,
        Self::EarlyStart,
        Self::StreamFusion,
        Self::DebugDcciAll,
        Self::DebugSyncAll,
        Self::FeedSyncAll,
        Self::Profiling,
        Self::CompileOptions,
        Self::StrictScopeCheck,
        Self::DcciBeforeKernelStart,
        Self::DcciAfterKernelEnd,
        Self::DcciDisableOnKernel,
        Self::SplitMode,
        Self::DebugAicNum,
        Self::DebugAivNum,
    ];

    /// The name as written in an option string.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FuncAlign => "func-align",
            Self::PreloadCode => "preload-code",
            Self::EarlyStart => "early-start",
            Self::StreamFusion => "stream-fusion",
            Self::DebugDcciAll => "debug-dcci-all",
            Self::DebugSyncAll => "debug-sync-all",
            Self::FeedSyncAll => "feed-sync-all",
            Self::Profiling => "profiling",
            Self::CompileOptions => "compile-options",
            Self::StrictScopeCheck => "strict-scope-check",
            Self::DcciBeforeKernelStart => "dcci-before-kernel-start",
            Self::DcciAfterKernelEnd => "dcci-after-kernel-end",
            Self::DcciDisableOnKernel => "dcci-disable-on-kernel",
            Self::SplitMode => "split-mode",
            Self::DebugAicNum => "debug-aic-num",
            Self::DebugAivNum => "debug-aiv-num",
        }
    }

    /// The option written `name`, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|option| option.as_str() == name)
    }

    /// The values it takes, for messages and `superkernel options`.
    pub fn accepts(self) -> &'static str {
        match self {
            Self::FuncAlign => "`0` or a power of two from 2 up",
            Self::PreloadCode => "one of `max`, `none`, `per-func`",
            Self::EarlyStart => "one of `0`, `1`, `2`",
            Self::StreamFusion | Self::DebugDcciAll | Self::DebugSyncAll | Self::FeedSyncAll | Self::Profiling => {
                "`0` or `1`"
            }
            Self::CompileOptions => "compiler arguments separated by commas",
            Self::StrictScopeCheck => "`bypass` or `abort`",
            Self::DcciBeforeKernelStart | Self::DcciAfterKernelEnd | Self::DcciDisableOnKernel => {
                "op types separated by commas"
            }
            Self::SplitMode => "a number from 1 to 64",
            Self::DebugAicNum | Self::DebugAivNum => "a number from 0 up",
        }
    }

    /// The value in force when the option is not given; empty if there is none.
    pub fn default_text(self) -> &'static str {
        match self {
            Self::FuncAlign => "512",
            Self::PreloadCode => "per-func",
            Self::EarlyStart => "1",
            Self::SplitMode => "4",
            Self::StreamFusion
            | Self::DebugDcciAll
            | Self::DebugSyncAll
            | Self::FeedSyncAll
            | Self::Profiling
            | Self::DebugAicNum
            | Self::DebugAivNum => "0",
            Self::CompileOptions
            | Self::StrictScopeCheck
            | Self::DcciBeforeKernelStart
            | Self::DcciAfterKernelEnd
            | Self::DcciDisableOnKernel => "",
        }
    }

    /// What it does, in a few words.
    pub fn effect(self) -> &'static str {
        match self {
            Self::FuncAlign => "alignment of the kernel entry; 0: none",
            Self::PreloadCode => "preload instructions: all at the start, never, or op by op",
            Self::EarlyStart => "overlap neighbouring ops; 2: on, but the sub-kernels were built without",
            Self::StreamFusion => "allow ops of several streams to run side by side",
            Self::DebugDcciAll => "flush the whole data cache after every op",
            Self::DebugSyncAll => "full barrier after every op",
            Self::FeedSyncAll => "let idle cores follow the SyncAll of ops that use fewer cores",
            Self::Profiling => "write time records for the kernel, its ops and events",
            Self::CompileOptions => "arguments passed to the device compiler as they are",
            Self::StrictScopeCheck => "how scope planning treats what cannot be fused; no effect on code",
            Self::DcciBeforeKernelStart => "flush the data cache before ops of these types",
            Self::DcciAfterKernelEnd => "flush the data cache after ops of these types",
            Self::DcciDisableOnKernel => "never flush around ops of these types",
            Self::SplitMode => "number of code copies, so that cores fetch from different addresses",
            Self::DebugAicNum => "force the number of cube cores",
            Self::DebugAivNum => "force the number of vector cores",
        }
    }
}

impl fmt::Display for OptionName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printing_and_parsing_are_inverse() {
        for option in OptionName::ALL {
            assert_eq!(OptionName::from_name(&option.to_string()), Some(option));
        }
    }
}
