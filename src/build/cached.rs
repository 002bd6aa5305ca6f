//! Kernels that another cache made: taken over only if they are what they claim to be.

use std::path::Path;

use super::result_json::ResultJson;
use crate::artifact::SuperKernelSymbols;
use crate::elf;
use crate::json::{Document, JsonPath, Node};
use crate::store::StoreError;
use crate::store::cache::{Cache, CachedKernel, EntryHead};

/// Checks an entry made elsewhere and takes it over.
///
/// Its parts must belong together: a description of this kernel and this object, and an object with its entries.
/// Whether it belongs to its key can only be told by who has the inputs: a build compares the description again.
pub(crate) fn import(cache: &Cache, file: &Path) -> Result<EntryHead, StoreError> {
    cache.import(file, check)
}

fn check(name: &str, cached: &CachedKernel) -> Result<(), String> {
    let value = serde_json::from_slice(&cached.json).map_err(|error| format!("its description is no JSON: {error}"))?;
    let described = ResultJson::from_node(&Node::root(&value, JsonPath::top(Document::Result)));
    let described = described.map_err(|error| format!("its description is unusable: {error}"))?;
    if described.name != name {
        return Err(format!("its description is of kernel `{}`", described.name));
    }
    if !described.object_digest.is_some_and(|stated| cached.digest.is(&stated)) {
        return Err("its description is of another object".to_owned());
    }
    elf::check_limits(&cached.object).map_err(|error| error.to_string())?;
    let symbols = elf::symbols(&cached.object).map_err(|error| error.to_string())?;
    let names = SuperKernelSymbols::new(name);
    for kind in described.kernel_type.class().kinds() {
        let entry = names.entry(*kind);
        if !symbols.iter().any(|symbol| symbol.is_exported() && symbol.name == entry) {
            return Err(format!("its object does not define `{entry}`"));
        }
    }
    Ok(())
}
