//! Order between ops of several streams.

use super::Direction;
use crate::model::{EventId, OpPosition, StreamId};

/// `receiver` must not start before `sender` has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    /// The op that must end first.
    pub sender: OpPosition,
    /// The op that must wait.
    pub receiver: OpPosition,
    /// Why.
    pub origin: EdgeOrigin,
    /// What became of its need for a flag from cube to vector cores.
    pub cube_to_vector: CrossNeed,
    /// What became of its need for a flag from vector to cube cores.
    pub vector_to_cube: CrossNeed,
}

impl Edge {
    /// What became of its need in one direction.
    pub fn need(&self, direction: Direction) -> CrossNeed {
        match direction {
            Direction::CubeToVector => self.cube_to_vector,
            Direction::VectorToCube => self.vector_to_cube,
        }
    }
}

/// Where an edge comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EdgeOrigin {
    /// Neighbours of this stream.
    Stream(StreamId),
    /// An inner event.
    Event(EventId),
    /// Added so that no flag counts beyond 15.
    FlowControl,
}

/// An edge's need for a flag between the kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrossNeed {
    /// The ops share no such direction.
    None,
    /// A flag is set after the sender and waited for before the op at this position: the receiver, or the first MIX
    /// op between the two.
    Flag {
        /// The op that waits.
        received_at: OpPosition,
    },
    /// Other flags already order the two ops.
    Implied,
}
