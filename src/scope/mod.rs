//! From a marked graph to the op lists that a super kernel is compiled from.
