//! The Python border: converts, calls the core with the interpreter lock released, converts back.
//!
//! One file per area; each registers its functions in the native module `superkernel._core`.

mod aicore;
mod build;
mod convert;
mod cost;
mod elf;
mod errors;
mod interrupt;
mod launch;
mod loader;
mod locate;
mod logging;
mod model;
mod opbuild;
mod operator;
mod operator_kernel;
mod options;
mod plan;
mod records;
mod report;
mod request;
mod scope;
mod settings;
mod sim;
mod support;
mod trace;

use pyo3::prelude::*;

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    // Set where packages are made; nothing but `superkernel version` may depend on it.
    module.add(
        "__commit__",
        option_env!("SUPERKERNEL_COMMIT").filter(|commit| !commit.is_empty()).unwrap_or("unknown"),
    )?;
    logging::register(module)?;
    support::register(module)?;
    options::register(module)?;
    settings::register(module)?;
    build::register(module)?;
    model::register(module)?;
    records::register(module)?;
    plan::register(module)?;
    elf::register(module)?;
    launch::register(module)?;
    report::register(module)?;
    request::register(module)?;
    loader::register(module)?;
    locate::register(module)?;
    sim::register(module)?;
    aicore::register(module)?;
    opbuild::register(module)?;
    operator::register(module)?;
    operator_kernel::register(module)?;
    cost::register(module)?;
    trace::register(module)?;
    scope::register(module)
}
