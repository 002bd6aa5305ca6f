//! Several streams: which op must wait for which, and which of these orders need a flag.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use super::PlanError;
use super::frontier::{Arrival, Frontier};
use crate::model::{CoreClass, CoreKind, SuperKernel};
use crate::program::{CrossNeed, Direction, Edge, EdgeOrigin};

/// Edges of one direction that may be ahead of their waits: a flag counts to 15, one count is kept for the barrier
/// over all cores and one for the clearing of the workspace.
const MOST_AHEAD: usize = 13;

/// The two side lists, the edges between ops, and the flags that are left.
pub(super) struct Order {
    sides: Sides,
    edges: Vec<Edge>,
    /// First edge from an op to one that also runs on the given side, by position of the sender.
    own_side: HashMap<(usize, CoreKind), EdgeOrigin>,
    cube_to_vector: Frontier,
    vector_to_cube: Frontier,
}

impl Order {
    /// Finds the edges, checks that they are no circle, and keeps the flags that are needed.
    pub(super) fn of(kernel: &SuperKernel) -> Result<Self, PlanError> {
        let sides = Sides::of(kernel);
        let edges = edges(kernel);
        let rank = topological_rank(kernel, &sides, &edges)?;
        let mut order = Self {
            own_side: own_side(kernel, &edges),
            sides,
            edges,
            cube_to_vector: Frontier::default(),
            vector_to_cube: Frontier::default(),
        };
        for edge in 0..order.edges.len() {
            for direction in Direction::BOTH {
                if order.edges[edge].need(direction) != CrossNeed::None {
                    order.keep_if_needed(direction, edge);
                }
            }
        }
        order.control_flow(&rank);
        order.note_results();
        Ok(order)
    }

    /// The side's ops, in order.
    pub(super) fn side(&self, kind: CoreKind) -> &[usize] {
        self.sides.list(kind)
    }

    /// The flag set after `position` in this direction: its receiver and its reason.
    pub(super) fn sent(&self, direction: Direction, position: usize) -> Option<(usize, EdgeOrigin)> {
        let place = self.sides.place(direction.sender(), position)?;
        let arrival = self.frontier(direction).leaving(place)?;
        Some((self.sides.list(direction.receiver())[arrival.receiver], self.edges[arrival.edge].origin))
    }

    /// All flags of a direction as (sender, receiver, origin), by positions.
    pub(super) fn flags(&self, direction: Direction) -> impl Iterator<Item = (usize, usize, EdgeOrigin)> + '_ {
        let (senders, receivers) = (self.sides.list(direction.sender()), self.sides.list(direction.receiver()));
        self.frontier(direction)
            .iter()
            .map(move |(sender, to)| (senders[sender], receivers[to.receiver], self.edges[to.edge].origin))
    }

    /// Why the side of `kind` must meet after `position`: an edge to an op that also runs on it.
    pub(super) fn own_side(&self, position: usize, kind: CoreKind) -> Option<EdgeOrigin> {
        self.own_side.get(&(position, kind)).copied()
    }

    pub(super) fn into_edges(self) -> Vec<Edge> {
        self.edges
    }

    fn frontier(&self, direction: Direction) -> &Frontier {
        match direction {
            Direction::CubeToVector => &self.cube_to_vector,
            Direction::VectorToCube => &self.vector_to_cube,
        }
    }

    fn frontier_mut(&mut self, direction: Direction) -> &mut Frontier {
        match direction {
            Direction::CubeToVector => &mut self.cube_to_vector,
            Direction::VectorToCube => &mut self.vector_to_cube,
        }
    }

    /// Offers an edge's cross need to the flags; says where it leaves, if it stays.
    fn keep_if_needed(&mut self, direction: Direction, edge: usize) -> Option<usize> {
        let Edge { sender, receiver, .. } = self.edges[edge];
        let sender = self.sides.place(direction.sender(), sender)?;
        let receiver = self.sides.place(direction.receiver(), receiver)?;
        let receiver = self.sides.meeting_point(direction, sender, receiver);
        self.frontier_mut(direction).insert(sender, Arrival { receiver, edge }).then_some(sender)
    }

    /// Adds edges until no flag can be set too often ahead of its waits.
    ///
    /// An edge added in one direction moves the count of that direction from there on, so that part is looked at
    /// again; everything before it keeps its order.
    fn control_flow(&mut self, rank: &[usize]) {
        let mut recheck = [(Direction::CubeToVector, Some(0)), (Direction::VectorToCube, Some(0))];
        while let Some((direction, from)) = recheck.iter_mut().find_map(|(d, from)| Some((*d, from.take()?))) {
            let Some((sender, added)) = self.first_unbounded(direction, from, rank) else { continue };
            // The rest of this direction still has to be looked at.
            recheck[direction as usize].1 = Some(sender);
            self.edges.push(added.edge);
            if let Some(place) = self.keep_if_needed(added.direction, self.edges.len() - 1) {
                let again = self.frontier(added.direction).behind(place, MOST_AHEAD);
                let from = &mut recheck[added.direction as usize].1;
                *from = Some(from.map_or(again, |from| from.min(again)));
            }
        }
    }

    /// The first edge from `from` on whose wait is not ordered before the set [`MOST_AHEAD`] edges later, and the edge
    /// that orders them.
    fn first_unbounded(&self, direction: Direction, from: usize, rank: &[usize]) -> Option<(usize, FlowEdge)> {
        let frontier = self.frontier(direction);
        let mut current = frontier.first_from(from);
        while let Some((sender, arrival)) = current {
            let (late_sender, _) = frontier.ahead(sender, MOST_AHEAD)?;
            if !self.is_answered(direction, arrival.receiver, late_sender) {
                let receiver = self.sides.list(direction.receiver())[arrival.receiver];
                let late_sender = self.sides.list(direction.sender())[late_sender];
                let added = FlowEdge::between(direction, receiver, late_sender, rank);
                return Some((sender, added));
            }
            current = frontier.next_after(sender);
        }
        None
    }

    /// Does a flag of the opposite direction order the wait at place `receiver` before the set at place `sender`?
    ///
    /// The last flag of any chain between the two leaves at or after `receiver` and arrives at or before `sender`, so
    /// one flag decides. The two halves of a MIX op do not count as ordered.
    fn is_answered(&self, direction: Direction, receiver: usize, sender: usize) -> bool {
        let opposite = self.frontier(direction.opposite());
        opposite.first_from(receiver).is_some_and(|(_, answer)| answer.receiver <= sender)
    }

    /// Writes into the edges what became of their needs.
    fn note_results(&mut self) {
        for direction in Direction::BOTH {
            let mut kept: HashMap<usize, usize> = HashMap::new();
            let receivers = self.sides.list(direction.receiver());
            for (_, arrival) in self.frontier(direction).iter() {
                kept.insert(arrival.edge, receivers[arrival.receiver]);
            }
            for (number, edge) in self.edges.iter_mut().enumerate() {
                let need = match direction {
                    Direction::CubeToVector => &mut edge.cube_to_vector,
                    Direction::VectorToCube => &mut edge.vector_to_cube,
                };
                if let Some(&received_at) = kept.get(&number) {
                    *need = CrossNeed::Flag { received_at };
                }
            }
        }
    }
}

/// An edge that bounds how far a flag runs ahead.
struct FlowEdge {
    direction: Direction,
    edge: Edge,
}

impl FlowEdge {
    /// The opposite one if the receiver can come first, otherwise one that replaces the edges in between.
    fn between(direction: Direction, receiver: usize, late_sender: usize, rank: &[usize]) -> Self {
        let (direction, sender, receiver) = if rank[receiver] < rank[late_sender] {
            (direction.opposite(), receiver, late_sender)
        } else {
            (direction, late_sender, receiver)
        };
        let need = |wanted| if wanted == direction { CrossNeed::Implied } else { CrossNeed::None };
        let edge = Edge {
            sender,
            receiver,
            origin: EdgeOrigin::FlowControl,
            cube_to_vector: need(Direction::CubeToVector),
            vector_to_cube: need(Direction::VectorToCube),
        };
        Self { direction, edge }
    }
}

/// The ops of each side, in op order.
struct Sides {
    aic: Side,
    aiv: Side,
}

#[derive(Default)]
struct Side {
    list: Vec<usize>,
    /// Place in `list`, by position.
    place: Vec<Option<usize>>,
    /// The first MIX op at or after each place, as a place here and a place on the other side.
    next_mix: Vec<Option<(usize, usize)>>,
}

impl Sides {
    fn of(kernel: &SuperKernel) -> Self {
        let mut sides = Self { aic: Side::default(), aiv: Side::default() };
        for (position, op) in kernel.ops.iter().enumerate() {
            for (kind, side) in [(CoreKind::Aic, &mut sides.aic), (CoreKind::Aiv, &mut sides.aiv)] {
                let runs = op.class().runs_on(kind);
                side.place.push(runs.then_some(side.list.len()));
                if runs {
                    side.list.push(position);
                }
            }
        }
        let (aic, aiv) = (sides.aic.mix_places(kernel, &sides.aiv), sides.aiv.mix_places(kernel, &sides.aic));
        sides.aic.next_mix = aic;
        sides.aiv.next_mix = aiv;
        sides
    }

    fn side(&self, kind: CoreKind) -> &Side {
        match kind {
            CoreKind::Aic => &self.aic,
            CoreKind::Aiv => &self.aiv,
        }
    }

    fn list(&self, kind: CoreKind) -> &[usize] {
        &self.side(kind).list
    }

    fn place(&self, kind: CoreKind, position: usize) -> Option<usize> {
        self.side(kind).place[position]
    }

    /// Where an edge is received: at the first MIX op after the sender if that comes before the receiver. MIX ops
    /// meet on the flags that edges use, so no edge may be open across one.
    fn meeting_point(&self, direction: Direction, sender: usize, receiver: usize) -> usize {
        match self.side(direction.sender()).next_mix.get(sender + 1).copied().flatten() {
            Some((_, there)) if there < receiver => there,
            _ => receiver,
        }
    }
}

impl Side {
    fn mix_places(&self, kernel: &SuperKernel, other: &Self) -> Vec<Option<(usize, usize)>> {
        let mut next = None;
        let mut places = vec![None; self.list.len()];
        for (place, &position) in self.list.iter().enumerate().rev() {
            if kernel.ops[position].class() == CoreClass::Mix {
                next = other.place[position].map(|there| (place, there));
            }
            places[place] = next;
        }
        places
    }
}

/// Neighbours of one stream, and the two ends of inner events.
fn edges(kernel: &SuperKernel) -> Vec<Edge> {
    let mut edges = Vec::new();
    let mut last_of_stream: HashMap<i64, usize> = HashMap::new();
    let mut events = kernel.inner_events.iter().peekable();
    for (position, op) in kernel.ops.iter().enumerate() {
        if let Some(previous) = last_of_stream.insert(op.stream_id, position) {
            edges.push(edge(kernel, previous, position, EdgeOrigin::Stream(op.stream_id)));
        }
        while let Some(event) = events.next_if(|event| event.sender == position) {
            edges.push(edge(kernel, event.sender, event.receiver, EdgeOrigin::Event(event.id)));
        }
    }
    edges
}

fn edge(kernel: &SuperKernel, sender: usize, receiver: usize, origin: EdgeOrigin) -> Edge {
    let need = |direction: Direction| {
        let crosses = kernel.ops[sender].class().runs_on(direction.sender())
            && kernel.ops[receiver].class().runs_on(direction.receiver());
        if crosses { CrossNeed::Implied } else { CrossNeed::None }
    };
    Edge {
        sender,
        receiver,
        origin,
        cube_to_vector: need(Direction::CubeToVector),
        vector_to_cube: need(Direction::VectorToCube),
    }
}

fn own_side(kernel: &SuperKernel, edges: &[Edge]) -> HashMap<(usize, CoreKind), EdgeOrigin> {
    let mut own = HashMap::new();
    for edge in edges {
        for kind in CoreKind::BOTH {
            if [edge.sender, edge.receiver].into_iter().all(|position| kernel.ops[position].class().runs_on(kind)) {
                own.entry((edge.sender, kind)).or_insert(edge.origin);
            }
        }
    }
    own
}

/// The place of each op in the topological order that prefers small positions; op order itself unless an event runs
/// against it.
fn topological_rank(kernel: &SuperKernel, sides: &Sides, edges: &[Edge]) -> Result<Vec<usize>, PlanError> {
    let count = kernel.ops.len();
    let mut successors: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut waiting_for = vec![0usize; count];
    let chains = CoreKind::BOTH.into_iter().flat_map(|kind| sides.list(kind).windows(2).map(|pair| (pair[0], pair[1])));
    for (before, after) in chains.chain(edges.iter().map(|edge| (edge.sender, edge.receiver))) {
        successors[before].push(after);
        waiting_for[after] += 1;
    }
    let mut ready: BinaryHeap<Reverse<usize>> = (0..count).filter(|op| waiting_for[*op] == 0).map(Reverse).collect();
    let mut rank = vec![usize::MAX; count];
    let mut placed = 0;
    while let Some(Reverse(op)) = ready.pop() {
        rank[op] = placed;
        placed += 1;
        for &after in &successors[op] {
            waiting_for[after] -= 1;
            if waiting_for[after] == 0 {
                ready.push(Reverse(after));
            }
        }
    }
    if placed == count {
        return Ok(rank);
    }
    let stuck: Vec<bool> = rank.iter().map(|rank| *rank == usize::MAX).collect();
    let ops = circle(&stuck, &successors, edges);
    Err(PlanError::Cycle { ops: ops.into_iter().map(|position| kernel.ops[position].name()).collect() })
}

/// The ops of a circle among the stuck ones: those where an edge starts or ends; what only hands on a side's order is
/// left out.
fn circle(stuck: &[bool], successors: &[Vec<usize>], edges: &[Edge]) -> Vec<usize> {
    // Every stuck op has a stuck predecessor: walking back must come round.
    let mut predecessor = vec![None; stuck.len()];
    for (before, after) in successors.iter().enumerate().flat_map(|(op, to)| to.iter().map(move |to| (op, *to))) {
        if stuck[before] && stuck[after] {
            predecessor[after] = Some(before);
        }
    }
    let mut visited = vec![false; stuck.len()];
    let mut current = stuck.iter().position(|stuck| *stuck);
    while let Some(op) = current.filter(|op| !visited[*op]) {
        visited[op] = true;
        current = predecessor[op];
    }
    let Some(start) = current else { return Vec::new() };
    let mut ops = vec![start];
    while let Some(before) = predecessor[ops[ops.len() - 1]].filter(|before| *before != start) {
        ops.push(before);
    }
    ops.reverse();
    let edges: HashSet<(usize, usize)> = edges.iter().map(|edge| (edge.sender, edge.receiver)).collect();
    let is_edge = |from: usize, to: usize| edges.contains(&(from, to));
    let next = |place: usize| ops[(place + 1) % ops.len()];
    let before = |place: usize| ops[(place + ops.len() - 1) % ops.len()];
    (0..ops.len())
        .filter(|&place| is_edge(ops[place], next(place)) || is_edge(before(place), ops[place]))
        .map(|place| ops[place])
        .collect()
}
