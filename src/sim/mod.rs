//! Runs a host-built kernel on simulated AI cores.
//!
//! A kernel object is linked to a small shim ([`code::library`]) whose services (`services::hooks`) lead back here. A run
//! (`services::run`) is three things: the `machine` (cores, flags and cache lines by which they hear of each other,
//! memories, instructions), its observer (`watch`: events, output, failures, and the log that judges from what cores heard
//! whether operators that share memory were really ordered), and its driver (`drive`: schedule, agents, delays, limits).
//! The engine (`launch`) resumes the fiber of the core whose turn it is; at the end `outcome` makes the report.
//! [`launch::program`] runs host code that launches kernels of its own image.

pub(crate) mod code;
mod drive;
pub(crate) mod interface;
pub(crate) mod launch;
pub(crate) mod machine;
mod outcome;
mod pipes;
pub(crate) mod services;
mod watch;

pub(crate) use interface::error::SimError;
pub(crate) use interface::request::Request;
pub(crate) use launch::engine::launch;
