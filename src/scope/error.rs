//! What can be wrong with a graph or with the plan made from it.

use std::fmt;
use std::path::PathBuf;

use super::reason::Reason;
use crate::cancel::Cancelled;
use crate::diagnostic::{Advice, Diagnostic, advice};
use crate::fs::FileError;
use crate::nearest::nearest;
use crate::options::OptionError;

/// Why a graph cannot be read or planned.
#[derive(Debug, thiserror::Error)]
pub enum ScopeError {
    /// A file could not be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The text is not JSON, or not of the documented form.
    #[error("graph JSON: {}", explained(.0, true))]
    Json(#[source] serde_json::Error),
    /// A node or event that is added to a graph has a field that is not known, or of another kind.
    #[error("{place}: {}", explained(.source, false))]
    Part {
        /// Which one.
        place: String,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// Not a graph but the ops of one super kernel.
    #[error("an op list is given (it has `op_list`), where a graph is expected")]
    OpListGiven,
    /// A graph in JSON has no `nodes`.
    #[error("graph JSON: the object has no list `nodes`")]
    NoNodes,
    /// A graph dump does not follow the text grammar.
    #[error("graph dump, line {line}, column {column}: {problem}")]
    Dump {
        /// Counted from 1.
        line: usize,
        /// Counted from 1, in bytes.
        column: usize,
        /// What was found and what was expected.
        problem: String,
    },
    /// A dump follows the grammar but a field we need is missing or of the wrong kind, or a binary one is damaged.
    #[error("graph dump, {place}: {problem}")]
    DumpField {
        /// Line of a text, offset in a binary file.
        place: DumpPlace,
        /// What is wrong.
        problem: String,
    },
    /// A node without a name.
    #[error("node number {position} (type `{op_type}`) has no name")]
    UnnamedNode {
        /// Position in the list.
        position: usize,
        /// Its type.
        op_type: String,
    },
    /// A name twice.
    #[error("two nodes are called `{name}`")]
    DuplicateNode {
        /// The name.
        name: String,
    },
    /// An id that leaves no room beside it.
    #[error("node `{name}` has the topological id {id}, which is out of range")]
    IdRange {
        /// The node.
        name: String,
        /// Its id.
        id: i64,
    },
    /// List order and topological ids disagree.
    #[error("node `{name}` with topological id {id} comes after `{before}` with id {before_id}")]
    IdOrder {
        /// The earlier node.
        before: String,
        /// Its id.
        before_id: i64,
        /// The later node.
        name: String,
        /// Its id.
        id: i64,
    },
    /// An edge to a node that is not there.
    #[error("an edge ends at a node that is not in the graph")]
    DanglingEdge,
    /// An edge or event names a node that is not there.
    #[error("{place} names `{name}`, which is not a node of the graph{}", suggestion(.nearest))]
    UnknownNode {
        /// Where the name was written.
        place: String,
        /// The name.
        name: String,
        /// Close names.
        nearest: Vec<String>,
    },
    /// A nested graph that is declared inside one that is not there.
    #[error("{place} names `{name}`, which is not a branch declared before it")]
    UnknownBranch {
        /// Where the name was written.
        place: String,
        /// The name.
        name: String,
    },
    /// Two nested graphs of one name.
    #[error("two nested graphs are called `{name}`")]
    DuplicateBranch {
        /// The name.
        name: String,
    },
    /// An attribute of the wrong kind.
    #[error("node `{node}`: attribute `{key}` is {found}; expected {expected}")]
    Attribute {
        /// The node.
        node: String,
        /// The attribute.
        key: String,
        /// What it is.
        found: String,
        /// What it should be.
        expected: &'static str,
    },
    /// A compile-result JSON that cannot be read.
    #[error("`{}` is not a compile result: {source}", path.display())]
    CompileResult {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// A compile-result JSON with a field of the wrong kind.
    #[error("`{}` is not a compile result: `{key}` is {found}; expected an integer", path.display())]
    CompileResultField {
        /// The file.
        path: PathBuf,
        /// The field.
        key: &'static str,
        /// What it is.
        found: String,
    },
    /// `strict-scope-check` with an illegal value.
    #[error(
        "super_kernel_scope: node `{node}` of scope `{scope}`: option `strict-scope-check` cannot be `{value}`; \
         expected `bypass` or `abort`"
    )]
    StrictValue {
        /// The node.
        node: String,
        /// Its scope.
        scope: String,
        /// What was written.
        value: String,
    },
    /// `strict-scope-check` that is not of the form `name=value`.
    #[error(
        "super_kernel_scope: node `{node}`: `{part}` is not `strict-scope-check=bypass` or `strict-scope-check=abort`"
    )]
    StrictMalformed {
        /// The node.
        node: String,
        /// The part of its option string.
        part: String,
    },
    /// One scope, two strict values.
    #[error(
        "super_kernel_scope: scope `{scope}` has strict-scope-check={first_value} on `{first}` and ={value} on `{node}`"
    )]
    StrictConflict {
        /// The scope.
        scope: String,
        /// The node that said it first.
        first: String,
        /// What it said.
        first_value: &'static str,
        /// The node that disagrees.
        node: String,
        /// What it says.
        value: &'static str,
    },
    /// `strict-scope-check=abort` and something that cannot be fused.
    #[error("{record}")]
    StrictAbort {
        /// The whole record about the node.
        record: String,
        /// The scope.
        scope: String,
        /// The node.
        node: String,
        /// Why.
        reason: Reason,
    },
    /// An option string that the compiler would refuse.
    #[error("super_kernel_scope: options of node `{node}`: {source}")]
    Options {
        /// The node.
        node: String,
        /// Why.
        #[source]
        source: OptionError,
    },
    /// Members of one piece with different options.
    #[error(
        "super_kernel_scope: `{first}` and `{node}` are both in `{piece}` but have different options: \
         `{first_options}` and `{options}`"
    )]
    OptionConflict {
        /// The piece.
        piece: String,
        /// Its first member.
        first: String,
        /// Its options.
        first_options: String,
        /// The member that disagrees.
        node: String,
        /// Its options.
        options: String,
    },
    /// An event that is not one send, one recv, one producer and one consumer.
    #[error("event end `{node}`: {problem}")]
    Event {
        /// The send or recv node.
        node: String,
        /// What is wrong.
        problem: String,
    },
    /// The same of data.
    #[error("`{consumer}` reads what `{producer}` writes, but comes before it in the list")]
    BackwardData {
        /// Writes.
        producer: String,
        /// Reads.
        consumer: String,
    },
    /// A consumer in front of its producer.
    #[error("event {id}: `{consumer}` receives what `{producer}` sends, but comes before it in the list")]
    BackwardEvent {
        /// The event's id.
        id: i64,
        /// Sends.
        producer: String,
        /// Receives.
        consumer: String,
    },
    /// Edges in a circle.
    #[error("the edges of node `{name}` form a cycle, so the graph has no order")]
    CyclicEdges {
        /// One of the nodes.
        name: String,
    },
    /// Data that nobody waits for.
    #[error(
        "`{consumer}` on stream {consumer_stream} reads what `{producer}` on stream {producer_stream} writes, and no \
         chain of stream order and events makes it wait"
    )]
    UncoveredData {
        /// Writes.
        producer: String,
        /// Its stream.
        producer_stream: i64,
        /// Reads.
        consumer: String,
        /// Its stream.
        consumer_stream: i64,
    },
    /// A piece that could hang, and the caller asked to refuse those.
    #[error(
        "super_kernel_scope: in scope `{scope}` op `{node}` waits for `{through}`, which waits for `{first}` of the \
         same piece: a kernel that holds both could hang"
    )]
    WaitCycle {
        /// The scope.
        scope: String,
        /// The earlier member.
        first: String,
        /// The node between.
        through: String,
        /// The later member.
        node: String,
    },
    /// A node that shall be left out is not there.
    #[error("there is no node `{name}` to exclude{}", suggestion(nearest))]
    UnknownExcluded {
        /// What was named.
        name: String,
        /// Names close to it.
        nearest: Vec<String>,
    },
    /// The caller wants no plan any more.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// Ids ran out.
    #[error("there are no memory event ids left above {last}")]
    EventIds {
        /// The largest id in use.
        last: i64,
    },
}

/// `; did you mean ...?`
fn suggestion(nearest: &[String]) -> String {
    if nearest.is_empty() { String::new() } else { format!("; did you mean `{}`?", nearest.join("`, `")) }
}

/// What a reader of JSON says; of a name it does not know the one that was meant, rather than all it knows. Where nobody
/// sees the text, its lines mean nothing.
fn explained(error: &serde_json::Error, with_place: bool) -> String {
    let text = error.to_string();
    let (said, place) = text.split_at(text.rfind(" at line ").unwrap_or(text.len()));
    let place = if with_place { place } else { "" };
    let mut names = said.split('`').skip(1).step_by(2);
    let given = names.next().filter(|_| said.starts_with("unknown "));
    match given.and_then(|given| nearest(given, names, 1).first().copied()) {
        Some(meant) => format!("{}{place}; did you mean `{meant}`?", said.split(',').next().unwrap_or(said)),
        None => format!("{said}{place}"),
    }
}

impl Diagnostic for ScopeError {
    fn advice(&self) -> Advice {
        match self {
            Self::File(error) => error.advice(),
            Self::Json(_) | Self::Part { .. } | Self::NoNodes => {
                advice("SK1001", "see docs/scopes.md for the JSON form of a graph")
            }
            Self::OpListGiven => advice(
                "SK1001",
                "`superkernel compile` builds the super kernel of an op list, `superkernel plan` shows \
                                  it; in Python: superkernel.compile",
            ),
            Self::Dump { .. } | Self::DumpField { .. } => advice(
                "SK1002",
                "give a graph dump in protobuf text (ge_proto_*.txt) or binary form (*.pb), or what TorchAir dumped \
                 (dynamo_optimized_*), complete and unedited",
            ),
            Self::UnnamedNode { .. } | Self::DuplicateNode { .. } | Self::DuplicateBranch { .. } => {
                advice("SK1003", "give every node and every nested graph a name of its own")
            }
            Self::IdRange { .. } | Self::IdOrder { .. } => {
                advice("SK1004", "list the nodes in execution order, or leave the ids out")
            }
            Self::DanglingEdge | Self::UnknownNode { .. } => advice("SK1005", "name nodes that are in the list"),
            Self::UnknownBranch { .. } => advice("SK1005", "list the branches from the outside in"),
            Self::Attribute { expected, .. } => advice("SK1006", format!("make it {expected}")),
            Self::CompileResult { .. } | Self::CompileResultField { .. } => {
                advice("SK1007", "point json_path at the JSON the operator compiler wrote")
            }
            Self::StrictValue { .. } | Self::StrictMalformed { .. } => {
                advice("SK1008", "write strict-scope-check=bypass or strict-scope-check=abort, without blanks")
            }
            Self::StrictConflict { .. } => advice("SK1009", "use one value for the whole scope"),
            Self::StrictAbort { .. } => advice(
                "SK1010",
                "take the node out of the scope (or split the scope around it), or remove strict-scope-check",
            ),
            Self::Options { source, .. } => advice("SK1011", source.solution()),
            Self::OptionConflict { .. } => advice("SK1012", "give all blocks of one scope name the same options"),
            Self::Event { .. } => advice(
                "SK1013",
                "an event is one send node with one producer and one recv node with one consumer, under one id",
            ),
            Self::EventIds { .. } => advice("SK1013", "use smaller ids for memory events"),
            Self::BackwardEvent { .. } | Self::BackwardData { .. } => {
                advice("SK1014", "list the nodes in execution order")
            }
            Self::UnknownExcluded { .. } => advice("SK1022", "exclude nodes of the graph, by their whole names"),
            Self::Cancelled(_) => advice("SK1023", "run it again"),
            Self::CyclicEdges { .. } => advice("SK1030", "give the graph as it was dumped"),
            Self::UncoveredData { producer, consumer, .. } => advice(
                "SK1031",
                format!("let `{consumer}` wait for `{producer}` by an event, or put both on one stream"),
            ),
            Self::WaitCycle { node, .. } => {
                advice("SK1015", format!("end the scope before `{node}`, or let the planner cut there"))
            }
        }
    }
}

/// Where something was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DumpPlace {
    /// In a text, counted from 1.
    Line(usize),
    /// In a binary file.
    Offset(usize),
}

impl fmt::Display for DumpPlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(formatter, "line {line}"),
            Self::Offset(offset) => write!(formatter, "offset {offset}"),
        }
    }
}
