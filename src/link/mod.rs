//! Links objects in process: to one object again (`ld -r`), or to the file that a device loads.
//!
//! [`link`] reads as the list of its phases, each a module that only reads what earlier ones made:
//!
//! 1. [`input`]: the objects opened, their sections told apart, their symbols read;
//! 2. [`groups`]: of interchangeable section groups the first stays;
//! 3. [`outputs`]: which sections are joined, where each part lies in them, and what relocates it;
//! 4. [`symbols`]: one definition for every global name; [`commons`]: room for those that only ask for some;
//! 5. [`uses`]: which symbols relocations need;
//! 6. [`arrangement`]: the sections of the new file in order; for a device their addresses;
//! 7. [`table`]: the symbol table of the new file;
//! 8. [`write`]: the new file, relocations with it ([`relocations`]).
//!
//! Everything is kept in the order of the input, so equal inputs give equal bytes. Any machine can be joined: relocations
//! get other places and symbols, and are not understood. The last link understands those of the device ([`device`]).

mod arrangement;
mod commons;
mod decided;
pub(crate) mod device;
mod error;
mod groups;
mod headers;
mod input;
mod kept;
mod options;
mod outputs;
mod relocations;
mod strings;
mod symbols;
mod table;
#[cfg(test)]
mod tests;
mod uses;
mod write;

pub use error::{LinkError, RelocationProblem, Unfit};
pub(crate) use kept::{Kept, Mismatch, differences, kept};
pub use options::{Input, KeptRelocations, LinkOptions, Locals, OutputKind};

use rayon::prelude::*;

use arrangement::Arrangement;
use decided::Decided;
use input::Object;
use outputs::Outputs;
use symbols::Resolution;
use table::Table;

use crate::parallel;

/// Links the objects in their order.
pub fn link(inputs: &[Input<'_>], options: &LinkOptions) -> Result<Vec<u8>, LinkError> {
    parallel::run(|| phases(inputs, options))
}

fn phases(inputs: &[Input<'_>], options: &LinkOptions) -> Result<Vec<u8>, LinkError> {
    let objects = inputs.par_iter().map(Object::open).collect::<Vec<_>>().into_iter().collect::<Result<Vec<_>, _>>()?;
    input::check_alike(&objects, options.kind)?;
    let discarded = groups::duplicates(&objects);
    let mut outputs = Outputs::of(&objects, &discarded, options.kind)?;
    let mut resolution = Resolution::of(&objects, &outputs, options)?;
    commons::place(&objects, &resolution, &mut outputs, options.kind)?;
    let uses = uses::find(&objects, &resolution, &outputs, options.kind)?;
    resolution.need(&uses.needed);
    let arrangement = Arrangement::of(&objects, &outputs, options.kind)?;
    let table = Table::new(&objects, &resolution, &outputs, &uses, &arrangement, options);
    let (resolution, outputs) = (&resolution, &outputs);
    let decided = Decided { objects: &objects, resolution, outputs, arrangement: &arrangement, table: &table };
    write::write(&decided, options.kind)
}
