//! What kernel code calls, and what each call means for machine, observer and driver.

pub(crate) mod cache;
pub(crate) mod combining;
pub(crate) mod hooks;
pub(crate) mod host;
pub(crate) mod issue;
pub(crate) mod pipes;
pub(crate) mod run;
pub(crate) mod scalar;
