//! Numbers that must not be mixed, each a type of its own.
//!
//! An op has two: its *index* is its place in `op_list`, skipped entries counted, and is what people are told; its
//! *position* is its place among the ops of the super kernel, and is what the program is indexed by. A position
//! cannot be printed, so no message can take one for the other.

use std::fmt;
use std::num::NonZeroU32;
use std::ops::{Deref, DerefMut, Index, IndexMut};

use serde::Serialize;

/// A number that prints as it stands in `op_list` and in the program's text.
///
/// Programs hold many of them beside smaller things. Half a word is alignment enough: a whole one would make every step
/// and every slot longer by what is never used.
macro_rules! printed_number {
    ($(#[$documentation:meta])* $name:ident($number:ty)) => {
        $(#[$documentation])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
        #[repr(Rust, packed(4))]
        pub struct $name(pub $number);

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                { self.0 }.fmt(formatter)
            }
        }
    };
}

printed_number! {
    /// An op's place in `op_list`, skipped entries counted.
    OpIndex(usize)
}

printed_number! {
    /// An event, as `send_event_list` and `recv_event_list` name it.
    EventId(i64)
}

printed_number! {
    /// A stream, as `stream_id` names it.
    StreamId(i64)
}

printed_number! {
    /// A slot's place in the parameter block.
    SlotNumber(u32)
}

impl SlotNumber {
    /// The slot this many places behind.
    pub(crate) fn after(self, places: u32) -> Self {
        Self(self.0 + places)
    }
}

/// An op's place among the ops of its super kernel. Messages name ops by [`OpIndex`]: look it up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpPosition(
    /// One more than the place. Programs hold many positions, and many that may be missing: this way neither takes more
    /// than half a word, which is enough for more ops than fit into memory.
    NonZeroU32,
);

impl OpPosition {
    /// The first op's.
    pub const FIRST: Self = Self(NonZeroU32::MIN);

    /// The position with so many ops before it. Numbers from outside that are too large for any op stay too large.
    pub fn at(place: usize) -> Self {
        Self(NonZeroU32::MIN.saturating_add(u32::try_from(place).unwrap_or(u32::MAX)))
    }

    /// How many ops are before it.
    pub fn place(self) -> usize {
        self.0.get() as usize - 1
    }

    /// The position before, if there is one.
    pub(crate) fn previous(self) -> Option<Self> {
        NonZeroU32::new(self.0.get() - 1).map(Self)
    }

    /// The position behind, whether or not there is an op.
    pub(crate) fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// One thing per op, found by the op's position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ByPosition<T>(Vec<T>);

impl<T> ByPosition<T> {
    /// The same for each of `count` ops.
    pub fn filled(count: usize, value: T) -> Self
    where
        T: Clone,
    {
        Self(vec![value; count])
    }

    /// All positions, in order.
    pub fn positions(&self) -> impl DoubleEndedIterator<Item = OpPosition> + use<T> {
        (0..self.0.len()).map(OpPosition::at)
    }

    /// All things with their positions, in order.
    pub fn enumerate(&self) -> impl Iterator<Item = (OpPosition, &T)> {
        self.positions().zip(&self.0)
    }

    /// What belongs to the op at `position`, if there is one.
    pub(crate) fn get(&self, position: OpPosition) -> Option<&T> {
        self.0.get(position.place())
    }
}

impl<T> From<Vec<T>> for ByPosition<T> {
    fn from(list: Vec<T>) -> Self {
        Self(list)
    }
}

impl<T> FromIterator<T> for ByPosition<T> {
    fn from_iter<I: IntoIterator<Item = T>>(things: I) -> Self {
        Self(things.into_iter().collect())
    }
}

impl<T> Index<OpPosition> for ByPosition<T> {
    type Output = T;

    fn index(&self, position: OpPosition) -> &T {
        &self.0[position.place()]
    }
}

impl<T> IndexMut<OpPosition> for ByPosition<T> {
    fn index_mut(&mut self, position: OpPosition) -> &mut T {
        &mut self.0[position.place()]
    }
}

/// For what needs no positions.
impl<T> Deref for ByPosition<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> DerefMut for ByPosition<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<'a, T> IntoIterator for &'a ByPosition<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<T> IntoIterator for ByPosition<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
