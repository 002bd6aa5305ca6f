//! Several streams: which op must wait for which, and which of these orders need a flag.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use super::PlanError;
use super::frontier::{Arrival, Frontier, Place};
use crate::model::{ByPosition, CoreClass, CoreKind, OpPosition, SuperKernel};
use crate::program::{CrossNeed, Direction, Edge, EdgeOrigin};

/// Edges of one direction that may be ahead of their waits: a flag counts to 15, one count is kept for the barrier
/// over all cores and one for the clearing of the workspace.
const MOST_AHEAD: usize = 13;

/// The two side lists, the edges between ops, and the flags that are left.
pub(super) struct Order {
    sides: Sides,
    edges: Vec<Edge>,
    /// First edge from an op to one that also runs on the given side, by the sender.
    own_side: HashMap<(OpPosition, CoreKind), EdgeOrigin>,
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
            for direction in Direction::ALL {
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
    pub(super) fn side(&self, kind: CoreKind) -> &[OpPosition] {
        &self.sides.side(kind).list
    }

    /// The flag set after `position` in this direction: its receiver and its reason.
    pub(super) fn sent(&self, direction: Direction, position: OpPosition) -> Option<(OpPosition, EdgeOrigin)> {
        let place = self.sides.place(direction.sender(), position)?;
        let arrival = self.frontier(direction).leaving(place)?;
        Some((self.sides.at(direction.receiver(), arrival.receiver), self.edges[arrival.edge].origin))
    }

    /// All flags of a direction as (sender, receiver, origin).
    pub(super) fn flags(
        &self,
        direction: Direction,
    ) -> impl Iterator<Item = (OpPosition, OpPosition, EdgeOrigin)> + '_ {
        self.frontier(direction).iter().map(move |(sender, to)| {
            let sender = self.sides.at(direction.sender(), sender);
            (sender, self.sides.at(direction.receiver(), to.receiver), self.edges[to.edge].origin)
        })
    }

    /// Why the side of `kind` must meet after `position`: an edge to an op that also runs on it.
    pub(super) fn own_side(&self, position: OpPosition, kind: CoreKind) -> Option<EdgeOrigin> {
        self.own_side.get(&(position, kind)).copied()
    }

    /// Why the cores of `kind` meet behind `position`: somebody relies on it, on this side or by a flag.
    pub(super) fn meets_after(&self, position: OpPosition, kind: CoreKind) -> Option<EdgeOrigin> {
        let sent = || self.sent(Direction::leaving(kind), position).map(|(_, origin)| origin);
        self.own_side(position, kind).or_else(sent)
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
    fn keep_if_needed(&mut self, direction: Direction, edge: usize) -> Option<Place> {
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
    fn control_flow(&mut self, rank: &ByPosition<usize>) {
        let mut recheck = Direction::ALL.map(|direction| (direction, Some(Place(0))));
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
    fn first_unbounded(
        &self,
        direction: Direction,
        from: Place,
        rank: &ByPosition<usize>,
    ) -> Option<(Place, FlowEdge)> {
        let frontier = self.frontier(direction);
        let mut current = frontier.first_from(from);
        while let Some((sender, arrival)) = current {
            let (late_sender, _) = frontier.ahead(sender, MOST_AHEAD)?;
            if !self.is_answered(direction, arrival.receiver, late_sender) {
                let receiver = self.sides.at(direction.receiver(), arrival.receiver);
                let late_sender = self.sides.at(direction.sender(), late_sender);
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
    fn is_answered(&self, direction: Direction, receiver: Place, sender: Place) -> bool {
        let opposite = self.frontier(direction.opposite());
        opposite.first_from(receiver).is_some_and(|(_, answer)| answer.receiver <= sender)
    }

    /// Writes into the edges what became of their needs.
    fn note_results(&mut self) {
        for direction in Direction::ALL {
            let mut kept: HashMap<usize, OpPosition> = HashMap::new();
            for (_, arrival) in self.frontier(direction).iter() {
                kept.insert(arrival.edge, self.sides.at(direction.receiver(), arrival.receiver));
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
    fn between(direction: Direction, receiver: OpPosition, late_sender: OpPosition, rank: &ByPosition<usize>) -> Self {
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

struct Side {
    list: Vec<OpPosition>,
    place: ByPosition<Option<Place>>,
    /// The place on the other side of the first MIX op at or after each place of this one.
    next_mix: Vec<Option<Place>>,
}

impl Sides {
    fn of(kernel: &SuperKernel) -> Self {
        let mut sides = Self { aic: Side::of(kernel, CoreKind::Aic), aiv: Side::of(kernel, CoreKind::Aiv) };
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

    /// The op at a place of a side.
    fn at(&self, kind: CoreKind, place: Place) -> OpPosition {
        self.side(kind).list[place.0]
    }

    /// An op's place on a side, if it runs there.
    fn place(&self, kind: CoreKind, position: OpPosition) -> Option<Place> {
        self.side(kind).place[position]
    }

    /// Where an edge is received: at the first MIX op after the sender if that comes before the receiver. MIX ops
    /// meet on the flags that edges use, so no edge may be open across one.
    fn meeting_point(&self, direction: Direction, sender: Place, receiver: Place) -> Place {
        let next_mix = self.side(direction.sender()).next_mix.get(sender.0 + 1).copied().flatten();
        next_mix.map_or(receiver, |there| there.min(receiver))
    }
}

impl Side {
    fn of(kernel: &SuperKernel, kind: CoreKind) -> Self {
        let mut list = Vec::new();
        let mut add = |position| {
            list.push(position);
            Place(list.len() - 1)
        };
        let place =
            kernel.ops.enumerate().map(|(position, op)| op.class().runs_on(kind).then(|| add(position))).collect();
        Self { list, place, next_mix: Vec::new() }
    }

    fn mix_places(&self, kernel: &SuperKernel, other: &Self) -> Vec<Option<Place>> {
        let mut next = None;
        let mut places = vec![None; self.list.len()];
        for (entry, &position) in places.iter_mut().zip(&self.list).rev() {
            if kernel.ops[position].class() == CoreClass::Mix {
                next = other.place[position];
            }
            *entry = next;
        }
        places
    }
}

/// Ops of one stream that come after each other, and the two ends of inner events.
fn edges(kernel: &SuperKernel) -> Vec<Edge> {
    let mut edges = Vec::with_capacity(kernel.ops.len() + kernel.inner_events.len());
    let mut events = kernel.inner_events.iter().peekable();
    for (position, op) in kernel.ops.enumerate() {
        for &before in &kernel.stream_order[position] {
            edges.push(edge(kernel, before, position, EdgeOrigin::Stream(op.stream_id)));
        }
        while let Some(event) = events.next_if(|event| event.sender == position) {
            edges.push(edge(kernel, event.sender, event.receiver, EdgeOrigin::Event(event.id)));
        }
    }
    edges
}

fn edge(kernel: &SuperKernel, sender: OpPosition, receiver: OpPosition, origin: EdgeOrigin) -> Edge {
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

fn own_side(kernel: &SuperKernel, edges: &[Edge]) -> HashMap<(OpPosition, CoreKind), EdgeOrigin> {
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
fn topological_rank(kernel: &SuperKernel, sides: &Sides, edges: &[Edge]) -> Result<ByPosition<usize>, PlanError> {
    let count = kernel.ops.len();
    let mut successors: ByPosition<Vec<OpPosition>> = ByPosition::filled(count, Vec::new());
    let mut waiting_for = ByPosition::filled(count, 0usize);
    let neighbours = |kind| sides.side(kind).list.windows(2).map(|pair| (pair[0], pair[1]));
    let chains = CoreKind::BOTH.into_iter().flat_map(neighbours);
    for (before, after) in chains.chain(edges.iter().map(|edge| (edge.sender, edge.receiver))) {
        successors[before].push(after);
        waiting_for[after] += 1;
    }
    let mut ready: BinaryHeap<Reverse<OpPosition>> =
        kernel.ops.positions().filter(|op| waiting_for[*op] == 0).map(Reverse).collect();
    let mut rank: ByPosition<Option<usize>> = ByPosition::filled(count, None);
    let mut placed = 0;
    while let Some(Reverse(op)) = ready.pop() {
        rank[op] = Some(placed);
        placed += 1;
        for &after in &successors[op] {
            waiting_for[after] -= 1;
            if waiting_for[after] == 0 {
                ready.push(Reverse(after));
            }
        }
    }
    match rank.iter().copied().collect() {
        Some(rank) => Ok(rank),
        None => {
            let stuck = rank.iter().map(Option::is_none).collect();
            let ops = circle(&stuck, &successors, edges);
            Err(PlanError::Cycle { ops: ops.into_iter().map(|position| kernel.ops[position].name()).collect() })
        }
    }
}

/// The ops of a circle among the stuck ones: those where an edge starts or ends; what only hands on a side's order is
/// left out.
fn circle(stuck: &ByPosition<bool>, successors: &ByPosition<Vec<OpPosition>>, edges: &[Edge]) -> Vec<OpPosition> {
    // Every stuck op has a stuck predecessor: walking back must come round.
    let mut predecessor: ByPosition<Option<OpPosition>> = ByPosition::filled(stuck.len(), None);
    for (before, after) in successors.enumerate().flat_map(|(op, to)| to.iter().map(move |to| (op, *to))) {
        if stuck[before] && stuck[after] {
            predecessor[after] = Some(before);
        }
    }
    let mut visited = ByPosition::filled(stuck.len(), false);
    let mut current = stuck.positions().find(|op| stuck[*op]);
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
    let edges: HashSet<(OpPosition, OpPosition)> = edges.iter().map(|edge| (edge.sender, edge.receiver)).collect();
    let is_edge = |from: OpPosition, to: OpPosition| edges.contains(&(from, to));
    let next = |place: usize| ops[(place + 1) % ops.len()];
    let before = |place: usize| ops[(place + ops.len() - 1) % ops.len()];
    (0..ops.len())
        .filter(|&place| is_edge(ops[place], next(place)) || is_edge(before(place), ops[place]))
        .map(|place| ops[place])
        .collect()
}
