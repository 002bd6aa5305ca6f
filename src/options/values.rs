//! The kinds of value an option can have, and how each is read.

use super::OptionName;

/// Instruction-cache preload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PreloadMode {
    /// `max`: 16 KiB from the entry on, once.
    Whole,
    /// `none`: never.
    Never,
    /// `per-func`: each op while the one before it runs.
    PerFunction,
}

/// Overlap of neighbouring ops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EarlyStartMode {
    /// `0`: a barrier between ops.
    Off,
    /// `1`: on, also inside sub-kernels that were built for it.
    On,
    /// `2`: on in the super kernel; the sub-kernels were built without.
    OnOutsideSubKernels,
}

impl EarlyStartMode {
    /// Is the inter-op barrier split into set and wait?
    pub fn is_on(self) -> bool {
        match self {
            Self::Off => false,
            Self::On | Self::OnOutsideSubKernels => true,
        }
    }
}

/// Number of code copies: 1 to 64.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SplitCount(u32);

impl SplitCount {
    /// What is used when nothing is said.
    pub const DEFAULT: Self = Self(4);
    /// The most copies there can be.
    pub const MAX: u32 = 64;

    /// A checked count.
    pub fn new(count: u64) -> Option<Self> {
        u32::try_from(count).ok().filter(|count| (1..=Self::MAX).contains(count)).map(Self)
    }

    pub(super) fn saturating(count: u64) -> Self {
        Self(u32::try_from(count).unwrap_or(Self::MAX).clamp(1, Self::MAX))
    }

    /// The number of copies.
    pub fn get(self) -> u32 {
        self.0
    }
}

/// A value that its option accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OptionValue {
    /// Of `preload-code`.
    Preload(PreloadMode),
    /// Of `early-start`.
    EarlyStart(EarlyStartMode),
    /// Of the 0/1 options.
    Switch(bool),
    /// Of the numeric options.
    Number(u64),
    /// Of the list and text options, as written.
    Text(String),
}

impl OptionValue {
    /// Reads `text` as a value of `name`; `None` if it refuses it.
    pub fn read(name: OptionName, text: &str) -> Option<Self> {
        match name {
            OptionName::FuncAlign => {
                number(text).filter(|n| *n == 0 || (*n >= 2 && n.is_power_of_two())).map(Self::Number)
            }
            OptionName::PreloadCode => match text {
                "max" => Some(Self::Preload(PreloadMode::Whole)),
                "none" => Some(Self::Preload(PreloadMode::Never)),
                "per-func" => Some(Self::Preload(PreloadMode::PerFunction)),
                _ => None,
            },
            OptionName::EarlyStart => match text {
                "0" => Some(Self::EarlyStart(EarlyStartMode::Off)),
                "1" => Some(Self::EarlyStart(EarlyStartMode::On)),
                "2" => Some(Self::EarlyStart(EarlyStartMode::OnOutsideSubKernels)),
                _ => None,
            },
            OptionName::StreamFusion
            | OptionName::DebugDcciAll
            | OptionName::DebugSyncAll
            | OptionName::FeedSyncAll
            | OptionName::Profiling => match text {
                "0" => Some(Self::Switch(false)),
                "1" => Some(Self::Switch(true)),
                _ => None,
            },
            OptionName::CompileOptions
            | OptionName::StrictScopeCheck
            | OptionName::DcciBeforeKernelStart
            | OptionName::DcciAfterKernelEnd
            | OptionName::DcciDisableOnKernel => Some(Self::Text(text.to_owned())),
            OptionName::SplitMode => number(text).filter(|n| SplitCount::new(*n).is_some()).map(Self::Number),
            OptionName::DebugAicNum | OptionName::DebugAivNum => {
                number(text).filter(|n| u32::try_from(*n).is_ok()).map(Self::Number)
            }
        }
    }
}

/// Decimal digits only: no sign, no blanks, no underscores.
fn number(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}
