//! Prints C++ from a [program](crate::program).
//!
//! Everything is decided before: a step becomes a line or two. What steps have in common (picking a code copy, calls,
//! locks, barriers, records, the clearing of the workspace) is a small helper at the top of the file, there only if used.
//! Behind them comes the code of each core kind, with the steps of that kind alone.

mod code;
mod dynamic;
mod error;
mod functions;
mod helpers;
mod meta;
mod profiling;
mod step;
mod straight;
mod writer;

pub use error::EmitError;
pub(crate) use writer::CppWriter;

use crate::model::OpPosition;
use crate::program::{Action, Program};

/// The source of a super kernel. Equal programs give equal text.
///
/// Fails if the size of a function that is to be preloaded is not known.
pub fn emit(program: &Program) -> Result<String, EmitError> {
    check_sizes(program)?;
    let mut out = CppWriter::default();
    out.line("#if 1");
    if !uses(program, is_an_instruction) {
        out.line("// Calls and their order, no instructions: headers of hosts leave the rest of AscendC out.");
        out.line("#define SK_CONTROL_ONLY");
    }
    out.line("#include \"kernel_operator.h\"");
    out.blank();
    meta::title(program, &mut out);
    meta::run_config(program, &mut out);
    helpers::write(program, &mut out);
    for &kind in program.kinds() {
        meta::for_kind(program, kind, &mut out, |out| code::write(program, kind, out));
    }
    meta::sections(program, &mut out);
    out.line("#endif");
    Ok(out.finish())
}

/// Is it done by instructions of the core, of which AscendC makes calls?
fn is_an_instruction(action: &Action) -> bool {
    matches!(action, Action::ClearWorkspace { .. } | Action::InitDump { .. })
}

fn check_sizes(program: &Program) -> Result<(), EmitError> {
    let unknown = |action: &Action| matches!(action, Action::Preload { units: None, .. });
    match program.steps.iter().find(|step| unknown(&step.action)) {
        Some(step) => {
            let op = &program.ops[step.op.unwrap_or(OpPosition::FIRST)];
            Err(EmitError::UnknownSize {
                op: crate::model::OpName { index: op.index, kernel_name: op.kernel_name.clone() },
            })
        }
        None => Ok(()),
    }
}

/// Does any step do something like this?
fn uses(program: &Program, wanted: impl Fn(&Action) -> bool) -> bool {
    program.steps.iter().any(|step| wanted(&step.action))
}
