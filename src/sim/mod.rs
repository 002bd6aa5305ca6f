//! Runs a host-built kernel on simulated AI cores.
//!
//! A kernel object is linked to a small shim ([`library`]) whose services (`hooks`) lead back here. A `run` is three
//! things: the `machine` (cores, `flags` and `lines` by which they hear of each other, memories, instructions), the
//! `observer` (events, output, failures, and the `order` log that judges from what cores heard whether operators that
//! share memory were really ordered), and the `driver` (the `schedule`, agents, delays, limits). The `engine` resumes
//! the fiber of the core whose turn it is; at the end `explain` makes the [`Report`].
//! [`program`] runs host code that launches kernels of its own image.

mod access;
mod access_log;
mod agents;
#[cfg(test)]
mod agreement;
pub(crate) mod arena;
mod cache;
mod cache_services;
mod clock;
mod combining;
mod core_state;
mod driver;
mod engine;
mod error;
mod explain;
pub mod explore;
pub(crate) mod findings;
mod flags;
mod guard;
mod hazards;
mod hooks;
mod issue;
pub(crate) mod library;
mod lines;
mod machine;
pub(crate) mod memory;
pub(crate) mod meta;
mod observer;
mod order;
mod pipe_services;
mod pipes;
pub(crate) mod program;
pub(crate) mod protocol;
mod races;
pub(crate) mod report;
pub(crate) mod request;
mod run;
mod scalar_services;
mod schedule;
mod signals;
mod sites;
pub(crate) mod topology;
mod trace;

pub(crate) use engine::launch;
pub(crate) use error::SimError;
pub(crate) use request::Request;
