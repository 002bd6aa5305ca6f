//! What the source does and what the caller says, brought together once.

use super::error::OpBuildError;
use super::expression::evaluate;
use super::request::{Choice, OpRequest, Position, TILING_KEY, Unit};
use super::scan::Findings;
use crate::model::{EarlyStartFlags, FFTS_PARAMETER};
use crate::nearest::nearest;

/// Everything about the operator that its defines and its JSON depend on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// Parameter names as the JSON lists them, the FFTS address included.
    pub params: Vec<String>,
    /// Parameters the function itself takes.
    pub arguments: usize,
    /// Early-start halves the compiled code does.
    pub early_start: EarlyStartFlags,
    /// Compiled with early start at all.
    pub early_start_build: bool,
    /// The code calls `SyncAll`.
    pub sync_all: bool,
    /// `SyncAll` announces itself.
    pub feed_sync_all: bool,
    /// Vector cores ask cube cores for products by messages.
    pub matmul_objects: bool,
    /// What depends on the tiling key.
    pub(crate) keys: Vec<KeyFacts>,
}

/// What of the code depends on the tiling key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct KeyFacts {
    key: Option<u64>,
    /// Arguments of the kernel's template.
    pub template: Option<String>,
    /// The struct of its tiling data, where it is not the usual one.
    pub tiling_struct: Option<String>,
}

impl Facts {
    /// Checks `request` against `findings`.
    pub(crate) fn new(request: &OpRequest, findings: &Findings) -> Result<Self, OpBuildError> {
        let (params, arguments) = parameters(request, findings)?;
        let early_start_build = !request.is_dynamic() && request.early_start != Choice::No;
        Ok(Self {
            params,
            arguments,
            early_start: early_start(request, findings)?,
            early_start_build,
            matmul_objects: findings.matmul_objects,
            keys: request.units().iter().map(|unit| key_facts(request, findings, unit)).collect::<Result<_, _>>()?,
            sync_all: sync_all(request, findings)?,
            feed_sync_all: match request.feed_sync_all {
                // Without idle cores to follow it the announcement costs one store; it is off until the super kernel
                // switches it on.
                Choice::Detect => findings.sync_all,
                Choice::Yes => true,
                Choice::No => false,
            },
        })
    }
}

impl Facts {
    /// What depends on the key of a unit.
    pub(crate) fn of_key(&self, unit: &Unit) -> KeyFacts {
        self.keys.iter().find(|facts| facts.key == unit.key).cloned().unwrap_or_default()
    }
}

fn key_facts(request: &OpRequest, findings: &Findings, unit: &Unit) -> Result<KeyFacts, OpBuildError> {
    let mut facts = KeyFacts { key: unit.key, ..KeyFacts::default() };
    let Some(value) = request.key_of(unit) else { return Ok(facts) };
    if let Some(template) = &findings.template {
        let chosen =
            template.chosen(value).map_err(|reason| request.refuse("TILING_KEY_VAR", &value.to_string(), &reason))?;
        facts.template = Some(chosen.arguments);
        facts.tiling_struct = chosen.tiling_struct;
    }
    let names = |name: &str| (name == TILING_KEY).then_some(i128::from(value));
    let holds = |condition: &str| evaluate(condition, &names).is_some_and(|value| value != 0);
    let by_condition = findings.tiling_structs.iter().find(|(condition, _)| holds(condition));
    facts.tiling_struct = facts.tiling_struct.or(by_condition.map(|(_, name)| name.clone()));
    Ok(facts)
}

fn parameters(request: &OpRequest, findings: &Findings) -> Result<(Vec<String>, usize), OpBuildError> {
    let kernel = request.kernel.clone();
    let Some(source_names) = findings.parameters.clone() else {
        let close = nearest(&kernel, findings.functions.iter().map(String::as_str), 1);
        let suggestion = close.first().map(|name| (*name).to_owned());
        return Err(OpBuildError::NoKernel { kernel, suggestion });
    };
    let mut params = request.params.clone().unwrap_or_else(|| source_names.clone());
    if request.has_ffts_parameter() && params.first().map(String::as_str) != Some(FFTS_PARAMETER) {
        params.insert(0, FFTS_PARAMETER.to_owned());
    }
    let own = &params[usize::from(request.has_ffts_parameter())..];
    // Tiling data in the code is nothing that anybody passes.
    let built_in = usize::from(request.tiling_data.is_some());
    if request.params.is_none() {
        params.truncate(params.len().saturating_sub(built_in));
    } else if own.len() + built_in != source_names.len() {
        return Err(OpBuildError::ParameterCount { kernel, source_names, given: own.to_vec() });
    }
    Ok((params, source_names.len() - built_in.min(source_names.len())))
}

fn early_start(request: &OpRequest, findings: &Findings) -> Result<EarlyStartFlags, OpBuildError> {
    let calls = EarlyStartFlags {
        sets_itself: findings.sets_next_task_start && request.position != Position::End,
        waits_itself: findings.waits_pre_task_end && request.position != Position::Start,
    };
    match request.early_start {
        _ if request.is_dynamic() => Ok(EarlyStartFlags::default()),
        Choice::No => Ok(EarlyStartFlags::default()),
        Choice::Detect => Ok(calls),
        Choice::Yes if !calls.is_empty() => Ok(calls),
        Choice::Yes => {
            let reason = format!(
                "at position `{}` the source calls neither `SetNextTaskStart` nor `WaitPreTaskEnd` to any effect",
                request.position.as_str()
            );
            Err(request.refuse("early_start", "True", &reason))
        }
    }
}

fn sync_all(request: &OpRequest, findings: &Findings) -> Result<bool, OpBuildError> {
    match request.sync_all {
        Choice::Detect => Ok(findings.sync_all),
        // A library function may call it out of sight.
        Choice::Yes => Ok(true),
        Choice::No if findings.sync_all => {
            Err(request.refuse("sync_all", "False", "the source calls `SyncAll`; idle cores would be left out"))
        }
        Choice::No => Ok(false),
    }
}
