//! Hands the core's log records to the package's loggers (`superkernel._logging`).
//!
//! Not through a ready-made bridge: Python's loggers are not the only readers. CANN's log has a level of its own, and
//! a record that only it wants must be made although no Python logger asks for it.

use log::{Level, LevelFilter, Log, Metadata, Record};
use pyo3::prelude::*;

struct ToPython;

static TO_PYTHON: ToPython = ToPython;

pub(crate) fn start() {
    // A second import in one process finds a logger installed; that is fine.
    if log::set_logger(&TO_PYTHON).is_ok() {
        log::set_max_level(LevelFilter::Warn);
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(set_log_level, module)?)
}

/// From now on records of a level (one of Python's numbers) below this one are not made.
#[pyfunction]
fn set_log_level(level: u32) {
    let lowest = [Level::Error, Level::Warn, Level::Info, Level::Debug, Level::Trace]
        .into_iter()
        .take_while(|candidate| number(*candidate) >= level)
        .last();
    log::set_max_level(lowest.map_or(LevelFilter::Off, |found| found.to_level_filter()));
}

/// The number Python's `logging` has for a level; it has none for `Trace`.
fn number(level: Level) -> u32 {
    match level {
        Level::Error => 40,
        Level::Warn => 30,
        Level::Info => 20,
        Level::Debug => 10,
        Level::Trace => 5,
    }
}

impl Log for ToPython {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= log::max_level()
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        // An interpreter that is shutting down takes no records any more.
        Python::try_attach(|py| {
            // Logging goes on while an exception is on its way; that one must survive.
            let on_its_way = PyErr::take(py);
            if let Err(failure) = hand_over(py, record) {
                failure.write_unraisable(py, None);
            }
            if let Some(error) = on_its_way {
                error.restore(py);
            }
        });
    }

    fn flush(&self) {}
}

/// Target `superkernel::plan` becomes the logger `superkernel.plan`.
fn hand_over(py: Python<'_>, record: &Record<'_>) -> PyResult<()> {
    py.import("superkernel._logging")?.getattr("native")?.call1((
        record.target().replace("::", "."),
        number(record.level()),
        record.args().to_string(),
        record.file().unwrap_or_default(),
        record.line().unwrap_or_default(),
    ))?;
    Ok(())
}
