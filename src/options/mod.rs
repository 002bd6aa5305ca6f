//! The option string of a super kernel: `name=value:name=value…`, parsed once into a typed value.
//!
//! An option is a row of [`table`]; the kinds of value are in [`values`].

mod error;
mod parse;
mod table;
mod values;

pub use error::OptionError;
pub(crate) use error::{Located, OptionProblem};
pub(crate) use parse::with;
pub use parse::{Separator, parse};
pub use table::{GivenOption, Options};
pub(crate) use table::{Influence, OptionName};
pub use values::SyncMode;
pub(crate) use values::{DynamicCores, EarlyStartMode, PreloadMode, SharedValue, SplitCount};
