//! Properties that hold for every graph.

use std::collections::{BTreeMap, HashMap, HashSet};

use proptest::prelude::*;

use super::*;
use crate::scope::Cuts;
use crate::scope::eligibility::{Eligibility, Predicate};
use crate::scope::outcome::ListedNode;

/// One node of a random graph.
#[derive(Debug, Clone)]
struct Spec {
    stream: i64,
    scope: usize,
    flavour: u8,
    gap: i64,
}

/// One event: from the node at the first fraction of the list to a later one.
#[derive(Debug, Clone)]
struct Link {
    from: f64,
    to: f64,
    kind: u8,
    attached: bool,
}

fn spec() -> impl Strategy<Value = Spec> {
    (0..4_i64, 0..4_usize, 0..24_u8, 1..3_i64).prop_map(|(stream, scope, flavour, gap)| Spec {
        stream,
        scope,
        flavour,
        gap,
    })
}

fn link() -> impl Strategy<Value = Link> {
    (0.0..1.0, 0.0..1.0, 0..6_u8, any::<bool>()).prop_map(|(from, to, kind, attached)| Link {
        from,
        to,
        kind,
        attached,
    })
}

fn build(specs: &[Spec], links: &[Link], options: &str) -> Graph {
    let mut builder = Builder::default();
    let mut id = 0;
    for (number, spec) in specs.iter().enumerate() {
        id += spec.gap;
        let scope = ["", "p", "q", "r"][spec.scope];
        let node = builder.op(&format!("n{number}"), id, spec.stream, scope);
        node.options = options.to_owned().into();
        (node.bin_path, node.json_path) = (format!("n{number}.o").into(), format!("n{number}.json").into());
        match spec.flavour {
            0 => node.support = 0,
            1 => node.local_memory_size = 32,
            2 => (node.tiling_on_aicpu, node.reuse_binary) = (true, true),
            3 | 4 => (node.support, node.ai_core) = (0, false),
            5 => node.hccl = true,
            6 => (node.no_task, node.support) = (true, 0),
            7 => node.op_type = "Data".to_owned().into(),
            8 => node.tiling_on_aicpu = true,
            _ => {}
        }
    }
    for (number, link) in links.iter().enumerate() {
        let last = specs.len() - 1;
        let from = (link.from * last as f64) as usize;
        let to = from + 1 + (link.to * (last - from) as f64) as usize;
        let to = to.min(last);
        let source = |index: usize| specs[index].flavour == 7;
        if from >= to || source(from) || source(to) {
            continue;
        }
        let kind = match link.kind {
            0 => EventKind::Notify,
            1 => EventKind::Mem,
            _ => EventKind::Normal,
        };
        // A tiling stream of its own, behind work that needs cores.
        let attached = link.attached && specs[to].flavour == 8 && ![3, 4, 6].contains(&specs[from].flavour);
        let recv_stream = if attached { 90 + number as i64 } else { specs[to].stream };
        let streams = (specs[from].stream, recv_stream);
        builder.event_on(kind, number as i64, &format!("n{from}"), &format!("n{to}"), streams);
    }
    builder.graph
}

/// Who must come before whom: by stream and by event, as pairs of names.
fn required_order(graph: &Graph) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    let mut last: HashMap<i64, &str> = HashMap::new();
    for node in &graph.nodes {
        if node.is_event() || node.op_type == "Data" || node.no_task {
            continue;
        }
        if let Some(before) = last.insert(node.stream, &node.name) {
            pairs.push((before.to_owned(), node.name.to_string()));
        }
    }
    for event in crate::scope::events::collect(graph, Mode::Default, &HashSet::from([BranchIndex::ROOT])).unwrap() {
        if let (crate::scope::events::Party::Node(from), crate::scope::events::Party::Node(to)) =
            (event.producer, event.consumer)
        {
            pairs.push((graph.node(from).name.to_string(), graph.node(to).name.to_string()));
        }
    }
    pairs
}

/// A point in time of the planned model.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Moment {
    Start(String),
    End(String),
}

type Edges = BTreeMap<Moment, Vec<Moment>>;

/// Inside a kernel: one op after the other, or only what streams and events ask for.
#[derive(Clone, Copy, PartialEq)]
enum Inside {
    Sequential,
    StreamsAndEvents,
}

/// The order the plan guarantees. Plain ops start and end at once.
fn planned_order(graph: &Graph, plan: &ScopePlan, inside: Inside) -> Edges {
    let mut edges = Edges::new();
    let mut add = |from: Moment, to: Moment| edges.entry(from).or_default().push(to);
    let kernels: HashSet<&str> = plan.pieces.iter().map(|piece| piece.node_name.as_str()).collect();
    let start = |name: &str| Moment::Start(name.to_owned());
    let end =
        |name: &str| if kernels.contains(name) { Moment::End(name.to_owned()) } else { Moment::Start(name.to_owned()) };
    let skipped: HashSet<&str> = graph
        .nodes
        .iter()
        .filter(|node| node.op_type == "Data" || (node.no_task && !has_event(graph, &node.name)))
        .map(|node| node.name.as_str())
        .collect();
    let mut queues: HashMap<i64, &ListedNode> = HashMap::new();
    for node in &plan.nodes {
        let event = crate::scope::graph::Role::of_type(&node.op_type);
        let event = matches!(event, crate::scope::graph::Role::Event(..));
        if node.parent.is_some() || event || skipped.contains(node.name.as_str()) {
            continue;
        }
        if let Some(before) = queues.insert(node.stream, node) {
            add(end(&before.name), start(&node.name));
        }
    }
    for piece in &plan.pieces {
        let mut last: HashMap<i64, &str> = HashMap::new();
        for op in &piece.ops {
            add(start(&piece.node_name), start(&op.name));
            add(start(&op.name), Moment::End(piece.node_name.clone().into()));
            let queue = if inside == Inside::Sequential { 0 } else { op.stream };
            if let Some(before) = last.insert(queue, &op.name) {
                add(start(before), start(&op.name));
            }
        }
    }
    let parent: HashMap<&str, &str> = plan
        .pieces
        .iter()
        .flat_map(|piece| piece.ops.iter().map(|op| (op.name.as_str(), piece.node_name.as_str())))
        .collect();
    for event in &plan.events {
        // A wait on a tiling stream holds a tiling task of the kernel, not the kernel.
        let own_tiling = parent.get(event.from.as_str()) == Some(&event.to.as_str());
        if !own_tiling {
            add(end(&event.from), start(&event.to));
        }
    }
    edges
}

fn has_event(graph: &Graph, name: &str) -> bool {
    graph.control.iter().any(|edge| {
        let (from, to) = (graph.node(edge.from), graph.node(edge.to));
        (from.name == name && to.is_event()) || (to.name == name && from.is_event())
    })
}

fn reachable(edges: &Edges, from: &Moment) -> HashSet<Moment> {
    let mut seen = HashSet::new();
    let mut stack = vec![from.clone()];
    while let Some(moment) = stack.pop() {
        for next in edges.get(&moment).into_iter().flatten() {
            if seen.insert(next.clone()) {
                stack.push(next.clone());
            }
        }
    }
    seen
}

fn is_acyclic(edges: &Edges) -> bool {
    edges.keys().all(|moment| !reachable(edges, moment).contains(moment))
}

/// Every piece holds only fusable ops of its scope, in list order, and nobody is in two.
fn check_members(graph: &Graph, plan: &ScopePlan, settings: &Settings) {
    let rules = Eligibility::new(settings);
    let names = graph.by_name();
    let mut seen = HashSet::new();
    for piece in &plan.pieces {
        let indices: Vec<NodeIndex> = piece.members.iter().map(|name| names[name.as_str()]).collect();
        assert!(indices.is_sorted());
        for index in indices {
            let node = graph.node(index);
            assert_eq!(rules.unfusable(node, Predicate::Full), None, "{}", node.name);
            assert_eq!(node.scope, piece.scope);
            assert!(seen.insert(index), "{} is in two pieces", node.name);
        }
        assert!(piece.ops[0].recv_event_list.is_empty(), "the first op never waits");
        assert!(piece.ops[piece.ops.len() - 1].send_event_list.is_empty(), "the last op never sends");
    }
}

/// Every event has exactly one send node and one recv node, and its id stands in exactly the lists it should.
fn check_events(graph: &Graph, plan: &ScopePlan) {
    let mut ends: HashMap<(&str, i64), (usize, usize)> = HashMap::new();
    let names: HashSet<&str> = plan.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names.len(), plan.nodes.len(), "names stay unique");
    for event in &plan.events {
        assert!(names.contains(event.from.as_str()) && names.contains(event.to.as_str()));
        assert!(ends.insert((event.kind, event.id), (0, 0)).is_none(), "{} {} twice", event.kind, event.id);
    }
    for node in &plan.nodes {
        let crate::scope::graph::Role::Event(kind, direction) = crate::scope::graph::Role::of_type(&node.op_type)
        else {
            continue;
        };
        let id: i64 = node.name.rsplit('_').next().unwrap().parse().unwrap();
        let counts = ends.get_mut(&(kind.as_str(), id)).expect("every end belongs to an event");
        match direction {
            crate::scope::graph::Direction::Send => counts.0 += 1,
            crate::scope::graph::Direction::Recv => counts.1 += 1,
        }
    }
    assert!(ends.values().all(|counts| *counts == (1, 1)));
    let ops: HashMap<&str, &crate::scope::outcome::Op> =
        plan.pieces.iter().flat_map(|piece| piece.ops.iter().map(|op| (op.name.as_str(), op))).collect();
    let mut sent = 0;
    let mut received = 0;
    for event in &plan.events {
        if let Some(op) = ops.get(event.from.as_str()) {
            assert!(op.send_event_list.contains(&event.id));
            sent += 1;
        }
        if let Some(op) = ops.get(event.to.as_str()) {
            assert!(op.recv_event_list.contains(&event.id));
            received += 1;
        }
    }
    assert_eq!(ops.values().map(|op| op.send_event_list.len()).sum::<usize>(), sent);
    assert_eq!(ops.values().map(|op| op.recv_event_list.len()).sum::<usize>(), received);
    let original = graph.nodes.iter().filter(|node| !node.is_event()).count();
    let listed = plan.nodes.iter().filter(|node| node.op_type != "SuperKernel");
    let listed = listed.filter(|node| {
        !node.name.starts_with("sk_") && !node.name.starts_with("Send") && !node.name.starts_with("Recv")
    });
    assert_eq!(listed.count(), original, "every node is still there");
}

/// No kernel waits for AI-core work that waits for the kernel.
fn check_hazards(graph: &Graph, plan: &ScopePlan) {
    let order = planned_order(graph, plan, Inside::Sequential);
    assert!(is_acyclic(&order), "the planned model hangs");
    let parent: HashMap<&str, &str> = plan
        .pieces
        .iter()
        .flat_map(|piece| piece.members.iter().map(|name| (name.as_str(), piece.node_name.as_str())))
        .collect();
    let name_of = |moment: &Moment| match moment {
        Moment::Start(name) | Moment::End(name) => {
            parent.get(name.as_str()).map_or(name.clone(), |name| (*name).to_owned())
        }
    };
    let mut whole: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut back: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (from, list) in &order {
        for to in list {
            let (from, to) = (name_of(from), name_of(to));
            if from != to {
                back.entry(to.clone()).or_default().push(from.clone());
                whole.entry(from).or_default().push(to);
            }
        }
    }
    let reach = |edges: &BTreeMap<String, Vec<String>>, from: &str| {
        let mut seen = HashSet::new();
        let mut stack = vec![from.to_owned()];
        while let Some(name) = stack.pop() {
            for next in edges.get(&name).into_iter().flatten() {
                if next != from && seen.insert(next.clone()) {
                    stack.push(next.clone());
                }
            }
        }
        seen
    };
    let names = graph.by_name();
    for piece in &plan.pieces {
        let behind = reach(&whole, &piece.node_name);
        for between in reach(&back, &piece.node_name).intersection(&behind) {
            let needs_cores = names
                .get(between.as_str())
                .is_none_or(|index| graph.node(*index).ai_core && !graph.node(*index).no_task);
            assert!(!needs_cores, "{} is before and behind {}", between, piece.node_name);
        }
    }
}

fn check_default(specs: &[Spec], links: &[Link], cuts: Cuts) {
    let graph = build(specs, links, "stream-fusion=1");
    let settings = Settings { cuts, ..Settings::default() };
    let plan = super::plan(&graph, &settings).unwrap();
    assert_eq!(plan, super::plan(&graph, &settings).unwrap(), "the same plan every time");
    check_members(&graph, &plan, &settings);
    if plan.pieces.is_empty() {
        return;
    }
    check_events(&graph, &plan);
    check_hazards(&graph, &plan);
    let order = planned_order(&graph, &plan, Inside::StreamsAndEvents);
    for (before, after) in required_order(&graph) {
        let reached = reachable(&order, &Moment::Start(before.clone()));
        assert!(reached.contains(&Moment::Start(after.clone())), "{before} is no longer before {after}");
    }
    for piece in &plan.pieces {
        assert!(piece.problems.is_empty(), "{:?}", piece.problems);
    }
}

fn cases() -> u32 {
    std::env::var("SUPERKERNEL_SCOPE_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(1500)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn plans_keep_every_order_and_never_hang(
        specs in proptest::collection::vec(spec(), 2..24),
        links in proptest::collection::vec(link(), 0..12),
    ) {
        check_default(&specs, &links, Cuts::AllStreams);
        check_default(&specs, &links, Cuts::PerStream);
    }

    #[test]
    fn dense_scopes_too(
        specs in proptest::collection::vec(
            (0..3_i64, 1..3_usize, 9..24_u8, 1..2_i64)
                .prop_map(|(stream, scope, flavour, gap)| Spec { stream, scope, flavour, gap }), 4..16),
        links in proptest::collection::vec(link(), 2..14),
    ) {
        check_default(&specs, &links, Cuts::AllStreams);
        check_default(&specs, &links, Cuts::PerStream);
    }

    #[test]
    fn the_reference_never_fails_on_complete_graphs(
        specs in proptest::collection::vec(spec(), 2..24),
        links in proptest::collection::vec(link(), 0..12),
    ) {
        let graph = build(&specs, &links, "");
        let settings = Settings::new(Mode::Compat);
        let plan = super::plan(&graph, &settings).unwrap();
        prop_assert_eq!(&plan, &super::plan(&graph, &settings).unwrap());
        for piece in &plan.pieces {
            prop_assert!(piece.kernel_name.len() == "te_superkernel_".len() + 64);
        }
    }

    /// Whatever is in the file: a plan or an error, never a panic.
    #[test]
    fn damaged_files_never_panic(
        edits in proptest::collection::vec((0.0..1.0, any::<u8>(), 0..4_u8), 1..6),
        dump in any::<bool>(),
    ) {
        let text = if dump {
            include_str!("../../../tests/cases/scope/dump/graph.pbtxt")
        } else {
            include_str!("../../../tests/cases/scope/events/graph.json")
        };
        let mut bytes = text.as_bytes().to_vec();
        for (place, byte, what) in edits {
            let at = (place * bytes.len() as f64) as usize;
            match what {
                0 => bytes[at] = byte,
                1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, byte),
                // Numbers are where limits are.
                _ => drop(bytes.splice(at..at, b"9223372036854775807".iter().copied())),
            }
        }
        if let Ok(graph) = crate::scope::read_graph(&bytes) {
            for mode in [Mode::Default, Mode::Compat] {
                if let Ok(plan) = super::plan(&graph, &Settings::new(mode)) {
                    prop_assert!(!crate::scope::report::text(&plan).is_empty());
                    prop_assert!(plan.to_json().is_object());
                }
            }
        }
    }
}
