//! Lets Ctrl-C stop work that runs with the interpreter lock released.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use pyo3::prelude::*;

use super::errors::to_python;
use crate::Error;
use crate::cancel::Cancel;

/// How often the interpreter is asked for signals.
const POLL: Duration = Duration::from_millis(30);

/// Runs `work` on a thread of its own while this one watches for signals.
///
/// A signal raises the [`Cancel`]; `work` is always waited for, so nothing it started is left behind, and then the
/// signal's exception (`KeyboardInterrupt`) wins over the result.
pub(super) fn interruptible<T, E, W>(py: Python<'_>, work: W) -> PyResult<T>
where
    T: Send,
    E: Into<Error> + Send,
    W: FnOnce(&Cancel) -> Result<T, E> + Send,
{
    listening(py, |cancel, _: &Sender<()>| work(cancel), |()| Ok(()))
}

/// The same, and `hear` is called here with what `work` sends; its exception stops the work like a signal.
pub(super) fn listening<M, T, E, W>(py: Python<'_>, work: W, mut hear: impl FnMut(M) -> PyResult<()>) -> PyResult<T>
where
    M: Send,
    T: Send,
    E: Into<Error> + Send,
    W: FnOnce(&Cancel, &Sender<M>) -> Result<T, E> + Send,
{
    let cancel = Cancel::new();
    std::thread::scope(|scope| {
        let (sender, mut receiver) = channel::<M>();
        let watched = cancel.clone();
        // The channel ends with the thread.
        let worker = scope.spawn(move || work(&watched, &sender));
        let mut interrupt = None;
        loop {
            // The receiver cannot be shared with the closure given to `detach` by reference, so it is handed through.
            let (back, state) = py.detach(move || {
                let state = receiver.recv_timeout(POLL);
                (receiver, state)
            });
            receiver = back;
            let heard = match state {
                Err(RecvTimeoutError::Disconnected) => break,
                Ok(_) | Err(RecvTimeoutError::Timeout) if interrupt.is_some() => Ok(()),
                Ok(message) => hear(message),
                Err(RecvTimeoutError::Timeout) => py.check_signals(),
            };
            if let Err(error) = heard {
                cancel.cancel();
                interrupt = Some(error);
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
