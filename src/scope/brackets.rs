//! Ranges of a scope that are bracketed by calls instead of a block: everything in the list between a node that begins
//! a range and the one that ends the range of that name is marked. The two nodes launch nothing and are taken out.

use super::error::ScopeError;
use super::graph::{BranchIndex, ControlEdge, DataEdge, Graph, Node, NodeIndex, Role};

/// What a node that is no work stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bracket {
    /// The range begins behind it.
    Begin,
    /// The range ends in front of it.
    End,
}

impl Bracket {
    /// By the node's type, as the call is written or as a type is.
    pub(crate) fn of_type(op_type: &str) -> Option<Self> {
        match op_type {
            "super_kernel_scope_begin" | "SuperKernelScopeBegin" => Some(Self::Begin),
            "super_kernel_scope_end" | "SuperKernelScopeEnd" => Some(Self::End),
            _ => None,
        }
    }
}

/// A range that has begun.
struct Open {
    branch: BranchIndex,
    scope: String,
    options: String,
    node: String,
}

/// Marks what is inside ranges and takes their nodes out of the graph. A mark of a node's own stays.
pub(crate) fn resolve(mut graph: Graph) -> Result<Graph, ScopeError> {
    if graph.nodes.iter().all(|node| Bracket::of_type(&node.op_type).is_none()) {
        return Ok(graph);
    }
    let fail = |node: &Node, problem: &str| ScopeError::Bracket {
        node: node.name.clone(),
        scope: node.scope.clone(),
        problem: problem.to_owned(),
    };
    let mut nodes = std::mem::take(&mut graph.nodes);
    let mut open: Vec<Open> = Vec::new();
    for node in &mut nodes {
        match Bracket::of_type(&node.op_type) {
            Some(Bracket::Begin) => open.push(Open {
                branch: node.branch,
                scope: node.scope.clone(),
                options: node.options.clone(),
                node: node.name.clone(),
            }),
            Some(Bracket::End) => {
                let begun = open.iter().rposition(|range| range.branch == node.branch && range.scope == node.scope);
                let Some(begun) = begun else {
                    return Err(fail(node, "ends a range that has not begun"));
                };
                open.remove(begun);
            }
            None if node.role() == Role::Ordinary && !node.is_marked() => {
                let around = open.iter().rev().find(|range| graph.is_within(node.branch, range.branch));
                if let Some(range) = around.filter(|range| !range.scope.is_empty()) {
                    (node.scope, node.options) = (range.scope.clone(), range.options.clone());
                }
            }
            None => {}
        }
    }
    if let Some(range) = open.pop() {
        let problem = "begins a range that does not end".to_owned();
        return Err(ScopeError::Bracket { node: range.node, scope: range.scope, problem });
    }
    Ok(without_brackets(graph, nodes))
}

fn without_brackets(mut graph: Graph, nodes: Vec<Node>) -> Graph {
    let mut moved: Vec<Option<NodeIndex>> = Vec::with_capacity(nodes.len());
    for node in nodes {
        let stays = Bracket::of_type(&node.op_type).is_none();
        moved.push(stays.then_some(NodeIndex(graph.nodes.len())));
        if stays {
            graph.nodes.push(node);
        }
    }
    let place = |index: NodeIndex| moved.get(index.0).copied().flatten();
    graph.data = graph
        .data
        .iter()
        .filter_map(|edge| Some(DataEdge { from: place(edge.from)?, to: place(edge.to)?, ..*edge }))
        .collect();
    graph.control = graph
        .control
        .iter()
        .filter_map(|edge| Some(ControlEdge { from: place(edge.from)?, to: place(edge.to)? }))
        .collect();
    graph
}
