//! The kinds of value an option can have: how each is read, printed and shown to other software.

use crate::named::{Named, named};
use std::ops::Deref;

use crate::arguments::arguments;

/// A type an option can have.
pub(crate) trait OptionType: Sized {
    /// The values there are, for messages and listings.
    const ACCEPTS: &'static str;
    /// Some of them, in their one form; at least two if there are two.
    const SAMPLES: &'static [&'static str];

    /// Reads what is written; `None` if it is no value of this type.
    fn read(text: &str) -> Option<Self>;

    /// The value in its one written form.
    fn text(&self) -> String;

    /// The value, given as `written`, as software that shares the option string with us sees it; `stem`: the words of the
    /// option's name, each with a capital letter. Most see what is written.
    fn shared(&self, _stem: &str, written: &str) -> SharedValue {
        SharedValue::Text(written.to_owned())
    }
}

/// A value as `superkernel.super_kernel_option_parse` gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SharedValue {
    /// An `int`.
    Number(u64),
    /// A `str`, as written.
    Text(String),
    /// A member of an enum of `superkernel.super_kernel_constants`.
    Member {
        /// The enum.
        class: String,
        /// Its member.
        member: String,
    },
}

impl SharedValue {
    fn member(class: &str, member: &str) -> Self {
        Self::Member { class: class.to_owned(), member: member.to_owned() }
    }
}

/// An option that is one of its names.
pub(crate) trait Choice: Named {
    /// Its names, for messages and listings.
    const ACCEPTS: &'static str;

    /// The value as software that shares the option string with us sees it, if not as it is written.
    fn member(self) -> Option<SharedValue> {
        None
    }
}

impl<T: Choice> OptionType for T {
    const ACCEPTS: &'static str = <T as Choice>::ACCEPTS;
    const SAMPLES: &'static [&'static str] = T::NAMES;

    fn read(text: &str) -> Option<Self> {
        T::named(text)
    }

    fn text(&self) -> String {
        self.name().to_owned()
    }

    fn shared(&self, _stem: &str, written: &str) -> SharedValue {
        self.member().unwrap_or_else(|| SharedValue::Text(written.to_owned()))
    }
}

named! {
    /// Instruction-cache preload.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum PreloadMode {
        /// `max`: 16 KiB from the entry on, once.
        Whole = "max",
        /// `none`: never.
        Never = "none",
        /// `per-func`: each op while the one before it runs.
        PerFunction = "per-func",
    }
}

impl Choice for PreloadMode {
    const ACCEPTS: &'static str = "one of `max`, `none`, `per-func`";

    fn member(self) -> Option<SharedValue> {
        let member = match self {
            Self::Whole => "PreLoadByWhole",
            Self::Never => "PreloadNA",
            Self::PerFunction => "PreloadByAdanvanceStep",
        };
        Some(SharedValue::member("SuperKernelPreLoadMode", member))
    }
}

named! {
    /// The cores that enter a dynamic op.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum DynamicCores {
        /// `all`: all of its kinds; those it was not tiled for leave by themselves.
        All = "all",
        /// `tiled`: as many as it was tiled for, unless its code may call `SyncAll`.
        Tiled = "tiled",
    }
}

impl Choice for DynamicCores {
    const ACCEPTS: &'static str = "one of `all`, `tiled`";
}

named! {
    /// Overlap of neighbouring ops.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum EarlyStartMode {
        /// `0`: a barrier between ops.
        Off = "0",
        /// `1`: on, also inside sub-kernels that were built for it.
        On = "1",
        /// `2`: on in the super kernel; the sub-kernels were built without.
        OnOutsideSubKernels = "2",
    }
}

impl EarlyStartMode {
    /// Is the inter-op barrier split into set and wait?
    pub(crate) fn is_on(self) -> bool {
        match self {
            Self::Off => false,
            Self::On | Self::OnOutsideSubKernels => true,
        }
    }
}

impl Choice for EarlyStartMode {
    const ACCEPTS: &'static str = "one of `0`, `1`, `2`";

    fn member(self) -> Option<SharedValue> {
        let member = match self {
            Self::Off => "EarlyStartDisable",
            Self::On => "EarlyStartEnableV2",
            Self::OnOutsideSubKernels => "EarlyStartV2DisableSubKernel",
        };
        Some(SharedValue::member("SuperKernelEarlyStartMode", member))
    }
}

named! {
    /// How much synchronisation the super kernel has.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum SyncMode {
        /// `contract`: all that the replaced software has, mended.
        Contract = "contract",
        /// `proven`: without what the checker proves to be unnecessary.
        Proven = "proven",
    }
}

impl Choice for SyncMode {
    const ACCEPTS: &'static str = "`contract` or `proven`";
}

/// A switch: `0` or `1`.
impl OptionType for bool {
    const ACCEPTS: &'static str = "`0` or `1`";
    const SAMPLES: &'static [&'static str] = &["0", "1"];

    fn read(text: &str) -> Option<Self> {
        match text {
            "0" => Some(false),
            "1" => Some(true),
            _ => None,
        }
    }

    fn text(&self) -> String {
        u8::from(*self).to_string()
    }

    fn shared(&self, stem: &str, _written: &str) -> SharedValue {
        let state = if *self { "Enable" } else { "Disable" };
        SharedValue::Member { class: format!("SuperKernel{stem}Mode"), member: format!("{stem}{state}") }
    }
}

/// An alignment in bytes: none, or a power of two from 2 up to what a linker is asked for at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alignment(u64);

impl Alignment {
    /// What is used when nothing is said.
    pub(crate) const DEFAULT: Self = Self(512);
    /// The largest page there is: a linker pads a file up to it.
    pub(crate) const MAX: u64 = 1 << 16;

    /// Bytes; 0: none.
    pub(crate) fn get(self) -> u64 {
        self.0
    }
}

impl OptionType for Alignment {
    const ACCEPTS: &'static str = "`0` or a power of two from 2 to 65536";
    const SAMPLES: &'static [&'static str] = &["0", "2", "512"];

    fn read(text: &str) -> Option<Self> {
        number(text).filter(|bytes| *bytes == 0 || (2..=Self::MAX).contains(bytes) && bytes.is_power_of_two()).map(Self)
    }

    fn text(&self) -> String {
        self.0.to_string()
    }

    fn shared(&self, _stem: &str, _written: &str) -> SharedValue {
        SharedValue::Number(self.0)
    }
}

/// Number of code copies: 1 to 64.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SplitCount(u32);

impl SplitCount {
    /// What is used when nothing is said.
    pub(crate) const DEFAULT: Self = Self(4);
    /// The most copies there can be.
    pub(crate) const MAX: u32 = 64;

    /// A checked count.
    pub(crate) fn new(count: u64) -> Option<Self> {
        u32::try_from(count).ok().filter(|count| (1..=Self::MAX).contains(count)).map(Self)
    }

    /// The number of copies.
    pub fn get(self) -> u32 {
        self.0
    }
}

impl OptionType for SplitCount {
    const ACCEPTS: &'static str = "a number from 1 to 64";
    const SAMPLES: &'static [&'static str] = &["1", "4", "64"];

    fn read(text: &str) -> Option<Self> {
        number(text).and_then(Self::new)
    }

    fn text(&self) -> String {
        self.0.to_string()
    }

    fn shared(&self, _stem: &str, _written: &str) -> SharedValue {
        SharedValue::Number(self.0.into())
    }
}

/// A count.
impl OptionType for u32 {
    const ACCEPTS: &'static str = "a number from 0 up";
    const SAMPLES: &'static [&'static str] = &["0", "48"];

    fn read(text: &str) -> Option<Self> {
        number(text).and_then(|count| Self::try_from(count).ok())
    }

    fn text(&self) -> String {
        self.to_string()
    }

    fn shared(&self, _stem: &str, _written: &str) -> SharedValue {
        SharedValue::Number((*self).into())
    }
}

/// Arguments of a compiler; their order has a meaning, and none that needs a word behind it is the last.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CompilerArguments(Vec<String>);

impl Deref for CompilerArguments {
    type Target = [String];

    fn deref(&self) -> &[String] {
        &self.0
    }
}

impl OptionType for CompilerArguments {
    const ACCEPTS: &'static str =
        "compiler arguments separated by commas; one such as `-D` that comes alone needs a word after it";
    const SAMPLES: &'static [&'static str] = &["-DX=1,-g", "-D,X"];

    fn read(text: &str) -> Option<Self> {
        let words = comma_list(text);
        // It would take the next word of our own command line.
        let is_cut = arguments(&words).last().is_some_and(|last| last.lacks_its_word());
        (!is_cut).then_some(Self(words))
    }

    fn text(&self) -> String {
        self.0.join(",")
    }
}

/// A set of op types, sorted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OpTypes(Vec<String>);

impl Deref for OpTypes {
    type Target = [String];

    fn deref(&self) -> &[String] {
        &self.0
    }
}

impl OptionType for OpTypes {
    const ACCEPTS: &'static str = "op types separated by commas";
    const SAMPLES: &'static [&'static str] = &["Add,Mul"];

    fn read(text: &str) -> Option<Self> {
        let mut types = comma_list(text);
        types.sort_unstable();
        types.dedup();
        Some(Self(types))
    }

    fn text(&self) -> String {
        self.0.join(",")
    }
}

/// What was written for the scope planner, which reads it with rules of its own; anything passes here.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScopeCheck(Option<String>);

impl OptionType for ScopeCheck {
    const ACCEPTS: &'static str = "`bypass` or `abort`";
    const SAMPLES: &'static [&'static str] = &["bypass", "abort"];

    fn read(text: &str) -> Option<Self> {
        Some(Self(Some(text.to_owned())))
    }

    fn text(&self) -> String {
        self.0.clone().unwrap_or_default()
    }
}

/// Decimal digits only: no sign, no blanks, no underscores.
fn number(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

fn comma_list(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect()
}
