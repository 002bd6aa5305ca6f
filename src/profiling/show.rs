//! A decoded buffer as data: the profile that the cost model reads, with figures and problems beside.

use serde_json::{Value, json};

use super::records::Decoded;
use super::table::{begin, last, op_times, table};
use super::{Core, Profiled};
use crate::cost::profile::{BufferFormat, BufferKind, BufferOp, BufferProfile, CoreTime, TimeUnit};
use crate::model::CoreKind;

/// Everything as JSON: a profile as the cost model reads it, with figures and problems beside.
pub(crate) fn profile_json(decoded: &Decoded, kernel: &Profiled, clock_mhz: Option<f64>) -> Value {
    let mut document = serde_json::to_value(profile(decoded, kernel, clock_mhz)).unwrap_or(Value::Null);
    let scale = clock_mhz.map_or(1.0, |clock| 1.0 / clock);
    let tables: Vec<_> = decoded.launches.iter().map(|launch| table(launch, kernel, scale)).collect();
    document["figures_in"] = json!(if clock_mhz.is_some() { "us" } else { "cycles" });
    document["launches"] = json!(tables);
    document["problems"] = json!(decoded.problems);
    document
}

/// What the cost model reads: every op on every core that ran it to its end.
fn profile(decoded: &Decoded, kernel: &Profiled, clock_mhz: Option<f64>) -> BufferProfile {
    let name = |position: usize| kernel.ops.get(position).map_or_else(String::new, |op| op.name.clone());
    let mut ops: Vec<BufferOp> = Vec::new();
    for launch in &decoded.launches {
        let begin = begin(launch);
        for time in op_times(launch, kernel) {
            let Some(end) = time.end else { continue };
            if ops.len() <= time.op {
                let known = ops.len();
                ops.extend((known..=time.op).map(|position| BufferOp {
                    position,
                    name: name(position),
                    cores: Vec::new(),
                }));
            }
            ops[time.op].cores.push(CoreTime {
                kind: kind(time.core),
                number: time.core.number as usize,
                start: time.start.saturating_sub(begin) as f64,
                end: end.saturating_sub(begin) as f64,
            });
        }
    }
    ops.retain(|op| !op.cores.is_empty());
    BufferProfile {
        format: BufferFormat::V1,
        kernel: kernel.name.clone(),
        source: kernel.source,
        unit: TimeUnit::Cycles,
        clock_mhz,
        ops,
        runs: decoded.launches.iter().map(|launch| (last(launch) - begin(launch)) as f64).collect(),
    }
}

fn kind(core: Core) -> BufferKind {
    match core.kind {
        CoreKind::Aic => BufferKind::Aic,
        CoreKind::Aiv => BufferKind::Aiv,
    }
}
