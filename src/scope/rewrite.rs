//! Replaces the members of a piece by its super kernel: events at the border are made anew, those inside become
//! events of the kernel.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::error::ScopeError;
use super::events::{Event, EventIndex, Origin, Party, PieceIndex};
use super::graph::{EventKind, NodeIndex};
use super::membership::Context;
use super::settings::Mode;

/// The first id of memory events: the integer half of the largest signed 32-bit value.
pub const BASE: i64 = 1_073_741_823;

/// Something in the list that is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// A node that is not in a piece, or inside the list of one.
    Node(NodeIndex),
    /// A super kernel.
    Piece(PieceIndex),
    /// The record of an event.
    Send(EventIndex),
    /// The wait for an event.
    Recv(EventIndex),
}

/// A piece with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// In list order.
    pub members: Vec<NodeIndex>,
    /// The stream the kernel is launched on.
    pub main_stream: i64,
    /// The member whose place in the list the kernel takes.
    pub anchor: NodeIndex,
    /// Event ends inside the kernel, in the order they were made.
    pub helpers: Vec<Entry>,
}

/// The list while pieces are being built.
#[derive(Debug)]
pub struct Rewriter<'a> {
    context: &'a Context<'a>,
    /// All events there ever were.
    pub events: Vec<Event>,
    /// The outer list.
    pub outer: Vec<Entry>,
    /// Finished pieces.
    pub pieces: Vec<Placed>,
    inside: HashMap<NodeIndex, PieceIndex>,
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
    /// New ends beside outer entries.
    behind: HashMap<Party, Vec<Entry>>,
    in_front: HashMap<Party, Vec<Entry>>,
    helpers: Vec<Entry>,
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
pub fn main_stream(context: &Context<'_>, members: &[NodeIndex]) -> i64 {
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
    pub fn new(context: &'a Context<'a>, events: Vec<Event>) -> Self {
        let mut ends: HashMap<NodeIndex, Entry> = HashMap::new();
        for (number, event) in events.iter().enumerate() {
            if let Origin::Graph { send, recv } = event.origin {
                ends.insert(send, Entry::Send(EventIndex(number)));
                ends.insert(recv, Entry::Recv(EventIndex(number)));
            }
        }
        let outer =
            context.graph.indexed().map(|(index, _)| ends.get(&index).copied().unwrap_or(Entry::Node(index))).collect();
        // Words that are in use already must not be given out again; the reference does not look.
        let used = match context.mode() {
            Mode::Default => events.iter().filter(|event| event.kind == EventKind::Mem).map(|event| event.id).max(),
            Mode::Compat => None,
        };
        let next_id = used.map_or(BASE, |used| BASE.max(used.saturating_add(1)));
        Self { context, events, outer, pieces: Vec::new(), inside: HashMap::new(), next_id }
    }

    /// Builds the next piece out of `members`.
    pub fn build(&mut self, members: &[NodeIndex], dependents: &HashSet<NodeIndex>) -> Result<PieceIndex, ScopeError> {
        let main_stream = main_stream(self.context, members);
        let index = PieceIndex(self.pieces.len());
        let set: HashSet<NodeIndex> = members.iter().copied().collect();
        let (removed, pool) = self.touching(&set);
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
            behind: HashMap::new(),
            in_front: HashMap::new(),
            helpers: Vec::new(),
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

    /// Live events with an end in `set`, and the ids among them that can be given out again.
    fn touching(&self, set: &HashSet<NodeIndex>) -> (Vec<EventIndex>, BTreeSet<i64>) {
        let touches = |party: Party| matches!(party, Party::Node(node) if set.contains(&node));
        let removed: Vec<EventIndex> = (0..self.events.len())
            .map(EventIndex)
            .filter(|index| self.events[index.0].alive)
            .filter(|index| touches(self.events[index.0].producer) || touches(self.events[index.0].consumer))
            .collect();
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
        let (send_position, recv_position) = self.positions(removed);
        let mut sends: HashMap<NodeIndex, Vec<(usize, Wanted)>> = HashMap::new();
        let mut receives: HashMap<NodeIndex, Vec<(usize, Wanted)>> = HashMap::new();
        for &index in removed {
            let event = self.events[index.0];
            let wanted = Wanted {
                producer: event.producer,
                consumer: event.consumer,
                send_stream: event.send_stream,
                recv_stream: event.recv_stream,
            };
            if let (Party::Node(node), true) = (event.producer, piece.holds(event.producer)) {
                sends.entry(node).or_default().push((send_position[&index], wanted));
            }
            if let (Party::Node(node), true) = (event.consumer, piece.holds(event.consumer)) {
                receives.entry(node).or_default().push((recv_position[&index], wanted));
            }
        }
        for list in sends.values_mut().chain(receives.values_mut()) {
            list.sort_by_key(|(position, _)| *position);
        }
        for &(stream, first, last) in &piece.side_streams {
            let (before, after) = self.neighbours(stream, first, last);
            if let Some(before) = before {
                let consumer = Party::Node(first);
                let top = Wanted { producer: before, consumer, send_stream: stream, recv_stream: piece.main_stream };
                receives.entry(first).or_default().push((usize::MAX, top));
            }
            if let Some(after) = after {
                let producer = Party::Node(last);
                let bottom = Wanted { producer, consumer: after, send_stream: piece.main_stream, recv_stream: stream };
                sends.entry(last).or_default().push((usize::MAX, bottom));
            }
        }
        let mut order = piece.members.to_vec();
        if self.context.mode() == Mode::Compat {
            order.sort_by_key(|member| &self.context.node(*member).name);
        }
        let mut work = Vec::new();
        for member in order {
            let of = |side: Side, list: Option<&Vec<(usize, Wanted)>>| -> Vec<(Side, Wanted)> {
                list.into_iter().flatten().map(|(_, wanted)| (side, *wanted)).collect()
            };
            work.extend(of(Side::Send, sends.get(&member)));
            work.extend(of(Side::Receive, receives.get(&member)));
        }
        work
    }

    /// Place of these events' ends in the list, those inside a kernel at the kernel's place.
    fn positions(&self, wanted: &[EventIndex]) -> (HashMap<EventIndex, usize>, HashMap<EventIndex, usize>) {
        let mut is_wanted = vec![false; self.events.len()];
        for event in wanted {
            is_wanted[event.0] = true;
        }
        let mut sends = HashMap::new();
        let mut recvs = HashMap::new();
        let mut position = 0;
        let mut note = |entry: &Entry| {
            match entry {
                Entry::Send(event) if is_wanted[event.0] => sends.insert(*event, position),
                Entry::Recv(event) if is_wanted[event.0] => recvs.insert(*event, position),
                Entry::Node(_) | Entry::Piece(_) | Entry::Send(_) | Entry::Recv(_) => None,
            };
            position += 1;
        };
        for entry in &self.outer {
            note(entry);
            if let Entry::Piece(piece) = entry {
                self.pieces[piece.0].helpers.iter().for_each(&mut note);
            }
        }
        (sends, recvs)
    }

    /// What stands in a stream's queue right before its first and right behind its last member.
    fn neighbours(&self, stream: i64, first: NodeIndex, last: NodeIndex) -> (Option<Party>, Option<Party>) {
        let on_stream = |entry: &Entry| match entry {
            Entry::Node(node) if self.context.node(*node).stream == stream => {
                let skipped = self.context.mode() == Mode::Default && self.context.is_transparent(*node);
                (!skipped).then_some(Party::Node(*node))
            }
            Entry::Piece(piece) if self.pieces[piece.0].main_stream == stream => Some(Party::Piece(*piece)),
            Entry::Node(_) | Entry::Piece(_) | Entry::Send(_) | Entry::Recv(_) => None,
        };
        let place = |node| self.outer.iter().position(|entry| *entry == Entry::Node(node));
        let (Some(first), Some(last)) = (place(first), place(last)) else {
            return (None, None);
        };
        let before = self.outer[..first].iter().rev().find_map(on_stream);
        let after = self.outer[last + 1..].iter().find_map(on_stream);
        (before, after)
    }

    /// Is it a node of the outer graph? A super kernel as a whole is.
    fn is_outer(&self, piece: &Piece<'_>, party: Party) -> bool {
        match party {
            Party::Node(node) => !self.inside.contains_key(&node) && !piece.set.contains(&node),
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
            (Party::Node(producer), Party::Node(consumer)) if piece.holds(wanted.consumer) => {
                self.context.node(producer).stream == self.context.node(consumer).stream
            }
            _ => false,
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
        let index = EventIndex(self.events.len());
        self.events.push(Event {
            kind,
            id,
            producer: wanted.producer,
            consumer: wanted.consumer,
            send_stream: wanted.send_stream,
            recv_stream: wanted.recv_stream,
            origin: Origin::Created,
            alive: true,
        });
        self.put(piece, wanted.producer, Entry::Send(index));
        self.put(piece, wanted.consumer, Entry::Recv(index));
        Ok(())
    }

    /// Puts an event end beside the party it belongs to.
    fn put(&mut self, piece: &mut Piece<'_>, party: Party, entry: Entry) {
        if piece.holds(party) {
            piece.helpers.push(entry);
        } else if let Some(owner) = self.owner(party) {
            self.pieces[owner.0].helpers.push(entry);
        } else {
            let side = match entry {
                Entry::Send(_) => &mut piece.behind,
                Entry::Recv(_) | Entry::Node(_) | Entry::Piece(_) => &mut piece.in_front,
            };
            side.entry(party).or_default().push(entry);
        }
    }

    /// The finished kernel a node is inside of.
    fn owner(&self, party: Party) -> Option<PieceIndex> {
        match party {
            Party::Node(node) => self.inside.get(&node).copied(),
            Party::Piece(_) => None,
        }
    }

    /// Puts the kernel into the list in place of its members.
    fn place(&mut self, mut piece: Piece<'_>) {
        let on_main = |member: &&NodeIndex| self.context.node(**member).stream == piece.main_stream;
        let anchor = match self.context.mode() {
            // In front of its first op it could stand before work that precedes it on its own stream.
            Mode::Default => piece.members.iter().find(on_main).copied().unwrap_or(piece.first),
            Mode::Compat => piece.first,
        };
        let alive = |entry: &Entry| match entry {
            Entry::Send(event) | Entry::Recv(event) => self.events[event.0].alive,
            Entry::Node(_) | Entry::Piece(_) => true,
        };
        for placed in &mut self.pieces {
            placed.helpers.retain(alive);
        }
        let mut outer = Vec::with_capacity(self.outer.len() + piece.behind.len() + piece.in_front.len());
        // Sends of one node stand behind it in the order they were made.
        let mut held: Vec<Entry> = Vec::new();
        for entry in self.outer.iter().filter(|entry| alive(entry)) {
            if !matches!(entry, Entry::Send(_)) {
                outer.append(&mut held);
            }
            let party = match *entry {
                Entry::Node(node) if node == anchor => Party::Piece(piece.index),
                Entry::Node(node) if piece.set.contains(&node) => continue,
                Entry::Node(node) => Party::Node(node),
                Entry::Piece(other) => Party::Piece(other),
                Entry::Send(_) | Entry::Recv(_) => {
                    outer.push(*entry);
                    continue;
                }
            };
            outer.extend(piece.in_front.remove(&party).unwrap_or_default());
            outer.push(match party {
                Party::Node(node) => Entry::Node(node),
                Party::Piece(index) => Entry::Piece(index),
            });
            held = piece.behind.remove(&party).unwrap_or_default();
        }
        outer.append(&mut held);
        self.outer = outer;
        self.inside.extend(piece.set.iter().map(|member| (*member, piece.index)));
        self.pieces.push(Placed {
            members: piece.members.to_vec(),
            main_stream: piece.main_stream,
            anchor,
            helpers: piece.helpers,
        });
    }

    /// What every member records and waits for, in the order the events were made.
    pub fn event_lists(&self) -> HashMap<NodeIndex, EventLists> {
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
pub struct EventLists {
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

#[derive(Debug, Clone, Copy)]
enum Side {
    Send,
    Receive,
}
