//! Runs a host-built kernel on simulated AI cores.
//!
//! A kernel object is linked to a small shim ([`library`]) whose services ([`hooks`]) lead back here. Each core is a
//! fiber on one thread ([`engine`]); a [`schedule`] decides who goes on at every switching point; [`flags`] and
//! [`lines`] are the two ways cores hear of each other; [`order`] judges from what they heard whether operators that
//! share memory were really ordered. What comes out is a [`report`].

pub mod agents;
#[cfg(test)]
mod agreement;
pub mod arena;
pub mod clock;
pub mod core_state;
pub mod engine;
pub mod error;
mod explain;
pub mod flags;
pub mod hooks;
mod issue;
pub mod library;
pub mod lines;
pub mod memory;
pub mod meta;
pub mod order;
pub mod report;
pub mod request;
pub mod run;
pub mod schedule;
pub mod services;
pub mod signals;
pub mod topology;

pub use engine::launch;
pub use error::SimError;
pub use report::{Report, Status};
pub use request::Request;
