//! What people ask: counters one by one, or those that a device's log tells of.

use std::borrow::Cow;
use std::path::Path;

use super::LocateError;
use super::log::{Stopped, stopped};
use super::lookup::{Located, Lookup, Start};
use crate::fs;

/// Cores that stopped at one place, looked up.
#[derive(Debug)]
pub struct StoppedAt {
    /// What the log says.
    pub core: Stopped,
    /// The function that starts where the log says, where it is not the code.
    pub start_function: Option<String>,
    /// Where that is; the error of a counter that is not in this kernel.
    pub place: Result<Located, LocateError>,
}

/// Where counters are: (counter, address of the code, or of `function` where that is named). That one of them is not in
/// the kernel takes no other its answer; if none is, that is the error.
pub(crate) fn counters(
    object: &Path,
    counters: &[(u64, u64)],
    function: Option<&str>,
) -> Result<Vec<Result<Located, LocateError>>, LocateError> {
    let bytes = fs::read(&object_of(object))?;
    let lookup = Lookup::open(&bytes)?;
    let start = |start: u64| function.map_or(Start::Code(start), |name| Start::Function(start, name));
    let mut found: Vec<_> = counters.iter().map(|(pc, at)| lookup.at(*pc, start(*at))).collect();
    match found.is_empty() || found.iter().any(Result::is_ok) {
        true => Ok(found),
        false => found.swap_remove(0).map(|_| Vec::new()),
    }
}

/// The object of a kernel that is named by its description.
fn object_of(named: &Path) -> Cow<'_, Path> {
    match named.extension() {
        Some(extension) if extension == "json" => named.with_extension("o").into(),
        _ => named.into(),
    }
}

/// Where the cores of a log stopped.
pub(crate) fn in_log(
    object: &Path,
    log: &Path,
    start: u64,
    function: Option<&str>,
) -> Result<Vec<StoppedAt>, LocateError> {
    let cores = stopped(&String::from_utf8_lossy(&fs::read(log)?));
    if cores.is_empty() {
        return Err(LocateError::NoCounters { path: log.to_path_buf() });
    }
    let bytes = fs::read(&object_of(object))?;
    let lookup = Lookup::open(&bytes)?;
    let at = |core: Stopped| {
        let start = match (function, core.start) {
            (Some(name), told) => Start::Function(told.unwrap_or(start), name),
            (None, Some(told)) => lookup.start(told, core.kind),
            (None, None) => Start::Code(start),
        };
        let start_function = match start {
            Start::Code(_) => None,
            Start::Function(_, name) => Some(name.to_owned()),
        };
        StoppedAt { place: lookup.at(core.pc, start), start_function, core }
    };
    let mut found: Vec<StoppedAt> = cores.into_iter().map(at).collect();
    // A log may tell of other kernels too; if it tells of no core of this one, it is the wrong log or object.
    match found.iter().any(|stopped| stopped.place.is_ok()) {
        true => Ok(found),
        false => found.swap_remove(0).place.map(|_| Vec::new()),
    }
}
