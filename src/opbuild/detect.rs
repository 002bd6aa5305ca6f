//! The types of an operator's functions, where nobody says them.

use std::path::Path;

use super::error::OpBuildError;
use super::request::{OpRequest, TilingKey, Unit};
use super::scan::Findings;
use crate::cancel::Cancel;
use crate::model::{CoreClass, CoreKind, KernelType};
use crate::store::work_dir::WorkDir;
use crate::toolchain::HostToolchain;

/// `request` with the types that its source has.
pub(crate) fn with_types(
    request: &OpRequest,
    host: &HostToolchain,
    source: &Path,
    work: &WorkDir,
    cancel: &Cancel,
) -> Result<OpRequest, OpBuildError> {
    let mut request = request.clone();
    if !request.detect_types {
        return Ok(request);
    }
    if !request.is_dynamic() {
        request.kernel_type = of_key(&request, None, host, source, work, cancel)?;
        return Ok(request);
    }
    let mut keys = Vec::with_capacity(request.tiling_keys.len());
    for entry in &request.tiling_keys {
        let kernel_type = of_key(&request, Some(entry.key), host, source, work, cancel)?;
        keys.push(TilingKey { key: entry.key, kernel_type });
    }
    request.kernel_type = joined(&keys);
    request.tiling_keys = keys;
    Ok(request)
}

/// A type that has the cores of all keys.
fn joined(keys: &[TilingKey]) -> KernelType {
    let types: Vec<KernelType> = keys.iter().map(|entry| entry.kernel_type).collect();
    let widest = types.iter().copied().max_by_key(|known| (known.class() == CoreClass::Mix, known.number()));
    let all_of_one = types.windows(2).all(|pair| pair[0].class() == pair[1].class());
    widest
        .filter(|_| all_of_one || types.iter().any(|known| known.class() == CoreClass::Mix))
        .unwrap_or(KernelType::MixAic1_2)
}

fn of_key(
    request: &OpRequest,
    key: Option<u64>,
    host: &HostToolchain,
    source: &Path,
    work: &WorkDir,
    cancel: &Cancel,
) -> Result<KernelType, OpBuildError> {
    let unit = |kernel_type, kind| Unit { key, kernel_type, kind };
    let units = [unit(KernelType::AicOnly, CoreKind::Aic), unit(KernelType::AivOnly, CoreKind::Aiv)];
    let texts = super::preprocess(request, host, source, &units, work, "types", cancel)?;
    let findings = super::look(request, host, &texts);
    declared(request, &findings, request.key_of(&units[0]))
        .map(|found| found.unwrap_or_else(|| findings.uses.kernel_type()))
}

/// What template or kernel say of a key.
fn declared(request: &OpRequest, findings: &Findings, key: Option<u64>) -> Result<Option<KernelType>, OpBuildError> {
    if let (Some(template), Some(key)) = (&findings.template, key) {
        let chosen =
            template.chosen(key).map_err(|reason| request.refuse("TILING_KEY_VAR", &key.to_string(), &reason))?;
        if chosen.kernel_type.is_some() {
            return Ok(chosen.kernel_type);
        }
    }
    let says = |wanted: Option<u64>| findings.task_types.iter().find(|(of, _)| *of == wanted).map(|(_, found)| *found);
    Ok(key.and_then(|key| says(Some(key))).or_else(|| says(None)))
}
