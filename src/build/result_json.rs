//! The description beside the kernel, which the graph engine and the loader read: written and read here.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::environment::LinkerChoice;
use crate::json::{JsonError, Node};
use crate::model::{
    Chip, CoreClass, CoreKind, DcciFlags, DebugOutput, EarlyStartFlags, EventId, EventUse, KernelType, Op, SlotNumber,
    StreamId, SuperKernel, SuperKernelType,
};
use crate::options::OptionName;
use crate::store::digest::ContentDigest;
use crate::toolchain::ToolchainKind;

/// What the description says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ResultJson {
    /// The kernel's name.
    pub name: String,
    /// File name of its object.
    pub object_file: String,
    /// Blocks it is launched with.
    pub blocks: u32,
    /// The cores it starts for each block.
    pub kernel_type: SuperKernelType,
    /// Digest of its object, as hexadecimal digits.
    pub object_digest: Option<String>,
    /// Its debug output.
    pub debug_output: Option<DebugOutput>,
    /// Bytes of workspace.
    pub workspace_size: u64,
    /// What CANN said about the platform, key by key.
    pub platform_info: BTreeMap<String, u64>,
    /// The chip whose archs its readers look by; `None`: they look under one key for all.
    pub by_arch: Option<Chip>,
    /// Its ops, in op order.
    pub ops: Vec<ResultOp>,
    /// The tools it was built with; a kernel for a device does not say.
    pub toolchain: ToolchainKind,
    /// Who linked it, if it is for a device.
    pub linker: LinkerChoice,
}

/// What it says about one op.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ResultOp {
    /// Name of its sub-kernel.
    pub name: String,
    /// Type of its sub-kernel.
    pub kernel_type: KernelType,
    /// Its operator type, may be empty.
    pub op_type: String,
    /// Copies of its code.
    pub split: u32,
    /// Blocks it runs on.
    pub blocks: u32,
    /// What its own code does for early start.
    pub early_start: EarlyStartFlags,
    /// Cache flushes around it.
    pub dcci: DcciFlags,
    /// Its stream.
    pub stream: StreamId,
    /// Events it sends.
    pub sends: Vec<EventId>,
    /// Events it receives.
    pub receives: Vec<EventId>,
    /// Slot of its first parameter.
    pub param: SlotNumber,
    /// Slot of its first send lock.
    pub notify: Option<SlotNumber>,
    /// Slot of its first receive lock.
    pub wait: Option<SlotNumber>,
    /// What its description says about debugging, whether it means output or not.
    pub debug_options: Option<DebugOutput>,
}

/// The key of all ops, unless they are listed by arch.
const ALL_CORES: &str = "aicore";

// -- from the model ---------------------------------------------------------------------------------------------------

impl ResultJson {
    /// The description of `kernel`, whose object has the digest `object`.
    pub(crate) fn new(
        kernel: &SuperKernel,
        object: ContentDigest,
        (toolchain, linker): (ToolchainKind, LinkerChoice),
        platform_info: &BTreeMap<String, u64>,
    ) -> Self {
        // With `stream-fusion=1` the readers look by arch.
        let by_arch = kernel.options.stream_fusion && kernel.options.is_given(OptionName::StreamFusion);
        Self {
            name: kernel.name.clone(),
            object_file: format!("{}.o", kernel.name),
            blocks: kernel.block_num,
            kernel_type: kernel.kernel_type,
            object_digest: Some(object.to_string()),
            debug_output: kernel.debug_output.clone(),
            workspace_size: kernel.workspace_size,
            platform_info: platform_info.clone(),
            by_arch: by_arch.then(|| kernel.platform.chip()),
            ops: kernel.ops.iter().map(|op| ResultOp::new(op, kernel.options.split.get())).collect(),
            toolchain,
            linker,
        }
    }
}

impl ResultOp {
    fn new(op: &Op, split: u32) -> Self {
        let ids = |events: &[EventUse]| events.iter().map(|event| event.id).collect::<Vec<_>>();
        Self {
            name: op.kernel.kernel_name.to_string(),
            kernel_type: op.kernel.kernel_type,
            op_type: op.kernel.op_type.clone(),
            split,
            blocks: op.block_num,
            early_start: op.kernel.early_start,
            dcci: op.dcci,
            stream: op.stream_id,
            sends: ids(&op.send_events),
            receives: ids(&op.recv_events),
            param: op.offsets.param,
            notify: (!op.send_events.is_empty()).then_some(op.offsets.notify),
            wait: (!op.recv_events.is_empty()).then_some(op.offsets.wait),
            debug_options: op.kernel.debug_options.clone(),
        }
    }
}

// -- writing ----------------------------------------------------------------------------------------------------------

impl ResultJson {
    /// The document.
    pub(crate) fn to_json(&self) -> Value {
        let (cube, vector) = self.kernel_type.task_ratio();
        let (stem, suffix) = self.object_file.rsplit_once('.').unwrap_or((&self.object_file, ""));
        let mut result = Map::new();
        let mut put = |key: &str, value: Value| {
            result.insert(key.to_owned(), value);
        };
        put("binFileName", json!(stem));
        put("binFileSuffix", json!(format!(".{suffix}")));
        put("blockDim", json!(self.blocks));
        put("coreType", json!("MIX"));
        put("intercoreSync", json!(1));
        put("kernelName", json!(self.name));
        put("magic", json!("RT_DEV_BINARY_MAGIC_ELF"));
        put("memoryStamping", json!([]));
        put("opParaSize", json!(8));
        put("parameters", json!([]));
        put("sha256", json!(self.object_digest));
        put("taskRation", json!(format!("{cube}:{vector}")));
        put("optionalInputMode", json!("gen_placeholder"));
        put("optionalOutputMode", json!("gen_placeholder"));
        put("supportSuperKernel", json!(1));
        if let Some(debug) = &self.debug_output {
            put("debugOptions", json!(debug.option_text()));
            put("debugBufSize", json!(debug.size));
        }
        if self.workspace_size > 0 {
            put("workspace", json!({"num": 1, "size": [self.workspace_size], "type": [0]}));
        }
        if !self.platform_info.is_empty() {
            put("platformInfo", json!(self.platform_info));
        }
        put("SuperkernelInfo", json!({"kernelList": self.kernel_list()}));
        match self.toolchain {
            // A device must never take a host object for one of its own.
            ToolchainKind::Host => put("toolchain", json!(self.toolchain.as_str())),
            ToolchainKind::Cann => match self.linker {
                LinkerChoice::Vendor => {}
                LinkerChoice::Own | LinkerChoice::Both => put("linker", json!(self.linker.as_str())),
            },
        }
        Value::Object(result)
    }

    /// The entries of all ops in op order, under the keys their readers look for.
    fn kernel_list(&self) -> Map<String, Value> {
        let mut list: Map<String, Value> = Map::new();
        for op in &self.ops {
            for key in self.keys(op.kernel_type.class()) {
                if let Value::Array(entries) = list.entry(key).or_insert_with(|| json!([])) {
                    entries.push(op.to_json());
                }
            }
        }
        list
    }

    fn keys(&self, class: CoreClass) -> Vec<String> {
        let Some(chip) = self.by_arch else { return vec![ALL_CORES.to_owned()] };
        // Vector first, as readers know it.
        class.kinds().iter().rev().map(|kind| chip.arch(*kind)).collect()
    }
}

impl ResultOp {
    fn to_json(&self) -> Value {
        let mut entry = json!({
            "func_name": self.name,
            "split_mode": self.split,
            "blockDim": self.blocks,
            "blockNum": self.blocks,
            "sub_operator_op_type": self.op_type,
            "sub_operator_kernel_type": self.kernel_type.as_str(),
            "sub_operator_early_start_set_flag": self.early_start.sets_itself,
            "sub_operator_early_start_wait_flag": self.early_start.waits_itself,
            "sub_operator_call_dcci_before_kernel_start": self.dcci.before_kernel_start,
            "sub_operator_call_dcci_after_kernel_end": self.dcci.after_kernel_end,
            "sub_operator_call_dcci_disable_on_kernel": self.dcci.disabled,
            "streamid": self.stream,
            "send_event_list": self.sends,
            "recv_event_list": self.receives,
            "arg_list": {
                "param_offset": self.param,
                "notify_param_offset": self.notify,
                "wait_param_offset": self.wait,
            },
        });
        if let Some(debug) = &self.debug_options {
            entry["debug_option"] = json!(debug.option_text());
            entry["debug_size"] = json!(debug.size);
        }
        entry
    }
}

// -- reading ----------------------------------------------------------------------------------------------------------

impl ResultJson {
    /// Reads a description. What a launch needs must be there; the rest may be missing.
    pub(crate) fn from_node(json: &Node<'_>) -> Result<Self, JsonError> {
        let name = json.required("kernelName")?.non_empty_string()?;
        let stem = json.optional("binFileName")?.map_or(Ok(name), |node| node.non_empty_string())?;
        let suffix = json.optional("binFileSuffix")?.map_or(Ok(".o"), |node| node.string())?;
        let toolchain = match json.optional("toolchain")? {
            None => ToolchainKind::Cann,
            Some(node) => match node.string()? {
                "host" => ToolchainKind::Host,
                _ => return Err(node.wrong_type("`host`")),
            },
        };
        let linker = match json.optional("linker")? {
            None => LinkerChoice::Vendor,
            Some(node) => {
                LinkerChoice::from_name(node.string()?).ok_or_else(|| node.wrong_type("`vendor`, `own` or `both`"))?
            }
        };
        let list = json.required("SuperkernelInfo")?.required("kernelList")?;
        let (by_arch, ops) = read_kernel_list(&list)?;
        Ok(Self {
            name: name.to_owned(),
            object_file: format!("{stem}{suffix}"),
            blocks: json.required("blockDim")?.count32()?,
            kernel_type: task_ratio(&json.required("taskRation")?)?,
            object_digest: json.optional("sha256")?.map(|node| node.string().map(str::to_owned)).transpose()?,
            debug_output: read_debug_output(json, "debugOptions", "debugBufSize")?,
            workspace_size: json.optional("workspace")?.map_or(Ok(0), |node| read_workspace(&node))?,
            platform_info: json.optional("platformInfo")?.map_or_else(|| Ok(BTreeMap::new()), |node| counts(&node))?,
            by_arch,
            ops,
            toolchain,
            linker,
        })
    }

    /// Slots of each op's parameters, without its locks: how many, where that follows from what comes next.
    pub(crate) fn parameter_counts(&self) -> Vec<Option<u32>> {
        let next = self.ops.iter().skip(1).map(|op| Some(op.param)).chain([None]);
        let count = |(op, next): (&ResultOp, Option<SlotNumber>)| {
            let ends = [op.notify, op.wait, next];
            ends.into_iter().flatten().filter_map(|end| end.0.checked_sub(op.param.0)).min()
        };
        self.ops.iter().zip(next).map(count).collect()
    }
}

fn counts(node: &Node<'_>) -> Result<BTreeMap<String, u64>, JsonError> {
    let count = |(key, value)| -> Result<_, JsonError> {
        let key: &String = key;
        Ok((key.clone(), Node::root(value, node.path.key(key)).count()?))
    };
    node.object()?.into_iter().map(count).collect()
}

fn task_ratio(node: &Node<'_>) -> Result<SuperKernelType, JsonError> {
    let ratio =
        node.string()?.split_once(':').and_then(|(cube, vector)| Some((cube.parse().ok()?, vector.parse().ok()?)));
    ratio.and_then(SuperKernelType::from_task_ratio).ok_or_else(|| node.wrong_type("`1:0`, `0:1`, `1:1` or `1:2`"))
}

fn read_workspace(node: &Node<'_>) -> Result<u64, JsonError> {
    node.required("size")?
        .elements()?
        .map(|size| size.count())
        .try_fold(0_u64, |sum, size| Ok(sum.saturating_add(size?)))
}

fn read_debug_output(json: &Node<'_>, options: &str, size: &str) -> Result<Option<DebugOutput>, JsonError> {
    let Some(node) = json.optional(options)? else { return Ok(None) };
    let options = node.string()?.split(',').map(str::to_owned).collect();
    let size = json.optional(size)?.map_or(Ok(0), |node| node.count())?;
    Ok(Some(DebugOutput { options, size }))
}

/// All ops in op order. Listed by arch, a mixed op stands in both lists.
fn read_kernel_list(list: &Node<'_>) -> Result<(Option<Chip>, Vec<ResultOp>), JsonError> {
    let mut by_arch = None;
    let mut all = None;
    let (mut vector, mut cube) = (Vec::new(), Vec::new());
    for (key, value) in list.object()? {
        let entries = Node::root(value, list.path.key(key));
        let read = || entries.elements()?.map(|entry| ResultOp::read(&entry)).collect::<Result<Vec<_>, _>>();
        let found =
            |chip: &Chip| CoreKind::BOTH.into_iter().find(|kind| *key == chip.arch(*kind)).map(|kind| (*chip, kind));
        match Chip::ALL.iter().find_map(found) {
            Some((chip, CoreKind::Aic)) => (by_arch, cube) = (Some(chip), read()?),
            Some((chip, CoreKind::Aiv)) => (by_arch, vector) = (Some(chip), read()?),
            None if key == ALL_CORES => all = Some(read()?),
            None => {
                return Err(entries.wrong_type("a list of ops under `aicore`, or under an arch such as `dav-c220-vec`"));
            }
        }
    }
    match all {
        Some(ops) => Ok((None, ops)),
        None => Ok((by_arch, merge(vector, cube))),
    }
}

/// Two lists in op order as one: mixed ops stand in both, and parameters are laid out in op order.
fn merge(vector: Vec<ResultOp>, cube: Vec<ResultOp>) -> Vec<ResultOp> {
    let is_mix = |op: &ResultOp| op.kernel_type.class() == CoreClass::Mix;
    let mut ops = Vec::with_capacity(vector.len() + cube.len());
    let (mut vector, mut cube) = (vector.into_iter().peekable(), cube.into_iter().peekable());
    loop {
        let take_vector = match (vector.peek(), cube.peek()) {
            (None, None) => return ops,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (Some(left), Some(right)) if is_mix(left) && is_mix(right) => {
                // One and the same op.
                cube.next();
                true
            }
            (Some(left), Some(right)) => is_mix(right) || (!is_mix(left) && left.param <= right.param),
        };
        ops.extend(if take_vector { vector.next() } else { cube.next() });
    }
}

impl ResultOp {
    fn read(json: &Node<'_>) -> Result<Self, JsonError> {
        let arguments = json.required("arg_list")?;
        let slot = |key: &str| arguments.optional(key)?.map(|node| node.count32().map(SlotNumber)).transpose();
        let number = |key: &str, usual: u32| json.optional(key)?.map_or(Ok(usual), |node| node.count32());
        let kernel_type = json.required("sub_operator_kernel_type")?;
        Ok(Self {
            name: json.required("func_name")?.string()?.to_owned(),
            kernel_type: KernelType::from_name(kernel_type.string()?)
                .ok_or_else(|| kernel_type.wrong_type("a kernel type that can be fused"))?,
            op_type: json.optional("sub_operator_op_type")?.map_or(Ok(""), |node| node.string())?.to_owned(),
            split: number("split_mode", 1)?,
            blocks: number("blockNum", 0)?,
            early_start: EarlyStartFlags {
                sets_itself: json.flag("sub_operator_early_start_set_flag")?,
                waits_itself: json.flag("sub_operator_early_start_wait_flag")?,
            },
            dcci: DcciFlags {
                before_kernel_start: json.flag("sub_operator_call_dcci_before_kernel_start")?,
                after_kernel_end: json.flag("sub_operator_call_dcci_after_kernel_end")?,
                disabled: json.flag("sub_operator_call_dcci_disable_on_kernel")?,
            },
            stream: json.optional("streamid")?.map_or(Ok(-1), |node| node.integer()).map(StreamId)?,
            sends: events(json, "send_event_list")?,
            receives: events(json, "recv_event_list")?,
            param: SlotNumber(arguments.required("param_offset")?.count32()?),
            notify: slot("notify_param_offset")?,
            wait: slot("wait_param_offset")?,
            debug_options: read_debug_output(json, "debug_option", "debug_size")?,
        })
    }
}

fn events(json: &Node<'_>, key: &str) -> Result<Vec<EventId>, JsonError> {
    match json.optional(key)? {
        None => Ok(Vec::new()),
        Some(list) => list.elements()?.map(|event| event.integer().map(EventId)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Document, JsonFile, JsonPath};

    fn op(name: &str, kernel_type: KernelType, param: u32) -> ResultOp {
        ResultOp {
            name: name.to_owned(),
            kernel_type,
            op_type: "Add".to_owned(),
            split: 4,
            blocks: 8,
            early_start: EarlyStartFlags { sets_itself: true, waits_itself: false },
            dcci: DcciFlags { before_kernel_start: false, after_kernel_end: true, disabled: false },
            stream: StreamId(3),
            sends: vec![],
            receives: vec![EventId(7), EventId(-1)],
            param: SlotNumber(param),
            notify: None,
            wait: Some(SlotNumber(param + 2)),
            debug_options: Some(DebugOutput { options: vec!["printf".to_owned(), "assert".to_owned()], size: 64 }),
        }
    }

    fn result(by_arch: Option<Chip>, ops: Vec<ResultOp>) -> ResultJson {
        ResultJson {
            name: "k".to_owned(),
            object_file: "k.o".to_owned(),
            blocks: 24,
            kernel_type: SuperKernelType::Mix1_2,
            object_digest: Some("ab".to_owned()),
            debug_output: None,
            workspace_size: 512,
            platform_info: BTreeMap::from([("deterministicLevel".to_owned(), 1)]),
            by_arch,
            ops,
            toolchain: ToolchainKind::Host,
            linker: LinkerChoice::Vendor,
        }
    }

    fn read(value: &Value) -> Result<ResultJson, JsonError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("k.json");
        std::fs::write(&path, value.to_string()).unwrap();
        let file = JsonFile::read(Document::Result, &path, &JsonPath::top(Document::Result))?;
        ResultJson::from_node(&file.root())
    }

    #[test]
    fn reading_gives_what_was_written() {
        // Two ops without parameters have one offset; mixed ops stand in both lists.
        let ops = vec![
            op("a", KernelType::AivOnly, 1),
            op("m", KernelType::MixAic1_2, 5),
            op("m", KernelType::MixAic1_2, 9),
            op("c", KernelType::AicOnly, 13),
            op("v", KernelType::MixAiv1_0, 17),
            op("m", KernelType::MixAic1_1, 21),
            op("c", KernelType::AicOnly, 25),
            op("v", KernelType::AivOnly, 29),
            op("c", KernelType::AicOnly, 33),
        ];
        for by_arch in [None, Some(Chip::C220), Some(Chip::C310)] {
            let written = result(by_arch, ops.clone());
            assert_eq!(read(&written.to_json()).unwrap(), written);
        }
        let same = vec![op("a", KernelType::AivOnly, 1), op("a", KernelType::AivOnly, 1)];
        let written = result(None, same);
        assert_eq!(read(&written.to_json()).unwrap().ops.len(), 2);
        assert_eq!(written.parameter_counts(), [Some(0), Some(2)]);
    }

    #[test]
    fn every_value_of_another_type_is_refused_with_its_place() {
        let whole = result(Some(Chip::C220), vec![op("m", KernelType::MixAic1_2, 1)]).to_json();
        let unread = ["/coreType", "/intercoreSync", "/magic", "/memoryStamping", "/opParaSize", "/parameters"];
        let unread_too = ["/optionalInputMode", "/optionalOutputMode", "/supportSuperKernel", "/workspace/num"];
        let mut places = Vec::new();
        pointers(&whole, String::new(), &mut places);
        let mut tried = 0;
        for place in places {
            let ignored = unread.iter().chain(&unread_too).any(|unread| place.starts_with(unread));
            if ignored || place.ends_with("blockDim") && place != "/blockDim" || place.starts_with("/workspace/type") {
                continue;
            }
            for wrong in [json!({"wrong": [1]}), json!(1e30), json!([null])] {
                let mut value = whole.clone();
                *value.pointer_mut(&place).unwrap() = wrong;
                let Err(error) = read(&value) else { panic!("{place} is not looked at") };
                let key = place.rsplit('/').find(|part| part.parse::<usize>().is_err()).unwrap();
                assert!(
                    key.is_empty() || error.to_string().contains(key) || place == "/SuperkernelInfo",
                    "{place}: {error}"
                );
                tried += 1;
            }
        }
        assert!(tried > 60, "{tried}");
    }

    fn pointers(value: &Value, place: String, found: &mut Vec<String>) {
        match value {
            Value::Object(entries) => {
                entries.iter().for_each(|(key, value)| pointers(value, format!("{place}/{key}"), found));
            }
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(at, value)| pointers(value, format!("{place}/{at}"), found));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        found.push(place);
    }
}
