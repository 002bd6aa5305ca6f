//! The JSON form of a graph (documented in `docs/scopes.md`).
//!
//! Events can be written as nodes with control edges, as a dump has them, or in short under `events`; then the
//! send stands right behind its producer and the recv right in front of its consumer.

use std::collections::HashMap;
use std::fmt;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};
use smol_str::SmolStr;

use super::attributes::{self, AttributeValue};
use super::error::ScopeError;
use super::graph::{
    Branch, BranchIndex, ControlEdge, DataEdge, EventKind, Graph, Node, NodeIndex, Origin, PartOf, Stage,
};
use super::short_events::{self, ShortEvent};
use crate::model::TaskType;
use crate::nearest::nearest;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawGraph {
    #[serde(default)]
    name: String,
    #[serde(default)]
    unknown_shape: bool,
    #[serde(default)]
    before_compilation: bool,
    #[serde(default)]
    branches: Vec<RawBranch>,
    nodes: Option<Nodes>,
    #[serde(default)]
    events: Vec<RawEvent>,
    #[serde(default)]
    data: Vec<RawData>,
    #[serde(default)]
    control: Vec<(String, String)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawBranch {
    name: String,
    #[serde(default)]
    parent: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawNode {
    branch: Option<SmolStr>,
    name: SmolStr,
    #[serde(rename = "type")]
    op_type: SmolStr,
    id: Option<i64>,
    stream: Option<i64>,
    stream_label: Option<SmolStr>,
    scope: Option<SmolStr>,
    options: Option<SmolStr>,
    support: Option<i64>,
    local_memory_size: Option<i64>,
    tiling_on_aicpu: Option<bool>,
    tiling_sink: Option<bool>,
    reuse_binary: Option<bool>,
    hccl: Option<bool>,
    aicore_num: Option<u32>,
    vectorcore_num: Option<u32>,
    kernel_name: Option<SmolStr>,
    bin_path: Option<SmolStr>,
    json_path: Option<SmolStr>,
    task_type: Option<TaskType>,
    ai_core: Option<bool>,
    no_task: Option<bool>,
    same_type: Option<bool>,
    event_id: Option<i64>,
    origin: Option<RawOrigin>,
    part_of: Option<Box<PartOf>>,
    #[serde(default)]
    attrs: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawOrigin {
    #[serde(default)]
    torch_op: SmolStr,
    #[serde(default)]
    fx_node: SmolStr,
    #[serde(default)]
    line: SmolStr,
}

#[derive(Deserialize, Clone, Copy, Default)]
#[serde(rename_all = "lowercase")]
enum RawKind {
    #[default]
    Normal,
    Notify,
    Mem,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawEvent {
    id: i64,
    from: String,
    to: String,
    #[serde(default)]
    kind: RawKind,
    send_stream: Option<i64>,
    recv_stream: Option<i64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawData {
    from: String,
    #[serde(default)]
    output: u32,
    to: String,
    input: u32,
}

/// Refuses fields that no node has, or of the wrong kind, before they are part of a graph.
pub(crate) fn check_node(name: &str, text: &str) -> Result<(), ScopeError> {
    check::<RawNode>(format!("op `{name}`"), text)
}

/// The same of an event.
pub(crate) fn check_event(id: i64, text: &str) -> Result<(), ScopeError> {
    check::<RawEvent>(format!("event {id}"), text)
}

fn check<'a, T: Deserialize<'a>>(place: String, text: &'a str) -> Result<(), ScopeError> {
    serde_json::from_str::<T>(text).map(drop).map_err(|source| ScopeError::Part { place, source })
}

/// Reads a graph in JSON form and checks it.
pub(crate) fn read(text: &str) -> Result<Graph, ScopeError> {
    let raw: RawGraph = serde_json::from_str(text).map_err(|error| {
        let is_op_list = error.to_string().starts_with("unknown field `op_list`");
        if is_op_list { ScopeError::OpListGiven } else { ScopeError::Json(error) }
    })?;
    let Nodes { list: mut nodes, branches: named, refused, .. } = raw.nodes.ok_or(ScopeError::NoNodes)?;
    let mut branches = Branches::declared(raw.branches)?;
    refused.map_or(Ok(()), Err)?;
    let known: Vec<BranchIndex> = named.iter().map(|name| branches.get(name)).collect();
    for node in &mut nodes {
        node.branch = node.branch.0.checked_sub(1).map_or(BranchIndex::ROOT, |position| known[position]);
    }
    let branches = branches.list;
    let stage = if raw.before_compilation { Stage::BeforeCompilation } else { Stage::Compiled };
    let graph = Graph { name: raw.name, stage, unknown_shape: raw.unknown_shape, branches, nodes, ..Graph::default() };
    let events = named_events(&graph, &raw.events)?;
    let mut graph = short_events::add(graph, &events);
    connect(&mut graph, &raw.data, &raw.control)?;
    graph.check()?;
    Ok(graph)
}

/// Nodes as they are read, one by one: all of them as written would take more memory than the graph itself.
#[derive(Default)]
struct Nodes {
    /// The branch of a node is its position in `branches`, counted from 1.
    list: Vec<Node>,
    /// The graphs that nodes name, in the order of their first nodes.
    branches: Vec<SmolStr>,
    positions: HashMap<SmolStr, usize>,
    /// The first that cannot be.
    refused: Option<ScopeError>,
    next_id: i64,
}

impl Nodes {
    fn add(&mut self, raw: RawNode) -> Result<(), ScopeError> {
        let branch = raw.branch.clone().map_or(0, |name| {
            *self.positions.entry(name).or_insert_with_key(|name| {
                self.branches.push(name.clone());
                self.branches.len()
            })
        });
        let mut node = read_node(raw, self.next_id)?;
        node.branch = BranchIndex(branch);
        self.next_id = node.id.saturating_add(1);
        self.list.push(node);
        Ok(())
    }
}

impl<'de> Deserialize<'de> for Nodes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Self::default())
    }
}

impl<'de> Visitor<'de> for Nodes {
    type Value = Self;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a sequence")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut written: A) -> Result<Self, A::Error> {
        while let Some(raw) = written.next_element()? {
            // What is wrong with the form of the document is said first.
            if self.refused.is_none() {
                self.refused = self.add(raw).err();
            }
        }
        Ok(self)
    }
}

/// Nested graphs by name.
struct Branches {
    list: Vec<Branch>,
    by_name: HashMap<String, BranchIndex>,
}

impl Branches {
    fn declared(raw: Vec<RawBranch>) -> Result<Self, ScopeError> {
        let mut branches = Self { list: Vec::new(), by_name: HashMap::from([(String::new(), BranchIndex::ROOT)]) };
        for (number, RawBranch { name, parent }) in raw.into_iter().enumerate() {
            let Some(&parent) = branches.by_name.get(&parent) else {
                return Err(ScopeError::UnknownBranch { place: format!("branches[{number}].parent"), name: parent });
            };
            if branches.by_name.contains_key(&name) {
                return Err(ScopeError::DuplicateBranch { name });
            }
            branches.add(name, parent);
        }
        Ok(branches)
    }

    fn add(&mut self, name: String, parent: BranchIndex) -> BranchIndex {
        self.list.push(Branch { name: name.clone(), parent });
        let index = BranchIndex(self.list.len());
        self.by_name.insert(name, index);
        index
    }

    /// The graph of that name; one that was not declared is nested in the root.
    fn get(&mut self, name: &str) -> BranchIndex {
        match self.by_name.get(name) {
            Some(index) => *index,
            None => self.add(name.to_owned(), BranchIndex::ROOT),
        }
    }
}

fn read_node(raw: RawNode, default_id: i64) -> Result<Node, ScopeError> {
    let mut node = Node::new(raw.name, raw.op_type, raw.id.unwrap_or(default_id), raw.stream.unwrap_or(-1));
    for (key, value) in &raw.attrs {
        let value = match value {
            Value::String(text) => AttributeValue::Text(text.clone()),
            Value::Bool(on) => AttributeValue::Switch(*on),
            Value::Number(number) => number.as_i64().map_or(AttributeValue::Other, AttributeValue::Integer),
            Value::Null | Value::Array(_) | Value::Object(_) => AttributeValue::Other,
        };
        attributes::apply(&mut node, key, || Ok(value.clone()))?;
    }
    fn take<T>(field: &mut T, value: Option<T>) {
        if let Some(value) = value {
            *field = value;
        }
    }
    take(&mut node.stream_label, raw.stream_label);
    take(&mut node.scope, raw.scope);
    take(&mut node.options, raw.options);
    take(&mut node.support, raw.support);
    take(&mut node.local_memory_size, raw.local_memory_size);
    take(&mut node.tiling_on_aicpu, raw.tiling_on_aicpu);
    take(&mut node.tiling_sink, raw.tiling_sink);
    take(&mut node.reuse_binary, raw.reuse_binary);
    take(&mut node.hccl, raw.hccl);
    take(&mut node.aicore_num, raw.aicore_num.map(Some));
    take(&mut node.vectorcore_num, raw.vectorcore_num.map(Some));
    take(&mut node.kernel_name, raw.kernel_name);
    take(&mut node.bin_path, raw.bin_path);
    take(&mut node.json_path, raw.json_path);
    take(&mut node.ai_core, raw.ai_core);
    take(&mut node.no_task, raw.no_task);
    take(&mut node.same_type, raw.same_type);
    take(&mut node.event_id, raw.event_id.map(Some));
    take(&mut node.task_type, raw.task_type);
    node.part_of = raw.part_of;
    node.origin = raw.origin.map(|RawOrigin { torch_op, fx_node, line }| Box::new(Origin { torch_op, fx_node, line }));
    Ok(node)
}

/// Events that are written in short, between nodes of `graph`.
fn named_events(graph: &Graph, events: &[RawEvent]) -> Result<Vec<ShortEvent>, ScopeError> {
    if events.is_empty() {
        return Ok(Vec::new());
    }
    let names = graph.by_name();
    let ends = events.iter().enumerate().map(|(number, event)| {
        let place = |end| format!("events[{number}].{end}");
        Ok(ShortEvent {
            id: event.id,
            kind: match event.kind {
                RawKind::Normal => EventKind::Normal,
                RawKind::Notify => EventKind::Notify,
                RawKind::Mem => EventKind::Mem,
            },
            from: find(&names, &event.from, || place("from"))?,
            to: find(&names, &event.to, || place("to"))?,
            send_stream: event.send_stream,
            recv_stream: event.recv_stream,
        })
    });
    ends.collect()
}

fn connect(graph: &mut Graph, data: &[RawData], control: &[(String, String)]) -> Result<(), ScopeError> {
    let names = graph.by_name();
    let mut data_edges = Vec::with_capacity(data.len());
    for (number, edge) in data.iter().enumerate() {
        let from = find(&names, &edge.from, || format!("data[{number}].from"))?;
        let to = find(&names, &edge.to, || format!("data[{number}].to"))?;
        data_edges.push(DataEdge { from, output: edge.output, to, input: edge.input });
    }
    let mut control_edges = Vec::with_capacity(control.len());
    for (number, (from, to)) in control.iter().enumerate() {
        let from = find(&names, from, || format!("control[{number}][0]"))?;
        let to = find(&names, to, || format!("control[{number}][1]"))?;
        control_edges.push(ControlEdge { from, to });
    }
    graph.data = data_edges;
    graph.control.append(&mut control_edges);
    Ok(())
}

/// The node called `name`.
pub(super) fn find(
    names: &HashMap<&str, NodeIndex>,
    name: &str,
    place: impl FnOnce() -> String,
) -> Result<NodeIndex, ScopeError> {
    names.get(name).copied().ok_or_else(|| {
        let nearest = nearest(name, names.keys().copied(), 3).into_iter().map(str::to_owned).collect();
        ScopeError::UnknownNode { place: place(), name: name.to_owned(), nearest }
    })
}

/// Writes a graph in the JSON form, fields at their defaults left out; [`read`] gives the same graph back.
pub(crate) fn write(graph: &Graph) -> Value {
    let nodes: Vec<Value> = graph.nodes.iter().map(|node| write_node(graph, node)).collect();
    let name = |index: NodeIndex| graph.node(index).name.clone();
    let data: Vec<Value> = graph
        .data
        .iter()
        .map(|edge| json!({"from": name(edge.from), "output": edge.output, "to": name(edge.to), "input": edge.input}))
        .collect();
    let control: Vec<Value> = graph.control.iter().map(|edge| json!([name(edge.from), name(edge.to)])).collect();
    let mut written = json!({
        "name": graph.name,
        "unknown_shape": graph.unknown_shape,
        "nodes": nodes,
        "data": data,
        "control": control,
    });
    match graph.stage {
        Stage::Compiled | Stage::Predicted(_) => {}
        Stage::BeforeCompilation => written["before_compilation"] = json!(true),
    }
    if !graph.branches.is_empty() {
        let parent = |branch: &Branch| graph.branch_name(branch.parent).to_owned();
        let branches = graph.branches.iter().map(|branch| json!({"name": branch.name, "parent": parent(branch)}));
        written["branches"] = branches.collect();
    }
    written
}

/// Super kernels, and nodes that are part of one: what only dumps of what the engine built have.
pub(crate) fn built_nodes(graph: &Graph) -> Value {
    let built = graph.nodes.iter().filter(|node| node.op_type == "SuperKernel" || node.part_of.is_some());
    built.map(|node| write_node(graph, node)).collect()
}

fn write_node(graph: &Graph, node: &Node) -> Value {
    let plain = Node::new("", "", 0, 0);
    let mut written = Map::new();
    written.insert("name".to_owned(), json!(node.name));
    written.insert("type".to_owned(), json!(node.op_type));
    written.insert("id".to_owned(), json!(node.id));
    written.insert("stream".to_owned(), json!(node.stream));
    let mut put = |key: &str, differs: bool, value: Value| {
        if differs {
            written.insert(key.to_owned(), value);
        }
    };
    put("branch", node.branch != BranchIndex::ROOT, json!(graph.branch_name(node.branch)));
    put("stream_label", node.stream_label != plain.stream_label, json!(node.stream_label));
    put("scope", node.scope != plain.scope, json!(node.scope));
    put("options", node.options != plain.options, json!(node.options));
    put("support", node.support != plain.support, json!(node.support));
    put("local_memory_size", node.local_memory_size != plain.local_memory_size, json!(node.local_memory_size));
    put("tiling_on_aicpu", node.tiling_on_aicpu, json!(true));
    put("tiling_sink", node.tiling_sink, json!(true));
    put("reuse_binary", node.reuse_binary, json!(true));
    put("hccl", node.hccl, json!(true));
    put("aicore_num", node.aicore_num.is_some(), json!(node.aicore_num));
    put("vectorcore_num", node.vectorcore_num.is_some(), json!(node.vectorcore_num));
    put("kernel_name", node.kernel_name != plain.kernel_name, json!(node.kernel_name));
    put("bin_path", node.bin_path != plain.bin_path, json!(node.bin_path));
    put("json_path", node.json_path != plain.json_path, json!(node.json_path));
    put("task_type", node.task_type != plain.task_type, json!(node.task_type.as_str()));
    put("ai_core", !node.ai_core, json!(false));
    put("no_task", node.no_task, json!(true));
    put("same_type", node.same_type, json!(true));
    put("event_id", node.event_id.is_some(), json!(node.event_id));
    if let Some(part_of) = &node.part_of {
        put("part_of", true, json!(part_of));
    }
    if let Some(Origin { torch_op, fx_node, line }) = node.origin.as_deref() {
        put("origin", true, json!({"torch_op": torch_op, "fx_node": fx_node, "line": line}));
    }
    Value::Object(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_events_become_nodes_beside_their_ends() {
        let graph = read(
            r#"{"nodes": [{"name": "a", "type": "Add", "stream": 1}, {"name": "b", "type": "Add", "stream": 2}],
                "events": [{"id": 7, "from": "a", "to": "b"}, {"id": 7, "from": "a", "to": "b", "kind": "notify", "recv_stream": 5}]}"#,
        )
        .unwrap();
        let shown: Vec<String> =
            graph.nodes.iter().map(|node| format!("{} {} {}", node.name, node.op_type, node.stream)).collect();
        assert_eq!(
            shown,
            [
                "a Add 1",
                "Send_7 Send 1",
                "SendNotify_7 SendNotify 1",
                "Recv_7 Recv 2",
                "RecvNotify_7 RecvNotify 5",
                "b Add 2"
            ]
        );
        assert_eq!(graph.control.len(), 4);
        assert_eq!(graph.nodes[5].id, 1, "ids count the nodes that were written");
    }

    #[test]
    fn attributes_and_fields_mean_the_same() {
        let by_field = read(r#"{"nodes": [{"name": "a", "type": "Add", "scope": "s", "support": 1, "hccl": true}]}"#);
        let by_attribute = read(
            r#"{"nodes": [{"name": "a", "type": "Add",
                "attrs": {"_super_kernel_scope": "s", "supportSuperKernel": 1, "_hccl": true, "other": [1]}}]}"#,
        );
        assert_eq!(by_field.unwrap(), by_attribute.unwrap());
    }

    #[test]
    fn writing_and_reading_are_inverse() {
        let graph = read(
            r#"{"name": "g", "before_compilation": true, "nodes": [
                {"name": "x", "type": "Data"},
                {"name": "a", "type": "Add", "id": 4, "stream": 1, "scope": "s", "options": "profiling=1", "support": 1,
                 "kernel_name": "k", "bin_path": "b", "json_path": "j", "task_type": "dynamic", "aicore_num": 3,
                 "vectorcore_num": 6, "tiling_on_aicpu": true, "tiling_sink": true, "reuse_binary": true, "hccl": true,
                 "local_memory_size": 2, "ai_core": false, "no_task": true, "stream_label": "side", "same_type": true,
                 "origin": {"torch_op": "aten.add.Tensor", "fx_node": "add_1", "line": "model.py:7"},
                 "part_of": {"kernel": "sk_a", "sends": [4], "receives": []}},
                {"name": "b", "type": "Mul", "stream": 2},
                {"name": "c", "type": "Mul", "stream": 2, "branch": "inner"},
                {"name": "d", "type": "Mul", "stream": 3, "branch": "inner"},
                {"name": "e", "type": "Mul", "stream": 2, "branch": "other"}],
                "branches": [{"name": "gear"}, {"name": "inner", "parent": "gear"}],
                "events": [{"id": 1, "from": "a", "to": "b", "kind": "mem"}, {"id": 1, "from": "c", "to": "d", "kind": "mem"},
                           {"id": 1, "from": "c", "to": "d", "kind": "mem"}],
                "data": [{"from": "x", "to": "a", "input": 0}, {"from": "a", "output": 1, "to": "b", "input": 2}],
                "control": [["x", "b"]]}"#,
        )
        .unwrap();
        assert_eq!(read(&write(&graph).to_string()).unwrap(), graph);
    }

    #[test]
    fn mistakes_are_named() {
        for (text, part) in [
            ("[", "graph JSON"),
            ("{}", "no list `nodes`"),
            (r#"{"nodes": [{"name": "a"}]}"#, "missing field `type`"),
            (r#"{"nodes": [{"name": "a", "type": "Add", "strem": 1}]}"#, "unknown field `strem`"),
            (r#"{"nodes": [{"name": "a", "type": "Add", "task_type": "x"}]}"#, "unknown variant `x`"),
            (r#"{"nodes": [{"name": "add_1", "type": "A"}], "control": [["add_2", "add_1"]]}"#, "did you mean `add_1`"),
            (r#"{"nodes": [{"name": "", "type": "A"}]}"#, "has no name"),
            (r#"{"nodes": [], "branches": [{"name": "a", "parent": "b"}]}"#, "branches[0].parent names `b`"),
            (r#"{"nodes": [], "branches": [{"name": "a"}, {"name": "a"}]}"#, "two nested graphs are called `a`"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
