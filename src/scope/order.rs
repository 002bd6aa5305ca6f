//! What must happen before what, and pieces that would have to wait for themselves.
//!
//! Fusing ops makes one kernel of them: it starts when its first op may start and holds its cores until its last
//! op has ended. If work outside waits for one member and another member waits for that work, the kernel and
//! the work outside wait for each other, at the start of the kernel or inside it. Such a piece is cut.

use std::collections::{HashMap, HashSet};

use super::events::{Event, Party};
use super::graph::{NodeIndex, Role};
use super::membership::Context;
use super::rewrite::main_stream;

/// What lies between two members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Path {
    /// Work that an event of a member sets off and that needs no AI core: it goes on while the kernel waits.
    Free,
    /// An AI-core kernel, which may find no free core, or work queued behind the kernel on its own stream.
    Blocked,
}

/// Why one node comes before another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Via {
    Stream,
    Event,
}

/// The way from one member out and back into another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Detour {
    /// The member the way starts at.
    pub first: NodeIndex,
    /// The last node outside.
    pub through: NodeIndex,
    /// The member it comes back to.
    pub node: NodeIndex,
}

/// A run of members that can be one kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Segment {
    /// In list order.
    pub members: Vec<NodeIndex>,
    /// Why it does not continue the one before.
    pub cut_by: Option<Detour>,
    /// Members that wait inside the kernel for work outside which waits for an earlier member.
    pub inner_waits: Vec<Detour>,
    /// Nodes outside that wait for some member, directly or not.
    pub dependents: HashSet<NodeIndex>,
}

/// Successors by stream and by event, with finished pieces as single nodes.
#[derive(Debug)]
pub(crate) struct Order {
    successors: Vec<Vec<(NodeIndex, Via)>>,
    needs_cores: Vec<bool>,
    group_of: HashMap<NodeIndex, usize>,
    groups: Vec<Vec<NodeIndex>>,
    /// The last member of any group: behind it, ways only lead forward in the list.
    last_grouped: Option<NodeIndex>,
}

impl Order {
    /// The order the graph itself asks for.
    pub(crate) fn new(context: &Context<'_>, events: &[Event]) -> Self {
        let graph = context.graph;
        let mut successors = vec![Vec::new(); graph.nodes.len()];
        for (stream, queue) in &context.queues {
            // Unassigned nodes are in no queue.
            if *stream < 0 {
                continue;
            }
            let tasks: Vec<NodeIndex> = queue.iter().copied().filter(|index| !context.is_transparent(*index)).collect();
            for pair in tasks.windows(2) {
                successors[pair[0].0].push((pair[1], Via::Stream));
            }
        }
        // Where several events share an id, any of the waits may belong to any of the records.
        let mut alike: HashMap<_, Vec<(NodeIndex, NodeIndex)>> = HashMap::new();
        for event in events {
            if let (Party::Node(producer), Party::Node(consumer)) = (event.producer, event.consumer) {
                match event.shares_id_with {
                    None => successors[producer.0].push((consumer, Via::Event)),
                    Some(_) => alike
                        .entry((graph.node(producer).branch, event.kind, event.id))
                        .or_default()
                        .push((producer, consumer)),
                }
            }
        }
        for pairs in alike.values() {
            for &(producer, _) in pairs {
                let behind = pairs.iter().map(|(_, consumer)| *consumer).filter(|consumer| *consumer > producer);
                successors[producer.0].extend(behind.map(|consumer| (consumer, Via::Event)));
            }
        }
        let needs_cores = graph.nodes.iter().map(|node| node.role() == Role::Ordinary && node.ai_core && !node.no_task);
        Self {
            successors,
            needs_cores: needs_cores.collect(),
            group_of: HashMap::new(),
            groups: Vec::new(),
            last_grouped: None,
        }
    }

    /// What comes right behind a node, by stream or by event.
    pub(crate) fn successors_of(&self, node: NodeIndex) -> impl Iterator<Item = NodeIndex> {
        self.successors[node.0].iter().map(|(next, _)| *next)
    }

    /// From now on these nodes are one kernel.
    pub(crate) fn fuse(&mut self, members: &[NodeIndex]) {
        let group = self.groups.len();
        self.last_grouped = self.last_grouped.max(members.iter().max().copied());
        self.groups.push(members.to_vec());
        self.group_of.extend(members.iter().map(|member| (*member, group)));
    }

    /// Cuts `members` so that no part waits for itself. Parts of more than one op are fused on the way.
    pub(crate) fn segments(&mut self, context: &Context<'_>, members: &[NodeIndex]) -> Vec<Segment> {
        let mut segments = Vec::new();
        let mut rest = members;
        let mut cut_by = None;
        while !rest.is_empty() {
            // What is cut off is outside, and new ways may lead through it: look again until nothing changes.
            let mut length = rest.len();
            let mut next_cut = None;
            let walk = loop {
                let mut walk = Walk::new(context, &rest[..length]);
                match self.first_cut(&mut walk) {
                    Some((position, detour)) => (length, next_cut) = (position, Some(detour)),
                    None => break walk,
                }
            };
            let (piece, behind) = rest.split_at(length);
            if piece.len() > 1 {
                self.fuse(piece);
            }
            segments.push(Segment {
                members: piece.to_vec(),
                cut_by,
                inner_waits: walk.inner_waits,
                dependents: walk.visited.into_keys().collect(),
            });
            (rest, cut_by) = (behind, next_cut);
        }
        segments
    }

    /// The first member that cannot be in one kernel with those before it.
    fn first_cut(&self, walk: &mut Walk<'_>) -> Option<(usize, Detour)> {
        for (position, &member) in walk.members.iter().enumerate() {
            match walk.reached.get(&member).copied() {
                Some((path, detour)) if Some(path) > walk.allowed => return Some((position, detour)),
                Some((_, detour)) => walk.inner_waits.push(detour),
                None => {}
            }
            // A way back to an earlier member: that one would wait for this one, which comes later.
            if let Some(detour) = self.explore(position, walk)
                && position > 0
            {
                return Some((position, detour));
            }
        }
        None
    }

    /// Follows every way that leaves the piece at a member; the first one that comes back to an earlier member.
    fn explore(&self, position: usize, walk: &mut Walk<'_>) -> Option<Detour> {
        let first = walk.members[position];
        let mut found = None;
        // Behind the piece and all groups nothing leads back, and nobody asks what depends on the piece there.
        let horizon = walk.members.iter().max().copied().max(self.last_grouped);
        let behind_kernel = |via: Via| via == Via::Stream && walk.on_main_stream[position];
        let leave = |via: Via| if behind_kernel(via) { Path::Blocked } else { Path::Free };
        let mut stack: Vec<(NodeIndex, Path, Option<NodeIndex>)> =
            self.successors[first.0].iter().map(|(next, via)| (*next, leave(*via), None)).collect();
        while let Some((node, path, came)) = stack.pop() {
            if let Some(&other) = walk.position_of.get(&node) {
                if let Some(through) = came {
                    let detour = Detour { first, through, node };
                    if other <= position {
                        found = found.or(Some(detour));
                    } else {
                        walk.reach(node, path, detour);
                    }
                }
                continue;
            }
            if Some(node) > horizon {
                continue;
            }
            let group = self.group_of.get(&node);
            let own = if self.needs_cores[node.0] || group.is_some() { Path::Blocked } else { Path::Free };
            let path = path.max(own);
            let single = [node];
            let together = group.map_or(&single[..], |group| &self.groups[*group]);
            for &part in together {
                if walk.visit(part, path) {
                    stack.extend(self.successors[part.0].iter().map(|(next, _)| (*next, path, Some(part))));
                }
            }
        }
        found
    }
}

/// A piece being looked at and what has been reached from it so far.
struct Walk<'a> {
    members: &'a [NodeIndex],
    position_of: HashMap<NodeIndex, usize>,
    /// Is the member on the stream the kernel would be launched on?
    on_main_stream: Vec<bool>,
    /// The worst kind of way that may lead back; `None`: no way at all.
    allowed: Option<Path>,
    visited: HashMap<NodeIndex, Path>,
    reached: HashMap<NodeIndex, (Path, Detour)>,
    inner_waits: Vec<Detour>,
}

impl<'a> Walk<'a> {
    fn new(context: &Context<'_>, members: &'a [NodeIndex]) -> Self {
        // A kernel on another stream than its first op queues behind work that may wait for that op, cores or not.
        let other_stream = context.node(members[0]).hccl;
        let main_stream = main_stream(context, members);
        Self {
            members,
            on_main_stream: members.iter().map(|member| context.node(*member).stream == main_stream).collect(),
            position_of: members.iter().enumerate().map(|(position, member)| (*member, position)).collect(),
            allowed: if other_stream { None } else { Some(Path::Free) },
            visited: HashMap::new(),
            reached: HashMap::new(),
            inner_waits: Vec::new(),
        }
    }

    /// Is there anything new behind this node?
    fn visit(&mut self, node: NodeIndex, path: Path) -> bool {
        match self.visited.get(&node) {
            Some(known) if *known >= path => false,
            Some(_) | None => {
                self.visited.insert(node, path);
                true
            }
        }
    }

    fn reach(&mut self, node: NodeIndex, path: Path, detour: Detour) {
        let known = self.reached.entry(node).or_insert((path, detour));
        if known.0 < path {
            *known = (path, detour);
        }
    }
}
