//! Which ops are assumed to be fusable.

use smol_str::SmolStr;

use super::super::graph::{Graph, Node, Role};
use super::super::settings::Settings;

/// Collectives that can run inside a kernel.
const IN_KERNEL: [&str; 4] = ["HcomAllReduce", "HcomReduceScatter", "HcomAllGather", "HcomAllToAll"];

/// What never runs on the AI cores: prefetches, control flow, host work.
const ELSEWHERE: [&str; 22] = [
    "Cmo",
    "If",
    "StatelessIf",
    "While",
    "StatelessWhile",
    "Case",
    "StatelessCase",
    "PartitionedCall",
    "StatefulPartitionedCall",
    "Switch",
    "RefSwitch",
    "Merge",
    "RefMerge",
    "Enter",
    "Exit",
    "NextIteration",
    "LoopCond",
    "StreamActive",
    "Print",
    "PrintV2",
    "Assert",
    "NoOp",
];

/// Sends data between devices.
pub(super) fn is_collective(node: &Node) -> bool {
    node.op_type.starts_with("Hcom")
}

/// Can this marked collective run inside the kernel?
fn is_in_kernel(node: &Node, settings: &Settings) -> bool {
    let named = |types: &[String]| types.iter().any(|named| node.op_type == *named);
    let kind = IN_KERNEL.contains(&node.op_type.as_str()) || named(&settings.fusable);
    node.is_marked() && kind && !named(&settings.not_fusable)
}

/// Types that the caller knows to be fusable.
pub(super) fn fusable_types(graph: &mut Graph, settings: &Settings) {
    let named = |node: &Node| settings.fusable.iter().any(|named| node.op_type == *named);
    for node in graph.nodes.iter_mut().filter(|node| named(node)) {
        (node.support, node.ai_core) = (1, true);
    }
}

/// Sets the flags of every op, and tells of collectives.
pub(super) fn support(graph: &mut Graph, settings: &Settings) -> Vec<String> {
    let (mut inside, mut outside) = (Vec::new(), Vec::new());
    for node in graph.nodes.iter_mut().filter(|node| node.role() == Role::Ordinary && !node.no_task) {
        if is_collective(node) {
            node.hccl = is_in_kernel(node, settings);
            let list = if node.hccl { &mut inside } else { &mut outside };
            list.push(node.op_type.clone());
            // The engine takes the mark away from a collective that cannot run inside a kernel. Outside it may use AI cores
            // or not, so no kernel may wait for it.
            if !node.hccl {
                (node.scope, node.options) = Default::default();
            }
        } else {
            node.ai_core = !ELSEWHERE.contains(&node.op_type.as_str());
            node.support = i64::from(node.ai_core);
        }
    }
    fusable_types(graph, settings);
    let mut notes = Vec::new();
    if !inside.is_empty() {
        let types = counted(inside);
        notes.push(format!(
            "marked collectives are assumed to run inside the super kernels, on the streams of their ops: {types} \
             (`--not-fusable TYPE` shows the plan without)"
        ));
    }
    if !outside.is_empty() {
        notes.push(format!("collectives on streams of their own, in no super kernel: {}", counted(outside)));
    }
    notes
}

/// `A (2), B`.
fn counted(mut types: Vec<SmolStr>) -> String {
    types.sort_unstable();
    let runs = types.chunk_by(|left, right| left == right);
    let shown = runs.map(|run| if run.len() == 1 { run[0].to_string() } else { format!("{} ({})", run[0], run.len()) });
    shown.collect::<Vec<_>>().join(", ")
}
