//! What a build says about itself.

use crate::named::named;
use std::time::UNIX_EPOCH;

use serde_json::{Value, json};

use super::Comparison;
use super::check::Sizes;
use super::files::KernelFiles;
use super::stamped::Stamped;
use crate::phases::Prepared;
use crate::stage::{Stage, Timings};
use crate::toolchain::Executed;

named! {
    /// Where the kernel came from.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Origin {
        /// Compiled and linked now.
        Built = "compiled",
        /// It was in place already.
        UpToDate = "up to date",
        /// Taken from the cache.
        Cache = "from cache",
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

    /// Nothing has changed since the build that left this record.
    pub(super) fn unchanged(files: &KernelFiles, stamped: &Stamped, timings: &Timings<'_>) -> Self {
        let origin = Origin::UpToDate;
        let report = json!({
            "kernel": files.kernel(),
            "origin": origin.as_str(),
            "because": [],
            "ops": stamped.ops,
            "files": stamped.files,
            "toolchain": stamped.toolchain,
            "object": files.object().to_string_lossy(),
            "json": files.json().to_string_lossy(),
            "warnings": stamped.warnings,
            "timings_ms": timings.to_json(),
        });
        Self { origin, report }
    }

    /// Adds when each tool began (seconds since 1970) and how long it took.
    pub(super) fn with_tools(mut self, tools: &[(Stage, Executed)]) -> Self {
        let row = |(stage, tool): &(Stage, Executed)| {
            let began = tool.began.duration_since(UNIX_EPOCH).map_or(0.0, |age| age.as_secs_f64());
            json!({"stage": stage.as_str(), "began": began, "seconds": tool.took.as_secs_f64()})
        };
        self.report["tools"] = tools.iter().map(row).collect();
        self
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
