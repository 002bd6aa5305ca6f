//! What can be wrong with `kernel_infos` and the files it names.

use std::fmt;
use std::sync::Arc;

use super::{CoreKind, EventId, KernelType, OpIndex, Soc, StreamId};
use crate::diagnostic::Diagnostic;
use crate::json::{JsonError, JsonPath};
use crate::nearest::nearest;
use crate::options::OptionError;
use crate::shortened::Shortened;

/// An op in a message: its index and, once known, its kernel name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpName {
    /// Its place in `op_list`.
    pub index: OpIndex,
    /// `kernelName`.
    pub kernel_name: Arc<str>,
}

impl fmt::Display for OpName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "op {} (`{}`)", self.index, Shortened(&self.kernel_name))
    }
}

/// Why `kernel_infos` cannot become a super kernel.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the fields are what the messages print")]
pub enum ModelError {
    #[error(transparent)]
    Options(#[from] OptionError),
    #[error(transparent)]
    Json(#[from] JsonError),
    #[error("`op_list` {problem}")]
    NoOps { problem: &'static str },
    #[error("a graph is given (it has `nodes`), where an op list is expected")]
    GraphGiven,
    #[error("kernel name `{}` is not a C identifier", Shortened(.name))]
    BadKernelName { name: String },
    #[error("{place}: `{}` {problem}, so it cannot be a function", Shortened(.name))]
    BadFunctionName { place: JsonPath, name: String, problem: &'static str },
    #[error("{place}: there is no kernel type `{}` that can be fused", Shortened(.name))]
    UnknownKernelType { place: JsonPath, name: String },
    #[error("{place}: there is no task type `{}`", Shortened(.name))]
    UnknownTaskType { place: JsonPath, name: String },
    #[error("{place}: `{}` is not a tiling key (a decimal number below 2^64)", Shortened(.key))]
    BadTilingKey { place: JsonPath, key: String },
    #[error("{place}: tiling key {key} is given twice")]
    DuplicateTilingKey { place: JsonPath, key: u64 },
    #[error("{place}: a dynamic op needs at least one tiling key")]
    NoTilingKeys { place: JsonPath },
    #[error(
        "{op}: tiling key {key} of type {key_type} runs on {} cores, which the op's type {op_type} does not have",
        kind.word()
    )]
    TilingKeyKind { op: OpName, key: u64, key_type: KernelType, kind: CoreKind, op_type: KernelType },
    #[error("{op}: its objects were split into {found} copies, but `split-mode` is {wanted}")]
    SplitModeMismatch { op: OpName, found: u32, wanted: u32 },
    #[error("{op} was built with early start ({flags}), but `early-start` is 0")]
    EarlyStartOff { op: OpName, flags: String },
    #[error("{op} is dynamic and was built with early start ({flags}); its set or wait would have no partner")]
    EarlyStartOnDynamic { op: OpName, flags: String },
    #[error(
        "{op} was built with early start ({flags}), but this super kernel has several streams, where its set or \
         wait would have no partner"
    )]
    EarlyStartSeveralStreams { op: OpName, flags: String },
    #[error("{op} both sends and receives event {event}")]
    EventToItself { op: OpName, event: EventId },
    #[error("{op}: event {event} stands twice in its `{list}`")]
    EventTwice { op: OpName, event: EventId, list: &'static str },
    #[error("event {event} is {verb} by two ops: {first} and {second}")]
    EventClaimedTwice { event: EventId, verb: &'static str, first: OpName, second: OpName },
    #[error("event {event} from {sender} to {receiver} stays inside stream {stream}")]
    EventInsideStream { event: EventId, sender: OpName, receiver: OpName, stream: StreamId },
    #[error("event {event}: its receiver {receiver} comes before its sender {sender}")]
    ReceiverBeforeSender { event: EventId, sender: OpName, receiver: OpName },
    #[error(
        "{first} on stream {first_stream} and its successor {second} on stream {second_stream} are not linked by an event"
    )]
    StreamsNeedFusion { first: OpName, first_stream: StreamId, second: OpName, second_stream: StreamId },
    #[error("{op} is the first op and receives event {event}: nothing of this super kernel can come before it")]
    FirstOpReceives { op: OpName, event: EventId },
    #[error("{op} is the last op and sends event {event}: nothing of this super kernel can come after it")]
    LastOpSends { op: OpName, event: EventId },
    #[error("{op}: `blockDim` is {block_dim}")]
    BadBlockDim { op: OpName, block_dim: i64 },
    #[error("SoC `{}` is not supported", Shortened(.soc))]
    UnsupportedSoc { soc: String },
    #[error("`debug-aic-num` {aic} and `debug-aiv-num` {aiv} are in no ratio that a kernel can be launched with")]
    DebugCoreRatio { aic: u32, aiv: u32 },
    #[error("`{option}` is {wanted}, but {soc} has {available} such cores")]
    DebugCoresExceedPlatform { option: &'static str, wanted: u32, available: u32, soc: Soc },
    #[error("`{option}` is {wanted}, but the ops need {needed} such cores")]
    DebugCoresTooFew { option: &'static str, wanted: u32, needed: u32 },
    #[error("the parameters need {slots} slots; a super kernel can have {}", u32::MAX)]
    TooManySlots { slots: u64 },
    #[error("{place} {problem}")]
    BadRegion { place: JsonPath, problem: &'static str },
}

impl Diagnostic for ModelError {
    fn id(&self) -> &'static str {
        match self {
            Self::Options(error) => error.id(),
            Self::Json(error) => error.id(),
            Self::NoOps { .. } | Self::GraphGiven => "SK0205",
            Self::BadKernelName { .. } => "SK0206",
            Self::BadFunctionName { .. } => "SK0207",
            Self::UnknownKernelType { .. } => "SK0208",
            Self::UnknownTaskType { .. } => "SK0209",
            Self::BadTilingKey { .. } | Self::DuplicateTilingKey { .. } | Self::NoTilingKeys { .. } => "SK0210",
            Self::TilingKeyKind { .. } => "SK0211",
            Self::SplitModeMismatch { .. } => "SK0212",
            Self::EarlyStartOff { .. } => "SK0213",
            Self::EarlyStartOnDynamic { .. } => "SK0214",
            Self::EarlyStartSeveralStreams { .. } => "SK0215",
            Self::TooManySlots { .. } => "SK0216",
            Self::BadRegion { .. } => "SK0217",
            Self::EventToItself { .. } => "SK0301",
            Self::EventTwice { .. } => "SK0302",
            Self::EventClaimedTwice { .. } => "SK0303",
            Self::EventInsideStream { .. } => "SK0304",
            Self::ReceiverBeforeSender { .. } => "SK0305",
            Self::StreamsNeedFusion { .. } => "SK0306",
            Self::FirstOpReceives { .. } => "SK0307",
            Self::LastOpSends { .. } => "SK0308",
            Self::BadBlockDim { .. } => "SK0401",
            Self::UnsupportedSoc { .. } => "SK0402",
            Self::DebugCoreRatio { .. } => "SK0403",
            Self::DebugCoresExceedPlatform { .. } => "SK0404",
            Self::DebugCoresTooFew { .. } => "SK0405",
        }
    }

    fn solution(&self) -> String {
        match self {
            Self::Options(error) => error.solution(),
            Self::Json(error) => error.solution(),
            Self::NoOps { .. } => "pass the ops to fuse as a non-empty list under `op_list`".to_owned(),
            Self::GraphGiven => {
                "`superkernel build` builds the super kernels of a graph, `superkernel scope` shows them; in Python: \
                 superkernel.compile_graph"
                    .to_owned()
            }
            Self::BadKernelName { .. } => "use letters, digits and `_`, not starting with a digit".to_owned(),
            Self::BadFunctionName { .. } => {
                "compile the sub-kernel again, under another name if its JSON is not damaged".to_owned()
            }
            Self::UnknownKernelType { name, .. } => {
                let known = KernelType::ALL.map(KernelType::as_str);
                match nearest(name, known, 1).first() {
                    Some(near) => format!("`{near}` may be meant; fusable are {}", quoted(&known)),
                    None => format!("fusable are {}", quoted(&known)),
                }
            }
            Self::UnknownTaskType { .. } => "use `normal` or `dynamic`".to_owned(),
            Self::BadTilingKey { .. } | Self::DuplicateTilingKey { .. } | Self::NoTilingKeys { .. } => {
                "compile the tiling-sink op again; its `dynamic_func_names` is damaged".to_owned()
            }
            Self::TilingKeyKind { op_type, .. } => {
                format!(
                    "compile the op with a type that has all its core kinds, or drop that key; {op_type} is not enough"
                )
            }
            Self::SplitModeMismatch { found, .. } => {
                format!("set `split-mode={found}`, or compile the sub-kernel again with the split mode you want")
            }
            Self::EarlyStartOff { .. } => {
                "drop `early-start=0`, or compile the sub-kernel again without early start".to_owned()
            }
            Self::EarlyStartOnDynamic { .. } => "compile the tiling-sink op without early start".to_owned(),
            Self::EarlyStartSeveralStreams { .. } => {
                "compile the sub-kernel without early start (as `stream-fusion=1` builds do)".to_owned()
            }
            Self::TooManySlots { .. } => "split the op list into several super kernels".to_owned(),
            Self::BadRegion { .. } => {
                "give `{\"reads\": [[start, bytes], ...], \"writes\": [...]}`, or drop `regions`: the op then comes after \
                 all before it"
                    .to_owned()
            }
            Self::EventToItself { .. } => "remove the event from one of the op's two lists".to_owned(),
            Self::EventTwice { .. } => "list each event once".to_owned(),
            Self::EventClaimedTwice { .. } => "give each pair of ops an event of its own".to_owned(),
            Self::EventInsideStream { .. } => {
                "remove the event: a stream's own order already does what it asks for".to_owned()
            }
            Self::ReceiverBeforeSender { .. } => "put the sender before the receiver in `op_list`".to_owned(),
            Self::StreamsNeedFusion { .. } => {
                "set `stream-fusion=1` in the options, or link the two ops by an event".to_owned()
            }
            Self::FirstOpReceives { .. } => "let the launch of the super kernel wait for the event instead".to_owned(),
            Self::LastOpSends { .. } => "let the end of the super kernel send the event instead".to_owned(),
            Self::BadBlockDim { .. } => "a sub-kernel must be tiled for at least 1 block; compile it again".to_owned(),
            Self::UnsupportedSoc { .. } => {
                format!("use one of {}", quoted(&Soc::ALL.map(Soc::as_str)))
            }
            Self::DebugCoreRatio { .. } => {
                "use cube cores only (a:0), vector cores only (0:v), as many of both (1:1) or twice as many vector \
                 cores (1:2)"
                    .to_owned()
            }
            Self::DebugCoresExceedPlatform { option, available, .. } => {
                format!("set `{option}` to {available} or less")
            }
            Self::DebugCoresTooFew { option, needed, .. } => format!("set `{option}` to {needed} or more, or drop it"),
        }
    }
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
