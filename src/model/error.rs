//! What can be wrong with `kernel_infos` and the files it names.

use std::fmt;
use std::sync::Arc;

use super::{CoreKind, EventId, KernelType, OpIndex, Soc, StreamId};
use crate::diagnostic::{Advice, Diagnostic, advice};
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
    #[error("{op}: event {event} is listed twice in its `{list}`")]
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
    fn advice(&self) -> Advice {
        match self {
            Self::Options(error) => error.advice(),
            Self::Json(error) => error.advice(),
            Self::NoOps { .. } => advice("SK0205", "pass the ops to fuse as a non-empty list under `op_list`"),
            Self::GraphGiven => advice(
                "SK0205",
                "`superkernel build` builds the super kernels of a graph, `superkernel scope` shows them; in Python: \
                 superkernel.compile_graph",
            ),
            Self::BadKernelName { .. } => advice("SK0206", "use letters, digits and `_`, not starting with a digit"),
            Self::BadFunctionName { .. } => {
                advice("SK0207", "compile the sub-kernel again, under another name if its JSON is not damaged")
            }
            Self::UnknownKernelType { name, .. } => advice("SK0208", {
                let known = KernelType::ALL.map(KernelType::as_str);
                match nearest(name, known, 1).first() {
                    Some(near) => format!("`{near}` may be meant; fusable are {}", quoted(&known)),
                    None => format!("fusable are {}", quoted(&known)),
                }
            }),
            Self::UnknownTaskType { .. } => advice("SK0209", "use `normal` or `dynamic`"),
            Self::BadTilingKey { .. } | Self::DuplicateTilingKey { .. } | Self::NoTilingKeys { .. } => {
                advice("SK0210", "compile the tiling-sink op again; its `dynamic_func_names` is damaged")
            }
            Self::TilingKeyKind { op_type, .. } => advice(
                "SK0211",
                format!(
                    "compile the op with a type that has all its core kinds, or drop that key; {op_type} is not enough"
                ),
            ),
            Self::SplitModeMismatch { found, .. } => advice(
                "SK0212",
                format!("set `split-mode={found}`, or compile the sub-kernel again with the split mode you want"),
            ),
            Self::EarlyStartOff { .. } => {
                advice("SK0213", "drop `early-start=0`, or compile the sub-kernel again without early start")
            }
            Self::EarlyStartOnDynamic { .. } => advice("SK0214", "compile the tiling-sink op without early start"),
            Self::EarlyStartSeveralStreams { .. } => {
                advice("SK0215", "compile the sub-kernel without early start (as `stream-fusion=1` builds do)")
            }
            Self::TooManySlots { .. } => advice("SK0216", "split the op list into several super kernels"),
            Self::BadRegion { .. } => advice(
                "SK0217",
                "give `{\"reads\": [[start, bytes], ...], \"writes\": [...]}`, or drop `regions`: the op then comes after \
                 all before it",
            ),
            Self::EventToItself { .. } => advice("SK0301", "remove the event from one of the op's two lists"),
            Self::EventTwice { .. } => advice("SK0302", "list each event once"),
            Self::EventClaimedTwice { .. } => advice("SK0303", "give each pair of ops an event of its own"),
            Self::EventInsideStream { .. } => {
                advice("SK0304", "remove the event: a stream's own order already does what it asks for")
            }
            Self::ReceiverBeforeSender { .. } => advice("SK0305", "put the sender before the receiver in `op_list`"),
            Self::StreamsNeedFusion { .. } => {
                advice("SK0306", "set `stream-fusion=1` in the options, or link the two ops by an event")
            }
            Self::FirstOpReceives { .. } => {
                advice("SK0307", "let the launch of the super kernel wait for the event instead")
            }
            Self::LastOpSends { .. } => advice("SK0308", "let the end of the super kernel send the event instead"),
            Self::BadBlockDim { .. } => {
                advice("SK0401", "a sub-kernel must be tiled for at least 1 block; compile it again")
            }
            Self::UnsupportedSoc { .. } => {
                advice("SK0402", format!("use one of {}", quoted(&Soc::ALL.map(Soc::as_str))))
            }
            Self::DebugCoreRatio { .. } => advice(
                "SK0403",
                "use cube cores only (a:0), vector cores only (0:v), as many of both (1:1) or twice as many vector \
                 cores (1:2)",
            ),
            Self::DebugCoresExceedPlatform { option, available, .. } => {
                advice("SK0404", format!("set `{option}` to {available} or less"))
            }
            Self::DebugCoresTooFew { option, needed, .. } => {
                advice("SK0405", format!("set `{option}` to {needed} or more, or drop it"))
            }
        }
    }
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
