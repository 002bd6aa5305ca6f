//! Golden cases: `tests/cases/<name>/kernel.json` describes a super kernel, `program.txt` and `kernel.cpp` are what it
//! becomes. `SUPERKERNEL_BLESS=1` rewrites them. Every source is compiled by the host compiler, warnings as errors.

use std::path::{Path, PathBuf};

use super::support::{KernelBuilder, OpBuilder, golden, host, sizes};
use serde_json::Value;
use superkernel::emit::emit;
use superkernel::model::{CoreClass, DcciFlags, KernelType};
use superkernel::plan::plan;
use superkernel::program::Program;

/// Folders that describe a super kernel; others in there belong to other tests.
fn cases() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut folders: Vec<PathBuf> = std::fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("kernel.json").exists())
        .collect();
    folders.sort();
    folders
}

fn read(folder: &Path) -> KernelBuilder {
    let text = std::fs::read_to_string(folder.join("kernel.json")).unwrap();
    let json: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut builder = KernelBuilder::new(json["options"].as_str().unwrap_or(""));
    if json["soc"] == "Ascend950" {
        builder = builder.c310().cores(32, 64);
    }
    builder.ops(json["ops"].as_array().unwrap().iter().map(read_op))
}

fn read_op(json: &Value) -> OpBuilder {
    let kernel_type = |name: &Value| KernelType::from_name(&format!("KERNEL_TYPE_{}", name.as_str().unwrap())).unwrap();
    let events = |key: &str| json[key].as_array().into_iter().flatten().map(|id| id.as_i64().unwrap()).collect();
    let is = |key: &str| json[key].as_bool().unwrap_or(false);
    let mut op = OpBuilder::new(kernel_type(&json["type"]), json["blocks"].as_u64().unwrap_or(1) as u32);
    op.stream = json["stream"].as_i64().unwrap_or(0);
    op.sends = events("sends");
    op.receives = events("receives");
    op.sets_itself = is("sets_itself");
    op.waits_itself = is("waits_itself");
    op.calls_sync_all = is("calls_sync_all");
    op.debug_output = is("debug_output");
    op.dcci =
        DcciFlags { before_kernel_start: is("flush_before"), after_kernel_end: is("flush_after"), disabled: false };
    op.op_type = json["op_type"].as_str().unwrap_or("").to_owned();
    op.name = json["name"].as_str().map(str::to_owned);
    let keys = json["keys"].as_object().into_iter().flatten();
    op.keys = keys.map(|(key, name)| (key.parse().unwrap(), kernel_type(name))).collect();
    op
}

fn program(folder: &Path) -> (Program, Vec<String>) {
    let kernel = read(folder).build();
    let defines = kernel.defines().into_iter().map(str::to_owned).collect();
    (plan(&kernel, &sizes(&kernel)).unwrap(), defines)
}

#[test]
fn programs_and_sources_are_as_expected() {
    let cases = cases();
    assert!(cases.len() >= 8, "{} cases", cases.len());
    for folder in cases {
        let (program, _) = program(&folder);
        golden::check(&folder.join("program.txt"), &program.text());
        golden::check(&folder.join("kernel.cpp"), &emit(&program).unwrap());
    }
}

/// As it would be compiled: for each core kind of the kernel, and for the other chip as well.
#[test]
fn sources_compile_without_warnings() {
    for folder in cases() {
        let (program, defines) = program(&folder);
        for &kind in CoreClass::Mix.kinds() {
            let source = folder.join("kernel.cpp");
            let done = host::compile(&source, kind, program.chip, program.kernel_type, &defines, &[]);
            done.unwrap_or_else(|complaints| panic!("{} for {kind}:\n{complaints}", folder.display()));
        }
    }
}
