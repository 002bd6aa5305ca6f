//! Files that others may read at any moment, and that outlive a process which may be killed at any moment.
//!
//! A [`work_dir`] is where things are made, a [`lock`] keeps others out, [`publish`] puts results in place whole or
//! not at all, the [`cache`] keeps them for other directories, [`folders`] what takes long to make; a [`digest`] tells
//! contents apart; a [`shelf`] keeps what several builds of one process ask for.

pub(crate) mod cache;
pub mod digest;
mod entry;
mod error;
pub(crate) mod folders;
mod lock;
pub mod publish;
pub(crate) mod shelf;
pub mod work_dir;

pub(crate) use error::StoreError;
