//! Lets Ctrl-C stop work that runs with the interpreter lock released.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::prelude::*;

use super::errors::to_python;
use crate::Error;
use crate::cancel::Cancel;

/// How often the interpreter is asked for signals.
const POLL: Duration = Duration::from_millis(30);

/// A request to stop that any thread can make: signals reach Python's main thread only.
#[pyclass(frozen, name = "Cancel", module = "superkernel._core")]
#[derive(Default)]
pub struct PyCancel(Cancel);

#[pymethods]
impl PyCancel {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Stops everything that was started with it.
    fn cancel(&self) {
        self.0.cancel();
    }
}

impl PyCancel {
    /// What it asks; nobody's request for `None`.
    pub fn of(given: Option<&Bound<'_, Self>>) -> Cancel {
        given.map_or_else(Cancel::new, |given| given.get().0.clone())
    }
}

/// [`interruptible_by`] signals only.
pub(super) fn interruptible<T, E, W>(py: Python<'_>, work: W) -> PyResult<T>
where
    T: Send,
    E: Into<Error> + Send,
    W: FnOnce(&Cancel) -> Result<T, E> + Send,
{
    interruptible_by(py, Cancel::new(), work)
}

/// Runs `work` on a thread of its own while this one watches for signals. Others may raise `cancel`, too.
///
/// A signal raises the [`Cancel`]; `work` is always waited for, so nothing it started is left behind, and then the
/// signal's exception (`KeyboardInterrupt`) wins over the result.
pub(super) fn interruptible_by<T, E, W>(py: Python<'_>, cancel: Cancel, work: W) -> PyResult<T>
where
    T: Send,
    E: Into<Error> + Send,
    W: FnOnce(&Cancel) -> Result<T, E> + Send,
{
    std::thread::scope(|scope| {
        let (sender, receiver) = channel();
        let watched = cancel.clone();
        let worker = scope.spawn(move || {
            let result = work(&watched);
            // The receiver is only gone when the caller panics.
            let _ = sender.send(());
            result
        });
        // The receiver cannot be shared with the closure given to `detach` by reference, so it is handed through.
        let mut receiver = receiver;
        let mut interrupt = None;
        loop {
            let (back, state) = py.detach(move || {
                let state = receiver.recv_timeout(POLL);
                (receiver, state)
            });
            receiver = back;
            match state {
                Err(RecvTimeoutError::Timeout) if interrupt.is_none() => {
                    if let Err(error) = py.check_signals() {
                        cancel.cancel();
                        interrupt = Some(error);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Ok(()) | Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let result = py.detach(|| worker.join());
        match (interrupt, result) {
            (Some(error), _) => Err(error),
            (None, Ok(result)) => result.map_err(|error| to_python(py, error)),
            (None, Err(panic)) => std::panic::resume_unwind(panic),
        }
    })
}
