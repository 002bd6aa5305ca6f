//! What things cost: a short list of named prices, each in microseconds per count.
//!
//! Every predicted time is a sum of counts times prices plus the ops' own work, so prices can be fitted to measured
//! times ([`super::calibrate`]) and their uncertainty carried over to predictions.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::error::CostError;
use crate::model::Soc;
use crate::nearest::nearest;

/// Everything that has a price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Price {
    /// From the end of a task to the start of the next one on its stream.
    LaunchGap,
    /// From the start of a task until its cores run.
    TaskStart,
    /// Fetching 2 KiB of code that is not in the instruction cache.
    CodeMiss,
    /// The same 2 KiB wanted by one more core at the same address.
    CodeShare,
    /// 2 KiB of one more copy of the code, when a launch touches the function for the first time.
    CodeCopy,
    /// Giving one preload instruction.
    Preload,
    /// From the last set of a meeting of all cores of a kind until the others go on.
    FlagAll,
    /// From a set until the partner of the other kind in the same block goes on.
    FlagBlock,
    /// Writing back and dropping the whole data cache.
    CacheFlush,
    /// One profiling record.
    Record,
    /// Writing or polling one lock word in global memory.
    EventWord,
    /// Zeroing 512 bytes of the feed-sync-all workspace.
    WorkspaceClear,
    /// What an op whose code waits itself does before that wait.
    OpHead,
    /// What an op whose code sets itself still does behind that set.
    OpTail,
}

/// Does a larger price make a kernel slower or faster?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Time goes there.
    Costs,
    /// Time is hidden there.
    Saves,
}

/// What the documentation says about a price.
struct Entry {
    price: Price,
    name: &'static str,
    meaning: &'static str,
    default: f64,
    effect: Effect,
}

const fn entry(price: Price, name: &'static str, default: f64, effect: Effect, meaning: &'static str) -> Entry {
    Entry { price, name, meaning, default, effect }
}

/// In the order of [`Price`].
const TABLE: [Entry; Price::COUNT] = [
    entry(Price::LaunchGap, "launch_gap", 1.4, Effect::Costs, "between two tasks of a stream"),
    entry(Price::TaskStart, "task_start", 0.9, Effect::Costs, "once per task, until its cores run"),
    entry(Price::CodeMiss, "code_miss", 0.12, Effect::Costs, "per 2 KiB of code fetched"),
    entry(Price::CodeShare, "code_share", 0.004, Effect::Costs, "per 2 KiB and further core at the same address"),
    entry(Price::CodeCopy, "code_copy", 0.001, Effect::Costs, "per 2 KiB and further copy, at first use in a launch"),
    entry(Price::Preload, "preload", 0.01, Effect::Costs, "per preload instruction"),
    entry(Price::FlagAll, "flag_all", 0.3, Effect::Costs, "per meeting of all cores of a kind"),
    entry(Price::FlagBlock, "flag_block", 0.1, Effect::Costs, "per hand-over between the kinds in a block"),
    entry(Price::CacheFlush, "cache_flush", 1.0, Effect::Costs, "per flush of the data cache"),
    entry(Price::Record, "record", 0.05, Effect::Costs, "per profiling record"),
    entry(Price::EventWord, "event_word", 0.5, Effect::Costs, "per lock word written or polled"),
    entry(Price::WorkspaceClear, "workspace_clear", 0.02, Effect::Costs, "per 512 bytes of workspace cleared"),
    entry(Price::OpHead, "op_head", 0.3, Effect::Saves, "per op that waits itself: what it does before its wait"),
    entry(Price::OpTail, "op_tail", 0.3, Effect::Saves, "per op that sets itself: what it does after its set"),
];

impl Price {
    /// How many there are.
    pub const COUNT: usize = 14;

    /// All of them, in the order of the tables.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|entry| entry.price)
    }

    fn entry(self) -> &'static Entry {
        &TABLE[self as usize]
    }

    /// As written in a prices file.
    pub(crate) fn name(self) -> &'static str {
        self.entry().name
    }

    /// What it is charged for.
    pub(crate) fn meaning(self) -> &'static str {
        self.entry().meaning
    }

    /// A round number of a plausible order; not a measurement.
    pub(crate) fn default_value(self) -> f64 {
        self.entry().default
    }

    /// What a larger one does.
    pub fn effect(self) -> Effect {
        self.entry().effect
    }

    /// The price with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        TABLE.iter().find(|entry| entry.name == name).map(|entry| entry.price)
    }
}

impl fmt::Display for Price {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A number per price: prices themselves, or counts of them.
pub type PerPrice = [f64; Price::COUNT];

/// How far the prices are known: their covariance, row by row.
pub(crate) type Covariance = [PerPrice; Price::COUNT];

/// Of a default price nothing is known but its order.
const DEFAULT_RELATIVE_ERROR: f64 = 0.5;
/// Eleven days, of what is measured in microseconds. The errors of sums are sums of squares, which must stay finite.
const LARGEST: f64 = 1e12;

/// All prices, and how well they are known.
#[derive(Debug, Clone, PartialEq)]
pub struct Prices {
    values: PerPrice,
    covariance: Covariance,
    /// Relative error of the model itself, as seen in the fit.
    pub model_error: f64,
    /// Where they come from, for reports.
    pub origin: String,
}

impl Default for Prices {
    fn default() -> Self {
        let mut prices = Self {
            values: [0.0; Price::COUNT],
            covariance: [[0.0; Price::COUNT]; Price::COUNT],
            model_error: 0.0,
            origin: "defaults: round numbers, not measured".to_owned(),
        };
        for price in Price::all() {
            prices.set(price, price.default_value(), DEFAULT_RELATIVE_ERROR * price.default_value());
        }
        prices
    }
}

impl Prices {
    /// Prices with their covariance, as a fit gives them.
    pub(crate) fn fitted(values: PerPrice, covariance: Covariance, model_error: f64, origin: String) -> Self {
        Self { values, covariance, model_error, origin }
    }

    /// One price, in microseconds.
    pub(crate) fn get(&self, price: Price) -> f64 {
        self.values[price as usize]
    }

    /// All of them.
    pub fn values(&self) -> &PerPrice {
        &self.values
    }

    /// The standard error of one price.
    pub(crate) fn error(&self, price: Price) -> f64 {
        self.covariance[price as usize][price as usize].max(0.0).sqrt()
    }

    /// How far they are known together.
    pub(crate) fn covariance(&self) -> &Covariance {
        &self.covariance
    }

    /// Sets one price and its standard error, independent of the others.
    pub(crate) fn set(&mut self, price: Price, value: f64, error: f64) {
        let place = price as usize;
        self.values[place] = value;
        for other in 0..Price::COUNT {
            self.covariance[place][other] = 0.0;
            self.covariance[other][place] = 0.0;
        }
        self.covariance[place][place] = error * error;
    }

    /// Variance of `counts` times the prices.
    pub(crate) fn variance(&self, counts: &PerPrice) -> f64 {
        let row = |row: &PerPrice| row.iter().zip(counts).map(|(entry, count)| entry * count).sum::<f64>();
        counts.iter().zip(&self.covariance).map(|(count, entries)| count * row(entries)).sum::<f64>().max(0.0)
    }

    /// Reads a prices file.
    pub(crate) fn read(path: &Path) -> Result<Self, CostError> {
        let bytes = crate::fs::read(path)?;
        Self::parse(&bytes, &path.display().to_string())
    }

    /// The prices in the text of a file; those it does not name keep their defaults.
    pub(crate) fn parse(bytes: &[u8], origin: &str) -> Result<Self, CostError> {
        let refuse = |problem: String| CostError::BadPrices { origin: origin.to_owned(), problem };
        let file: PriceFile = serde_json::from_slice(bytes).map_err(|error| refuse(error.to_string()))?;
        let mut prices = Self { origin: origin.to_owned(), ..Self::default() };
        for (name, written) in &file.prices {
            let Some(price) = Price::from_name(name) else {
                let near = nearest(name, Price::all().map(Price::name), 1);
                let hint = near.first().map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                return Err(refuse(format!("there is no price `{name}`{hint}")));
            };
            let (value, error) = match *written {
                WrittenPrice::Value(value) => (value, DEFAULT_RELATIVE_ERROR * value),
                WrittenPrice::Known { us, error_us } => (us, error_us),
            };
            if ![value, error].into_iter().all(is_sensible) {
                return Err(refuse(format!("`{name}` and its error must be numbers from 0 to {LARGEST:e}")));
            }
            prices.set(price, value, error);
        }
        for Correlation { first, second, covariance } in &file.covariances {
            let (Some(first), Some(second)) = (Price::from_name(first), Price::from_name(second)) else {
                return Err(refuse(format!("a covariance of `{first}` and `{second}`, which are no prices")));
            };
            let most = prices.error(first) * prices.error(second);
            if first == second || !covariance.is_finite() || covariance.abs() > most * (1.0 + 1e-6) {
                return Err(refuse(format!("the covariance of `{first}` and `{second}` does not fit their errors")));
            }
            prices.covariance[first as usize][second as usize] = *covariance;
            prices.covariance[second as usize][first as usize] = *covariance;
        }
        if !is_sensible(file.model_error) {
            return Err(refuse(format!("`model_error` must be a number from 0 to {LARGEST:e}")));
        }
        prices.model_error = file.model_error;
        Ok(prices)
    }

    /// The text of a prices file.
    pub(crate) fn to_text(&self, soc: Soc, made_from: &str) -> String {
        let prices = Price::all()
            .map(|price| {
                let known = WrittenPrice::Known { us: self.get(price), error_us: self.error(price) };
                (price.name().to_owned(), known)
            })
            .collect();
        let pairs = Price::all().flat_map(|first| Price::all().map(move |second| (first, second)));
        let covariances = pairs
            .filter(|(first, second)| first < second)
            .filter_map(|(first, second)| {
                let covariance = self.covariance[first as usize][second as usize];
                (covariance != 0.0).then(|| Correlation {
                    first: first.name().to_owned(),
                    second: second.name().to_owned(),
                    covariance,
                })
            })
            .collect();
        let file = PriceFile {
            soc: Some(soc.as_str().to_owned()),
            made_from: Some(made_from.to_owned()),
            prices,
            covariances,
            model_error: self.model_error,
        };
        let mut text = serde_json::to_string_pretty(&file).unwrap_or_default();
        text.push('\n');
        text
    }
}

/// A prices file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceFile {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    soc: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    made_from: Option<String>,
    prices: std::collections::BTreeMap<String, WrittenPrice>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    covariances: Vec<Correlation>,
    #[serde(default)]
    model_error: f64,
}

#[derive(Serialize, Deserialize, Clone, Copy)]
#[serde(untagged)]
enum WrittenPrice {
    /// Set by hand.
    Value(f64),
    /// From a fit.
    Known { us: f64, error_us: f64 },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Correlation {
    first: String,
    second: String,
    covariance: f64,
}

/// Can it be a price, or the error of one?
fn is_sensible(value: f64) -> bool {
    (0.0..=LARGEST).contains(&value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_enum() {
        for (place, price) in Price::all().enumerate() {
            assert_eq!(price as usize, place);
            assert_eq!(Price::from_name(price.name()), Some(price));
        }
    }

    #[test]
    fn a_file_is_read_as_it_was_written() {
        let mut prices = Prices::default();
        prices.set(Price::FlagAll, 0.7, 0.02);
        prices.covariance[6][7] = 0.0005;
        prices.covariance[7][6] = 0.0005;
        prices.model_error = 0.01;
        let text = prices.to_text(Soc::Ascend910_93, "two profiles");
        let read = Prices::parse(text.as_bytes(), "f").unwrap();
        assert_eq!(read.values(), prices.values());
        assert_eq!(read.covariance(), prices.covariance());
        assert_eq!(read.model_error, prices.model_error);
    }

    #[test]
    fn a_price_can_be_set_by_hand() {
        let read = Prices::parse(br#"{"prices": {"launch_gap": 5}}"#, "f").unwrap();
        assert_eq!(read.get(Price::LaunchGap), 5.0);
        assert_eq!(read.get(Price::TaskStart), Price::TaskStart.default_value());
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "{",
            r#"{"prices": {"lunch_gap": 5}}"#,
            r#"{"prices": {"launch_gap": -1}}"#,
            r#"{"prices": {"launch_gap": {"us": 1, "error_us": -1}}}"#,
            r#"{"prices": {}, "covariances": [{"first": "flag_all", "second": "flag_block", "covariance": 9}]}"#,
            r#"{"prices": {}, "model_error": -0.5}"#,
            r#"{"prices": {}, "model_error": 1e200}"#,
            r#"{"prices": {"launch_gap": {"us": 1, "error_us": 1e155}}}"#,
            r#"{"prices": {"launch_gap": 1e308}}"#,
        ] {
            assert!(Prices::parse(text.as_bytes(), "f").is_err(), "{text}");
        }
    }
}
