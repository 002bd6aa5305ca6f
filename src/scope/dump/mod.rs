//! What dumps in text and in binary form have in common: a list of graphs, each a list of ops, made into one graph.

mod flatten;
mod tensor;

use std::collections::HashMap;

use smol_str::SmolStr;

use super::error::{DumpPlace, ScopeError};
use super::graph::{ControlEdge, DataEdge, Graph, Node, NodeIndex, Stage};
use super::json::find;

pub(crate) use tensor::Tensor;

/// Attribute of the root graph that says its shapes are not static.
pub(crate) const UNKNOWN_SHAPE: &str = "_graph_unknown_flag";

/// An error in a dump.
pub(crate) fn wrong(place: DumpPlace, problem: impl Into<String>) -> ScopeError {
    ScopeError::DumpField { place, problem: problem.into() }
}

/// One graph of a dump; the first is the root.
#[derive(Debug, Default)]
pub(crate) struct DumpGraph {
    /// What ops that hold it call it.
    pub name: String,
    /// Its shapes are not static.
    pub unknown_shape: bool,
    /// Some op says whether it can be a sub-kernel: the ops are compiled.
    pub is_compiled: bool,
    /// In the order of the file.
    pub ops: Vec<DumpOp>,
}

impl DumpGraph {
    /// Adds an op with what the descriptions of its inputs and outputs say.
    pub(crate) fn push(&mut self, mut op: DumpOp, inputs: &[Tensor], outputs: &[Tensor]) {
        self.unknown_shape |= outputs.iter().any(Tensor::is_dynamic);
        tensor::describe(&mut op.node, inputs, outputs);
        self.ops.push(op);
    }
}

/// One op of a dump.
#[derive(Debug)]
pub(crate) struct DumpOp {
    /// With its attributes; the id is 0 without one.
    pub node: Node,
    /// Does the dump give it an id?
    pub has_id: bool,
    /// `source:output`, in order.
    pub inputs: Vec<Input>,
    /// Names of the graphs it holds.
    pub subgraphs: Vec<String>,
}

/// One `source:output`; an empty text is an optional input that is not connected.
#[derive(Debug)]
pub(crate) struct Input {
    /// As written.
    pub text: String,
    /// Where.
    pub place: DumpPlace,
}

/// Makes one graph of all graphs of a dump and checks it.
pub(crate) fn assemble(mut graphs: Vec<DumpGraph>, start: DumpPlace) -> Result<Graph, ScopeError> {
    if graphs.iter().all(|graph| graph.ops.is_empty()) {
        return Err(wrong(start, "there is no `op` in this dump"));
    }
    // Dumps from before compilation have no ids: then the order of the file is that of the program.
    if !graphs.iter().flat_map(|graph| &graph.ops).any(|op| op.has_id) {
        for graph in &mut graphs {
            (0..).zip(&mut graph.ops).for_each(|(id, op)| op.node.id = id);
        }
    }
    let stage = if graphs.iter().any(|graph| graph.is_compiled) { Stage::Compiled } else { Stage::BeforeCompilation };
    let (name, unknown_shape) = (std::mem::take(&mut graphs[0].name), graphs[0].unknown_shape);
    let flat = flatten::flatten(graphs);
    let mut graph = Graph { name, stage, unknown_shape, branches: flat.branches, ..Graph::default() };
    let mut inputs = Vec::with_capacity(flat.ops.len());
    let mut original = Vec::with_capacity(flat.ops.len());
    let mut used: HashMap<SmolStr, usize> = HashMap::new();
    for op in &flat.ops {
        *used.entry(op.node.name.clone()).or_default() += 1;
    }
    for op in flat.ops {
        let mut node = op.node;
        original.push(node.name.clone());
        // Nested graphs may use names again; edges are by name, so every node needs one of its own.
        if let (Some(branch), true) = (graph.branch(node.branch), used[&node.name] > 1) {
            node.name = format!("{}/{}", branch.name, node.name).into();
        }
        inputs.push(op.inputs);
        graph.nodes.push(node);
    }
    connect(&mut graph, &original, &inputs)?;
    tensor::pass_origins_on(&mut graph);
    graph.check()?;
    Ok(graph)
}

fn connect(graph: &mut Graph, original: &[SmolStr], inputs: &[Vec<Input>]) -> Result<(), ScopeError> {
    let mut names: HashMap<&str, NodeIndex> = HashMap::new();
    let mut own_names = HashMap::new();
    for (index, name) in original.iter().enumerate() {
        names.entry(name).or_insert(NodeIndex(index));
        own_names.entry((graph.nodes[index].branch, name.as_str())).or_insert(NodeIndex(index));
    }
    let (mut data, mut control) = (Vec::new(), Vec::new());
    for (position, inputs) in inputs.iter().enumerate() {
        let to = NodeIndex(position);
        let mut number = 0;
        for input in inputs {
            if input.text.is_empty() {
                number += 1;
                continue;
            }
            let malformed = || wrong(input.place, format!("input `{}` is not of the form `source:output`", input.text));
            // Names contain colons now and then; the index is behind the last one.
            let (source, output) = input.text.rsplit_once(':').ok_or_else(malformed)?;
            let output: i64 = output.parse().map_err(|_| malformed())?;
            let from = match own_names.get(&(graph.node(to).branch, source)) {
                Some(from) => *from,
                None => find(&names, source, || format!("{}: input", input.place))?,
            };
            if output == -1 {
                control.push(ControlEdge { from, to });
            } else {
                let output = u32::try_from(output).map_err(|_| malformed())?;
                data.push(DataEdge { from, output, to, input: number });
                number += 1;
            }
        }
    }
    (graph.data, graph.control) = (data, control);
    Ok(())
}
