//! The sub-kernel JSON, which an operator's compiler puts beside its object: read and written here.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::{
    Chip, CoreKind, DcciFlags, DebugOutput, EarlyStartFlags, Function, KernelType, ModelError, SubKernel,
    SubKernelCode, TaskType, TilingFunctions, names,
};
use crate::artifact::copy_name;
use crate::json::{Document, JsonFile, JsonPath, Node};
use crate::store::digest::ContentDigest;

/// The key by which a sub-kernel's JSON is told from others.
const KERNEL_TYPE: &str = "sub_operator_kernel_type";
const NAMES: &str = "sub_operator_kernel_name";
/// Under [`NAMES`] of a tiling-sink op: the functions of every tiling key.
const BY_TILING_KEY: &str = "dynamic_func_names";
/// The digest of everything a sub-kernel of the operator builder depends on.
const BUILD_DIGEST_KEY: &str = "buildDigest";

// -- reading ----------------------------------------------------------------------------------------------------------

/// A sub-kernel's JSON as it came from its file.
#[derive(Debug)]
pub(crate) struct SubKernelFile {
    path: PathBuf,
    json: JsonFile,
}

impl SubKernelFile {
    /// Reads the file, which `place` names.
    pub(crate) fn read(path: &Path, place: &JsonPath) -> Result<Self, ModelError> {
        let json = JsonFile::read(Document::SubKernel, path, place)?;
        Ok(Self { path: path.to_path_buf(), json })
    }

    /// Is `json`, read to find out what it is, such a file?
    pub(crate) fn recognizes(json: &JsonFile) -> bool {
        json.value.get(NAMES).is_some()
    }

    /// A file that was read as something else at first.
    pub(crate) fn from_json(path: &Path, json: JsonFile) -> Self {
        let top = JsonPath::top(Document::SubKernel).inside(Document::SubKernel, path);
        Self { path: path.to_path_buf(), json: JsonFile { top, ..json } }
    }

    /// As what it was compiled: a tiling-sink op lists functions by tiling key.
    pub(crate) fn task_type(&self) -> Result<TaskType, ModelError> {
        let by_key = self.json.root().required(NAMES)?.optional(BY_TILING_KEY)?;
        Ok(if by_key.is_some() { TaskType::Dynamic } else { TaskType::Normal })
    }

    /// Names that its object may have, the likeliest first.
    pub(crate) fn object_names(&self) -> Result<Vec<String>, ModelError> {
        let json = self.json.root();
        let name = json.required("kernelName")?.non_empty_string()?;
        let stem = json.optional("binFileName")?.map_or(Ok(name), |node| node.non_empty_string())?;
        let suffix = json.optional("binFileSuffix")?.map_or(Ok(".o"), |node| node.string())?;
        let own = self.path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let stems = [stem, own.as_str()];
        Ok(stems.iter().flat_map(|stem| [suffix, ".o", ".a"].map(|suffix| format!("{stem}{suffix}"))).collect())
    }

    /// The number of blocks it is launched with.
    pub(crate) fn blocks(&self) -> Result<u32, ModelError> {
        Ok(self.json.root().required("blockDim")?.count32()?)
    }

    /// What it says about its object's content, in the writer's own terms.
    pub(crate) fn object_digest(&self) -> Option<&str> {
        self.json.value.get("sha256")?.as_str()
    }

    /// What it says it was made from, if this package's operator builder wrote it.
    pub(crate) fn build_digest(&self) -> Option<&str> {
        self.json.value.get(BUILD_DIGEST_KEY)?.as_str()
    }

    /// What it describes, for use as a `task_type` op on `chip`.
    pub(crate) fn sub_kernel(&self, task_type: TaskType, chip: Chip) -> Result<SubKernel, ModelError> {
        let json = self.json.root();
        let names = json.required(NAMES)?;
        let (kernel_type, code) = match task_type {
            TaskType::Normal => {
                let kernel_type = kernel_type(&json.required(KERNEL_TYPE)?)?;
                (kernel_type, SubKernelCode::Static(static_functions(&names, kernel_type, chip)?))
            }
            TaskType::Dynamic => {
                let functions = tiling_functions(&names, chip)?;
                let kernel_type = match json.optional(KERNEL_TYPE)? {
                    Some(node) if !node.string()?.is_empty() => kernel_type(&node)?,
                    // Usual for what tiling decides at run time.
                    Some(_) | None => type_of_all(&functions),
                };
                (kernel_type, SubKernelCode::Dynamic(functions))
            }
        };
        let params = json.required("sub_operator_params")?;
        Ok(SubKernel {
            json_digest: self.json.digest,
            object_digest: self.object_digest().filter(|digest| !digest.is_empty()).map(str::to_owned),
            kernel_name: json.required("kernelName")?.non_empty_string()?.into(),
            op_type: json.optional("sub_operator_op_type")?.map_or(Ok(""), |node| node.string())?.to_owned(),
            kernel_type,
            block_dim: json.required("blockDim")?.integer()?,
            code,
            params: params.elements()?.map(|name| name.string().map(str::to_owned)).collect::<Result<_, _>>()?,
            early_start: EarlyStartFlags {
                sets_itself: json.required("sub_operator_early_start_set_flag")?.boolean()?,
                waits_itself: json.required("sub_operator_early_start_wait_flag")?.boolean()?,
            },
            split_mode: json.optional("split_mode")?.map(|node| split_mode(&node)).transpose()?,
            debug_options: debug_options(&json)?,
            calls_sync_all: json.flag("sub_op_with_sync_all")?,
            may_call_sync_all: json.optional("sub_op_with_sync_all")?.is_none() || json.flag("sub_op_with_sync_all")?,
            dcci: DcciFlags {
                before_kernel_start: json.flag("sub_operator_call_dcci_before_kernel_start")?,
                after_kernel_end: json.flag("sub_operator_call_dcci_after_kernel_end")?,
                disabled: json.flag("sub_operator_call_dcci_disable_on_kernel")?,
            },
        })
    }
}

/// The type of an op whose tiling keys run these functions, when its JSON leaves it to them.
fn type_of_all(functions: &[TilingFunctions]) -> KernelType {
    let all = |wanted| functions.iter().all(|entry| entry.kernel_type == wanted);
    [KernelType::AivOnly, KernelType::AicOnly].into_iter().find(|only| all(*only)).unwrap_or(KernelType::MixAic1_2)
}

fn kernel_type(node: &Node<'_>) -> Result<KernelType, ModelError> {
    let name = node.string()?;
    KernelType::from_name(name)
        .ok_or_else(|| ModelError::UnknownKernelType { place: node.path.clone(), name: name.to_owned() })
}

fn split_mode(node: &Node<'_>) -> Result<u32, ModelError> {
    Ok(u32::try_from(node.count()?).map_err(|_| node.wrong_type("a number of copies"))?)
}

fn static_functions(names: &Node<'_>, kernel_type: KernelType, chip: Chip) -> Result<Vec<Function>, ModelError> {
    let kinds = kernel_type.class().kinds();
    kinds
        .iter()
        .map(|&kind| {
            let entry = names.required(&kernel_type.arch_key(kind, chip))?;
            let object = entry.optional("obj_files")?.map(|node| node.string().map(str::to_owned)).transpose()?;
            Ok(Function { kind, name: function_name(&entry.required("func_name")?)?, object })
        })
        .collect()
}

fn function_name(node: &Node<'_>) -> Result<String, ModelError> {
    let name = node.string()?;
    match names::function_name_problem(name) {
        None => Ok(name.to_owned()),
        Some(problem) => Err(ModelError::BadFunctionName { place: node.path.clone(), name: name.to_owned(), problem }),
    }
}

fn tiling_functions(names: &Node<'_>, chip: Chip) -> Result<Vec<TilingFunctions>, ModelError> {
    let table = names.required(BY_TILING_KEY)?;
    let mut functions = Vec::new();
    for (key, value) in table.object()? {
        let node = Node::root(value, table.path.key(key));
        let kernel_type = kernel_type(&node.required("kernel_type")?)?;
        let function = |kind| -> Result<Option<String>, ModelError> {
            if !kernel_type.class().runs_on(kind) {
                return Ok(None);
            }
            function_name(&node.required(&kernel_type.arch_key(kind, chip))?).map(Some)
        };
        functions.push(TilingFunctions {
            key: tiling_key(key, &table.path)?,
            kernel_type,
            aic: function(CoreKind::Aic)?,
            aiv: function(CoreKind::Aiv)?,
        });
    }
    functions.sort_by_key(|entry| entry.key);
    if let Some(pair) = functions.windows(2).find(|pair| pair[0].key == pair[1].key) {
        return Err(ModelError::DuplicateTilingKey { place: table.path, key: pair[0].key });
    }
    if functions.is_empty() { Err(ModelError::NoTilingKeys { place: table.path }) } else { Ok(functions) }
}

fn tiling_key(key: &str, place: &JsonPath) -> Result<u64, ModelError> {
    let digits = !key.is_empty() && key.bytes().all(|letter| letter.is_ascii_digit());
    digits
        .then(|| key.parse().ok())
        .flatten()
        .ok_or_else(|| ModelError::BadTilingKey { place: place.clone(), key: key.to_owned() })
}

fn debug_options(json: &Node<'_>) -> Result<Option<DebugOutput>, ModelError> {
    let Some(node) = json.optional("debugOptions")? else {
        return Ok(None);
    };
    let mut options: Vec<String> = Vec::new();
    let mut take = |text: &str| {
        for option in text.split(',').map(str::trim).filter(|option| !option.is_empty()) {
            if !options.iter().any(|known| known == option) {
                options.push(option.to_owned());
            }
        }
    };
    if node.value.is_array() {
        for option in node.elements()? {
            take(option.string()?);
        }
    } else {
        take(node.string()?);
    }
    if options.is_empty() {
        return Ok(None);
    }
    let size = json.optional("debugBufSize")?.map_or(Ok(0), |node| node.count())?;
    Ok(Some(DebugOutput { options, size }))
}

// -- writing ----------------------------------------------------------------------------------------------------------

/// A sub-kernel as this package's own operator builder describes it.
#[derive(Debug)]
pub(crate) struct SubKernelDocument<'a> {
    pub name: &'a str,
    pub chip: Chip,
    pub kernel_type: KernelType,
    pub block_dim: u32,
    pub op_type: &'a str,
    pub code: WrittenCode,
    pub params: &'a [String],
    pub early_start: EarlyStartFlags,
    pub split_mode: Option<u32>,
    pub debug_output: Option<&'a DebugOutput>,
    pub calls_sync_all: bool,
    pub dcci: DcciFlags,
    /// Digest of its object.
    pub object_digest: ContentDigest,
    /// Digest of everything it depends on.
    pub build_digest: ContentDigest,
}

/// Its functions, with the files that hold them.
#[derive(Debug)]
pub(crate) enum WrittenCode {
    /// By core kind, with the paths of the object and of its copies.
    Static(Vec<(CoreKind, String, Vec<PathBuf>)>),
    /// By tiling key.
    Dynamic(Vec<TilingFunctions>),
}

impl SubKernelDocument<'_> {
    /// The document.
    pub(crate) fn to_json(&self) -> Value {
        let mut map = Map::new();
        let mut put = |key: &str, value: Value| {
            map.insert(key.to_owned(), value);
        };
        put("binFileName", json!(self.name));
        put("binFileSuffix", json!(".o"));
        put("kernelName", json!(self.name));
        put("blockDim", json!(self.block_dim));
        put("magic", json!("RT_DEV_BINARY_MAGIC_ELF"));
        put("sha256", json!(self.object_digest.to_string()));
        put("supportSuperKernel", json!(1));
        put(KERNEL_TYPE, json!(self.kernel_type.as_str()));
        put(NAMES, self.function_table());
        put("sub_operator_params", json!(self.params));
        put("sub_operator_early_start_set_flag", json!(self.early_start.sets_itself));
        put("sub_operator_early_start_wait_flag", json!(self.early_start.waits_itself));
        if let Some(split) = self.split_mode {
            put("split_mode", json!(split));
        }
        if let Some(debug) = self.debug_output {
            put("debugOptions", json!(debug.option_text()));
            put("debugBufSize", json!(debug.size));
        }
        put("sub_op_with_sync_all", json!(self.calls_sync_all));
        put("sub_operator_op_type", json!(self.op_type));
        put("sub_operator_call_dcci_before_kernel_start", json!(self.dcci.before_kernel_start));
        put("sub_operator_call_dcci_after_kernel_end", json!(self.dcci.after_kernel_end));
        put("sub_operator_call_dcci_disable_on_kernel", json!(self.dcci.disabled));
        put("toolchain", json!("host"));
        put(BUILD_DIGEST_KEY, json!(self.build_digest.to_string()));
        Value::Object(map)
    }

    fn function_table(&self) -> Value {
        match &self.code {
            WrittenCode::Static(functions) => {
                let entry = |(kind, name, objects): &(CoreKind, String, Vec<PathBuf>)| {
                    (self.kernel_type.arch_key(*kind, self.chip), static_entry(name, objects))
                };
                Value::Object(functions.iter().map(entry).collect())
            }
            WrittenCode::Dynamic(functions) => {
                let table: Map<String, Value> =
                    functions.iter().map(|entry| (entry.key.to_string(), self.tiling_entry(entry))).collect();
                json!({ BY_TILING_KEY: table })
            }
        }
    }

    fn tiling_entry(&self, functions: &TilingFunctions) -> Value {
        let mut entry = json!({"kernel_type": functions.kernel_type.as_str()});
        for kind in CoreKind::BOTH {
            if let Some(name) = functions.function(kind) {
                entry[functions.kernel_type.arch_key(kind, self.chip)] = json!(name);
            }
        }
        entry
    }
}

fn static_entry(name: &str, objects: &[PathBuf]) -> Value {
    let mut entry = json!({"func_name": name});
    for (copy, object) in (0..).zip(objects) {
        entry[copy_name("obj_files", copy)] = json!(object.display().to_string());
    }
    entry
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(code: WrittenCode, params: &[String]) -> Value {
        SubKernelDocument {
            name: "add",
            chip: Chip::C220,
            kernel_type: KernelType::MixAic1_2,
            block_dim: 8,
            op_type: "Add",
            code,
            params,
            early_start: EarlyStartFlags { sets_itself: true, waits_itself: false },
            split_mode: Some(4),
            debug_output: Some(&DebugOutput { options: vec!["printf".to_owned()], size: 4096 }),
            calls_sync_all: true,
            dcci: DcciFlags { before_kernel_start: true, after_kernel_end: false, disabled: false },
            object_digest: ContentDigest::of(b"ab"),
            build_digest: ContentDigest::of(b"cd"),
        }
        .to_json()
    }

    fn read_back(value: &Value) -> (SubKernelFile, SubKernel) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("other.json");
        std::fs::write(&path, value.to_string()).unwrap();
        let file = SubKernelFile::read(&path, &JsonPath::top(Document::SubKernel)).unwrap();
        let kernel = file.sub_kernel(file.task_type().unwrap(), Chip::C220).unwrap();
        (file, kernel)
    }

    #[test]
    fn reading_gives_what_was_written() {
        let params = vec!["x".to_owned(), "y".to_owned()];
        let functions = [(CoreKind::Aic, "add_mix_aic"), (CoreKind::Aiv, "add_mix_aiv")];
        let code = functions.map(|(kind, name)| (kind, name.to_owned(), vec![PathBuf::from(format!("{name}.o"))]));
        let (file, kernel) = read_back(&document(WrittenCode::Static(code.to_vec()), &params));
        assert_eq!((&*kernel.kernel_name, kernel.op_type.as_str(), kernel.block_dim), ("add", "Add", 8));
        assert_eq!((kernel.kernel_type, kernel.split_mode), (KernelType::MixAic1_2, Some(4)));
        assert_eq!(kernel.params, params);
        assert_eq!(kernel.early_start, EarlyStartFlags { sets_itself: true, waits_itself: false });
        assert_eq!(kernel.debug_output().unwrap().size, 4096);
        assert!(kernel.calls_sync_all && kernel.dcci.before_kernel_start);
        let SubKernelCode::Static(read) = kernel.code else { panic!("{:?}", kernel.code) };
        let expected =
            functions.map(|(kind, name)| Function { kind, name: name.to_owned(), object: Some(format!("{name}.o")) });
        assert_eq!(read, expected);
        assert_eq!(file.object_digest(), Some(ContentDigest::of(b"ab").to_string().as_str()));
        assert_eq!(file.object_names().unwrap()[0], "add.o");
        assert!(file.object_names().unwrap().contains(&"other.a".to_owned()));
    }

    #[test]
    fn reading_gives_the_tiling_keys_that_were_written() {
        let functions = vec![
            TilingFunctions { key: 7, kernel_type: KernelType::AivOnly, aic: None, aiv: Some("f_7".to_owned()) },
            TilingFunctions {
                key: u64::MAX,
                kernel_type: KernelType::MixAic1_2,
                aic: Some("f_mix_aic".to_owned()),
                aiv: Some("f_mix_aiv".to_owned()),
            },
        ];
        let (_, kernel) = read_back(&document(WrittenCode::Dynamic(functions.clone()), &[]));
        let SubKernelCode::Dynamic(read) = kernel.code else { panic!("{:?}", kernel.code) };
        assert_eq!(read, functions);
    }

    fn type_of(table: &serde_json::Value) -> KernelType {
        let names = json!({BY_TILING_KEY: table});
        let place = JsonPath::top(Document::SubKernel);
        type_of_all(&tiling_functions(&Node::root(&names, place), Chip::C220).unwrap())
    }

    #[test]
    fn a_dynamic_op_without_a_type_has_that_of_its_tiling_keys() {
        let vector = |name: &str| json!({"kernel_type": "KERNEL_TYPE_AIV_ONLY", "AiCore": name});
        let cube = |name: &str| json!({"kernel_type": "KERNEL_TYPE_AIC_ONLY", "AiCore": name});
        let with_flags = json!({"kernel_type": "KERNEL_TYPE_MIX_AIV_1_0", "dav-c220-vec": "f"});
        let one_to_one = json!({"kernel_type": "KERNEL_TYPE_MIX_AIC_1_1", "dav-c220-cube": "c", "dav-c220-vec": "v"});
        for (table, expected) in [
            (json!({"1": vector("f"), "2": vector("g")}), KernelType::AivOnly),
            (json!({"1": cube("f")}), KernelType::AicOnly),
            (json!({"1": cube("f"), "2": vector("g")}), KernelType::MixAic1_2),
            (json!({"1": with_flags}), KernelType::MixAic1_2),
            (json!({"1": one_to_one}), KernelType::MixAic1_2),
        ] {
            assert_eq!(type_of(&table), expected, "{table}");
        }
    }
}
