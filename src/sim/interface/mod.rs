//! What goes into a launch and what comes out of it, as data: request, report, findings, errors.

pub(crate) mod error;
pub(crate) mod findings;
pub(crate) mod report;
pub(crate) mod request;
pub(crate) mod status;
pub(crate) mod tools;
