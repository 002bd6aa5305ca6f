//! The profiling buffer that a super kernel writes with `profiling=1`, read back: what each core did when.
//!
//! [`decode`] reads the bytes and says what it could not read, [`table`] makes figures of it, [`show`] the profile that the
//! cost model reads, [`timeline`] traces.

mod decode;
mod error;
mod layout;
mod records;
mod show;
mod table;
mod timeline;
mod times;
mod whereabouts;

use std::path::Path;

pub(crate) use decode::decode;
pub(crate) use error::ProfilingError;
pub(crate) use layout::{Areas, RawRecord};
pub(crate) use records::Decoded;
use records::Subject;
pub(crate) use show::profile_json;
pub(crate) use timeline::traces;

use crate::build::{ResultJson, StoredProgram};
use crate::cost::profile::BufferSource;
use crate::fs;
use crate::json::{Document, JsonFile, JsonPath};
use crate::model::{CoreClass, CoreKind};
use crate::program::{Action, CoreId, Program, Step};
use crate::store::digest::ContentDigest;
use crate::toolchain::ToolchainKind;

/// What the records are about.
#[derive(Debug, Clone)]
pub(crate) struct Profiled {
    /// The super kernel.
    pub name: String,
    /// Who wrote the times.
    pub source: BufferSource,
    /// Blocks it is launched with.
    pub blocks: u32,
    /// Cube cores per block.
    pub cubes: u32,
    /// Vector cores per block.
    pub vectors: u32,
    /// Its ops, by position.
    pub ops: Vec<ProfiledOp>,
    /// Its program, if its object is beside the JSON and tells it.
    pub program: Option<Program>,
}

/// One op.
#[derive(Debug, Clone)]
pub(crate) struct ProfiledOp {
    /// Its kernel's name.
    pub name: String,
    /// The kinds of core it runs on.
    pub class: CoreClass,
    /// Blocks it runs on.
    pub blocks: u32,
    /// Its stream.
    pub stream: i64,
}

impl Profiled {
    /// From the JSON that a build wrote.
    pub(crate) fn read(path: &Path) -> Result<Self, ProfilingError> {
        let json = JsonFile::read(Document::Result, path, &JsonPath::top(Document::Result))?;
        let described = ResultJson::from_node(&json.root())?;
        let source = match described.toolchain {
            ToolchainKind::Host => BufferSource::Simulator,
            ToolchainKind::Cann => BufferSource::Device,
        };
        let op = |op: &crate::build::ResultOp| ProfiledOp {
            name: op.name.clone(),
            class: op.kernel_type.class(),
            blocks: op.blocks,
            stream: op.stream.0,
        };
        let (cubes, vectors) = described.kernel_type.task_ratio();
        let ops: Vec<ProfiledOp> = described.ops.iter().map(op).collect();
        Ok(Self {
            name: described.name.clone(),
            source,
            blocks: described.blocks,
            cubes: cubes.into(),
            vectors: vectors.into(),
            program: program_beside(path, &described).filter(|program| program.ops.len() == ops.len()),
            ops,
        })
    }

    /// Was it built with profiling, as far as is known?
    fn records(&self) -> bool {
        let is_start = |step: &Step| matches!(step.action, Action::InitProfiling { .. });
        self.program.as_ref().is_none_or(|program| program.steps.iter().any(is_start))
    }

    /// The cores that record.
    pub(crate) fn cores(&self) -> Vec<Core> {
        let of = |kind, per_block: u32| {
            (0..self.blocks.saturating_mul(per_block).min(MOST_CORES)).map(move |number| Core { kind, number })
        };
        of(CoreKind::Aic, self.cubes).chain(of(CoreKind::Aiv, self.vectors)).collect()
    }

    /// The core as its program calls it.
    pub(crate) fn core_id(&self, core: Core) -> CoreId {
        let sub_blocks = match core.kind {
            CoreKind::Aic => self.cubes,
            CoreKind::Aiv => self.vectors,
        };
        let (block, sub_block) = (core.number / sub_blocks.max(1), core.number % sub_blocks.max(1));
        CoreId { kind: core.kind, block, sub_block, sub_blocks }
    }

    /// Does this core run the op? Every core writes the op's records, also where it has nothing to do.
    pub(crate) fn runs(&self, op: usize, core: Core) -> bool {
        let Some(op) = self.ops.get(op) else { return true };
        let number = match (core.kind, op.class) {
            (CoreKind::Aiv, CoreClass::Mix) => core.number / self.vectors.max(1),
            (CoreKind::Aic, _) | (CoreKind::Aiv, CoreClass::Aic | CoreClass::Aiv) => core.number,
        };
        op.class.runs_on(core.kind) && number < op.blocks
    }

    /// What a record is about, in words.
    fn subject_name(&self, subject: Subject) -> String {
        match subject {
            Subject::SuperKernel => format!("super kernel `{}`", self.name),
            Subject::Op(position) => self.op_name(position),
            Subject::Notify(event) => format!("the notify of event {event}"),
            Subject::Wait(event) => format!("the wait for event {event}"),
        }
    }

    /// `op 3 \`add\``.
    pub(crate) fn op_name(&self, position: usize) -> String {
        match self.ops.get(position) {
            Some(op) => format!("op {position} `{}`", op.name),
            None => format!("op {position}"),
        }
    }
}

/// The program in the object beside the JSON, if it is the object that the JSON describes.
fn program_beside(json: &Path, described: &ResultJson) -> Option<Program> {
    let object = fs::read(&json.with_file_name(&described.object_file)).ok()?;
    let is_other = |stated: &String| !stated.is_empty() && !ContentDigest::of(&object).is(stated);
    if described.object_digest.as_ref().is_some_and(is_other) {
        return None;
    }
    StoredProgram::read(&object)?.program()
}

/// A core that recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Core {
    /// Its kind.
    pub kind: CoreKind,
    /// Its number among its kind.
    pub number: u32,
}

/// More than any chip has of one kind: whatever a JSON says.
const MOST_CORES: u32 = 2048;
/// AIC `b` records as core `b + 50`.
const FIRST_CUBE: u32 = 50;

impl Core {
    fn of_area(area: u32) -> Self {
        match area.checked_sub(FIRST_CUBE) {
            Some(number) => Self { kind: CoreKind::Aic, number },
            None => Self { kind: CoreKind::Aiv, number: area },
        }
    }

    fn area(self) -> u32 {
        match self.kind {
            CoreKind::Aic => self.number + FIRST_CUBE,
            CoreKind::Aiv => self.number,
        }
    }
}

impl std::fmt::Display for Core {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.kind {
            CoreKind::Aic => write!(formatter, "AIC{}", self.number),
            CoreKind::Aiv => write!(formatter, "AIV{}", self.number),
        }
    }
}
