//! Replaces the members of a piece by its super kernel: events at the border are made anew, those inside become
//! events of the kernel.

mod place;

use std::collections::{BTreeSet, HashMap, HashSet};

use self::place::Queues;
use super::error::ScopeError;
use super::events::{Event, EventIndex, Origin, Party, PieceIndex};
use super::graph::{EventKind, NodeIndex};
use super::membership::Context;
use super::settings::Mode;

pub(crate) use self::place::Place;

/// The first id of memory events: the integer half of the largest signed 32-bit value.
pub(crate) const BASE: i64 = 1_073_741_823;

/// A piece with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Placed {
    /// In list order.
    pub members: Vec<NodeIndex>,
    /// The stream the kernel is launched on.
    pub main_stream: i64,
    /// The member whose place in the list the kernel takes.
    pub anchor: NodeIndex,
}

/// The graph while pieces are being built.
#[derive(Debug)]
pub(crate) struct Rewriter<'a> {
    context: &'a Context<'a>,
    /// All events there ever were.
    pub events: Vec<Event>,
    /// Finished pieces.
    pub pieces: Vec<Placed>,
    /// The piece each node is in.
    pub inside: Vec<Option<PieceIndex>>,
    /// Events that begin or end at each node, dead ones included.
    touching: Vec<Vec<EventIndex>>,
    queues: Queues,
    next_id: i64,
}

/// An event at the border or inside, before it is made anew.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    producer: Party,
    consumer: Party,
    send_stream: i64,
    recv_stream: i64,
}

/// Everything about the piece at hand.
struct Piece<'p> {
    index: PieceIndex,
    members: &'p [NodeIndex],
    set: HashSet<NodeIndex>,
    first: NodeIndex,
    last: NodeIndex,
    main_stream: i64,
    /// First and last member of every stream other than the main one.
    side_streams: Vec<(i64, NodeIndex, NodeIndex)>,
    /// Nodes outside that wait for a member.
    dependents: &'p HashSet<NodeIndex>,
    pool: BTreeSet<i64>,
    made: HashSet<(Party, Party, i64)>,
    count: i64,
}

impl Piece<'_> {
    fn holds(&self, party: Party) -> bool {
        match party {
            Party::Node(node) => self.set.contains(&node),
            Party::Piece(_) => false,
        }
    }
}

/// The stream a piece is launched on: that of its first member, unless that is a collective.
pub(crate) fn main_stream(context: &Context<'_>, members: &[NodeIndex]) -> i64 {
    let first = context.node(members[0]);
    if !first.hccl {
        return first.stream;
    }
    // On a communication stream the kernel would need many more events.
    let mut leaders: HashMap<i64, bool> = HashMap::new();
    for &member in members {
        let node = context.node(member);
        leaders.entry(node.stream).or_insert(node.hccl);
    }
    leaders.into_iter().filter(|(_, hccl)| !hccl).map(|(stream, _)| stream).min().unwrap_or(first.stream)
}

impl<'a> Rewriter<'a> {
    /// Starts with the list of the graph and its events.
    pub(crate) fn new(context: &'a Context<'a>, events: Vec<Event>) -> Self {
        // Words that are in use already must not be given out again; the reference does not look.
        let used = match context.mode() {
            Mode::Default => events.iter().filter(|event| event.kind == EventKind::Mem).map(|event| event.id).max(),
            Mode::Compat => None,
        };
        let next_id = used.map_or(BASE, |used| BASE.max(used.saturating_add(1)));
        let count = context.graph.nodes.len();
        let mut rewriter = Self {
            context,
            events: Vec::with_capacity(events.len()),
            pieces: Vec::new(),
            inside: vec![None; count],
            touching: vec![Vec::new(); count],
            queues: Queues::new(context),
            next_id,
        };
        events.into_iter().for_each(|event| rewriter.add(event));
        rewriter
    }

    fn add(&mut self, event: Event) {
        let index = EventIndex(self.events.len());
        for party in [event.producer, event.consumer] {
            if let Party::Node(node) = party {
                self.touching[node.0].push(index);
            }
        }
        self.events.push(event);
    }

    /// Builds the next piece out of `members`.
    pub(crate) fn build(
        &mut self,
        members: &[NodeIndex],
        dependents: &HashSet<NodeIndex>,
    ) -> Result<PieceIndex, ScopeError> {
        let main_stream = main_stream(self.context, members);
        let index = PieceIndex(self.pieces.len());
        let set: HashSet<NodeIndex> = members.iter().copied().collect();
        let (removed, pool) = self.touching(members);
        self.refuse_shared_ids(&removed)?;
        let mut piece = Piece {
            index,
            members,
            first: members[0],
            last: members[members.len() - 1],
            main_stream,
            side_streams: self.side_streams(members, main_stream),
            set,
            dependents,
            pool,
            made: HashSet::new(),
            count: 0,
        };
        let work = self.work_list(&piece, &removed);
        for &event in &removed {
            self.events[event.0].alive = false;
        }
        for (direction, wanted) in work {
            match direction {
                Side::Send => self.send(&mut piece, wanted)?,
                Side::Receive => self.receive(&mut piece, wanted)?,
            }
        }
        self.next_id = self.next_id.saturating_add(piece.count);
        self.place(piece);
        Ok(index)
    }

    /// A piece must not touch an event whose id another one has: which wait would be replaced?
    fn refuse_shared_ids(&self, touched: &[EventIndex]) -> Result<(), ScopeError> {
        for event in touched.iter().map(|index| &self.events[index.0]) {
            if let (Some(other), Origin::Graph { send, .. }) = (event.shares_id_with, event.origin) {
                let name = |node| self.context.node(node).name.clone();
                let problem = format!("`{}` has the same id {}, and a super kernel touches it", name(other), event.id);
                return Err(ScopeError::Event { node: name(send).into(), problem });
            }
        }
        Ok(())
    }

    /// Live events with an end among `members`, and the ids among them that can be given out again.
    fn touching(&self, members: &[NodeIndex]) -> (Vec<EventIndex>, BTreeSet<i64>) {
        let mut removed: Vec<EventIndex> =
            members.iter().flat_map(|member| &self.touching[member.0]).copied().collect();
        removed.retain(|index| self.events[index.0].alive);
        removed.sort_unstable();
        removed.dedup();
        let pool = removed
            .iter()
            .map(|index| self.events[index.0])
            .filter(|event| event.kind == EventKind::Normal)
            .map(|event| event.id)
            .collect();
        (removed, pool)
    }

    fn side_streams(&self, members: &[NodeIndex], main_stream: i64) -> Vec<(i64, NodeIndex, NodeIndex)> {
        let mut sides: Vec<(i64, NodeIndex, NodeIndex)> = Vec::new();
        for &member in members {
            let stream = self.context.node(member).stream;
            match sides.iter_mut().find(|(side, _, _)| *side == stream) {
                Some((_, _, last)) => *last = member,
                None if stream != main_stream => sides.push((stream, member, member)),
                None => {}
            }
        }
        sides
    }

    /// All events to be made, member by member: sends, then receives; original ones first, then the border's.
    fn work_list(&self, piece: &Piece<'_>, removed: &[EventIndex]) -> Vec<(Side, Wanted)> {
        let mut sends: HashMap<NodeIndex, Vec<(Rank, Wanted)>> = HashMap::new();
        let mut receives: HashMap<NodeIndex, Vec<(Rank, Wanted)>> = HashMap::new();
        for &index in removed {
            let event = self.events[index.0];
            let wanted = Wanted {
                producer: event.producer,
                consumer: event.consumer,
                send_stream: event.send_stream,
                recv_stream: event.recv_stream,
            };
            if let (Party::Node(node), true) = (event.producer, piece.holds(event.producer)) {
                sends.entry(node).or_default().push((self.send_rank(index), wanted));
            }
            if let (Party::Node(node), true) = (event.consumer, piece.holds(event.consumer)) {
                receives.entry(node).or_default().push((self.recv_rank(index), wanted));
            }
        }
        for list in sends.values_mut().chain(receives.values_mut()) {
            list.sort_by_key(|(rank, _)| *rank);
        }
        for &(stream, first, last) in &piece.side_streams {
            let (before, after) = self.queues.neighbours(stream, first, last, |party| self.is_near(first, party));
            if let Some(before) = before {
                let consumer = Party::Node(first);
                let top = Wanted { producer: before, consumer, send_stream: stream, recv_stream: piece.main_stream };
                receives.entry(first).or_default().push((Rank::Border, top));
            }
            if let Some(after) = after {
                let producer = Party::Node(last);
                let bottom = Wanted { producer, consumer: after, send_stream: piece.main_stream, recv_stream: stream };
                sends.entry(last).or_default().push((Rank::Border, bottom));
            }
        }
        let mut order = piece.members.to_vec();
        if self.context.mode() == Mode::Compat {
            order.sort_by_key(|member| &self.context.node(*member).name);
        }
        let mut work = Vec::new();
        for member in order {
            let of = |side: Side, list: Option<&Vec<(Rank, Wanted)>>| -> Vec<(Side, Wanted)> {
                list.into_iter().flatten().map(|(_, wanted)| (side, *wanted)).collect()
            };
            work.extend(of(Side::Send, sends.get(&member)));
            work.extend(of(Side::Receive, receives.get(&member)));
        }
        work
    }

    /// Is a party of a queue in the same run as a member? The reference looks at the member's own graph only.
    fn is_near(&self, member: NodeIndex, party: Party) -> bool {
        let branch = |node: NodeIndex| self.context.node(node).branch;
        let (own, other) = (branch(member), branch(self.at(party)));
        match self.context.mode() {
            Mode::Default => self.context.graph.are_nested(own, other),
            Mode::Compat => own == other,
        }
    }

    /// Where the send of an event stands among the sends of its producer.
    fn send_rank(&self, index: EventIndex) -> Rank {
        match self.context.mode() {
            Mode::Default => self.partner_rank(index, self.events[index.0].consumer),
            Mode::Compat => Rank::List(self.send_place(index)),
        }
    }

    /// Where the recv of an event stands among the receives of its consumer.
    fn recv_rank(&self, index: EventIndex) -> Rank {
        match self.context.mode() {
            Mode::Default => self.partner_rank(index, self.events[index.0].producer),
            Mode::Compat => Rank::List(self.recv_place(index)),
        }
    }

    /// By the other party: neither the numbers of events nor the order they were written in shall matter.
    fn partner_rank(&self, index: EventIndex, partner: Party) -> Rank {
        Rank::Partner(self.at(partner), self.events[index.0].recv_stream)
    }

    /// The node whose place a party has in the list.
    fn at(&self, party: Party) -> NodeIndex {
        match party {
            Party::Node(node) => node,
            Party::Piece(piece) => self.pieces[piece.0].anchor,
        }
    }

    /// Where the send of an event stands.
    pub(crate) fn send_place(&self, index: EventIndex) -> Place {
        let event = &self.events[index.0];
        match event.origin {
            Origin::Graph { send, .. } => Place::of(send),
            Origin::Created => Place::behind(self.at(event.producer), index.0),
        }
    }

    /// Where the recv of an event stands.
    pub(crate) fn recv_place(&self, index: EventIndex) -> Place {
        let event = &self.events[index.0];
        match event.origin {
            Origin::Graph { recv, .. } => Place::of(recv),
            Origin::Created => Place::in_front_of(self.at(event.consumer), index.0),
        }
    }

    /// Is it a node of the outer graph? A super kernel as a whole is.
    fn is_outer(&self, piece: &Piece<'_>, party: Party) -> bool {
        match party {
            Party::Node(node) => self.inside[node.0].is_none() && !piece.set.contains(&node),
            Party::Piece(_) => true,
        }
    }

    fn send(&mut self, piece: &mut Piece<'_>, wanted: Wanted) -> Result<(), ScopeError> {
        let from_last = wanted.producer == Party::Node(piece.last);
        let producer = if from_last { Party::Piece(piece.index) } else { wanted.producer };
        if self.context.mode() == Mode::Default && self.ordered_inside(piece, wanted) {
            return Ok(());
        }
        let wanted = Wanted { producer, send_stream: piece.main_stream, ..wanted };
        let outer = from_last && self.is_outer(piece, wanted.consumer);
        let carrier = if outer { Carrier::RuntimeIfFree } else { Carrier::Memory };
        self.make(piece, wanted, carrier)
    }

    fn receive(&mut self, piece: &mut Piece<'_>, wanted: Wanted) -> Result<(), ScopeError> {
        let Party::Node(consumer) = wanted.consumer else {
            return Ok(());
        };
        let node = self.context.node(consumer);
        let from_inside = piece.holds(wanted.producer);
        // A recv on the main stream holds the whole kernel, whatever the op; the reference mixes the two up.
        let attached = match self.context.mode() {
            Mode::Default => wanted.recv_stream != node.stream && wanted.recv_stream != piece.main_stream,
            Mode::Compat => wanted.recv_stream != node.stream,
        };
        let tiling = attached && self.context.rules.tiles_on_aicpu(node);
        if self.context.mode() == Mode::Default && from_inside && !tiling {
            return Ok(());
        }
        let leads_side = piece.side_streams.iter().any(|(_, first, _)| *first == consumer);
        let expected = wanted.recv_stream == piece.main_stream || wanted.recv_stream == node.stream;
        // Waiting with the whole kernel for something that waits for a member would never end.
        let would_hang = self.context.mode() == Mode::Default
            && matches!(wanted.producer, Party::Node(producer) if piece.dependents.contains(&producer));
        let leads = consumer == piece.first || (leads_side && !from_inside && expected);
        let hoisted = tiling || (leads && !would_hang);
        let recv_stream = if tiling { wanted.recv_stream } else { piece.main_stream };
        let consumer = if hoisted { Party::Piece(piece.index) } else { wanted.consumer };
        let outer = hoisted && self.is_outer(piece, wanted.producer);
        let carrier = if outer { Carrier::RuntimeIfFree } else { Carrier::Memory };
        self.make(piece, Wanted { consumer, recv_stream, ..wanted }, carrier)
    }

    /// Both ends in the piece and on one stream: their order needs no event, and the compiler refuses one.
    fn ordered_inside(&self, piece: &Piece<'_>, wanted: Wanted) -> bool {
        match (wanted.producer, wanted.consumer) {
            (Party::Node(producer), Party::Node(consumer)) => {
                piece.holds(wanted.consumer) && self.context.node(producer).stream == self.context.node(consumer).stream
            }
            (Party::Piece(_), _) | (Party::Node(_), Party::Piece(_)) => false,
        }
    }

    /// Makes one event unless there is one like it already.
    fn make(&mut self, piece: &mut Piece<'_>, wanted: Wanted, carrier: Carrier) -> Result<(), ScopeError> {
        // The reference takes events with other recv streams for the same one and loses a wait.
        let stream = match self.context.mode() {
            Mode::Default => wanted.recv_stream,
            Mode::Compat => 0,
        };
        if !piece.made.insert((wanted.producer, wanted.consumer, stream)) {
            return Ok(());
        }
        let reused = match carrier {
            Carrier::RuntimeIfFree => piece.pool.pop_first(),
            Carrier::Memory => None,
        };
        let (kind, id) = match reused {
            Some(id) => (EventKind::Normal, id),
            None => {
                let id = self.next_id.checked_add(piece.count);
                (EventKind::Mem, id.ok_or(ScopeError::EventIds { last: self.next_id })?)
            }
        };
        // A reused id leaves a gap on purpose: the count is what later pieces start from.
        piece.count += 1;
        self.add(Event {
            kind,
            id,
            producer: wanted.producer,
            consumer: wanted.consumer,
            send_stream: wanted.send_stream,
            recv_stream: wanted.recv_stream,
            origin: Origin::Created,
            shares_id_with: None,
            alive: true,
        });
        Ok(())
    }

    /// Puts the kernel into the list in place of its members.
    fn place(&mut self, piece: Piece<'_>) {
        let stream = |member: NodeIndex| self.context.node(member).stream;
        let on_main = |member: &&NodeIndex| stream(**member) == piece.main_stream;
        let anchor = match self.context.mode() {
            // In front of its first op it could stand before work that precedes it on its own stream.
            Mode::Default => piece.members.iter().find(on_main).copied().unwrap_or(piece.first),
            Mode::Compat => piece.first,
        };
        for &member in piece.members {
            self.queues.remove(stream(member), member);
            self.inside[member.0] = Some(piece.index);
        }
        self.queues.insert(piece.main_stream, anchor, Party::Piece(piece.index));
        self.pieces.push(Placed { members: piece.members.to_vec(), main_stream: piece.main_stream, anchor });
    }

    /// What every member records and waits for, in the order the events were made.
    pub(crate) fn event_lists(&self) -> HashMap<NodeIndex, EventLists> {
        let mut lists: HashMap<NodeIndex, EventLists> = HashMap::new();
        let live = self.events.iter().filter(|event| event.alive && event.origin == Origin::Created);
        for event in live {
            if let Party::Node(node) = event.producer {
                lists.entry(node).or_default().send.push(event.id);
            }
            if let Party::Node(node) = event.consumer {
                lists.entry(node).or_default().recv.push(event.id);
            }
        }
        lists
    }
}

/// The two event lists of one op.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct EventLists {
    /// Ids it records.
    pub send: Vec<i64>,
    /// Ids it waits for.
    pub recv: Vec<i64>,
}

/// What may carry an event.
#[derive(Debug, Clone, Copy)]
enum Carrier {
    /// A runtime event if an id is free, else a word in memory.
    RuntimeIfFree,
    /// A word in memory: one end is inside a kernel.
    Memory,
}

/// Order of the events of one member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// By the place of the event's end in the list.
    List(Place),
    /// By the place of the other party, then by the stream of the recv.
    Partner(NodeIndex, i64),
    /// Made for the border of the piece: behind all others.
    Border,
}

#[derive(Debug, Clone, Copy)]
enum Side {
    Send,
    Receive,
}
