//! Plain pointers and instructions that leave their buffer, in the words of the kernel.

use std::ops::Range;

use super::{PipeWatch, memory_of};
use crate::aicore::Pipe;
use crate::aicore::operand::{Access, Operand};
use crate::sim::interface::findings::FindingKind;
use crate::sim::machine::access::Site;
use crate::sim::machine::pipe_clock::Stamp;
use crate::sim::pipes::bounds::Stray;
use crate::sim::pipes::scene::Scene;
use crate::sim::pipes::shadow::{Actor, Touch};

impl PipeWatch {
    /// A buffer is made that plain pointers may reach once their address was taken.
    pub(crate) fn buffer(&mut self, address: u64, bytes: u64) {
        self.bounds.made(address, bytes);
    }

    /// The kernel takes the address of a tensor.
    pub(crate) fn takes_address(&mut self, address: u64) {
        self.bounds.taken(address);
    }

    /// The scalar unit reads or writes local memory through a plain pointer, and certainly not by a call on a tensor.
    pub(crate) fn plain(&mut self, bytes: &Range<u64>, access: Access, site: Site, scene: &Scene<'_>) {
        if let Some(stray) = self.bounds.accessed(bytes, site) {
            self.strays(&stray, access, scene);
        }
    }

    /// A plain pointer left its buffer.
    fn strays(&mut self, stray: &Stray, access: Access, scene: &Scene<'_>) {
        let touch = self.touch(Stamp { pipe: Pipe::S, number: 0 }, Actor::Scalar, access, stray.site);
        let place = self.place(memory_of(stray.bytes.start, scene), &stray.bytes, scene);
        let name = self.party(&touch).describe();
        let text = match &stray.left {
            Some(left) => format!(
                "{name} goes on through a plain pointer past the end of {} into {place}, which is another buffer",
                self.place(memory_of(left.start, scene), left, scene)
            ),
            None => format!(
                "{name} reaches {place} through a plain pointer, but no address of that buffer was taken: the pointer has \
                 left its own"
            ),
        };
        self.find(FindingKind::Bounds, text, Some(place), None, None, &touch);
    }

    /// An instruction writes behind the end of the buffer that its operand starts in.
    pub(super) fn overruns(&mut self, operand: &Operand, touch: &Touch, scene: &Scene<'_>) {
        let bytes = operand.address..operand.address + operand.shape.extent();
        let Some((stray, own)) = self.bounds.overrun(&bytes).zip(self.bounds.holding(bytes.start)) else { return };
        let (place, own) = (self.place(operand.memory, &stray, scene), self.place(operand.memory, &own, scene));
        let text = format!(
            "{} writes past the end of {own} into {place}, which is another buffer",
            self.party(touch).describe()
        );
        self.find(FindingKind::Bounds, text, Some(place), None, None, touch);
    }

    /// The operator is at its end, and with it what pointers may reach.
    pub(super) fn end_walks(&mut self, scene: &Scene<'_>) {
        for stray in self.bounds.end() {
            self.strays(&stray, Access::Read, scene);
        }
    }
}
