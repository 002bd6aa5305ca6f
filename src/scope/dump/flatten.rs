//! One list out of nested graphs.
//!
//! Topological ids count over all graphs of a model, and then they give the order. Where nested graphs count from the
//! beginning again, a graph's ops follow the op that holds it, and the list is numbered anew.

use std::collections::{HashMap, HashSet};

use super::{DumpGraph, DumpOp};
use crate::scope::graph::{Branch, BranchIndex};

/// All ops in execution order, and the graphs they are in.
pub(crate) struct Flat {
    pub branches: Vec<Branch>,
    pub ops: Vec<DumpOp>,
}

pub(crate) fn flatten(mut graphs: Vec<DumpGraph>) -> Flat {
    for graph in &mut graphs {
        graph.ops.sort_by_key(|op| op.node.id);
    }
    let nesting = Nesting::of(&graphs);
    let by_ids = ids_are_distinct(&graphs) || graphs.len() == 1;
    let mut taken: Vec<Vec<Option<DumpOp>>> = Vec::with_capacity(graphs.len());
    for (number, graph) in graphs.into_iter().enumerate() {
        let branch = nesting.index[number];
        let ops = graph.ops.into_iter().map(|mut op| {
            op.node.branch = branch;
            Some(op)
        });
        taken.push(ops.collect());
    }
    let ops = if by_ids {
        let mut ops: Vec<DumpOp> = taken.into_iter().flatten().flatten().collect();
        ops.sort_by_key(|op| op.node.id);
        ops
    } else {
        let ops = nesting.order.iter().filter_map(|&(graph, op)| taken[graph][op].take());
        let renumbered = (0..).zip(ops).map(|(id, mut op)| {
            op.node.id = id;
            op
        });
        renumbered.collect()
    };
    Flat { branches: nesting.branches, ops }
}

/// Event ends aside, which may have any.
fn ids_are_distinct(graphs: &[DumpGraph]) -> bool {
    let mut seen = HashSet::new();
    let mut ops = graphs.iter().flat_map(|graph| &graph.ops).filter(|op| !op.node.is_event());
    ops.all(|op| seen.insert(op.node.id))
}

/// Which graph is inside which.
struct Nesting {
    branches: Vec<Branch>,
    names: HashSet<String>,
    /// Per graph of the dump.
    index: Vec<BranchIndex>,
    /// Graph and op, each graph right behind the op that holds it.
    order: Vec<(usize, usize)>,
}

impl Nesting {
    fn of(graphs: &[DumpGraph]) -> Self {
        let mut by_name: HashMap<&str, usize> = HashMap::new();
        for (number, graph) in graphs.iter().enumerate() {
            by_name.entry(&graph.name).or_insert(number);
        }
        let mut nesting = Self {
            branches: Vec::new(),
            names: HashSet::new(),
            index: vec![BranchIndex::ROOT; graphs.len()],
            order: Vec::new(),
        };
        let mut entered = vec![false; graphs.len()];
        // Graphs that no op holds hang below the root.
        for start in 0..graphs.len() {
            if entered[start] {
                continue;
            }
            entered[start] = true;
            if start > 0 {
                nesting.enter(graphs, start, BranchIndex::ROOT);
            }
            let mut stack = vec![(start, 0)];
            while let Some((graph, at)) = stack.pop() {
                let Some(op) = graphs[graph].ops.get(at) else { continue };
                nesting.order.push((graph, at));
                stack.push((graph, at + 1));
                let held: Vec<usize> =
                    op.subgraphs.iter().filter_map(|name| by_name.get(name.as_str())).copied().collect();
                let first = stack.len();
                for child in held {
                    if !std::mem::replace(&mut entered[child], true) {
                        nesting.enter(graphs, child, nesting.index[graph]);
                        stack.push((child, 0));
                    }
                }
                stack[first..].reverse();
            }
        }
        nesting
    }

    fn enter(&mut self, graphs: &[DumpGraph], number: usize, parent: BranchIndex) {
        let given = &graphs[number].name;
        let mut name = if given.is_empty() { format!("graph_{number}") } else { given.clone() };
        while !self.names.insert(name.clone()) {
            name = format!("{name}_{number}");
        }
        self.branches.push(Branch { name, parent });
        self.index[number] = BranchIndex(self.branches.len());
    }
}
