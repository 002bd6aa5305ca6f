//! The device program: one intermediate representation that every reader shares.
