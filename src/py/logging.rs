//! The core's log records reach the package's loggers through `pyo3-log`.
//!
//! CANN's log is a second reader with a level of its own. A logger of the package (`superkernel._logging`) says that a
//! level is enabled if either reader wants it, and hands a record only to those who do.

use log::LevelFilter;
use pyo3::prelude::*;
use pyo3_log::{Caching, Logger};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    // Levels change at run time: what a logger wants is asked for every record that passes the level set below.
    let logger = Logger::new(module.py(), Caching::Loggers)?.filter(LevelFilter::Trace);
    // A second import in one process finds a logger installed; that is fine.
    if logger.install().is_ok() {
        log::set_max_level(LevelFilter::Warn);
    }
    module.add_function(wrap_pyfunction!(set_log_level, module)?)
}

/// From now on records of a level (one of Python's numbers) below this one are not made.
///
/// Making a record takes the interpreter lock, so whoever holds it while others work for him waits for ever: every
/// function of the border releases the lock before it starts work on other threads.
#[pyfunction]
fn set_log_level(level: u32) {
    log::set_max_level(match level {
        0..=5 => LevelFilter::Trace,
        6..=10 => LevelFilter::Debug,
        11..=20 => LevelFilter::Info,
        21..=30 => LevelFilter::Warn,
        31..=40 => LevelFilter::Error,
        _ => LevelFilter::Off,
    });
}
