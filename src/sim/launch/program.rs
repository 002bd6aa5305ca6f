//! Runs a program: host code that launches kernels of its own image. Global memory is an arena, a launch is a run of the
//! engine on the same library.

use std::convert::Infallible;
use std::ffi::{CString, c_char, c_int};

use super::engine;
use crate::cancel::Cancel;
use crate::sim::code::library::Library;
use crate::sim::interface::error::SimError;
use crate::sim::machine::arena::{self, Space};
use crate::sim::services::{hooks, host};

/// Loads a program, runs its `main` with `arguments`, and ends this process as it ends.
pub(crate) fn run(settings: host::Settings, arguments: &[String]) -> Result<Infallible, SimError> {
    let name = arguments.first().map_or("", String::as_str);
    let library = Library::open(&settings.library, name, &hooks::table())?;
    let main = library.symbol("main").map_err(|_| SimError::NoMain { program: name.to_owned() })?;
    let (arena, _file) = arena::create(settings.memory, None)?;
    let space = Space::new(arena, settings.memory)?;
    host::begin(settings, |request| engine::launch(request, &Cancel::new()), space);
    let texts: Vec<CString> = arguments.iter().filter_map(|text| CString::new(text.as_str()).ok()).collect();
    let mut pointers: Vec<*const c_char> = texts.iter().map(|text| text.as_ptr()).collect();
    pointers.push(std::ptr::null());
    let start = library.symbol("sk_shim_main")?;
    // SAFETY: a function of the shim with this signature, which no exception leaves; `main` of the program takes at most
    // these arguments, in whatever form it declares them.
    let status = unsafe {
        let start =
            std::mem::transmute::<*const (), extern "C" fn(*const (), c_int, *const *const c_char) -> c_int>(start);
        start(main, texts.len() as c_int, pointers.as_ptr())
    };
    host::exit(host::finished(status))
}
