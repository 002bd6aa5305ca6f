//! The result of planning, as data: what `--json` prints and every other report is made from.

use crate::model::KnownKernels;
use crate::named::named;
use serde::Serialize;
use serde_json::{Map, Value, json};
use smol_str::SmolStr;

use super::graph::{Graph, Node, Origin, Stage};
use super::mistakes::Mistake;
use super::naming::FirstSeen;
use super::reason::Reason;
use super::rewrite::EventLists;
use super::settings::Mode;
use crate::diagnostic::Diagnostic;

named! {
    /// How loud a record is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Level {
        /// For the curious.
        Info = "INFO",
        /// Part of every plan that did not fuse everything.
        Event = "EVENT",
        /// Somebody asked to be told.
        Warning = "WARNING",
    }
}

/// One sentence about one node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Record {
    /// `INFO`, `EVENT` or `WARNING`.
    pub level: &'static str,
    /// The scope it is about.
    pub scope: SmolStr,
    /// The node it is about.
    pub node: SmolStr,
    /// The reason's code.
    pub reason: &'static str,
    /// The sentence; contains `super_kernel_scope`.
    pub text: String,
}

/// Something about the whole graph that the user can change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// `engine-order`, `dynamic-shapes` or `unknown-type`.
    pub kind: &'static str,
    /// The scope it is about; empty: the graph.
    pub scope: String,
    /// What was found.
    pub message: String,
    /// What to do about it.
    pub solution: String,
}

/// Whether anything was planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Yes.
    Planned,
    /// No: shapes are not static.
    UnknownShape,
}

/// A node of a scope that is in no super kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Dropped {
    /// Its name.
    pub node: SmolStr,
    /// Its type.
    #[serde(rename = "type")]
    pub op_type: SmolStr,
    /// Its topological id.
    pub id: i64,
    /// Its stream.
    pub stream: i64,
    /// The reason's code.
    pub reason: &'static str,
    /// The reason, for people.
    pub explanation: &'static str,
    /// What the user wrote.
    pub origin: Option<Box<Origin>>,
}

impl Dropped {
    /// `node`, left out because of `reason`.
    pub(crate) fn new(node: &Node, reason: Reason) -> Self {
        Self {
            node: node.name.clone(),
            op_type: node.op_type.clone(),
            id: node.id,
            stream: node.stream,
            reason: reason.code(),
            explanation: reason.explain(),
            origin: node.origin.clone(),
        }
    }
}

/// A place where a scope was cut.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CutReport {
    /// The node that interrupts it; with `wait-cycle` the first node behind the cut.
    pub node: SmolStr,
    /// Its type.
    #[serde(rename = "type")]
    pub op_type: SmolStr,
    /// Its topological id.
    pub id: i64,
    /// Its stream.
    pub stream: i64,
    /// The reason's code.
    pub reason: &'static str,
    /// With `wait-cycle`: member, work outside, member.
    pub through: Option<String>,
    /// What the user wrote.
    pub origin: Option<Box<Origin>>,
}

impl CutReport {
    /// A cut at `node`.
    pub(crate) fn new(node: &Node, reason: Reason, through: Option<String>) -> Self {
        Self {
            node: node.name.clone(),
            op_type: node.op_type.clone(),
            id: node.id,
            stream: node.stream,
            reason: reason.code(),
            through,
            origin: node.origin.clone(),
        }
    }
}

/// What became of one scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ScopeReport {
    /// Its name.
    pub name: SmolStr,
    /// The nested graph it is in; empty for the root.
    pub branch: String,
    /// `strict-scope-check`, if given.
    pub strict: Option<&'static str>,
    /// `fused`, `bypassed`, `empty`, or `mistaken`: its options are not valid.
    pub outcome: &'static str,
    /// Marked nodes that were not dropped.
    pub members: Vec<SmolStr>,
    /// Marked nodes that are in no super kernel.
    pub left_out: Vec<Dropped>,
    /// Where it was cut.
    pub cuts: Vec<CutReport>,
    /// Names of its pieces, in the order they are built.
    pub pieces: Vec<SmolStr>,
}

/// Something the compiler would refuse about a piece.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The id of the error a build would end with.
    pub id: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub solution: String,
    /// Ops that cannot be in any super kernel as they are.
    pub unfusable: Vec<SmolStr>,
}

impl Problem {
    /// Ops without object or description file. (The model passes over entries without a description.)
    pub(crate) fn missing_path(ops: Vec<SmolStr>) -> Self {
        let shown = ops.iter().take(3).map(|op| format!("`{op}`")).collect::<Vec<_>>().join(", ");
        let more = ops.len().checked_sub(3).filter(|more| *more > 0);
        let more = more.map_or_else(String::new, |more| format!(" and {more} more"));
        Self {
            id: "SK1020",
            message: format!("no bin_path or no json_path for {shown}{more}"),
            solution: "compile them as sub-kernels first".to_owned(),
            unfusable: ops,
        }
    }

    /// What the model or the planner says.
    pub(crate) fn refused(error: &impl Diagnostic) -> Self {
        Self { id: error.id(), message: error.to_string(), solution: error.solution(), unfusable: Vec::new() }
    }

    /// What it is and what to do, in one sentence.
    pub(crate) fn explain(&self) -> String {
        format!("{} [{}]: {}", self.message, self.id, self.solution)
    }
}

/// One op of a piece, as the compiler gets it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Op {
    /// Its name in the graph.
    pub name: SmolStr,
    /// Its type.
    #[serde(rename = "type")]
    pub op_type: SmolStr,
    /// Its topological id in the graph as given.
    pub id: i64,
    /// Its stream.
    pub stream: i64,
    /// What the user wrote.
    pub origin: Option<Box<Origin>>,
    /// `start`, `middle` or `end`: what it is told when it is compiled as a sub-kernel.
    pub location: &'static str,
    /// Its object.
    pub bin_path: SmolStr,
    /// Its description.
    pub json_path: SmolStr,
    /// `normal` or `dynamic`.
    pub task_type: &'static str,
    /// Ids it waits for.
    pub recv_event_list: Vec<i64>,
    /// Ids it records.
    pub send_event_list: Vec<i64>,
}

impl Op {
    /// Op number `position` of `count`.
    pub(crate) fn new(node: &Node, position: usize, count: usize, lists: &EventLists) -> Self {
        let location = match position {
            0 => "start",
            last if last + 1 == count => "end",
            _ => "middle",
        };
        Self {
            name: node.name.clone(),
            op_type: node.op_type.clone(),
            id: node.id,
            stream: node.stream,
            origin: node.origin.clone(),
            location,
            bin_path: node.bin_path.clone(),
            json_path: node.json_path.clone(),
            task_type: node.task_type.as_str(),
            recv_event_list: lists.recv.clone(),
            send_event_list: lists.send.clone(),
        }
    }
}

/// One super kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Piece {
    /// `<scope>` or `<scope>_split_<b>_<e>`.
    pub name: SmolStr,
    /// The scope it is cut out of.
    pub scope: SmolStr,
    /// The nested graph it is in; empty for the root.
    pub branch: String,
    /// Name of its node in the graph.
    pub node_name: SmolStr,
    /// Name of the kernel.
    pub kernel_name: String,
    /// What the kernel's name is a digest of.
    pub document: String,
    /// The stream it is launched on.
    pub main_stream: i64,
    /// Its option string.
    pub options: SmolStr,
    /// Cube and vector cores it is limited to.
    pub core_limits: Option<(u32, u32)>,
    /// All members in list order.
    pub members: Vec<SmolStr>,
    /// Tensors it reads from outside: node and output.
    pub inputs: Vec<(SmolStr, u32)>,
    /// Tensors read outside: node and output.
    pub outputs: Vec<(SmolStr, u32)>,
    /// Its op list.
    pub ops: Vec<Op>,
    /// What the compiler would refuse.
    pub problems: Vec<Problem>,
    /// What works but deserves a look.
    pub warnings: Vec<String>,
}

impl Piece {
    /// Everything that decides what the kernel is, as text.
    pub(crate) fn identity(&self, mode: Mode) -> String {
        match mode {
            Mode::Default => self.document.clone(),
            // The reference's names leave options, streams and core limits out: two kernels may have one name.
            Mode::Compat => json!([self.document, self.normalized_infos(), self.core_limits]).to_string(),
        }
    }

    /// The argument of `compile`.
    pub(crate) fn kernel_infos(&self) -> Value {
        self.infos(|stream| stream, <[i64]>::to_vec)
    }

    /// The argument of `compile` with streams and events counted from 0: equal for pieces of one name.
    pub(crate) fn normalized_infos(&self) -> Value {
        let mut streams = FirstSeen::default();
        let mut events = FirstSeen::default();
        self.infos(|stream| streams.number(stream), |ids| events.numbers(ids))
    }

    /// The argument of `compile` for one of its ops alone, without events.
    pub(crate) fn alone(&self, position: usize) -> Option<Value> {
        let op = Op { recv_event_list: Vec::new(), send_event_list: Vec::new(), ..self.ops.get(position)?.clone() };
        Some(Self { ops: vec![op], ..self.clone() }.normalized_infos())
    }

    fn infos(&self, mut stream: impl FnMut(i64) -> i64, mut events: impl FnMut(&[i64]) -> Vec<i64>) -> Value {
        let op_list: Vec<Value> = self
            .ops
            .iter()
            .map(|op| {
                let mut entry = Map::new();
                entry.insert("bin_path".to_owned(), json!(op.bin_path));
                entry.insert("json_path".to_owned(), json!(op.json_path));
                entry.insert("task_type".to_owned(), json!(op.task_type));
                entry.insert("stream_id".to_owned(), json!(stream(op.stream)));
                // Receives before sends, as names count them.
                if !op.recv_event_list.is_empty() {
                    entry.insert("recv_event_list".to_owned(), json!(events(&op.recv_event_list)));
                }
                if !op.send_event_list.is_empty() {
                    entry.insert("send_event_list".to_owned(), json!(events(&op.send_event_list)));
                }
                Value::Object(entry)
            })
            .collect();
        let mut infos = Map::new();
        infos.insert("op_list".to_owned(), Value::Array(op_list));
        infos.insert("kernel_name".to_owned(), json!(self.kernel_name));
        if !self.options.is_empty() {
            infos.insert("super_kernel_options".to_owned(), json!(self.options));
        }
        Value::Object(infos)
    }
}

/// A node of the list after planning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedNode {
    /// Its new topological id.
    pub id: usize,
    /// Its name.
    pub name: SmolStr,
    /// Its type.
    #[serde(rename = "type")]
    pub op_type: SmolStr,
    /// Its stream.
    pub stream: i64,
    /// The super kernel it is inside of.
    pub parent: Option<SmolStr>,
}

/// An event after planning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EventReport {
    /// Its id.
    pub id: i64,
    /// `normal`, `notify` or `mem`.
    pub kind: &'static str,
    /// Who records it.
    pub from: SmolStr,
    /// Who waits.
    pub to: SmolStr,
    /// Stream of the record.
    pub send_stream: i64,
    /// Stream of the wait.
    pub recv_stream: i64,
    /// Made by the planner.
    pub created: bool,
}

/// The plan of a whole graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ScopePlan {
    /// Name of the graph.
    pub graph: String,
    /// `default` or `compat`.
    pub mode: &'static str,
    /// Whether anything was planned.
    pub status: Status,
    /// What was assumed about a graph from before compilation; empty: the graph is from behind it.
    pub prediction: Vec<String>,
    /// What the user can change.
    pub findings: Vec<Finding>,
    /// Scopes that are not planned because of their options.
    pub mistakes: Vec<Mistake>,
    /// Every scope, in the order of its first mark.
    pub scopes: Vec<ScopeReport>,
    /// Every super kernel, in the order they are built.
    pub pieces: Vec<Piece>,
    /// The list after planning; empty if nothing is fused.
    pub nodes: Vec<ListedNode>,
    /// The events after planning; empty if nothing is fused.
    pub events: Vec<EventReport>,
    /// Sentences about single nodes.
    pub records: Vec<Record>,
    /// What was read of ops to plan them.
    #[serde(skip)]
    pub kernels: KnownKernels,
}

impl ScopePlan {
    /// An empty plan.
    pub(crate) fn new(graph: &Graph, mode: Mode) -> Self {
        Self {
            graph: graph.name.clone(),
            mode: mode.as_str(),
            status: Status::Planned,
            prediction: match &graph.stage {
                Stage::Predicted(notes) => notes.clone(),
                Stage::Compiled | Stage::BeforeCompilation => Vec::new(),
            },
            findings: Vec::new(),
            mistakes: Vec::new(),
            scopes: Vec::new(),
            pieces: Vec::new(),
            nodes: Vec::new(),
            events: Vec::new(),
            records: Vec::new(),
            kernels: KnownKernels::default(),
        }
    }

    /// The plan as JSON, with the argument of `compile` for every piece.
    pub(crate) fn to_json(&self) -> Value {
        let mut plan = serde_json::to_value(self).unwrap_or(Value::Null);
        if let Some(pieces) = plan.get_mut("pieces").and_then(Value::as_array_mut) {
            for (written, piece) in pieces.iter_mut().zip(&self.pieces) {
                // Of ops that are not compiled there is nothing to compile.
                if !self.prediction.is_empty() {
                    continue;
                }
                written["kernel_infos"] = piece.kernel_infos();
                written["normalized_infos"] = piece.normalized_infos();
            }
        }
        plan
    }
}
