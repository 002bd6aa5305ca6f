//! The model through its one entry, on real files.

use std::fs::write;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::diagnostic::Diagnostic;

/// A folder of sub-kernel JSONs and an op list over them.
struct Fixture {
    folder: TempDir,
    ops: Vec<Value>,
    options: String,
    platform: Platform,
}

impl Fixture {
    fn new() -> Self {
        let platform = Platform::new("Ascend910_93", None, None).unwrap();
        Self { folder: TempDir::new().unwrap(), ops: Vec::new(), options: String::new(), platform }
    }

    fn options(mut self, options: &str) -> Self {
        self.options = options.to_owned();
        self
    }

    /// An op whose JSON is the usual one of its type with `changes` applied; a null removes a key.
    fn op(mut self, kernel_type: &str, blocks: i64, changes: Value) -> Self {
        let index = self.ops.len();
        let mut kernel = json!({
            "kernelName": format!("k{index}"),
            "blockDim": blocks,
            "sub_operator_kernel_type": kernel_type,
            "sub_operator_kernel_name": functions(kernel_type, index, self.platform.chip()),
            "sub_operator_params": ["x", "y"],
            "sub_operator_early_start_set_flag": false,
            "sub_operator_early_start_wait_flag": false,
        });
        let mut entry = json!({"bin_path": "none.o", "stream_id": 0});
        for (key, value) in changes.as_object().unwrap() {
            let entry_key =
                matches!(key.as_str(), "stream_id" | "task_type" | "send_event_list" | "recv_event_list" | "json_path");
            let target = if entry_key { &mut entry } else { &mut kernel };
            if value.is_null() {
                target.as_object_mut().unwrap().remove(key);
            } else {
                target[key.as_str()] = value.clone();
            }
        }
        let path = self.folder.path().join(format!("k{index}.json"));
        write(&path, kernel.to_string()).unwrap();
        if entry.get("json_path").is_none() {
            entry["json_path"] = json!(path);
        }
        self.ops.push(entry);
        self
    }

    fn aiv(self, blocks: i64, changes: Value) -> Self {
        self.op("KERNEL_TYPE_AIV_ONLY", blocks, changes)
    }

    fn dynamic(self, kernel_type: &str, table: Value) -> Self {
        let names = json!({"dynamic_func_names": table});
        self.op(kernel_type, -1, json!({"task_type": "dynamic", "sub_operator_kernel_name": names}))
    }

    fn load(&self) -> Result<SuperKernel, ModelError> {
        load(&json!({"op_list": self.ops, "super_kernel_options": self.options}), "sk", &self.platform)
    }

    /// The error's id and its text, with the folder's name taken out.
    fn error(&self) -> (&'static str, String) {
        let error = self.load().expect_err("the input is wrong");
        assert!(!error.solution().is_empty());
        (error.id(), error.to_string().replace(self.folder.path().to_str().unwrap(), "DIR"))
    }
}

fn offsets(param: u32, tiling_key: Option<u32>, notify: u32, wait: u32) -> ParamOffsets {
    ParamOffsets {
        param: SlotNumber(param),
        tiling_key: tiling_key.map(SlotNumber),
        notify: SlotNumber(notify),
        wait: SlotNumber(wait),
    }
}

fn functions(kernel_type: &str, index: usize, chip: Chip) -> Value {
    match kernel_type {
        "KERNEL_TYPE_AIV_ONLY" | "KERNEL_TYPE_AIC_ONLY" => json!({"AiCore": {"func_name": format!("f{index}")}}),
        _ => json!({
            format!("dav-{chip}-cube"): {"func_name": format!("f{index}_aic"), "obj_files": "a/f_aic.o"},
            format!("dav-{chip}-vec"): {"func_name": format!("f{index}_aiv"), "obj_files": "a/f_aiv.o"},
        }),
    }
}

fn shape(fixture: &Fixture) -> (&'static str, u32) {
    let kernel = fixture.load().unwrap();
    (kernel.kernel_type.kernel_type().as_str(), kernel.block_num)
}

#[test]
fn the_contract_example_has_its_numbers() {
    let kernel = Fixture::new()
        .aiv(32, json!({"sub_operator_params": ["x", "y", "workspace"], "sub_operator_op_type": "IsInf"}))
        .op("KERNEL_TYPE_MIX_AIC_1_2", 20, json!({"sub_operator_params": ["ffts", "a", "b"]}))
        .dynamic(
            "KERNEL_TYPE_MIX_AIC_1_2",
            json!({
                "10000": {"kernel_type": "KERNEL_TYPE_MIX_AIC_1_2", "dav-c220-cube": "f_aic", "dav-c220-vec": "f_aiv"},
                "7": {"kernel_type": "KERNEL_TYPE_AIV_ONLY", "AiCore": "f_7"},
            }),
        )
        .load()
        .unwrap();
    assert_eq!((kernel.kernel_type, kernel.block_num), (SuperKernelType::Mix1_2, 24));
    assert_eq!(kernel.ops[OpPosition::at(0)].offsets, offsets(1, None, 4, 4));
    assert_eq!(kernel.ops[OpPosition::at(1)].offsets, offsets(4, None, 7, 7));
    assert_eq!(kernel.ops[OpPosition::at(2)].offsets, offsets(7, Some(9), 12, 12));
    let names: Vec<&str> = kernel.slots.slots.iter().map(|slot| slot.name.as_str()).collect();
    assert_eq!(names[9..], ["__ac_dynamic_tiling_key_2", "__ac_dynamic_block_num_2", "__ac_wait_lock_2"]);
    assert_eq!(
        kernel.defines(),
        [
            "-D__SUPER_KERNEL_DYNAMIC_BLOCK_NUM__",
            "-D__ASCENDC_ENABLE_SET_NEXT_TASK_START",
            "-D__ASCENDC_ENABLE_WAIT_PRE_TASK_END",
            "-D__ASCENDC_SUPERKERNEL_EARLY_START_V2",
            "-DASCENDC_DUMP=0",
        ]
    );
    let SubKernelCode::Dynamic(table) = &kernel.ops[OpPosition::at(2)].kernel.code else { panic!("op 2 is dynamic") };
    assert_eq!(table.iter().map(|entry| entry.key).collect::<Vec<_>>(), [7, 10000]);
}

#[test]
fn type_and_blocks_follow_the_largest_ops() {
    type Shapes = [(&'static [(&'static str, i64)], &'static str, u32); 9];
    let cases: Shapes = [
        (&[("AIV_ONLY", 10), ("MIX_AIV_1_0", 33)], "KERNEL_TYPE_MIX_AIV_1_0", 33),
        (&[("AIC_ONLY", 10), ("MIX_AIC_1_0", 3)], "KERNEL_TYPE_MIX_AIC_1_0", 10),
        (&[("MIX_AIC_1_1", 10), ("MIX_AIC_1_1", 3)], "KERNEL_TYPE_MIX_AIC_1_1", 10),
        (&[("AIC_ONLY", 10), ("AIV_ONLY", 10)], "KERNEL_TYPE_MIX_AIC_1_1", 10),
        (&[("AIC_ONLY", 10), ("AIV_ONLY", 11)], "KERNEL_TYPE_MIX_AIC_1_2", 10),
        (&[("AIC_ONLY", 10), ("AIV_ONLY", 25)], "KERNEL_TYPE_MIX_AIC_1_2", 13),
        (&[("MIX_AIC_1_2", 4)], "KERNEL_TYPE_MIX_AIC_1_2", 4),
        (&[("MIX_AIC_1_2", 4), ("AIC_ONLY", 8)], "KERNEL_TYPE_MIX_AIC_1_1", 8),
        (&[("MIX_AIC_1_1", 4), ("AIV_ONLY", 40)], "KERNEL_TYPE_MIX_AIC_1_2", 20),
    ];
    for (ops, kernel_type, blocks) in cases {
        let fixture = ops.iter().fold(Fixture::new(), |fixture, (name, blocks)| {
            fixture.op(&format!("KERNEL_TYPE_{name}"), *blocks, json!({}))
        });
        assert_eq!(shape(&fixture), (kernel_type, blocks), "{ops:?}");
    }
}

#[test]
fn core_counts_can_be_forced_within_limits() {
    let forced = |options: &str| Fixture::new().op("KERNEL_TYPE_AIC_ONLY", 4, json!({})).options(options);
    assert_eq!(shape(&forced("debug-aic-num=8")), ("KERNEL_TYPE_MIX_AIC_1_0", 8));
    assert_eq!(shape(&forced("debug-aic-num=8:debug-aiv-num=8")), ("KERNEL_TYPE_MIX_AIC_1_1", 8));
    assert_eq!(shape(&forced("debug-aic-num=8:debug-aiv-num=16")), ("KERNEL_TYPE_MIX_AIC_1_2", 8));
    assert_eq!(forced("debug-aic-num=8:debug-aiv-num=9").error().0, "SK0403");
    assert_eq!(forced("debug-aic-num=25").error().0, "SK0404");
    assert_eq!(forced("debug-aic-num=3").error().0, "SK0405");
    assert_eq!(
        forced("debug-aiv-num=8").error(),
        ("SK0405", "`debug-aic-num` is 0, but the ops need 4 such cores".to_owned())
    );
    let vector = Fixture::new().aiv(4, json!({})).options("debug-aiv-num=48");
    assert_eq!(shape(&vector), ("KERNEL_TYPE_MIX_AIV_1_0", 48));
}

#[test]
fn skipped_entries_count_for_the_index_only() {
    let mut fixture = Fixture::new().aiv(2, json!({})).aiv(2, json!({})).aiv(2, json!({}));
    fixture.ops[1] = json!({"bin_path": "prebuilt.o"});
    let kernel = fixture.load().unwrap();
    assert_eq!(kernel.ops.iter().map(|op| op.index.0).collect::<Vec<_>>(), [0, 2]);
    assert_eq!(kernel.slots.slots[3].name, "x_2");
}

#[test]
fn slots_hold_locks_then_workspace_then_profiling() {
    let kernel = Fixture::new()
        .aiv(2, json!({"send_event_list": [100, 7], "debugOptions": "printf", "debugBufSize": 75}))
        .aiv(2, json!({"recv_event_list": [7], "stream_id": 1}))
        .options("profiling=1:feed-sync-all=1")
        .load()
        .unwrap();
    let names: Vec<&str> = kernel.slots.slots.iter().map(|slot| slot.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "ffts_addr",
            "x_0",
            "y_0",
            "__ac_notify_lock_0_0",
            "__ac_notify_lock_0_1",
            "x_1",
            "y_1",
            "__ac_wait_lock_1_0",
            "workspace",
            "profiling",
            "task_id",
        ]
    );
    assert_eq!((kernel.ops[OpPosition::at(0)].offsets.notify.0, kernel.ops[OpPosition::at(1)].offsets.wait.0), (3, 7));
    assert_eq!((kernel.slots.workspace, kernel.slots.task_id()), (Some(SlotNumber(8)), Some(SlotNumber(10))));
    assert_eq!(
        kernel.inner_events,
        [InnerEvent { id: EventId(7), sender: OpPosition::at(0), receiver: OpPosition::at(1) }]
    );
    assert!(
        kernel.ops[OpPosition::at(0)].send_events[0].is_outer()
            && !kernel.ops[OpPosition::at(0)].send_events[1].is_outer()
    );
    assert_eq!(kernel.defines().last(), Some(&"-DASCENDC_DUMP"));
}

#[test]
fn the_950_has_no_ffts_slot() {
    let mut fixture = Fixture::new();
    fixture.platform = Platform::new("Ascend950", None, None).unwrap();
    let kernel = fixture.op("KERNEL_TYPE_MIX_AIC_1_1", 32, json!({})).load().unwrap();
    assert_eq!((kernel.slots.ffts, kernel.ops[OpPosition::at(0)].offsets.param.0), (None, 0));
    assert_eq!(kernel.platform.cores, CoreCounts { aic: 32, aiv: 64 });
}

#[test]
fn streams_stay_one_when_every_change_is_linked() {
    let linked = Fixture::new()
        .aiv(2, json!({"send_event_list": [5]}))
        .aiv(2, json!({"recv_event_list": [5], "stream_id": 1}))
        .options("stream-fusion=1");
    assert_eq!(linked.load().unwrap().form, StreamForm::One);
    let apart = Fixture::new().aiv(2, json!({})).aiv(2, json!({"stream_id": 1}));
    assert_eq!(
        apart.error(),
        (
            "SK0306",
            "op 0 (`k0`) on stream 0 and its successor op 1 (`k1`) on stream 1 are not linked by an event".to_owned()
        )
    );
    let apart = apart.options("stream-fusion=1").load().unwrap();
    assert_eq!(apart.form, StreamForm::Several);
    assert!(!apart.has_early_start());
    assert_eq!(apart.defines(), ["-DASCENDC_DUMP=0"]);
}

#[test]
fn debug_output_is_the_union_and_the_largest() {
    let kernel = Fixture::new()
        .aiv(2, json!({"debugOptions": "printf,assert", "debugBufSize": 100}))
        .aiv(2, json!({"debugOptions": "dump_cce", "debugBufSize": 900}))
        .aiv(2, json!({"debugOptions": ["timestamp", "printf"], "debugBufSize": 300}))
        .load()
        .unwrap();
    let debug = kernel.debug_output.unwrap();
    assert_eq!((debug.option_text().as_str(), debug.size), ("printf,assert,timestamp", 300));
}

#[test]
fn feed_sync_all_is_needed_by_smaller_ops_only() {
    let sync = json!({"sub_op_with_sync_all": true});
    let kernel = Fixture::new()
        .op("KERNEL_TYPE_MIX_AIC_1_2", 10, sync.clone())
        .op("KERNEL_TYPE_MIX_AIC_1_2", 9, sync.clone())
        .aiv(20, sync.clone())
        .aiv(19, sync.clone())
        .op("KERNEL_TYPE_AIC_ONLY", 10, sync.clone())
        .aiv(1, json!({}))
        .options("feed-sync-all=1")
        .load()
        .unwrap();
    let needs: Vec<bool> = kernel.ops.iter().map(|op| op.needs_feed_sync_all).collect();
    assert_eq!(needs, [false, true, false, true, false, false]);
    assert_eq!(kernel.workspace_size, 20 * 512);
    let off = Fixture::new().aiv(2, sync.clone()).aiv(1, sync).load().unwrap();
    assert!(off.ops.iter().all(|op| !op.needs_feed_sync_all) && off.workspace_size == 0);
}

#[test]
fn the_workspace_grows_in_doublings() {
    let many = (0..81).fold(Fixture::new(), |fixture, _| fixture.aiv(20, json!({}))).options("feed-sync-all=1");
    // 20 * 512 = 10,240 is not more than 128 * 81 = 10,368.
    assert_eq!(many.load().unwrap().workspace_size, 20 * 1024);
    // Two slots of 64 bytes for each op, and a byte to spare: what fits exactly does not fit.
    let size = |count: usize, blocks: i64, cut: &str| {
        let ops = (0..count).fold(Fixture::new(), |fixture, _| fixture.aiv(blocks, json!({})));
        ops.options(&format!("feed-sync-all=1{cut}")).load().unwrap().workspace_size
    };
    assert_eq!((size(79, 20, ""), size(80, 20, "")), (20 * 512, 20 * 1024));
    // Cut to ten cores, two to a block: the boundary moves with them.
    let cut = ":debug-aic-num=5:debug-aiv-num=10";
    assert_eq!((size(39, 4, cut), size(40, 4, cut)), (10 * 512, 10 * 1024));
}

#[test]
fn dcci_of_dynamic_ops_comes_from_the_lists() {
    let table = json!({"1": {"kernel_type": "KERNEL_TYPE_AIV_ONLY", "AiCore": "f"}});
    let dynamic = |op_type: &str| {
        let names = json!({"dynamic_func_names": table});
        json!({"task_type": "dynamic", "sub_operator_kernel_name": names, "sub_operator_op_type": op_type})
    };
    let kernel = Fixture::new()
        .aiv(1, dynamic("A"))
        .aiv(1, dynamic("B"))
        .aiv(1, json!({"sub_operator_call_dcci_before_kernel_start": true, "sub_operator_op_type": "B"}))
        .options("dcci-before-kernel-start=A,B:dcci-after-kernel-end=A:dcci-disable-on-kernel=B")
        .load()
        .unwrap();
    let flags: Vec<(bool, bool, bool)> =
        kernel.ops.iter().map(|op| (op.dcci.before_kernel_start, op.dcci.after_kernel_end, op.dcci.disabled)).collect();
    assert_eq!(flags, [(true, true, false), (false, false, true), (true, false, false)]);
    assert_eq!(kernel.ops[OpPosition::at(0)].block_num, 48);
}

#[test]
fn consecutive_disabled_flushes_are_a_warning() {
    let disabled = json!({"sub_operator_call_dcci_disable_on_kernel": true});
    let kernel = Fixture::new()
        .aiv(1, disabled.clone())
        .aiv(1, json!({}))
        .aiv(1, disabled.clone())
        .aiv(1, disabled)
        .load()
        .unwrap();
    assert_eq!(
        kernel.warnings,
        ["consecutive ops with cache flushes disabled may see stale data: op 2 (`k2`), op 3 (`k3`)"]
    );
}

#[test]
fn a_sync_all_that_leaves_cores_out_is_a_warning() {
    let calls = json!({"sub_op_with_sync_all": true});
    let warnings = |options: &str, blocks| {
        let ops = Fixture::new().aiv(blocks, calls.clone()).aiv(8, json!({}));
        ops.options(options).load().unwrap().warnings
    };
    assert_eq!(
        warnings("", 3),
        ["op 0 (`k0`) calls SyncAll on 3 of 8 blocks: it waits for cores that do not run it and hangs; set \
          `feed-sync-all=1`, or build the op for 8 blocks"]
    );
    assert!(warnings("feed-sync-all=1", 3).is_empty());
    assert!(warnings("", 8).is_empty());
}

#[test]
fn too_many_blocks_are_a_warning() {
    let kernel = Fixture::new().op("KERNEL_TYPE_MIX_AIC_1_2", 25, json!({})).load().unwrap();
    assert_eq!(kernel.warnings.len(), 2);
    assert_eq!(
        kernel.warnings[0],
        "op 0 (`k0`) uses 25 cube cores, Ascend910_93 has 24: such a kernel cannot meet at a barrier"
    );
}

#[test]
fn wrong_events_are_named() {
    let send = |events: Value| json!({"send_event_list": events});
    let receive = |events: Value, stream: i64| json!({"recv_event_list": events, "stream_id": stream});
    let cases = [
        (
            Fixture::new()
                .aiv(1, json!({}))
                .aiv(1, json!({"send_event_list": [3], "recv_event_list": [3]}))
                .aiv(1, json!({})),
            "SK0301",
            "op 1 (`k1`) both sends and receives event 3",
        ),
        (
            Fixture::new().aiv(1, send(json!([3, 3]))).aiv(1, json!({})),
            "SK0302",
            "op 0 (`k0`): event 3 is listed twice in its `send_event_list`",
        ),
        (
            Fixture::new().aiv(1, send(json!([3]))).aiv(1, send(json!([3]))).aiv(1, json!({})),
            "SK0303",
            "event 3 is sent by two ops: op 0 (`k0`) and op 1 (`k1`)",
        ),
        (
            Fixture::new().aiv(1, json!({})).aiv(1, receive(json!([3]), 0)).aiv(1, receive(json!([3]), 0)),
            "SK0303",
            "event 3 is received by two ops: op 1 (`k1`) and op 2 (`k2`)",
        ),
        (
            Fixture::new().aiv(1, send(json!([3]))).aiv(1, receive(json!([3]), 0)),
            "SK0304",
            "event 3 from op 0 (`k0`) to op 1 (`k1`) stays inside stream 0",
        ),
        (
            Fixture::new()
                .aiv(1, json!({"send_event_list": [1]}))
                .aiv(1, json!({"recv_event_list": [1, 3], "stream_id": 1, "send_event_list": [2]}))
                .aiv(1, json!({"recv_event_list": [2], "send_event_list": [3]}))
                .aiv(1, json!({})),
            "SK0305",
            "event 3: its receiver op 1 (`k1`) comes before its sender op 2 (`k2`)",
        ),
        (
            Fixture::new().aiv(1, receive(json!([3]), 0)).aiv(1, json!({})),
            "SK0307",
            "op 0 (`k0`) is the first op and receives event 3: nothing of this super kernel can come before it",
        ),
        (
            Fixture::new().aiv(1, json!({})).aiv(1, send(json!([3]))),
            "SK0308",
            "op 1 (`k1`) is the last op and sends event 3: nothing of this super kernel can come after it",
        ),
    ];
    for (fixture, id, message) in cases {
        assert_eq!(fixture.error(), (id, message.to_owned()));
    }
}

#[test]
fn wrong_sub_kernels_are_named() {
    let early = json!({"sub_operator_early_start_set_flag": true});
    let dynamic_early = json!({
        "task_type": "dynamic", "sub_operator_early_start_wait_flag": true,
        "sub_operator_kernel_name": {"dynamic_func_names": {"1": {"kernel_type": "KERNEL_TYPE_AIV_ONLY", "AiCore": "f"}}},
    });
    let mix_key = json!({"3": {"kernel_type": "KERNEL_TYPE_MIX_AIC_1_1", "dav-c220-cube": "a", "dav-c220-vec": "b"}});
    let cases = [
        (
            Fixture::new().aiv(1, json!({"json_path": "DIR/none.json"})),
            "SK0201",
            "`op_list[0].json_path`: cannot read `DIR/none.json`: No such file or directory (os error 2)",
        ),
        (
            Fixture::new().aiv(1, json!({"json_path": "/"})),
            "SK0201",
            "`op_list[0].json_path`: `/` is not a regular file",
        ),
        (
            Fixture::new().aiv(1, json!({"sub_operator_params": "x"})),
            "SK0203",
            "`op_list[0].json_path → sub_operator_params` in `DIR/k0.json`: expected a list, found the string \"x\"",
        ),
        (
            Fixture::new().aiv(1, json!({"blockDim": null})),
            "SK0204",
            "`op_list[0].json_path → blockDim` in `DIR/k0.json`: the key is missing",
        ),
        (
            Fixture::new().aiv(1, json!({"sub_operator_kernel_name": {"AiCore": {"func_name": "a b"}}})),
            "SK0207",
            "`op_list[0].json_path → sub_operator_kernel_name.AiCore.func_name` in `DIR/k0.json`: `a b` is not a C identifier, so it cannot be a function",
        ),
        (
            Fixture::new().op("KERNEL_TYPE_MIX_AIC_1_3", 1, json!({})),
            "SK0208",
            "`op_list[0].json_path → sub_operator_kernel_type` in `DIR/k0.json`: there is no kernel type `KERNEL_TYPE_MIX_AIC_1_3` that can be fused",
        ),
        (
            Fixture::new().aiv(1, json!({"task_type": "dynamc"})),
            "SK0209",
            "`op_list[0].task_type`: there is no task type `dynamc`",
        ),
        (
            Fixture::new().dynamic(
                "KERNEL_TYPE_AIV_ONLY",
                json!({"0x1": {"kernel_type": "KERNEL_TYPE_AIV_ONLY", "AiCore": "f"}}),
            ),
            "SK0210",
            "`op_list[0].json_path → sub_operator_kernel_name.dynamic_func_names` in `DIR/k0.json`: `0x1` is not a tiling key (a decimal number below 2^64)",
        ),
        (
            Fixture::new().dynamic("KERNEL_TYPE_AIV_ONLY", json!({})),
            "SK0210",
            "`op_list[0].json_path → sub_operator_kernel_name.dynamic_func_names` in `DIR/k0.json`: a dynamic op needs at least one tiling key",
        ),
        (
            Fixture::new().dynamic("KERNEL_TYPE_AIV_ONLY", mix_key),
            "SK0211",
            "op 0 (`k0`): tiling key 3 of type KERNEL_TYPE_MIX_AIC_1_1 runs on cube cores, which the op's type KERNEL_TYPE_AIV_ONLY does not have",
        ),
        (
            Fixture::new().aiv(1, json!({"split_mode": 2})),
            "SK0212",
            "op 0 (`k0`): its objects were split into 2 copies, but `split-mode` is 4",
        ),
        (
            Fixture::new().aiv(1, early.clone()).options("early-start=0"),
            "SK0213",
            "op 0 (`k0`) was built with early start (it sets itself), but `early-start` is 0",
        ),
        (
            Fixture::new().aiv(1, dynamic_early),
            "SK0214",
            "op 0 (`k0`) is dynamic and was built with early start (it waits itself); its set or wait would have no partner",
        ),
        (
            Fixture::new().aiv(1, early).aiv(1, json!({"stream_id": 1})).options("stream-fusion=1"),
            "SK0215",
            "op 0 (`k0`) was built with early start (it sets itself), but this super kernel has several streams, where its set or wait would have no partner",
        ),
        (Fixture::new().aiv(0, json!({})), "SK0401", "op 0 (`k0`): `blockDim` is 0"),
        (
            Fixture::new().aiv(1, json!({})).options("split-mode=0"),
            "SK0102",
            "option `split-mode` cannot be `0`; expected a number from 1 to 64\n  split-mode=0\n             ^",
        ),
    ];
    for (fixture, id, message) in cases {
        assert_eq!(fixture.error(), (id, message.to_owned()));
    }
}

#[test]
fn malformed_json_tells_the_position() {
    let fixture = Fixture::new().aiv(1, json!({}));
    for text in ["{\"a\": NaN}", "{", "\u{feff}{}", "[1,]", "{} {}"] {
        write(fixture.folder.path().join("k0.json"), text).unwrap();
        let (id, message) = fixture.error();
        assert_eq!(id, "SK0202", "{text}");
        assert!(message.starts_with("`op_list[0].json_path`: `DIR/k0.json` is not valid JSON: "), "{message}");
        assert!(message.contains("line 1 column"), "{message}");
    }
    write(fixture.folder.path().join("k0.json"), b"{\"kernelName\": \"\xff\"}").unwrap();
    assert_eq!(fixture.error().0, "SK0202");
    write(fixture.folder.path().join("k0.json"), "[".repeat(100_000)).unwrap();
    assert_eq!(fixture.error().0, "SK0202");
}

#[test]
fn the_top_is_checked_too() {
    let platform = Platform::new("Ascend910_93", None, None).unwrap();
    let cases = [
        (json!([]), "SK0203", "`kernel_infos`: expected an object, found a list of 0"),
        (json!({}), "SK0205", "`op_list` is missing"),
        (json!({"nodes": []}), "SK0205", "a graph is given (it has `nodes`), where an op list is expected"),
        (json!({"op_list": []}), "SK0205", "`op_list` is empty"),
        (json!({"op_list": [{}]}), "SK0205", "`op_list` has no entry with a `json_path`"),
        (json!({"op_list": {}}), "SK0203", "`op_list`: expected a list, found an object with 0 keys"),
        (json!({"op_list": [3]}), "SK0203", "`op_list[0]`: expected an object, found the number 3"),
        (
            json!({"op_list": [{}], "super_kernel_options": 1}),
            "SK0203",
            "`super_kernel_options`: expected a string, found the number 1",
        ),
    ];
    for (infos, id, message) in cases {
        let error = load(&infos, "sk", &platform).unwrap_err();
        assert_eq!((error.id(), error.to_string().as_str()), (id, message));
    }
    for name in ["", "1a", "a-b", "a b", "ä", "a;"] {
        assert_eq!(load(&json!({}), name, &platform).unwrap_err().id(), "SK0206", "{name}");
    }
    assert_eq!(Platform::new("Ascend310", None, None).unwrap_err().id(), "SK0402");
}

mod properties {
    use super::*;
    use proptest::prelude::*;

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "[a-z_]{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 20, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::hash_map("[a-z_]{0,6}", inner, 0..4)
                    .prop_map(|entries| Value::Object(entries.into_iter().collect())),
            ]
        })
    }

    proptest! {
        /// Whatever stands in place of one value, the result is a model or an error, never a panic.
        #[test]
        fn any_value_anywhere_is_survived(value in any_json(), key in 0usize..16) {
            const KEYS: [&str; 16] = [
                "kernelName", "blockDim", "sub_operator_kernel_type", "sub_operator_kernel_name",
                "sub_operator_params", "sub_operator_early_start_set_flag", "split_mode", "debugOptions",
                "debugBufSize", "sub_op_with_sync_all", "sub_operator_op_type", "stream_id", "task_type",
                "send_event_list", "recv_event_list", "json_path",
            ];
            let fixture = Fixture::new().aiv(2, json!({KEYS[key]: value})).aiv(2, json!({}));
            if let Err(error) = fixture.load() {
                prop_assert!(!error.to_string().is_empty() && error.to_string().len() < 1000);
            }
        }
    }
}
