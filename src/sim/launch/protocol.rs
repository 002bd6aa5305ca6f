//! What a device and its worker process say to each other: a line of JSON each way, both written and read here.

use serde::{Deserialize, Serialize};

use crate::cancel::Cancel;
use crate::diagnostic::Diagnostic;
use crate::sim::interface::error::SimError;
use crate::sim::interface::report::Report;
use crate::sim::interface::request::Request;
use crate::sim::machine::arena::{self, Access};

/// Pages of the device's memory that the worker opens or closes before a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pages {
    /// First byte.
    pub address: u64,
    /// Number of bytes.
    pub size: u64,
    /// Whether they are opened.
    pub open: bool,
}

/// One launch for the worker.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WorkOrder {
    /// What changed in the device's memory since the last one.
    pub pages: Vec<Pages>,
    /// The launch.
    pub launch: Request,
}

impl WorkOrder {
    /// As a line.
    pub(crate) fn to_line(&self) -> Result<String, SimError> {
        line(self)
    }

    /// A line, read.
    pub(crate) fn from_line(line: &str) -> Result<Self, SimError> {
        serde_json::from_str(line).map_err(|error| SimError::Request(error.to_string()))
    }

    /// Does it; the answer as a line.
    pub(crate) fn carry_out(self) -> Result<String, SimError> {
        let launched = self.pages.iter().try_for_each(|pages| {
            let access = if pages.open { Access::Open } else { Access::Closed };
            arena::protect(pages.address, pages.size, access)
        });
        line(&match launched.and_then(|()| super::engine::launch(self.launch, &Cancel::new())) {
            Ok(report) => Answer::Report(Box::new(report)),
            Err(error) => {
                Answer::Refused { id: error.id().to_owned(), message: error.to_string(), solution: error.solution() }
            }
        })
    }
}

/// What the worker answers.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Answer {
    /// The launch was made.
    Report(Box<Report>),
    /// It could not be made.
    Refused {
        /// Id of the error.
        id: String,
        /// What is wrong.
        message: String,
        /// What to do.
        solution: String,
    },
}

impl Answer {
    /// A line, read.
    pub(crate) fn from_line(line: &[u8]) -> Result<Self, SimError> {
        serde_json::from_slice(line).map_err(|error| SimError::Answer(error.to_string()))
    }
}

fn line(value: &impl Serialize) -> Result<String, SimError> {
    serde_json::to_string(value).map_err(|error| SimError::Request(error.to_string()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::{KernelType, Soc};
    use crate::sim::interface::request::Entries;

    #[test]
    fn an_order_reads_as_it_was_written() {
        let entries = Entries { aic: None, aiv: Some("f".to_owned()) };
        let usual = Request::new("k.so".into(), entries, Soc::Ascend950, KernelType::AivOnly, 2, vec![u64::MAX]);
        let changes = json!({
            "agents": [{"name": "a", "when": {"word": {"address": 1, "equals": 2}}}],
            "delays": [{"core": "AIV0", "steps": 3, "at": "sync-all"}], "schedule": {"policy": "skewed", "seed": 7},
            "timeout": 0.5, "ops": [{"name": "o", "param_offset": 0, "param_count": 1, "reads": [4]}],
        });
        let launch = usual.with(changes.as_object().unwrap().clone()).unwrap();
        assert!(usual.with(json!({"seeds": 3}).as_object().unwrap().clone()).is_err());
        let order = WorkOrder { pages: vec![Pages { address: 8, size: 4, open: true }], launch };
        let line = order.to_line().unwrap();
        assert!(!line.contains('\n'));
        assert_eq!(WorkOrder::from_line(&line).unwrap().to_line().unwrap(), line);
        assert!(WorkOrder::from_line("{}").is_err());
    }

    #[test]
    fn what_is_no_answer_is_an_error() {
        for line in ["", "{}", "[1]", "hello", "{\"report\": {}}", "{\"refused\": {\"id\": 1}}", "\u{0}"] {
            let error = Answer::from_line(line.as_bytes()).unwrap_err();
            assert_eq!(error.id(), "SK0923", "{line}");
        }
    }
}
