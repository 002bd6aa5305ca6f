//! Checked mode: every access against the clocks of the pipes.

mod hollow;
mod strays;
mod words;

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use super::bounds::Bounds;
use super::order::PipeOrder;
use super::scene::{Issue, Scene};
use super::shadow::{Actor, Hole, Hollow, Shadow, Touch};
use super::unit_flags::{Stuck, UnitFlags};
use super::{missing_order, overlap};
use crate::aicore::operand::Access;
use crate::aicore::{Memory, OpCode, Pipe, UnitFlag};
use crate::sim::code::sites::Sites;
use crate::sim::interface::findings::{Finding, FindingKind};
use crate::sim::machine::access::Site;
use crate::sim::machine::event::{AutoSync, Event, Flag};
use crate::sim::machine::memory::{POISON, Unwritten};
use crate::sim::machine::pipe_clock::{PipeClock, Stamp};
use hollow::{Holes, is_handed_on, missing_blocks};
use words::finding;

/// Bytes of a block of UB.
const BLOCK: u64 = 32;

/// A buffer of a queue.
#[derive(Debug, Clone)]
pub(super) struct QueueBuffer {
    pub(super) bytes: u64,
    /// `VECIN`.
    pub(super) position: String,
    /// The pipe that fills it, once known.
    filling: Option<Pipe>,
    /// It was enqueued here and is still in the queue.
    enqueued: Option<Site>,
}

/// The watcher of one core.
#[derive(Debug)]
pub(crate) struct PipeWatch {
    /// Of the core.
    pub(super) name: String,
    order: PipeOrder,
    /// By [`Memory`]; global memory last.
    shadows: [Shadow; 8],
    /// Operators entered so far, and their names.
    epoch: u32,
    pub(super) ops: Vec<Option<String>>,
    /// By address.
    pub(super) buffers: HashMap<u64, QueueBuffer>,
    /// Where events were raised that are not lowered yet.
    raised: HashMap<Event, Site>,
    /// Flags of L0C.
    unit_flags: UnitFlags,
    /// What pointers may reach.
    bounds: Bounds,
    pub(super) sites: Sites,
    pub(super) found: Vec<Finding>,
}

impl PipeWatch {
    /// Before the first instruction.
    pub(crate) fn new(name: String, auto: AutoSync, sites: Sites) -> Self {
        Self {
            name,
            order: PipeOrder::new(auto),
            shadows: Default::default(),
            epoch: 0,
            ops: vec![None],
            buffers: HashMap::new(),
            raised: HashMap::new(),
            unit_flags: UnitFlags::default(),
            bounds: Bounds::default(),
            sites,
            found: Vec::new(),
        }
    }

    /// What was found since the last call.
    pub(crate) fn take_findings(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.found)
    }

    /// The pipes of the core.
    pub(crate) fn order(&mut self) -> &mut PipeOrder {
        &mut self.order
    }

    /// The core enters an operator: what local memory holds belongs to another one.
    pub(crate) fn enter_op(&mut self, op: Option<String>) {
        self.epoch += 1;
        self.ops.push(op);
    }

    /// An instruction is issued; says which of its pipe it is.
    pub(crate) fn instruction(&mut self, issue: &Issue<'_>, scene: &Scene<'_>) -> Stamp {
        let pipe = issue.op.pipe();
        let results = &scene.memories[Memory::L0c as usize];
        let flag = issue.on_results.flag;
        let waits = (flag != UnitFlag::Unused).then(|| self.unit_flags.waits(issue, results));
        if let Some(waits) = &waits {
            self.order.starts_after(pipe, &waits.heard);
        }
        let (stamp, clock) = self.order.issue(pipe);
        if let Some(stuck) = waits.and_then(|waits| waits.stuck) {
            self.stuck(issue, stamp, &stuck, scene);
        }
        if flag == UnitFlag::Turned {
            self.unit_flags.turn(issue, results, clock.through(stamp));
        }
        if let Some((name, story)) = overlap::broken_rule(issue.op, issue.operands) {
            let text = format!(
                "{}: dst and {name} overlap: {story}. Operands coincide or do not overlap at all within a repeat, and no \
                 repeat reads what an earlier one wrote",
                issue.op.name()
            );
            let touch = self.touch(stamp, Actor::Instruction(issue.op, "dst"), Access::Write, issue.site);
            self.find(FindingKind::Overlap, text, None, None, None, &touch);
        }
        let mut holes = Holes::new();
        for operand in issue.operands {
            let actor = Actor::Instruction(issue.op, operand.name);
            let touch = Rc::new(self.touch(stamp, actor, operand.access, issue.site));
            if operand.access == Access::Read && is_handed_on(issue, operand) {
                self.holes(operand, &touch, scene, &mut holes);
            } else if operand.access == Access::Read
                || (operand.access == Access::Combine && operand.memory == Memory::Gm)
            {
                self.check_written(operand.memory, |visit| operand.for_each_row(visit), &touch, scene);
            }
            if operand.access == Access::Write && operand.memory != Memory::Gm {
                self.overruns(operand, &touch, scene);
            }
            operand.for_each_row(|bytes| self.access(operand.memory, bytes, &touch, &clock, scene));
        }
        if !holes.is_empty() {
            self.hand_on(issue, &holes);
        }
        if issue.on_results.large {
            self.order.barrier(pipe);
        }
        stamp
    }

    /// An instruction waits for a flag of L0C in vain.
    fn stuck(&mut self, issue: &Issue<'_>, stamp: Stamp, stuck: &Stuck, scene: &Scene<'_>) {
        let touch = self.touch(stamp, Actor::Instruction(issue.op, "c"), Access::Read, issue.site);
        let place = self.place(Memory::L0c, &stuck.bytes, scene);
        let name = self.party(&touch).describe();
        let (text, missing) = match stuck.raised {
            None => (
                format!("{name} waits for the flags of {place}, which no multiplication with unit flag 3 has raised"),
                "unit flag 3 of the last multiplication",
            ),
            Some(_) => (
                format!(
                    "{name} waits for the flags of {place}, which are still raised: nothing has moved these results out \
                     with unit flag 3"
                ),
                "unit flag 3 of the last move out of L0C",
            ),
        };
        let first = stuck.raised.map(|site| self.event_party("mad", Pipe::M, site));
        self.find(FindingKind::UnitFlag, text, Some(place), Some(missing.to_owned()), first, &touch);
    }

    /// All flags of L0C are lowered.
    pub(crate) fn reset_unit_flags(&mut self) {
        self.unit_flags = UnitFlags::default();
    }

    /// The scalar unit reads or writes memory. `tensor`: by a call on a tensor, not through a plain pointer.
    pub(crate) fn scalar(&mut self, bytes: Range<u64>, access: Access, tensor: bool, site: Site, scene: &Scene<'_>) {
        let (stamp, clock) = self.order.scalar(tensor);
        let memory = memory_of(bytes.start, scene);
        let touch = Rc::new(self.touch(stamp, Actor::Scalar, access, site));
        if access == Access::Read {
            self.check_written(memory, |visit| visit(bytes.clone()), &touch, scene);
        }
        self.access(memory, bytes, &touch, &clock, scene);
    }

    /// `SetFlag`, `set_flag`, `hset_flag`.
    pub(crate) fn set_event(&mut self, event: Event, site: Site) {
        let times = self.order.set(event.source, Flag::Event(event));
        let before = self.raised.insert(event, site);
        if times > 1 {
            let set = event.set.set_name();
            let text = format!(
                "{set} raises {}, which is raised already: an event is one bit, and the second set is lost. {} between \
                 them is missing",
                event.describe(),
                event.wait_call()
            );
            let stamp = Stamp { pipe: event.source, number: 0 };
            let touch = self.touch(stamp, Actor::Scalar, Access::Write, site);
            let first = before.map(|site| self.event_party(set, event.source, site));
            self.find(FindingKind::EventDoubled, text, None, Some(event.wait()), first, &touch);
        }
    }

    /// `WaitFlag`, `wait_flag`, `hwait_flag`.
    pub(crate) fn wait_event(&mut self, event: Event) {
        self.order.wait(event.target, Flag::Event(event));
        self.raised.remove(&event);
    }

    /// A buffer of a queue exists, and the one that was there before is no more.
    pub(crate) fn queue_buffer(&mut self, address: u64, bytes: u64, position: String) {
        self.buffer(address, bytes);
        let buffer = QueueBuffer { bytes, position, filling: None, enqueued: None };
        if let Some(before) = self.buffers.insert(address, buffer) {
            self.end_buffer(&before);
        }
    }

    /// No tensor may be in a queue when its buffers end.
    fn end_buffer(&mut self, buffer: &QueueBuffer) {
        let Some(site) = buffer.enqueued else { return };
        let text = format!(
            "a tensor of a {} queue was enqueued and never dequeued: its event stays raised, DeQue is missing",
            buffer.position
        );
        let party = self.event_party("EnQue", Pipe::S, site);
        self.found.push(finding(FindingKind::QueueLeft, text, None, Some("DeQue".into()), None, Some(party)));
    }

    /// `EnQue`: the tensor is complete when `source` has done its part.
    pub(crate) fn enqueue(&mut self, address: u64, source: Pipe, site: Site) {
        self.order.set(source, Flag::Filled(address));
        if let Some(buffer) = self.buffers.get_mut(&address) {
            buffer.enqueued = Some(site);
        }
    }

    /// `DeQue`: `target` goes on with the tensor.
    pub(crate) fn dequeue(&mut self, address: u64, target: Pipe) {
        self.order.wait(target, Flag::Filled(address));
        if let Some(buffer) = self.buffers.get_mut(&address) {
            buffer.enqueued = None;
        }
    }

    /// `FreeTensor`: the buffer may be filled again when `reading` has done its part.
    pub(crate) fn free(&mut self, address: u64, reading: Pipe) {
        self.order.set(reading, Flag::Emptied(address));
    }

    /// `AllocTensor`: `filling` goes on with the buffer.
    pub(crate) fn allocate(&mut self, address: u64, filling: Pipe) {
        self.order.wait(filling, Flag::Emptied(address));
        if let Some(buffer) = self.buffers.get_mut(&address) {
            buffer.filling = Some(filling);
        }
    }

    /// The operator is at its end, and with it its queues: events must be down, queues empty. Buffers that were given
    /// back are waited for, as the destructor of the real `TPipe` does.
    pub(crate) fn leave_op(&mut self, scene: &Scene<'_>) {
        self.end_walks(scene);
        let mut left: Vec<(Event, Site)> = self.raised.drain().collect();
        left.sort_by_key(|(event, _)| format!("{event:?}"));
        for (event, site) in left {
            let text = format!("{} is still raised at the end: {} is missing", event.describe(), event.wait_call());
            let party = self.event_party(event.set.set_name(), event.source, site);
            self.found.push(finding(FindingKind::EventLeft, text, None, Some(event.wait()), None, Some(party)));
        }
        let mut buffers: Vec<(u64, QueueBuffer)> = self.buffers.drain().collect();
        buffers.sort_by_key(|(address, _)| *address);
        for (address, buffer) in buffers {
            if let Some(filling) = buffer.filling {
                self.order.wait(filling, Flag::Emptied(address));
            }
            self.end_buffer(&buffer);
        }
    }

    fn touch(&self, stamp: Stamp, actor: Actor, access: Access, site: Site) -> Touch {
        Touch { stamp, actor, access, site, epoch: self.epoch }
    }

    fn access(&mut self, memory: Memory, bytes: Range<u64>, touch: &Rc<Touch>, clock: &PipeClock, scene: &Scene<'_>) {
        // One of each pipe and kind is enough.
        let mut met: Vec<(Touch, Range<u64>)> = Vec::new();
        self.shadows[memory as usize].touch(bytes, touch, |earlier, bytes| {
            let key = |touch: &Touch| (touch.stamp.pipe, touch.access);
            if !is_ordered(earlier, touch, clock) && met.iter().all(|(other, _)| key(other) != key(earlier)) {
                met.push((*earlier, bytes));
            }
        });
        for (earlier, bytes) in met {
            self.unordered(memory, &earlier, touch, bytes, scene);
        }
    }

    /// Local memory is read, the stretches that `rows` tells: has somebody written it?
    ///
    /// Instructions read whole blocks and fractals, whose rest means nothing. Of UB every block must have been written in
    /// part, of what feeds the cube unit something. The scalar unit reads what it wants. Who works element by element comes
    /// later: see [`hollow`].
    fn check_written(
        &mut self,
        memory: Memory,
        rows: impl FnOnce(&mut dyn FnMut(Range<u64>)),
        touch: &Touch,
        scene: &Scene<'_>,
    ) {
        if memory == Memory::Gm {
            return self.check_scratch(rows, touch, scene);
        }
        let is_scalar = touch.actor == Actor::Scalar;
        let (mut missing, mut has_any) = (None, false);
        rows(&mut |bytes| {
            let length = bytes.end - bytes.start;
            let parts = self.unwritten(memory, bytes);
            has_any |= parts.iter().map(|part| part.bytes.end - part.bytes.start).sum::<u64>() < length;
            let counts = |part: &&Hole| is_scalar || memory != Memory::Ub || has_whole_block(&part.bytes);
            missing = missing.take().or_else(|| parts.iter().find(counts).cloned());
        });
        // Transpositions work on whole squares, comparisons on whole repeats: the rest of the last one is nobody's.
        let is_whole =
            matches!(touch.actor, Actor::Instruction(OpCode::Vcmp | OpCode::Vtranspose | OpCode::ScatterVnchwconv, _));
        let needs_all = is_scalar || (memory == Memory::Ub && !is_whole);
        let Some(part) = missing.filter(|_| needs_all || !has_any) else { return };
        if let Some(origin) = part.origin {
            return self.reached(&origin, touch);
        }
        let place = self.place(memory, &part.bytes, scene);
        let text = format!("{} reads {}", self.party(touch).describe(), self.nobody_wrote(&place, None));
        self.find(FindingKind::NeverWritten, text, Some(place), None, None, touch);
    }

    /// What an instruction computed of memory that nobody wrote is used by another one.
    fn reached(&mut self, origin: &Hollow, user: &Touch) {
        let place = origin.place.clone();
        let text = format!(
            "{} reads {}, and what comes of it reaches {}",
            self.party(&origin.touch).describe(),
            self.nobody_wrote(&place, origin.global),
            self.party(user).describe()
        );
        let missing = origin.global.map(|_| "a write before".into());
        self.find(FindingKind::NeverWritten, text, Some(place), missing, None, &origin.touch);
    }

    fn nobody_wrote(&self, place: &str, global: Option<Unwritten>) -> String {
        match (global, self.epoch) {
            (Some(Unwritten::Scratch), _) => {
                format!("{place}, scratch memory which nothing has written since the launch began")
            }
            (Some(Unwritten::Allocated), _) => format!("{place}, which nothing has written since it was allocated"),
            (None, 0) => format!("{place}, which nothing has written"),
            (None, _) => format!("{place}, which nothing has written since the operator began"),
        }
    }

    /// What of a stretch of local memory nobody has written.
    fn unwritten(&self, memory: Memory, bytes: Range<u64>) -> Vec<Hole> {
        let epoch = self.epoch;
        let mut parts = self.shadows[memory as usize].unwritten(bytes, |write| write.epoch == epoch);
        parts.retain(|part| part.origin.is_some() || holds_poison(&part.bytes));
        parts
    }

    /// Global memory is read: of scratch memory every block must have been written in part.
    fn check_scratch(&mut self, rows: impl FnOnce(&mut dyn FnMut(Range<u64>)), touch: &Touch, scene: &Scene<'_>) {
        let Some((part, which)) = missing_blocks(rows, scene).into_iter().next() else { return };
        let place = self.place(Memory::Gm, &part, scene);
        let text = format!("{} reads {}", self.party(touch).describe(), self.nobody_wrote(&place, Some(which)));
        self.find(FindingKind::NeverWritten, text, Some(place), Some("a write before".into()), None, touch);
    }

    fn unordered(&mut self, memory: Memory, first: &Touch, second: &Touch, bytes: Range<u64>, scene: &Scene<'_>) {
        let verb = |touch: &Touch| match touch.access {
            Access::Read => "reads",
            Access::Write | Access::Combine => "writes",
        };
        let (one, two) = (first.stamp.pipe, second.stamp.pipe);
        let missing = missing_order(one, two);
        let place = self.place(memory, &bytes, scene);
        let gap = if one == two {
            format!("instructions of pipe {} may overlap in time", one.name())
        } else {
            format!("pipe {} does not wait for pipe {}", two.name(), one.name())
        };
        let text = format!(
            "{} {} {place}, which {} {}, and {gap}: {missing} between them is missing",
            self.party(second).describe(),
            verb(second),
            self.party(first).describe(),
            verb(first),
        );
        let first = Some(self.party(first));
        self.find(FindingKind::Unordered, text, Some(place), Some(missing), first, second);
    }
}

/// The memory that holds an address.
fn memory_of(address: u64, scene: &Scene<'_>) -> Memory {
    let holds = |memory: &Memory| scene.memories[*memory as usize].offset_of(address).is_some();
    Memory::LOCAL.into_iter().find(holds).unwrap_or(Memory::Gm)
}

/// Are these bytes of a local memory as they were before the operator? Accesses that cannot be seen may have changed them.
fn holds_poison(bytes: &Range<u64>) -> bool {
    // SAFETY: inside a local memory of the core: operands were checked, scalar accesses found by their memory.
    let content = unsafe { std::slice::from_raw_parts(bytes.start as *const u8, (bytes.end - bytes.start) as usize) };
    content.iter().all(|byte| *byte == POISON)
}

/// Is there a whole block of 32 bytes in it? Local memories start at pages.
fn has_whole_block(bytes: &Range<u64>) -> bool {
    bytes.start.next_multiple_of(BLOCK) + BLOCK <= bytes.end
}

fn is_ordered(earlier: &Touch, touch: &Touch, clock: &PipeClock) -> bool {
    earlier.stamp == touch.stamp
        || clock.knows(earlier.stamp)
        || (earlier.access == Access::Combine && touch.access == Access::Combine)
}
