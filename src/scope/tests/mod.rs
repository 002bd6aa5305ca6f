//! The planner on whole graphs: worked examples, modes, events, hazards, and random graphs.

mod branches;
mod cutting;
mod dumps;
mod hazards;
mod prediction;
mod random;
mod rewriting;
mod strictness;
mod torchair;

use super::graph::{BranchIndex, ControlEdge, EventKind, Graph, Node, NodeIndex};
use super::outcome::{Piece, ScopePlan};
use super::{Mode, ScopeError, Settings};
use crate::cancel::Cancel;
use crate::model::{self, KnownKernels, OpPosition, Platform};

/// Builds graphs in a line per node.
#[derive(Default)]
struct Builder {
    graph: Graph,
}

impl Builder {
    /// A fusable node of `scope` on `stream` with an id of its own.
    fn op(&mut self, name: &str, id: i64, stream: i64, scope: &str) -> &mut Node {
        let mut node = Node::new(name, "Op", id, stream);
        node.scope = scope.to_owned().into();
        node.support = 1;
        node.kernel_name = format!("te_{}__kernel0", name.to_lowercase()).into();
        self.graph.nodes.push(node);
        self.graph.nodes.last_mut().unwrap()
    }

    /// An unmarked node.
    fn outside(&mut self, name: &str, id: i64, stream: i64) -> &mut Node {
        self.op(name, id, stream, "")
    }

    /// A marked node that cannot be fused.
    fn unfusable(&mut self, name: &str, id: i64, stream: i64, scope: &str) -> &mut Node {
        let node = self.op(name, id, stream, scope);
        node.support = 0;
        node
    }

    fn index(&self, name: &str) -> NodeIndex {
        NodeIndex(self.graph.nodes.iter().position(|node| node.name == name).unwrap())
    }

    /// An event with its ends right beside producer and consumer.
    fn event(&mut self, id: i64, from: &str, to: &str) {
        let streams = (self.stream(from), self.stream(to));
        self.event_on(EventKind::Normal, id, from, to, streams);
    }

    fn stream(&self, name: &str) -> i64 {
        self.graph.node(self.index(name)).stream
    }

    fn event_on(&mut self, kind: EventKind, id: i64, from: &str, to: &str, streams: (i64, i64)) {
        let send_name = format!("{}_{id}", kind.send_type());
        let recv_name = format!("{}_{id}", kind.recv_type());
        let mut send = Node::new(&send_name, kind.send_type(), 0, streams.0);
        let mut recv = Node::new(&recv_name, kind.recv_type(), 0, streams.1);
        (send.event_id, recv.event_id) = (Some(id), Some(id));
        let behind = &self.graph.nodes[self.index(from).0 + 1..];
        let at = self.index(from).0 + 1 + behind.iter().take_while(|node| node.op_type.starts_with("Send")).count();
        self.insert(at, send);
        let at = self.index(to).0;
        self.insert(at, recv);
        let edge = |from, to| ControlEdge { from, to };
        let edges = [edge(self.index(from), self.index(&send_name)), edge(self.index(&recv_name), self.index(to))];
        self.graph.control.extend(edges);
    }

    fn insert(&mut self, at: usize, node: Node) {
        self.graph.nodes.insert(at, node);
        let shift = |index: &mut NodeIndex| index.0 += usize::from(index.0 >= at);
        for edge in &mut self.graph.control {
            shift(&mut edge.from);
            shift(&mut edge.to);
        }
        for edge in &mut self.graph.data {
            shift(&mut edge.from);
            shift(&mut edge.to);
        }
    }

    fn plan(&self, mode: Mode) -> Result<ScopePlan, ScopeError> {
        plan(&self.graph, &Settings::new(mode))
    }
}

fn plan(graph: &Graph, settings: &Settings) -> Result<ScopePlan, ScopeError> {
    super::plan(graph, settings, &Cancel::new())
}

/// `piece: member member ...` for every piece.
fn pieces(plan: &ScopePlan) -> Vec<String> {
    plan.pieces.iter().map(|piece| format!("{}: {}", piece.name, piece.members.join(" "))).collect()
}

/// `node reason` for everything that was left out of a scope.
fn left_out(plan: &ScopePlan) -> Vec<String> {
    let all = plan.scopes.iter().flat_map(|scope| &scope.left_out);
    all.map(|dropped| format!("{} {}", dropped.node, dropped.reason)).collect()
}

/// `node reason` for every cut.
fn cuts(plan: &ScopePlan) -> Vec<String> {
    let all = plan.scopes.iter().flat_map(|scope| &scope.cuts);
    all.map(|cut| format!("{} {}", cut.node, cut.reason)).collect()
}

/// `op waits [..] sends [..]` with ids relative to the first memory id.
fn lists(piece: &Piece) -> Vec<String> {
    let relative = |ids: &[i64]| ids.iter().map(|id| id - super::rewrite::BASE).collect::<Vec<_>>();
    let op = |op: &super::outcome::Op| {
        format!("{} waits {:?} sends {:?}", op.name, relative(&op.recv_event_list), relative(&op.send_event_list))
    };
    piece.ops.iter().map(op).collect()
}

/// `id kind from -> to, send stream -> recv stream` of the events the planner made; super kernels are `SK`.
fn made_events(plan: &ScopePlan) -> Vec<String> {
    let short = |name: &str| {
        let piece = plan.pieces.iter().position(|piece| piece.node_name == name);
        match (piece, plan.pieces.len()) {
            (Some(_), 1) => "SK".to_owned(),
            (Some(number), _) => format!("SK{}", number + 1),
            (None, _) => name.to_owned(),
        }
    };
    let id =
        |id: i64| if id >= super::rewrite::BASE { format!("b+{}", id - super::rewrite::BASE) } else { id.to_string() };
    plan.events
        .iter()
        .filter(|event| event.created)
        .map(|event| {
            format!(
                "{} {} {} -> {}, {} -> {}",
                id(event.id),
                event.kind,
                short(&event.from),
                short(&event.to),
                event.send_stream,
                event.recv_stream
            )
        })
        .collect()
}

#[test]
fn planning_stops_when_nobody_wants_it_any_more() {
    let mut builder = Builder::default();
    builder.op("a", 0, 0, "s");
    builder.op("b", 1, 0, "s");
    let (settings, cancel) = (Settings::new(Mode::Default), Cancel::new());
    assert!(super::plan(&builder.graph, &settings, &cancel).is_ok());
    cancel.cancel();
    assert!(matches!(super::plan(&builder.graph, &settings, &cancel), Err(ScopeError::Cancelled(_))));
}

/// A plan and builds of it read each JSON once.
#[test]
fn what_a_plan_reads_is_known_to_whoever_goes_on_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.json");
    let json = serde_json::json!({
        "kernelName": "a", "blockDim": 1, "sub_operator_kernel_type": "KERNEL_TYPE_AIV_ONLY",
        "sub_operator_kernel_name": {"AiCore": {"func_name": "a"}}, "sub_operator_params": ["x"],
        "sub_operator_early_start_set_flag": false, "sub_operator_early_start_wait_flag": false,
    });
    std::fs::write(&file, json.to_string()).unwrap();
    let mut builder = Builder::default();
    for (id, name) in ["a", "b"].into_iter().enumerate() {
        let node = builder.op(name, id as i64, 1, "S");
        (node.json_path, node.bin_path) = (file.display().to_string().into(), file.display().to_string().into());
    }
    let plan = builder.plan(Mode::Default).unwrap();
    let platform = Platform::new(&Settings::default().target.soc, None, None).unwrap();
    let loaded = |known: &KnownKernels| {
        let kernel = model::load_with(&plan.pieces[0].kernel_infos(), "k", &platform, &known.into()).unwrap();
        std::sync::Arc::clone(&kernel.ops[OpPosition::at(0)].kernel)
    };
    let (first, second) = (loaded(&plan.kernels), loaded(&plan.kernels));
    assert!(std::sync::Arc::ptr_eq(&first, &second));
    assert!(!std::sync::Arc::ptr_eq(&first, &loaded(&KnownKernels::default())));
}
