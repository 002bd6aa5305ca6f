//! What a build says about itself.

use serde_json::{Value, json};

use super::Comparison;
use super::check::Sizes;
use crate::phases::Prepared;
use crate::stage::Timings;

/// Where the kernel came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Compiled and linked now.
    Built,
    /// It was in place already.
    UpToDate,
    /// Taken from the cache.
    Cache,
}

impl Origin {
    /// Its name in reports.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Built => "compiled",
            Self::UpToDate => "up to date",
            Self::Cache => "from cache",
        }
    }
}

/// The report of one build.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Where the kernel came from.
    pub origin: Origin,
    report: Value,
}

impl Outcome {
    pub(super) fn new(
        prepared: &Prepared,
        last: &Comparison,
        origin: Origin,
        because: Vec<String>,
        timings: &Timings<'_>,
    ) -> Self {
        let (kernel, files) = (&prepared.kernel, &last.files);
        let report = json!({
            "kernel": kernel.name,
            "origin": origin.as_str(),
            "because": because,
            "ops": kernel.ops.len(),
            "files": prepared.objects.count(),
            "toolchain": last.toolchain.kind().as_str(),
            "object": files.object().to_string_lossy(),
            "json": files.json().to_string_lossy(),
            "warnings": kernel.warnings,
            "timings_ms": timings.to_json(),
        });
        Self { origin, report }
    }

    pub(super) fn with_sizes(mut self, sizes: Sizes) -> Self {
        self.report["sizes"] = json!(sizes);
        self
    }

    /// As JSON.
    pub fn to_json(&self) -> &Value {
        &self.report
    }
}
