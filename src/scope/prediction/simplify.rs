//! What the engine takes out of every graph before it looks at kernels.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::super::graph::{ControlEdge, DataEdge, Graph, Node, NodeIndex, Role};
use super::assume::is_collective;

/// Ops of the engine that has no kernels: they change what a shape is called, or belong to the host.
const WITHOUT_TASK: [&str; 26] = [
    "Reshape",
    "Squeeze",
    "SqueezeV2",
    "SqueezeV3",
    "Unsqueeze",
    "UnsqueezeV2",
    "UnsqueezeV3",
    "ExpandDims",
    "Flatten",
    "FlattenV2",
    "ReFormat",
    "Bitcast",
    "Shape",
    "ShapeN",
    "Size",
    "Rank",
    "GatherShapes",
    "BroadcastGradientArgs",
    "StopGradient",
    "PreventGradient",
    "GuaranteeConst",
    "PhonyConcat",
    "PhonySplit",
    "ControlTrigger",
    "RefData",
    "NetOutput",
];

/// At these an identity stays.
const KEEPS_IDENTITY: [&str; 4] = ["Switch", "RefSwitch", "Merge", "RefMerge"];

/// Takes out identities and casts without effect, folds constants, and marks ops without a task; tells what it did.
pub(super) fn simplify(graph: &mut Graph) -> Vec<String> {
    let identities = bypass(graph, |node| matches!(node.op_type.as_str(), "Identity" | "IdentityN"));
    let folded = fold(graph);
    let casts = bypass(graph, |node| node.same_type);
    let mut without_task = 0;
    for node in graph.nodes.iter_mut().filter(|node| WITHOUT_TASK.contains(&node.op_type.as_str())) {
        node.no_task = true;
        without_task += usize::from(!matches!(node.op_type.as_str(), "RefData" | "NetOutput"));
    }
    let counts = [
        (identities, "Identity taken out"),
        (casts, "Cast to the same type taken out"),
        (folded, "folded to constants"),
        (without_task, "without a task"),
    ];
    let told: Vec<String> =
        counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    if told.is_empty() { Vec::new() } else { vec![format!("as the engine will: {}", told.join(", "))] }
}

/// What stands for a node that is gone.
#[derive(Clone, Default)]
struct Replacement {
    /// Per output, where the data comes from.
    data: BTreeMap<u32, (NodeIndex, u32)>,
    /// What it waited for.
    waits: BTreeSet<NodeIndex>,
}

/// Takes nodes out whose outputs are their inputs. Their waits go to whoever reads them.
fn bypass(graph: &mut Graph, goes: impl Fn(&Node) -> bool) -> usize {
    let mut inputs: Vec<Vec<DataEdge>> = vec![Vec::new(); graph.nodes.len()];
    let mut waits: Vec<Vec<NodeIndex>> = vec![Vec::new(); graph.nodes.len()];
    let mut stays = vec![false; graph.nodes.len()];
    for edge in &graph.data {
        inputs[edge.to.0].push(*edge);
        for (end, other) in [(edge.from, edge.to), (edge.to, edge.from)] {
            stays[end.0] |= KEEPS_IDENTITY.contains(&graph.node(other).op_type.as_str());
        }
    }
    for edge in &graph.control {
        waits[edge.to.0].push(edge.from);
    }
    let mut gone: Vec<Option<Replacement>> = vec![None; graph.nodes.len()];
    let mut count = 0;
    // A producer stands before its readers, so what it is replaced by is known when they come.
    for position in 0..graph.nodes.len() {
        let taken = goes(&graph.nodes[position]) && !stays[position];
        if !taken || inputs[position].is_empty() || inputs[position].iter().any(|edge| edge.from.0 >= position) {
            continue;
        }
        let mut own = Replacement::default();
        for edge in &inputs[position] {
            let (source, waits) = resolve(&gone, edge.from, edge.output);
            own.data.insert(edge.input, source);
            own.waits.extend(waits);
        }
        for from in &waits[position] {
            own.waits.extend(resolve_wait(&gone, *from));
        }
        gone[position] = Some(own);
        count += 1;
    }
    if count > 0 {
        rewire(graph, &gone);
    }
    count
}

fn resolve(gone: &[Option<Replacement>], from: NodeIndex, output: u32) -> ((NodeIndex, u32), BTreeSet<NodeIndex>) {
    match &gone[from.0] {
        // An output that no input belongs to: the first one is as good as any.
        Some(replaced) => {
            let source = replaced.data.get(&output).or_else(|| replaced.data.values().next());
            (source.copied().unwrap_or((from, output)), replaced.waits.clone())
        }
        None => ((from, output), BTreeSet::new()),
    }
}

/// Waiting for a node that is gone means waiting for its data, and for what it waited for.
fn resolve_wait(gone: &[Option<Replacement>], from: NodeIndex) -> BTreeSet<NodeIndex> {
    match &gone[from.0] {
        Some(replaced) => replaced.data.values().map(|(node, _)| *node).chain(replaced.waits.iter().copied()).collect(),
        None => BTreeSet::from([from]),
    }
}

fn rewire(graph: &mut Graph, gone: &[Option<Replacement>]) {
    let mut place = Vec::with_capacity(gone.len());
    let mut kept = 0;
    for replaced in gone {
        place.push(NodeIndex(kept));
        kept += usize::from(replaced.is_none());
    }
    let mut data = Vec::with_capacity(graph.data.len());
    let mut control = Vec::new();
    for edge in graph.data.iter().filter(|edge| gone[edge.to.0].is_none()) {
        let ((from, output), waits) = resolve(gone, edge.from, edge.output);
        data.push(DataEdge { from: place[from.0], output, to: place[edge.to.0], input: edge.input });
        control.extend(waits.into_iter().map(|from| (from, edge.to)));
    }
    for edge in graph.control.iter().filter(|edge| gone[edge.to.0].is_none()) {
        control.extend(resolve_wait(gone, edge.from).into_iter().map(|from| (from, edge.to)));
    }
    let mut seen = HashSet::new();
    control.retain(|edge| seen.insert(*edge));
    graph.control =
        control.into_iter().map(|(from, to)| ControlEdge { from: place[from.0], to: place[to.0] }).collect();
    graph.data = data;
    let mut number = 0;
    graph.nodes.retain(|_| {
        number += 1;
        gone[number - 1].is_none()
    });
}

/// Ops whose inputs are all constant become constants.
fn fold(graph: &mut Graph) -> usize {
    let mut inputs: Vec<Vec<NodeIndex>> = vec![Vec::new(); graph.nodes.len()];
    for edge in &graph.data {
        inputs[edge.to.0].push(edge.from);
    }
    let mut constant: Vec<bool> = Vec::with_capacity(graph.nodes.len());
    let mut folded = HashSet::new();
    for (position, node) in graph.nodes.iter_mut().enumerate() {
        let all_constant = !inputs[position].is_empty()
            && inputs[position].iter().all(|from| constant.get(from.0).copied().unwrap_or(false));
        if all_constant && is_foldable(node) {
            folded.insert(NodeIndex(position));
            let name = std::mem::take(&mut node.name);
            let branch = node.branch;
            *node = Node::new(name, "Const", node.id, node.stream);
            node.branch = branch;
        }
        constant.push(matches!(node.op_type.as_str(), "Const" | "Constant"));
    }
    graph.data.retain(|edge| !folded.contains(&edge.to));
    graph.control.retain(|edge| !folded.contains(&edge.to) && !folded.contains(&edge.from));
    folded.len()
}

/// What has an effect of its own, or another result every time, is not folded.
fn is_foldable(node: &Node) -> bool {
    let effect = ["Random", "DropOut", "Multinomial", "Print", "Assert", "Send", "Recv", "Assign"];
    node.role() == Role::Ordinary
        && !is_collective(node)
        && !matches!(node.op_type.as_str(), "NetOutput" | "Cmo")
        && !effect.iter().any(|part| node.op_type.contains(part))
}
