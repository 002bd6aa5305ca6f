//! The cache as a build sees it: kernels that another one made are taken over only if they are what they claim to be,
//! and a miss can be explained.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use super::fingerprint::Fingerprint;
use super::result_json::ResultJson;
use crate::artifact::SuperKernelSymbols;
use crate::elf;
use crate::json::{Document, JsonPath, Node};
use crate::store::StoreError;
use crate::store::cache::{Cache, CachedKernel, EntryHead};
use crate::store::digest::ContentDigest;

/// Checks an entry made elsewhere and takes it over.
///
/// Its parts must belong together: a description of this kernel and this object, and an object with its entries.
/// Whether it belongs to its key can only be told by who has the inputs: a build compares the description again.
pub(crate) fn import(cache: &Cache, file: &Path) -> Result<EntryHead, StoreError> {
    cache.import(file, check)
}

/// Reads an entry of the cache's own and tells what is wrong with it.
pub(crate) fn verify(cache: &Cache, file: &Path) -> Result<EntryHead, StoreError> {
    cache.verify(file, check)
}

/// What the cache says to a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CacheAnswer {
    /// There is none, or none that this user may trust.
    NoCache,
    /// It has the kernel.
    Hit,
    /// It has not, and nothing like it.
    Empty,
    /// It has not; this kernel comes closest, and differs in these ways.
    Miss { kernel: String, idle: Duration, changes: Vec<String> },
}

/// What the cache says to a build of this fingerprint, which it knows by `key`, and why.
pub(crate) fn ask(cache: Option<&Cache>, key: ContentDigest, fingerprint: &Fingerprint) -> CacheAnswer {
    let Some(cache) = cache else { return CacheAnswer::NoCache };
    if cache.has(key) {
        return CacheAnswer::Hit;
    }
    let readable = cache.list().into_iter().filter_map(|entry| {
        let head = entry.head.ok()?;
        let inputs = Some(head.inputs).filter(|inputs| !inputs.is_empty())?;
        let other = Fingerprint::from_json(Value::Object(inputs))?;
        Some((fingerprint.distance(&other), head.kernel, entry.idle, other))
    });
    // The one that was used last, of those that differ least.
    match readable.min_by_key(|(distance, _, idle, _)| (*distance, *idle)) {
        None => CacheAnswer::Empty,
        Some((_, kernel, idle, other)) => {
            CacheAnswer::Miss { kernel, idle, changes: fingerprint.changes_since(&other) }
        }
    }
}

fn check(head: &EntryHead, cached: &CachedKernel) -> Result<(), String> {
    let name = &head.kernel;
    let fits = |inputs: Fingerprint| {
        [inputs.digest(), inputs.digest_without_name()].iter().any(|digest| digest.to_string() == head.key)
    };
    let inputs = Some(&head.inputs).filter(|inputs| !inputs.is_empty());
    if inputs.is_some_and(|inputs| !Fingerprint::from_json(Value::Object(inputs.clone())).is_some_and(fits)) {
        return Err("its inputs are those of another key".to_owned());
    }
    let value = serde_json::from_slice(&cached.json).map_err(|error| format!("its description is no JSON: {error}"))?;
    let described = ResultJson::from_node(&Node::root(&value, JsonPath::top(Document::Result)));
    let described = described.map_err(|error| format!("its description is unusable: {error}"))?;
    if described.name != *name {
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
