//! How many cores, of which kinds.

use super::{CoreClass, CoreCounts, KernelType, ModelError, Op, Platform, SuperKernelType};
use crate::options::Options;

/// The super kernel's type and block count.
pub(super) fn choose(ops: &[Op], options: &Options, platform: &Platform) -> Result<(SuperKernelType, u32), ModelError> {
    let (kernel_type, blocks) = needed(ops);
    match (options.debug_aic_num, options.debug_aiv_num) {
        (0, 0) => Ok((kernel_type, blocks)),
        (aic, aiv) => forced(CoreCounts { aic, aiv }, kernel_type, blocks, platform),
    }
}

/// What the ops need.
fn needed(ops: &[Op]) -> (SuperKernelType, u32) {
    let aic = ops.iter().map(|op| op.kernel.kernel_type.aic_cores(op.block_num)).max().unwrap_or(0);
    let aiv = ops.iter().map(|op| op.kernel.kernel_type.aiv_cores(op.block_num)).max().unwrap_or(0);
    if ops.iter().all(|op| op.class() == CoreClass::Aiv) {
        (SuperKernelType::Aiv, aiv)
    } else if ops.iter().all(|op| op.class() == CoreClass::Aic) {
        (SuperKernelType::Aic, aic)
    } else if ops.iter().all(|op| op.kernel.kernel_type == KernelType::MixAic1_1) || aiv <= aic {
        (SuperKernelType::Mix1_1, aic)
    } else {
        (SuperKernelType::Mix1_2, aic.max(aiv.div_ceil(2)))
    }
}

/// What `debug-aic-num` and `debug-aiv-num` ask for, if the ops and the platform can live with it.
fn forced(
    wanted: CoreCounts,
    kernel_type: SuperKernelType,
    blocks: u32,
    platform: &Platform,
) -> Result<(SuperKernelType, u32), ModelError> {
    let CoreCounts { aic, aiv } = wanted;
    let chosen = match (aic, aiv) {
        (_, 0) => (SuperKernelType::Aic, aic),
        (0, _) => (SuperKernelType::Aiv, aiv),
        _ if aic == aiv => (SuperKernelType::Mix1_1, aic),
        _ if u64::from(aiv) == 2 * u64::from(aic) => (SuperKernelType::Mix1_2, aic),
        _ => return Err(ModelError::DebugCoreRatio { aic, aiv }),
    };
    for (option, wanted, available) in
        [("debug-aic-num", aic, platform.cores.aic), ("debug-aiv-num", aiv, platform.cores.aiv)]
    {
        if wanted > available {
            let soc = platform.soc;
            return Err(ModelError::DebugCoresExceedPlatform { option, wanted, available, soc });
        }
    }
    let (ratio_aic, ratio_aiv) = kernel_type.task_ratio();
    for (option, wanted, ratio) in [("debug-aic-num", aic, ratio_aic), ("debug-aiv-num", aiv, ratio_aiv)] {
        let needed = blocks.saturating_mul(u32::from(ratio));
        if wanted < needed {
            return Err(ModelError::DebugCoresTooFew { option, wanted, needed });
        }
    }
    Ok(chosen)
}

/// More blocks than cores can never meet at a barrier.
pub(super) fn warn_about_oversized(ops: &[Op], platform: &Platform) -> Vec<String> {
    let mut warnings = Vec::new();
    for op in ops.iter().filter(|op| !op.is_dynamic()) {
        let kernel_type = op.kernel.kernel_type;
        for (used, available, kind) in [
            (kernel_type.aic_cores(op.block_num), platform.cores.aic, "cube"),
            (kernel_type.aiv_cores(op.block_num), platform.cores.aiv, "vector"),
        ] {
            if used > available {
                warnings.push(format!(
                    "{} uses {used} {kind} cores, {} has {available}: such a kernel cannot meet at a barrier",
                    op.name(),
                    platform.soc
                ));
            }
        }
    }
    warnings
}

/// Marks the ops whose `SyncAll` calls the idle cores must follow.
pub(super) fn mark_feed_sync_all(ops: &mut [Op], options: &Options, kernel_type: SuperKernelType, blocks: u32) {
    for op in ops.iter_mut().filter(|op| options.feed_sync_all && !op.is_dynamic() && op.kernel.calls_sync_all) {
        op.needs_feed_sync_all = blocks_for_all(op, kernel_type, blocks).is_some();
    }
}

/// The block count with which an op would use every core of its kinds, if its own is smaller.
fn blocks_for_all(op: &Op, kernel_type: SuperKernelType, blocks: u32) -> Option<u32> {
    let offered = match (op.class(), kernel_type) {
        (CoreClass::Aiv, SuperKernelType::Mix1_2) => blocks.saturating_mul(2),
        (CoreClass::Aiv, SuperKernelType::Aiv | SuperKernelType::Aic | SuperKernelType::Mix1_1)
        | (CoreClass::Aic | CoreClass::Mix, _) => blocks,
    };
    let same_shape = op.kernel.kernel_type == kernel_type.kernel_type() && op.block_num == blocks;
    (!same_shape && op.block_num < offered).then_some(offered)
}

/// `SyncAll` waits for every core of the kind: an op that leaves some idle hangs, unless they follow it.
pub(super) fn warn_about_partial_sync_all(
    ops: &[Op],
    options: &Options,
    kernel_type: SuperKernelType,
    blocks: u32,
) -> Vec<String> {
    if options.feed_sync_all {
        return Vec::new();
    }
    let calling = ops.iter().filter(|op| !op.is_dynamic() && op.kernel.calls_sync_all);
    calling
        .filter_map(|op| {
            let needed = blocks_for_all(op, kernel_type, blocks)?;
            Some(format!(
                "{} calls SyncAll on {} of {needed} blocks: it waits for cores that do not run it and hangs; set \
                 `feed-sync-all=1`, or build the op for {needed} blocks",
                op.name(),
                op.block_num
            ))
        })
        .collect()
}

/// Bytes of workspace that feed-sync-all needs: two slots of 64 bytes per op, an equal share for every clearing core.
pub(super) fn workspace_size(ops: usize, options: &Options, kernel_type: SuperKernelType, blocks: u32) -> u64 {
    if !options.feed_sync_all {
        return 0;
    }
    let cores = match kernel_type {
        SuperKernelType::Mix1_2 => 2 * u64::from(blocks),
        SuperKernelType::Aiv | SuperKernelType::Aic | SuperKernelType::Mix1_1 => u64::from(blocks),
    };
    let mut unit = 512;
    while cores * unit <= 128 * ops as u64 {
        unit *= 2;
    }
    cores * unit
}
