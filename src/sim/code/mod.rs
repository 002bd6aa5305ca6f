//! Kernel code on this host: linked and loaded, its log of accesses, its crashes, the source lines of its addresses.

pub(crate) mod access_log;
pub(crate) mod library;
pub(crate) mod meta;
pub(crate) mod signals;
pub(crate) mod sites;
