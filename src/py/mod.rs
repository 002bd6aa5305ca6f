//! The Python border: converts, calls the core with the interpreter lock released, converts back.
//!
//! One file per area; each registers its functions in the native module `superkernel._core`.

mod elf;
mod errors;
mod interrupt;
mod options;
mod scope;
mod sim;

use pyo3::prelude::*;

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    // A second import in one process finds the logger installed; that is fine.
    let _ = pyo3_log::try_init();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    options::register(module)?;
    elf::register(module)?;
    sim::register(module)?;
    scope::register(module)
}
