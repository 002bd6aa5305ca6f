//! The one table of options. Everything that lists options follows from it: the names, the typed [`Options`] and their
//! defaults, parsing, printing, the fingerprint of a build, kernel names, messages, `superkernel options`, the tables
//! of the documents and the enums of the Python package.

use std::fmt;
use std::ops::Range;

use super::values::{
    Alignment, CompilerArguments, DynamicCores, EarlyStartMode, OpTypes, OptionType, PreloadMode, ScopeCheck,
    SharedValue, SplitCount, SyncMode,
};

/// One `name=value` of the string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenOption {
    /// Which option.
    pub name: OptionName,
    /// Its value, as other software sees it.
    pub value: SharedValue,
    /// The bytes of the whole part in the string as given.
    pub span: Range<usize>,
}

/// What an option has an influence on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Influence {
    /// The code of the super kernel, and so the name of the kernel.
    Code,
    /// Only which ops come into a super kernel.
    Scopes,
}

/// One row per option:
///
/// ```text
/// /// Documentation of the field.
/// Variant "name-as-written" => field: Type = default, Influence, "what it does";
/// ```
///
/// The type says what values there are ([`OptionType`]). A `bool` becomes an enum `SuperKernel<Variant>Mode` in Python.
macro_rules! options {
    ($(
        $(#[doc = $documentation:literal])+
        $variant:ident $name:literal => $field:ident: $type:ty = $default:expr, $influence:ident, $effect:literal;
    )+) => {
        /// Every option a super kernel takes, in the order of the documentation.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum OptionName {
            $($(#[doc = $documentation])+ $variant,)+
        }

        /// Every option with the value in force.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct Options {
            $($(#[doc = $documentation])+ pub $field: $type,)+
            /// What the string said, in its order.
            pub given: Vec<GivenOption>,
            /// Parts that were skipped, as messages.
            pub warnings: Vec<String>,
        }

        impl Default for Options {
            fn default() -> Self {
                Self { $($field: $default,)+ given: Vec::new(), warnings: Vec::new() }
            }
        }

        impl OptionName {
            /// All options, in the order of the documentation.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name as written in an option string.
            pub(crate) const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// What it does, in a few words.
            pub(crate) fn effect(self) -> &'static str {
                match self { $(Self::$variant => $effect,)+ }
            }

            /// What it has an influence on.
            pub(crate) fn influence(self) -> Influence {
                match self { $(Self::$variant => Influence::$influence,)+ }
            }

            /// The values it takes, for messages and listings.
            pub(crate) fn accepts(self) -> &'static str {
                match self { $(Self::$variant => <$type>::ACCEPTS,)+ }
            }

            /// Some values it takes, as written.
            pub(crate) fn samples(self) -> &'static [&'static str] {
                match self { $(Self::$variant => <$type>::SAMPLES,)+ }
            }

        }

        impl Options {
            /// Sets one option to what is written, if that is a value of it; gives the value as other software sees it.
            pub(super) fn set(&mut self, name: OptionName, written: &str) -> Option<SharedValue> {
                match name {
                    $(OptionName::$variant => {
                        let value = <$type>::read(written)?;
                        let shared = value.shared(stringify!($variant), written);
                        self.$field = value;
                        Some(shared)
                    })+
                }
            }

            /// The value in force, in its one written form: equal values have equal texts.
            pub(crate) fn text(&self, name: OptionName) -> String {
                match name { $(OptionName::$variant => self.$field.text(),)+ }
            }
        }
    };
}

options! {
    /// Alignment of the entry in bytes.
    FuncAlign "func-align" => func_align: Alignment = Alignment::DEFAULT, Code,
        "alignment of the kernel entry; 0: none";
    /// Instruction-cache preload.
    PreloadCode "preload-code" => preload: PreloadMode = PreloadMode::PerFunction, Code,
        "preload instructions: all at the start, never, or op by op";
    /// Overlap of the end of one op with the start of the next.
    EarlyStart "early-start" => early_start: EarlyStartMode = EarlyStartMode::On, Code,
        "overlap neighbouring ops; 2: on, but the sub-kernels were built without";
    /// Ops of several streams are allowed.
    StreamFusion "stream-fusion" => stream_fusion: bool = false, Code,
        "allow ops of several streams to run side by side";
    /// Flush the whole data cache after every op.
    DebugDcciAll "debug-dcci-all" => debug_dcci_all: bool = false, Code,
        "flush the data cache after every op";
    /// Full barrier after every op.
    DebugSyncAll "debug-sync-all" => debug_sync_all: bool = false, Code,
        "a full barrier after every op";
    /// Idle cores follow the `SyncAll` calls of ops with fewer blocks.
    FeedSyncAll "feed-sync-all" => feed_sync_all: bool = false, Code,
        "let idle cores follow the SyncAll of ops that use fewer cores";
    /// Time records.
    Profiling "profiling" => profiling: bool = false, Code,
        "write time records for the kernel, its ops and events";
    /// Arguments for the device compiler.
    CompileOptions "compile-options" => compile_options: CompilerArguments = CompilerArguments::default(), Code,
        "arguments passed to the device compiler as they are";
    /// How the scope planner treats what cannot be fused.
    StrictScopeCheck "strict-scope-check" => strict_scope_check: ScopeCheck = ScopeCheck::default(), Scopes,
        "how scope planning treats what cannot be fused; no effect on code";
    /// Op types with a flush in front.
    DcciBeforeKernelStart "dcci-before-kernel-start" => dcci_before: OpTypes = OpTypes::default(), Code,
        "flush the data cache before ops of these types";
    /// Op types with a flush behind.
    DcciAfterKernelEnd "dcci-after-kernel-end" => dcci_after: OpTypes = OpTypes::default(), Code,
        "flush the data cache after ops of these types";
    /// Op types without any flush.
    DcciDisableOnKernel "dcci-disable-on-kernel" => dcci_disable: OpTypes = OpTypes::default(), Code,
        "never flush around ops of these types";
    /// Synchronisation that can be proven to be unnecessary is left out, or not.
    Sync "sync" => sync: SyncMode = SyncMode::Proven, Code,
        "synchronisation between ops: `contract` keeps every step of the replaced software, `proven` leaves out what is proven to be unnecessary";
    /// Number of code copies.
    SplitMode "split-mode" => split: SplitCount = SplitCount::DEFAULT, Code,
        "number of code copies, so that cores fetch from different addresses";
    /// The cores that enter a dynamic op.
    DynamicCores "dynamic-cores" => dynamic_cores: DynamicCores = DynamicCores::All, Code,
        "cores that enter a dynamic op: all, or as many as it was tiled for (all, if its code may call SyncAll)";
    /// Forced number of cube cores; 0: not forced.
    DebugAicNum "debug-aic-num" => debug_aic_num: u32 = 0, Code,
        "force the number of cube cores";
    /// Forced number of vector cores; 0: not forced.
    DebugAivNum "debug-aiv-num" => debug_aiv_num: u32 = 0, Code,
        "force the number of vector cores";
}

impl OptionName {
    /// The option written `name`, if there is one.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|option| option.as_str() == name)
    }

    /// The value in force when the option is not given; empty if there is none.
    pub(crate) fn default_text(self) -> String {
        Options::default().text(self)
    }
}

impl fmt::Display for OptionName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl Options {
    /// Was this option written in the string?
    pub(crate) fn is_given(&self, name: OptionName) -> bool {
        self.given.iter().any(|option| option.name == name)
    }

    /// Every option with the value in force, given or not: writing out a default changes nothing.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (OptionName, String)> + '_ {
        OptionName::ALL.iter().map(|name| (*name, self.text(*name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printing_and_parsing_are_inverse() {
        for option in OptionName::ALL {
            assert_eq!(OptionName::from_name(&option.to_string()), Some(*option));
        }
    }

    /// Every option is stored in a field of its own, and its text says which value that is.
    #[test]
    fn a_value_is_seen_in_the_text_of_its_option_and_nowhere_else() {
        for option in OptionName::ALL {
            assert!(!option.samples().is_empty(), "{option}");
            for sample in option.samples() {
                let mut options = Options::default();
                options.set(*option, sample).unwrap();
                assert_eq!(options.text(*option), *sample, "{option}: samples are in their one form");
                for other in OptionName::ALL.iter().filter(|other| *other != option) {
                    assert_eq!(options.text(*other), other.default_text(), "{option}={sample} changes {other}");
                }
            }
            let differs = option.samples().iter().any(|sample| *sample != option.default_text());
            assert!(differs, "{option}: a test needs a value that is not the default");
        }
    }
}
