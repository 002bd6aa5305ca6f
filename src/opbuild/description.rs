//! The JSON beside an operator's object, as the device compiler writes it.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::facts::Facts;
use super::request::{OpRequest, Unit};
use crate::artifact::copy_name;

/// A compiled function: its symbol and the object files that hold it and its copies.
#[derive(Debug, Clone)]
pub struct BuiltFunction {
    /// What it is.
    pub unit: Unit,
    /// Its symbol.
    pub name: String,
    /// File names of its object and of the copies 1, 2, …
    pub objects: Vec<String>,
}

/// Name of the entry that holds the digest of everything the result depends on.
pub const DIGEST_KEY: &str = "buildDigest";

/// The whole description.
pub fn describe(
    request: &OpRequest,
    facts: &Facts,
    name: &str,
    functions: &[BuiltFunction],
    object_digest: &str,
    build_digest: &str,
) -> Value {
    let mut map = Map::new();
    let mut put = |key: &str, value: Value| {
        map.insert(key.to_owned(), value);
    };
    put("binFileName", json!(name));
    put("binFileSuffix", json!(".o"));
    put("kernelName", json!(name));
    put("blockDim", json!(request.block_dim));
    put("magic", json!("RT_DEV_BINARY_MAGIC_ELF"));
    put("sha256", json!(object_digest));
    put("supportSuperKernel", json!(1));
    put("sub_operator_kernel_type", json!(request.kernel_type.as_str()));
    put("sub_operator_kernel_name", function_table(request, functions));
    put("sub_operator_params", json!(facts.params));
    put("sub_operator_early_start_set_flag", json!(facts.early_start.sets_itself));
    put("sub_operator_early_start_wait_flag", json!(facts.early_start.waits_itself));
    if let Some(split) = request.split_mode {
        put("split_mode", json!(split.get()));
    }
    if let Some(debug) = &request.debug_output {
        put("debugOptions", json!(debug.option_text()));
        put("debugBufSize", json!(debug.size));
    }
    put("sub_op_with_sync_all", json!(facts.sync_all));
    put("sub_operator_op_type", json!(request.op_type));
    put("sub_operator_call_dcci_before_kernel_start", json!(request.dcci.before_kernel_start));
    put("sub_operator_call_dcci_after_kernel_end", json!(request.dcci.after_kernel_end));
    put("sub_operator_call_dcci_disable_on_kernel", json!(request.dcci.disabled));
    put("toolchain", json!("host"));
    put(DIGEST_KEY, json!(build_digest));
    Value::Object(map)
}

fn function_table(request: &OpRequest, functions: &[BuiltFunction]) -> Value {
    if request.is_dynamic() { dynamic_table(request, functions) } else { static_table(request, functions) }
}

fn static_table(request: &OpRequest, functions: &[BuiltFunction]) -> Value {
    let mut table = Map::new();
    for function in functions {
        let mut entry = Map::new();
        entry.insert("func_name".to_owned(), json!(function.name));
        for (copy, object) in (0..).zip(&function.objects) {
            entry.insert(copy_name("obj_files", copy), json!(path_text(&request.out_dir.join(object))));
        }
        table.insert(function.unit.kernel_type.arch_key(function.unit.kind, request.chip), Value::Object(entry));
    }
    Value::Object(table)
}

fn dynamic_table(request: &OpRequest, functions: &[BuiltFunction]) -> Value {
    let mut table = Map::new();
    for entry in &request.tiling_keys {
        let mut named = Map::new();
        named.insert("kernel_type".to_owned(), json!(entry.kernel_type.as_str()));
        for function in functions.iter().filter(|function| function.unit.key == Some(entry.key)) {
            named.insert(function.unit.kernel_type.arch_key(function.unit.kind, request.chip), json!(function.name));
        }
        table.insert(entry.key.to_string(), Value::Object(named));
    }
    json!({ "dynamic_func_names": table })
}

fn path_text(path: &Path) -> String {
    path.display().to_string()
}
