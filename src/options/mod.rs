//! The option string of a super kernel: `name=value:name=value…`, parsed once into a typed value.
//!
//! An option is a row of [`table`]; the kinds of value are in [`values`].

mod error;
mod parse;
mod table;
mod values;

pub use error::{Located, OptionError, OptionProblem};
pub use parse::{GivenOption, Separator, parse};
pub use table::{Influence, OptionName, Options};
pub use values::{
    Alignment, CompilerArguments, EarlyStartMode, OpTypes, PreloadMode, ScopeCheck, SharedValue, SplitCount,
};
