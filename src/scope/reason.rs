//! Why nodes are left out of super kernels.

use std::fmt;

/// Why a node is not in a super kernel, or why a scope was cut there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// The op was not compiled as a possible sub-kernel; typically a TBE or TIK kernel.
    NoSupportFlag,
    /// It runs on the host, the AICPU or a DMA engine.
    NoAiCore,
    /// The caller said that ops of its type cannot be fused.
    NotFusableType,
    /// A SIMT kernel.
    Simt,
    /// Its tiling may run on the AICPU but does not, and its binary is a prebuilt one.
    TilingReusesBinary,
    /// It belongs to another scope.
    OtherScope,
    /// It is not marked.
    Unmarked,
    /// It is marked but has no stream.
    UnassignedStream,
    /// The caller took it out, for example because it failed to compile.
    Excluded,
    /// Work between an earlier member and this op waits for the one and is waited for by the other.
    WaitCycle,
    /// It would be the only op of its piece.
    SingleOp,
    /// The options of its scope are not valid.
    OptionMistake,
    /// Its scope asked for all or nothing with `strict-scope-check=bypass`.
    Bypassed,
}

impl Reason {
    /// Every reason.
    #[cfg(test)]
    pub(crate) const ALL: [Self; 13] = [
        Self::NoSupportFlag,
        Self::NoAiCore,
        Self::NotFusableType,
        Self::Simt,
        Self::TilingReusesBinary,
        Self::OtherScope,
        Self::Unmarked,
        Self::UnassignedStream,
        Self::Excluded,
        Self::WaitCycle,
        Self::SingleOp,
        Self::OptionMistake,
        Self::Bypassed,
    ];

    /// The stable code used in reports.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::NoSupportFlag => "no-support-flag",
            Self::NoAiCore => "no-ai-core",
            Self::NotFusableType => "not-fusable-type",
            Self::Simt => "simt",
            Self::TilingReusesBinary => "tiling-reuses-binary",
            Self::OtherScope => "other-scope",
            Self::Unmarked => "unmarked",
            Self::UnassignedStream => "unassigned-stream",
            Self::Excluded => "excluded",
            Self::WaitCycle => "wait-cycle",
            Self::SingleOp => "single-op",
            Self::OptionMistake => "option-mistake",
            Self::Bypassed => "strict-bypass",
        }
    }

    /// What the code means, for people.
    pub(crate) fn explain(self) -> &'static str {
        match self {
            Self::NoSupportFlag => "it was not compiled as a sub-kernel (supportSuperKernel is not 1)",
            Self::NoAiCore => "it does not run on the AI cores",
            Self::NotFusableType => "ops of its type count as not fusable, as was asked for",
            Self::Simt => "it is a SIMT kernel (local_memory_size is above 0)",
            Self::TilingReusesBinary => {
                "its tiling may run on the AICPU but is not sunk, and its binary is a prebuilt one"
            }
            Self::OtherScope => "it belongs to another scope",
            Self::Unmarked => "it is not marked",
            Self::UnassignedStream => "it has no stream",
            Self::Excluded => "it was taken out by the caller",
            Self::WaitCycle => "it waits for work outside that waits for an earlier op of the piece",
            Self::SingleOp => "it would be alone in its super kernel",
            Self::OptionMistake => "the options of its scope are not valid",
            Self::Bypassed => "its scope stays unfused because of strict-scope-check=bypass",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.code())
    }
}
