//! The times inside a super kernel, as its own profiling records tell them: the JSON form of a decoded buffer.
//!
//! Also written from runs of the simulator, whose times are modelled (`source`).

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::super::CostError;
use crate::model::CoreKind;

/// A decoded profiling buffer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BufferProfile {
    /// Says what this is.
    pub format: BufferFormat,
    /// The super kernel, or the op if it ran alone.
    pub kernel: String,
    /// Who wrote it.
    pub source: BufferSource,
    /// What times are counted in.
    pub unit: TimeUnit,
    /// Cycles per microsecond, where times are cycles.
    #[serde(default)]
    pub clock_mhz: Option<f64>,
    /// The ops.
    pub ops: Vec<BufferOp>,
    /// Of every run the time from its first record to its last, in units.
    #[serde(default)]
    pub runs: Vec<f64>,
}

/// The only format there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum BufferFormat {
    /// This one.
    #[serde(rename = "superkernel-profile-1")]
    V1,
}

/// Where times come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BufferSource {
    /// Measured.
    Device,
    /// Modelled.
    Simulator,
}

/// What times are counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TimeUnit {
    /// Microseconds.
    Us,
    /// Cycles of the system counter.
    Cycles,
}

/// One op of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BufferOp {
    /// Its position among the ops of the super kernel, from 0.
    pub position: usize,
    /// Its name in the graph, or that of its kernel.
    #[serde(default)]
    pub name: String,
    /// When each core began and ended it.
    pub cores: Vec<CoreTime>,
}

/// One core in one op.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CoreTime {
    /// `aic` or `aiv`.
    pub kind: BufferKind,
    /// Its number among its kind.
    pub number: usize,
    /// When it began, in units.
    pub start: f64,
    /// When it ended, in units.
    pub end: f64,
}

/// The kinds of core as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BufferKind {
    /// Cube.
    Aic,
    /// Vector.
    Aiv,
}

impl From<BufferKind> for CoreKind {
    fn from(kind: BufferKind) -> Self {
        match kind {
            BufferKind::Aic => Self::Aic,
            BufferKind::Aiv => Self::Aiv,
        }
    }
}

/// More cores than any chip has: a mistake in the file.
const MOST_CORES: usize = 4096;

impl BufferProfile {
    pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<Self, CostError> {
        let bad = |problem: String| CostError::BadProfile { path: path.to_path_buf(), problem };
        let profile: Self = serde_json::from_slice(bytes).map_err(|error| bad(error.to_string()))?;
        if profile.unit == TimeUnit::Cycles && !profile.clock_mhz.is_some_and(|clock| clock.is_finite() && clock > 0.0)
        {
            return Err(bad("its times are cycles and it has no `clock_mhz` above 0".to_owned()));
        }
        if let Some(run) = profile.runs.iter().find(|run| !run.is_finite() || **run < 0.0) {
            return Err(bad(format!("one of its `runs` took {run}")));
        }
        for op in &profile.ops {
            for core in &op.cores {
                if !(core.start.is_finite() && core.end.is_finite() && core.end >= core.start) {
                    return Err(bad(format!("op {} ends before it starts", op.position)));
                }
                if core.number >= MOST_CORES {
                    return Err(bad(format!("op {} ran on core {}", op.position, core.number)));
                }
            }
        }
        Ok(profile)
    }

    /// Microseconds of every run, from its first record to its last.
    pub(crate) fn run_times(&self) -> Vec<f64> {
        self.runs.iter().map(|run| self.scale() * run).collect()
    }

    /// Microseconds per unit.
    fn scale(&self) -> f64 {
        match self.unit {
            TimeUnit::Us => 1.0,
            TimeUnit::Cycles => 1.0 / self.clock_mhz.unwrap_or(1.0),
        }
    }

    /// Microseconds of an op on the cores of a kind, by number; of several runs the average.
    pub(crate) fn times(&self, op: &BufferOp, kind: CoreKind) -> Vec<f64> {
        let scale = self.scale();
        let mut sums: Vec<(f64, f64)> = Vec::new();
        for core in op.cores.iter().filter(|core| CoreKind::from(core.kind) == kind) {
            if sums.len() <= core.number {
                sums.resize(core.number + 1, (0.0, 0.0));
            }
            sums[core.number].0 += scale * (core.end - core.start);
            sums[core.number].1 += 1.0;
        }
        sums.into_iter().map(|(sum, count)| if count > 0.0 { sum / count } else { 0.0 }).collect()
    }
}
