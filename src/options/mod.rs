//! The option string of a super kernel: `name=value:name=value…`, parsed once into a typed value.

mod error;
mod name;
mod parse;
mod values;

pub use error::{Located, OptionError, OptionProblem};
pub use name::OptionName;
pub use parse::{GivenOption, Separator, parse};
pub use values::{EarlyStartMode, OptionValue, PreloadMode, SplitCount};

/// Every option with the value in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Alignment of the entry in bytes; 0: no attribute.
    pub func_align: u64,
    /// Instruction-cache preload.
    pub preload: PreloadMode,
    /// Overlap of neighbouring ops.
    pub early_start: EarlyStartMode,
    /// Several streams are allowed.
    pub stream_fusion: bool,
    /// Flush after every op.
    pub debug_dcci_all: bool,
    /// Full barrier after every op.
    pub debug_sync_all: bool,
    /// Idle cores follow `SyncAll`.
    pub feed_sync_all: bool,
    /// Time records.
    pub profiling: bool,
    /// Arguments for the device compiler, in order.
    pub compile_options: Vec<String>,
    /// `bypass`, `abort`, or whatever was written; read by the scope planner only.
    pub strict_scope_check: Option<String>,
    /// Op types with a flush in front.
    pub dcci_before: Vec<String>,
    /// Op types with a flush behind.
    pub dcci_after: Vec<String>,
    /// Op types without any flush.
    pub dcci_disable: Vec<String>,
    /// Number of code copies.
    pub split: SplitCount,
    /// Forced number of cube cores; 0: not forced.
    pub debug_aic_num: u32,
    /// Forced number of vector cores; 0: not forced.
    pub debug_aiv_num: u32,
    /// What the string said, in its order.
    pub given: Vec<GivenOption>,
    /// Parts that were skipped, as messages.
    pub warnings: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            func_align: 512,
            preload: PreloadMode::PerFunction,
            early_start: EarlyStartMode::On,
            stream_fusion: false,
            debug_dcci_all: false,
            debug_sync_all: false,
            feed_sync_all: false,
            profiling: false,
            compile_options: Vec::new(),
            strict_scope_check: None,
            dcci_before: Vec::new(),
            dcci_after: Vec::new(),
            dcci_disable: Vec::new(),
            split: SplitCount::DEFAULT,
            debug_aic_num: 0,
            debug_aiv_num: 0,
            given: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

impl Options {
    /// Was this option written in the string?
    pub fn is_given(&self, name: OptionName) -> bool {
        self.given.iter().any(|option| option.name == name)
    }

    /// Takes over one parsed value.
    fn set(&mut self, name: OptionName, value: &OptionValue) {
        match value {
            OptionValue::Preload(mode) => self.preload = *mode,
            OptionValue::EarlyStart(mode) => self.early_start = *mode,
            OptionValue::Switch(on) => *self.switch(name) = *on,
            OptionValue::Number(number) => match name {
                OptionName::FuncAlign => self.func_align = *number,
                OptionName::SplitMode => self.split = SplitCount::saturating(*number),
                OptionName::DebugAicNum => self.debug_aic_num = u32::try_from(*number).unwrap_or(u32::MAX),
                _ => self.debug_aiv_num = u32::try_from(*number).unwrap_or(u32::MAX),
            },
            OptionValue::Text(text) => match name {
                OptionName::CompileOptions => self.compile_options = comma_list(text),
                OptionName::DcciBeforeKernelStart => self.dcci_before = comma_list(text),
                OptionName::DcciAfterKernelEnd => self.dcci_after = comma_list(text),
                OptionName::DcciDisableOnKernel => self.dcci_disable = comma_list(text),
                _ => self.strict_scope_check = Some(text.clone()),
            },
        }
    }

    fn switch(&mut self, name: OptionName) -> &mut bool {
        match name {
            OptionName::StreamFusion => &mut self.stream_fusion,
            OptionName::DebugDcciAll => &mut self.debug_dcci_all,
            OptionName::DebugSyncAll => &mut self.debug_sync_all,
            OptionName::FeedSyncAll => &mut self.feed_sync_all,
            _ => &mut self.profiling,
        }
    }
}

fn comma_list(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect()
}
