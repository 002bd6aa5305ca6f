//! The graph a plan starts from: an ordered list of nodes, data edges and control edges.
//!
//! The order of the list is the execution order; restricted to one stream it is that stream's queue.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::error::ScopeError;
use crate::model::{self, Missing, TaskType};

/// A node of one [`Graph`], as its position in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeIndex(pub usize);

/// A graph of the model: the root, or one nested in it (a branch of a condition, a gear of a multi-gear model).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct BranchIndex(pub usize);

impl BranchIndex {
    /// The root graph.
    pub(crate) const ROOT: Self = Self(0);
}

/// A nested graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Branch {
    /// Unique in its model.
    pub name: String,
    /// The graph it is nested in; comes before it.
    pub parent: BranchIndex,
}

/// The three families of events; ids are only unique within one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum EventKind {
    /// `Send` / `Recv`: a runtime event.
    Normal,
    /// `SendNotify` / `RecvNotify`: a notify of the runtime.
    Notify,
    /// `SendMem` / `RecvMem`: an 8-byte word in device memory.
    Mem,
}

impl EventKind {
    /// As printed in reports and written in the JSON form.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Notify => "notify",
            Self::Mem => "mem",
        }
    }

    /// The attribute that holds the id.
    pub(crate) fn id_attribute(self) -> &'static str {
        match self {
            Self::Normal | Self::Mem => "event_id",
            Self::Notify => "notify_id",
        }
    }

    /// Node type of the sending end.
    pub(crate) fn send_type(self) -> &'static str {
        match self {
            Self::Normal => "Send",
            Self::Notify => "SendNotify",
            Self::Mem => "SendMem",
        }
    }

    /// Node type of the receiving end.
    pub(crate) fn recv_type(self) -> &'static str {
        match self {
            Self::Normal => "Recv",
            Self::Notify => "RecvNotify",
            Self::Mem => "RecvMem",
        }
    }

    /// Every kind.
    #[cfg(test)]
    pub(crate) const ALL: [Self; 3] = [Self::Normal, Self::Notify, Self::Mem];
}

/// Which end of an event a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// Records the event.
    Send,
    /// Waits for it.
    Recv,
}

/// What a node type means to the planner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Something a stream executes.
    Ordinary,
    /// A source of data that never belongs to a scope and never interrupts one.
    Source,
    /// One end of an event; neither belongs to a scope nor interrupts one.
    Event(EventKind, Direction),
}

impl Role {
    /// The role of a node type.
    pub(crate) fn of_type(op_type: &str) -> Self {
        match op_type {
            "Data" | "Variable" | "Const" | "Constant" | "ConstPlaceHolder" => Self::Source,
            "Send" => Self::Event(EventKind::Normal, Direction::Send),
            "Recv" => Self::Event(EventKind::Normal, Direction::Recv),
            "SendNotify" => Self::Event(EventKind::Notify, Direction::Send),
            "RecvNotify" => Self::Event(EventKind::Notify, Direction::Recv),
            "SendMem" => Self::Event(EventKind::Mem, Direction::Send),
            "RecvMem" => Self::Event(EventKind::Mem, Direction::Recv),
            _ => Self::Ordinary,
        }
    }
}

/// One node with everything the planner reads from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    /// Unique in its graph.
    pub name: SmolStr,
    /// Operator type.
    pub op_type: SmolStr,
    /// Topological id; grows along the list.
    pub id: i64,
    /// The graph it is in.
    pub branch: BranchIndex,
    /// Stream id; -1: not assigned.
    pub stream: i64,
    /// The stream the user asked for, by its label; empty: none.
    pub stream_label: SmolStr,
    /// Name of the scope the node is marked with; empty: unmarked.
    pub scope: SmolStr,
    /// Option string of the mark.
    pub options: SmolStr,
    /// Only 1 means "can be a sub-kernel".
    pub support: i64,
    /// Greater than 0 marks a SIMT kernel.
    pub local_memory_size: i64,
    /// The op type's tiling may be executed on the AICPU.
    pub tiling_on_aicpu: bool,
    /// This instance really does sink its tiling.
    pub tiling_sink: bool,
    /// A prebuilt binary was matched for this instance.
    pub reuse_binary: bool,
    /// A collective that has an in-kernel implementation.
    pub hccl: bool,
    /// User limit of cube cores.
    pub aicore_num: Option<u32>,
    /// User limit of vector cores.
    pub vectorcore_num: Option<u32>,
    /// Name of the compiled relocatable sub-kernel.
    pub kernel_name: SmolStr,
    /// Its object file.
    pub bin_path: SmolStr,
    /// Its description file.
    pub json_path: SmolStr,
    /// Static or tiling-sink.
    pub task_type: TaskType,
    /// Runs on AI cores. False for host, AICPU and DMA work: it can make progress while a kernel holds every core.
    pub ai_core: bool,
    /// Launches nothing at all (an elided reshape, an identity).
    pub no_task: bool,
    /// A cast to the type that its input has already.
    pub same_type: bool,
    /// The id of an event end.
    pub event_id: Option<i64>,
    /// What the user wrote that became this node.
    pub origin: Option<Box<Origin>>,
    /// The super kernel that the engine has put it into; only dumps of what the engine built tell.
    pub part_of: Option<Box<PartOf>>,
}

/// What the engine made of a node.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PartOf {
    /// Name of the node of the super kernel.
    pub kernel: String,
    /// Ids of the events it sends inside.
    #[serde(default)]
    pub sends: Vec<i64>,
    /// Ids of those it waits for.
    #[serde(default)]
    pub receives: Vec<i64>,
}

/// Where a node comes from, in the user's words; what is not known is empty.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Origin {
    /// The torch operator, `aten.mm.default`.
    pub torch_op: SmolStr,
    /// The node of the traced graph, `mm_1`.
    pub fx_node: SmolStr,
    /// The line of Python, `model.py:7`.
    pub line: SmolStr,
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = [&self.torch_op, &self.fx_node, &self.line].into_iter().filter(|part| !part.is_empty());
        for (number, part) in known.enumerate() {
            let comma = if number > 0 { ", " } else { "" };
            write!(formatter, "{comma}{part}")?;
        }
        Ok(())
    }
}

impl Node {
    /// What the engine made of it, to be filled in.
    pub(crate) fn part_of(&mut self) -> &mut PartOf {
        self.part_of.get_or_insert_default()
    }

    /// An unmarked node with every field at its default.
    pub(crate) fn new(name: impl Into<SmolStr>, op_type: impl Into<SmolStr>, id: i64, stream: i64) -> Self {
        Self {
            name: name.into(),
            op_type: op_type.into(),
            id,
            branch: BranchIndex::ROOT,
            stream,
            stream_label: SmolStr::default(),
            scope: SmolStr::default(),
            options: SmolStr::default(),
            support: 0,
            local_memory_size: 0,
            tiling_on_aicpu: false,
            tiling_sink: false,
            reuse_binary: false,
            hccl: false,
            aicore_num: None,
            vectorcore_num: None,
            kernel_name: SmolStr::default(),
            bin_path: SmolStr::default(),
            json_path: SmolStr::default(),
            task_type: TaskType::Normal,
            ai_core: true,
            no_task: false,
            same_type: false,
            event_id: None,
            origin: None,
            part_of: None,
        }
    }

    /// What the node's type means to the planner.
    pub(crate) fn role(&self) -> Role {
        Role::of_type(&self.op_type)
    }

    /// Is it marked with a scope?
    pub(crate) fn is_marked(&self) -> bool {
        !self.scope.is_empty()
    }

    /// Is it an end of an event?
    pub(crate) fn is_event(&self) -> bool {
        matches!(self.role(), Role::Event(..))
    }
}

/// An output of one node that is an input of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DataEdge {
    /// The producer.
    pub from: NodeIndex,
    /// Its output.
    pub output: u32,
    /// The consumer.
    pub to: NodeIndex,
    /// Its input.
    pub input: u32,
}

/// "Before", without data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ControlEdge {
    /// The earlier node.
    pub from: NodeIndex,
    /// The later node.
    pub to: NodeIndex,
}

/// How far the graph engine had come when it wrote the graph down.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Stage {
    /// Ops are compiled, streams and events assigned: what planning starts from.
    #[default]
    Compiled,
    /// Before all that: `prediction` fills in what is missing.
    BeforeCompilation,
    /// Filled in. The sentences tell what was assumed.
    Predicted(Vec<String>),
}

/// A whole model after streams, events and memory were assigned.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Graph {
    /// For reports.
    pub name: String,
    /// When it was written.
    pub(crate) stage: Stage,
    /// Shapes are not static: such a graph is left alone.
    pub(crate) unknown_shape: bool,
    /// Nested graphs; the root is not in the list. Their nodes are flattened into `nodes`.
    pub(crate) branches: Vec<Branch>,
    /// In execution order, event ends included.
    pub(crate) nodes: Vec<Node>,
    /// Data edges.
    pub(crate) data: Vec<DataEdge>,
    /// Control edges; those at event ends connect producer and consumer.
    pub(crate) control: Vec<ControlEdge>,
}

impl Graph {
    /// Where the nodes of these names come from, as far as the graph tells.
    pub(crate) fn origins<'a>(&self, names: impl Iterator<Item = &'a str>) -> BTreeMap<SmolStr, Origin> {
        let wanted: HashSet<&str> = names.collect();
        let named = self.nodes.iter().filter(|node| wanted.contains(node.name.as_str()));
        named.filter_map(|node| Some((node.name.clone(), node.origin.as_deref()?.clone()))).collect()
    }

    /// Was what compilation finds out filled in by assumption?
    pub(crate) fn is_prediction(&self) -> bool {
        matches!(self.stage, Stage::Predicted(_))
    }

    /// Has somebody assigned streams? In a dump stream 0 is not written.
    pub(crate) fn has_streams(&self) -> bool {
        self.nodes.iter().any(|node| node.stream > 0 || node.is_event())
    }

    /// The node at `index`.
    pub(crate) fn node(&self, index: NodeIndex) -> &Node {
        &self.nodes[index.0]
    }

    /// The nested graph at `index`; `None` for the root.
    pub(crate) fn branch(&self, index: BranchIndex) -> Option<&Branch> {
        index.0.checked_sub(1).and_then(|position| self.branches.get(position))
    }

    /// The name of a graph; empty for the root.
    pub(crate) fn branch_name(&self, index: BranchIndex) -> &str {
        self.branch(index).map_or("", |branch| &branch.name)
    }

    /// Is a graph the other one, or nested in it?
    pub(crate) fn is_within(&self, mut inner: BranchIndex, outer: BranchIndex) -> bool {
        while inner > outer {
            let Some(branch) = self.branch(inner) else { return false };
            inner = branch.parent;
        }
        inner == outer
    }

    /// Is one of two graphs nested in the other? Only then both can be executed in one run for certain.
    pub(crate) fn are_nested(&self, one: BranchIndex, other: BranchIndex) -> bool {
        self.is_within(one, other) || self.is_within(other, one)
    }

    /// All nodes with their positions, in execution order.
    pub(crate) fn indexed(&self) -> impl DoubleEndedIterator<Item = (NodeIndex, &Node)> {
        self.nodes.iter().enumerate().map(|(position, node)| (NodeIndex(position), node))
    }

    /// Positions by name.
    pub(crate) fn by_name(&self) -> HashMap<&str, NodeIndex> {
        self.indexed().map(|(index, node)| (node.name.as_str(), index)).collect()
    }

    /// What must hold before anything is planned: unique names, growing ids, edges that end at nodes.
    pub(crate) fn check(&self) -> Result<(), ScopeError> {
        let mut seen = HashMap::with_capacity(self.nodes.len());
        let mut last: Option<&Node> = None;
        for (index, node) in self.indexed() {
            if node.name.is_empty() {
                return Err(ScopeError::UnnamedNode { position: index.0, op_type: node.op_type.to_string() });
            }
            if seen.insert(node.name.as_str(), index).is_some() {
                return Err(ScopeError::DuplicateNode { name: node.name.to_string() });
            }
            // Event ends never enter a cut, so only the rest must be in order.
            if node.is_event() {
                continue;
            }
            // The two ends keep room for `first - 1` and `last + 1`.
            if node.id == i64::MIN || node.id == i64::MAX {
                return Err(ScopeError::IdRange { name: node.name.to_string(), id: node.id });
            }
            if let Some(before) = last.filter(|before| before.id >= node.id) {
                return Err(ScopeError::IdOrder {
                    before: before.name.to_string(),
                    before_id: before.id,
                    name: node.name.to_string(),
                    id: node.id,
                });
            }
            last = Some(node);
        }
        let known = |index: BranchIndex| index.0 <= self.branches.len();
        let nested = (1..).zip(&self.branches).all(|(position, branch)| branch.parent.0 < position);
        if !nested || !self.nodes.iter().all(|node| known(node.branch)) {
            return Err(ScopeError::DanglingEdge);
        }
        let inside = |index: NodeIndex| index.0 < self.nodes.len();
        let data_inside = self.data.iter().all(|edge| inside(edge.from) && inside(edge.to));
        let control_inside = self.control.iter().all(|edge| inside(edge.from) && inside(edge.to));
        if data_inside && control_inside { Ok(()) } else { Err(ScopeError::DanglingEdge) }
    }

    /// Relative paths, of files that are beside the graph's own or in the current folder.
    pub(crate) fn look_for_files(&mut self, folder: &Path) {
        for node in &mut self.nodes {
            node.bin_path = model::beside(folder, &node.bin_path, Missing::AsWritten).into();
            node.json_path = model::beside(folder, &node.json_path, Missing::AsWritten).into();
        }
    }

    /// Takes `supportSuperKernel` and `localMemorySize` from the compile results named by `json_path`.
    ///
    /// A missing or -1 support flag and a size outside 1 ..= 2^32-1 leave the node as it is.
    pub(crate) fn take_compile_results(&mut self) -> Result<(), ScopeError> {
        for node in self.nodes.iter_mut().filter(|node| !node.json_path.is_empty()) {
            let path = std::path::Path::new(&node.json_path);
            let bytes = crate::fs::read(path)?;
            let result: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(&bytes)
                .map_err(|source| ScopeError::CompileResult { path: path.to_owned(), source })?;
            let integer = |key: &'static str| match result.get(key) {
                None => Ok(None),
                Some(value) => value.as_i64().map(Some).ok_or_else(|| ScopeError::CompileResultField {
                    path: path.to_owned(),
                    key,
                    found: value.to_string(),
                }),
            };
            if let Some(support) = integer("supportSuperKernel")?.filter(|support| *support != -1) {
                node.support = support;
            }
            let sizes = 1..=i64::from(u32::MAX);
            if let Some(size) = integer("localMemorySize")?.filter(|size| sizes.contains(size)) {
                node.local_memory_size = size;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_follow_the_type() {
        for kind in EventKind::ALL {
            assert_eq!(Role::of_type(kind.send_type()), Role::Event(kind, Direction::Send));
            assert_eq!(Role::of_type(kind.recv_type()), Role::Event(kind, Direction::Recv));
        }
        for source in ["Data", "Variable", "Const", "Constant", "ConstPlaceHolder"] {
            assert_eq!(Role::of_type(source), Role::Source);
        }
        assert_eq!(Role::of_type("Reshape"), Role::Ordinary);
    }

    #[test]
    fn names_are_unique_and_ids_grow() {
        let mut graph =
            Graph { nodes: vec![Node::new("a", "Add", 1, 0), Node::new("a", "Add", 2, 0)], ..Graph::default() };
        assert!(matches!(graph.check(), Err(ScopeError::DuplicateNode { .. })));
        graph.nodes[1] = Node::new("b", "Add", 1, 0);
        assert!(matches!(graph.check(), Err(ScopeError::IdOrder { .. })));
        graph.nodes[1] = Node::new("b", "Send", 0, 0);
        assert!(graph.check().is_ok(), "ids of event ends are free");
        graph.control.push(ControlEdge { from: NodeIndex(0), to: NodeIndex(2) });
        assert!(matches!(graph.check(), Err(ScopeError::DanglingEdge)));
    }

    #[test]
    fn compile_results_fill_in_two_fields() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("op.json");
        let mut node = Node::new("a", "Add", 1, 0);
        node.json_path = path.to_str().unwrap().to_owned().into();
        let mut graph = Graph { nodes: vec![node], ..Graph::default() };
        for (text, support, size) in [
            (r#"{"supportSuperKernel": 1, "localMemorySize": 4096}"#, 1, 4096),
            (r#"{"supportSuperKernel": -1, "localMemorySize": 0}"#, 1, 4096),
            (r#"{"localMemorySize": 4294967296}"#, 1, 4096),
            (r#"{"supportSuperKernel": 0, "localMemorySize": 4294967295}"#, 0, 4_294_967_295),
        ] {
            std::fs::write(&path, text).unwrap();
            graph.take_compile_results().unwrap();
            assert_eq!((graph.nodes[0].support, graph.nodes[0].local_memory_size), (support, size), "{text}");
        }
        std::fs::write(&path, "{").unwrap();
        assert!(graph.take_compile_results().is_err());
    }

    #[test]
    fn a_compile_result_with_a_flag_of_the_wrong_type_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("op.json");
        let mut node = Node::new("a", "Add", 1, 0);
        node.json_path = path.to_str().unwrap().to_owned().into();
        let mut graph = Graph { nodes: vec![node], ..Graph::default() };
        for (text, part) in [
            (r#"{"supportSuperKernel": "1"}"#, "`supportSuperKernel` is \"1\""),
            (r#"{"supportSuperKernel": true}"#, "`supportSuperKernel` is true"),
            (r#"{"supportSuperKernel": 1.5}"#, "`supportSuperKernel` is 1.5"),
            (r#"{"supportSuperKernel": null}"#, "`supportSuperKernel` is null"),
            (r#"{"localMemorySize": [32]}"#, "`localMemorySize` is [32]"),
            ("[]", "not a compile result"),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = graph.take_compile_results().unwrap_err().to_string();
            assert!(error.contains(part) && error.contains("op.json"), "{text}: {error}");
        }
    }
}
