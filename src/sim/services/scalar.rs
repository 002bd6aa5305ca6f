//! What loads and stores of the scalar unit, and its registers, mean for a run.

use std::ops::Range;

use super::run::{Next, Run};
use crate::aicore::operand::Access;
use crate::aicore::{Atomic, Memory, Pipe, Register};
use crate::sim::interface::status::Status;
use crate::sim::machine::access::ScalarAccess;
use crate::sim::machine::access::Site;
use crate::sim::pipes::scene::Scene;

/// From here on local memories belong to AscendC's headers: their scratch in UB, messages of matmul objects in L1.
const KEPT_BY_HEADERS: [(Memory, u64); 2] = [(Memory::Ub, 188_416), (Memory::L1, 524_160)];
/// Bit of the register FPC that lowers all flags of L0C.
const RESET_UNIT_FLAGS: u64 = 1 << 63;

/// `SkAccess` of the header.
mod access {
    pub(crate) const WRITE: u32 = 1;
    pub(crate) const TENSOR: u32 = 2;
}

impl Run {
    /// The scalar unit is about to access memory, says a header of ours.
    pub(crate) fn announced(&mut self, bytes: Range<u64>, bits: u32, site: Site) -> Next {
        let kind = if bits & access::WRITE != 0 { Access::Write } else { Access::Read };
        if kind == Access::Write && self.stores_combine() && self.is_global(&bytes) {
            // The hook in front of the store comes next, and says something new.
            self.machine.core().announced = 0..0;
            return Next::Continue;
        }
        self.machine.core().announced = bytes.clone();
        self.scalar(bytes, ScalarAccess::Data(kind), bits & access::TENSOR != 0, site)
    }

    /// The same, says the hook in front of a load or store. Compilers order calls on tensors with the pipes. Those of our
    /// own headers announced themselves, so that what is left of GM are plain pointers; in AscendC's headers only volatile
    /// words are certainly none. Plain pointers to local memories count as tensors.
    pub(crate) fn hooked(&mut self, bytes: Range<u64>, access: ScalarAccess, site: Site) -> Next {
        self.after_scrambling();
        self.combine_before(&bytes, access);
        let is_global = self.is_global(&bytes);
        let may_combine = is_global && access.writes() && self.stores_combine();
        let announced = &self.machine.core().announced;
        if announced.start <= bytes.start && bytes.end <= announced.end && !may_combine {
            return Next::Continue;
        }
        if is_global && !self.machine.memory.holds(bytes.start, bytes.end - bytes.start) {
            let place = self.machine.memory.describe(bytes.start);
            let (what, length) = (access.words(), bytes.end - bytes.start);
            self.fail_at(
                Status::Api,
                format!("{what} of {length} bytes of GM at {place}: they are in no buffer"),
                site,
            );
            return Next::Stop;
        }
        if !is_global && self.is_header_scratch(bytes.start) {
            return Next::Continue;
        }
        if may_combine {
            match self.combines(bytes.end - bytes.start, site) {
                Ok(None) => {}
                Ok(Some(atomic)) => {
                    let next = self.scalar(bytes.clone(), ScalarAccess::Data(Access::Combine), true, site);
                    self.begin_combining(bytes, atomic, site);
                    return next;
                }
                Err(next) => return next,
            }
        }
        let current = self.current();
        if let Some(watch) = self.observer.pipes.get_mut(current)
            && !is_global
            && self.observer.sites.announces_tensors()
        {
            let memories = &self.machine.cores[current].unit.memories;
            let kind = if access.writes() { Access::Write } else { Access::Read };
            watch.plain(&bytes, kind, site, &Scene { memories, global: &self.machine.memory });
            self.collect_findings();
        }
        let is_word = matches!(access, ScalarAccess::Exchange | ScalarAccess::Look);
        let is_tensor = !is_global || !(is_word || self.observer.sites.announces_tensors());
        self.scalar(bytes, access, is_tensor, site)
    }

    fn is_global(&self, bytes: &Range<u64>) -> bool {
        let (start, extent) = self.machine.memory.extent();
        bytes.start.wrapping_sub(start) < extent
    }

    /// Headers have filled local memories with random numbers. Those are nobody's data: what reads them is found out.
    pub(crate) fn after_scrambling(&mut self) {
        let scrambled = self.observer.log.take_scrambled();
        if scrambled && !self.observer.pipes.is_empty() {
            self.machine.poison();
        }
    }

    /// The ends of UB and L1, which AscendC's headers keep for themselves: in their CPU mode the scalar unit leaves scalars,
    /// addresses and messages there without any flag, which the device has no need to.
    fn is_header_scratch(&self, address: u64) -> bool {
        let memories = &self.machine.cores[self.current()].unit.memories;
        let is_kept = |&(memory, start): &(Memory, u64)| {
            memories[memory as usize].offset_of(address).is_some_and(|offset| offset >= start)
        };
        KEPT_BY_HEADERS.iter().any(is_kept)
    }

    fn scalar(&mut self, bytes: Range<u64>, access: ScalarAccess, is_tensor: bool, site: Site) -> Next {
        let current = self.current();
        if let Some(watch) = self.observer.pipes.get_mut(current) {
            let kind = match access {
                ScalarAccess::Data(kind) => kind,
                ScalarAccess::Exchange => Access::Write,
                ScalarAccess::Look => Access::Read,
            };
            let unit = &self.machine.cores[current].unit;
            let scene = Scene { memories: &unit.memories, global: &self.machine.memory };
            watch.scalar(bytes.clone(), kind, is_tensor, site, &scene);
            self.collect_findings();
        }
        if is_tensor && self.scalar_waits() == Next::Stop {
            return Next::Stop;
        }
        // What combines goes around it.
        if access != ScalarAccess::Data(Access::Combine) {
            self.without_combining(|run| run.scalar_through_cache(bytes, access, site));
        }
        Next::Continue
    }

    /// The scalar unit waits where the compiler has put waits in.
    fn scalar_waits(&mut self) -> Next {
        let current = self.current();
        let Some(pipes) = self.machine.delayed.get(current) else { return Next::Continue };
        let pipes = pipes.before_scalar();
        self.drain(pipes)
    }

    /// A special register is written.
    pub(crate) fn set_register(&mut self, register: u32, value: u64) {
        let current = self.current();
        if register == Register::Fpc as u32
            && value & RESET_UNIT_FLAGS != 0
            && let Some(watch) = self.observer.pipes.get_mut(current)
        {
            watch.reset_unit_flags();
        }
        self.machine.core().unit.registers.set_number(register, value);
        if register == Register::StAtomicCfg as u32 && self.stores_combine() {
            let global = self.machine.memory.extent();
            self.observer.log.tell_global(global);
        }
    }

    /// Do scalar stores of the current core combine with what is there, or shall they?
    fn stores_combine(&self) -> bool {
        let registers = &self.machine.cores[self.current()].unit.registers;
        Atomic::of_scalar_stores(registers) != Ok(None)
    }

    /// A special register is read. Those that the vector unit leaves something in are waited for where the compiler has put
    /// that in; the count of kept elements always is.
    pub(crate) fn get_register(&mut self, register: u32) -> u64 {
        let current = self.current();
        if register >= Register::AccVal as u32 && register <= Register::Vms4Sr as u32 {
            if let Some(watch) = self.observer.pipes.get_mut(current) {
                watch.order().scalar_reads_result();
            }
            if register == Register::RsvdCnt as u32 {
                self.drain(&[Pipe::V]);
            } else {
                self.scalar_waits();
            }
        }
        self.machine.core().unit.registers.get_number(register)
    }
}
