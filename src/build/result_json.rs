//! The description beside the kernel: what the graph engine and the loader read.

use serde_json::{Map, Value, json};

use crate::model::{CoreClass, Op, SubKernel, SuperKernel};
use crate::options::OptionName;
use crate::store::digest::ContentDigest;
use crate::toolchain::ToolchainKind;

/// The description of `kernel`, whose object has the digest `object`.
pub fn result_json(kernel: &SuperKernel, object: ContentDigest, toolchain: ToolchainKind) -> Value {
    let (cube, vector) = kernel.kernel_type.task_ratio();
    let mut result = Map::new();
    let mut put = |key: &str, value: Value| {
        result.insert(key.to_owned(), value);
    };
    put("binFileName", json!(kernel.name));
    put("binFileSuffix", json!(".o"));
    put("blockDim", json!(kernel.block_num));
    put("coreType", json!("MIX"));
    put("intercoreSync", json!(1));
    put("kernelName", json!(kernel.name));
    put("magic", json!("RT_DEV_BINARY_MAGIC_ELF"));
    put("memoryStamping", json!([]));
    put("opParaSize", json!(8));
    put("parameters", json!([]));
    put("sha256", json!(object.to_string()));
    put("taskRation", json!(format!("{cube}:{vector}")));
    put("optionalInputMode", json!("gen_placeholder"));
    put("optionalOutputMode", json!("gen_placeholder"));
    put("supportSuperKernel", json!(1));
    if let Some(debug) = &kernel.debug_output {
        put("debugOptions", json!(debug.option_text()));
        put("debugBufSize", json!(debug.size));
    }
    if kernel.workspace_size > 0 {
        put("workspace", json!({"num": 1, "size": [kernel.workspace_size], "type": [0]}));
    }
    put("SuperkernelInfo", json!({"kernelList": kernel_list(kernel)}));
    match toolchain {
        // A device must never take a host object for one of its own.
        ToolchainKind::Host => put("toolchain", json!(toolchain.as_str())),
        ToolchainKind::Cann => {}
    }
    Value::Object(result)
}

/// The entries of all ops in op order, under the keys their readers look for.
fn kernel_list(kernel: &SuperKernel) -> Map<String, Value> {
    let mut list: Map<String, Value> = Map::new();
    for op in &kernel.ops {
        for key in keys(kernel, op.class()) {
            if let Value::Array(entries) = list.entry(key).or_insert_with(|| json!([])) {
                entries.push(entry(kernel, op));
            }
        }
    }
    list
}

/// With `stream-fusion=1` the readers look by arch.
fn keys(kernel: &SuperKernel, class: CoreClass) -> Vec<String> {
    if !(kernel.options.stream_fusion && kernel.options.is_given(OptionName::StreamFusion)) {
        return vec!["aicore".to_owned()];
    }
    let chip = kernel.platform.chip();
    // Vector first, as readers know it.
    class.kinds().iter().rev().map(|kind| chip.arch(*kind)).collect()
}

fn entry(kernel: &SuperKernel, op: &Op) -> Value {
    let sub: &SubKernel = &op.kernel;
    let ids = |events: &[crate::model::EventUse]| events.iter().map(|event| event.id).collect::<Vec<_>>();
    let mut entry = json!({
        "func_name": sub.kernel_name,
        "split_mode": kernel.options.split.get(),
        "blockDim": op.block_num,
        "blockNum": op.block_num,
        "sub_operator_op_type": sub.op_type,
        "sub_operator_kernel_type": sub.kernel_type.as_str(),
        "sub_operator_early_start_set_flag": sub.early_start.sets_itself,
        "sub_operator_early_start_wait_flag": sub.early_start.waits_itself,
        "sub_operator_call_dcci_before_kernel_start": op.dcci.before_kernel_start,
        "sub_operator_call_dcci_after_kernel_end": op.dcci.after_kernel_end,
        "sub_operator_call_dcci_disable_on_kernel": op.dcci.disabled,
        "streamid": op.stream_id,
        "send_event_list": ids(&op.send_events),
        "recv_event_list": ids(&op.recv_events),
        "arg_list": {
            "param_offset": op.offsets.param,
            "notify_param_offset": (!op.send_events.is_empty()).then_some(op.offsets.notify),
            "wait_param_offset": (!op.recv_events.is_empty()).then_some(op.offsets.wait),
        },
    });
    if let Some(debug) = &sub.debug_output {
        entry["debug_option"] = json!(debug.option_text());
        entry["debug_size"] = json!(debug.size);
    }
    entry
}
