//! The JSON beside an operator's object, as the device compiler writes it.

use serde_json::Value;

use super::facts::Facts;
use super::request::{OpRequest, Unit};
use crate::model::{CoreKind, SubKernelDocument, TilingFunctions, WrittenCode};
use crate::store::digest::ContentDigest;

/// A compiled function: its symbol and the object files that hold it and its copies.
#[derive(Debug, Clone)]
pub(crate) struct BuiltFunction {
    /// What it is.
    pub unit: Unit,
    /// Its symbol.
    pub name: String,
    /// File names of its object and of the copies 1, 2, …
    pub objects: Vec<String>,
}

/// The whole description.
pub(crate) fn describe(
    request: &OpRequest,
    facts: &Facts,
    name: &str,
    functions: &[BuiltFunction],
    object_digest: ContentDigest,
    build_digest: ContentDigest,
) -> Value {
    let document = SubKernelDocument {
        name,
        chip: request.chip,
        kernel_type: request.kernel_type,
        block_dim: request.block_dim,
        op_type: &request.op_type,
        code: code(request, functions),
        params: &facts.params,
        early_start: facts.early_start,
        split_mode: request.split_mode.map(|split| split.get()),
        debug_output: request.debug_output.as_ref(),
        calls_sync_all: facts.sync_all,
        dcci: request.dcci,
        object_digest,
        build_digest,
    };
    document.to_json()
}

fn code(request: &OpRequest, functions: &[BuiltFunction]) -> WrittenCode {
    if !request.is_dynamic() {
        let written = |function: &BuiltFunction| {
            let objects = function.objects.iter().map(|object| request.out_dir.join(object)).collect();
            (function.unit.kind, function.name.clone(), objects)
        };
        return WrittenCode::Static(functions.iter().map(written).collect());
    }
    let entry = |key: u64, kernel_type| {
        let of_key = |kind: CoreKind| {
            let found = functions.iter().find(|found| found.unit.key == Some(key) && found.unit.kind == kind);
            found.map(|function| function.name.clone())
        };
        TilingFunctions { key, kernel_type, aic: of_key(CoreKind::Aic), aiv: of_key(CoreKind::Aiv) }
    };
    WrittenCode::Dynamic(request.tiling_keys.iter().map(|given| entry(given.key, given.kernel_type)).collect())
}
