//! Reads the text form back: the inverse of [`Program::text`], so that a program can be written down, changed and
//! checked.

use std::collections::HashMap;

use super::requires::index_of_class;
use super::words::{Line, Token};
use super::{
    Action, Barrier, CoreIndex, Cores, CrossNeed, Direction, EarlyStartConfig, Edge, EdgeOrigin, FunctionId,
    FunctionRef, Kinds, OpFacts, OpRequirement, OuterEvent, Pair, Part, Program, Reason, RecordEdge, RecordSubject,
    RequiredCode, Requirements, Round, Step, SyncAllRecords, TableEntry, TableId,
};
use crate::diagnostic::Diagnostic;
use crate::model::{
    ByPosition, Chip, CoreClass, CoreKind, EventId, KernelType, OpIndex, OpPosition, Slot, SlotLayout, SlotNumber,
    SlotRole, StreamForm, StreamId, SuperKernelType,
};

/// Why a text is no program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the program: {problem}")]
pub struct ReadError {
    /// Counted from 1.
    pub line: usize,
    /// What is wrong there.
    pub problem: String,
}

impl Diagnostic for ReadError {
    fn id(&self) -> &'static str {
        "SK0503"
    }

    fn solution(&self) -> String {
        "write the line as `superkernel plan --text` prints such a line".to_owned()
    }
}

type Read<T> = Result<T, String>;

impl Program {
    /// Reads what [`Program::text`] prints.
    pub fn read(text: &str) -> Result<Self, ReadError> {
        let mut reader = Reader::default();
        for (number, line) in text.lines().enumerate() {
            reader.line(line).map_err(|problem| ReadError { line: number + 1, problem })?;
        }
        let line = text.lines().count();
        reader.finish().map_err(|problem| ReadError { line, problem })
    }
}

/// Where in the text a line is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Head,
    Ops,
    Slots,
    Functions,
    Table,
    Requires,
    Edges,
    Steps,
}

/// The program so far.
struct Reader {
    section: Section,
    /// Lines of the head so far.
    head: usize,
    kernel_name: String,
    chip: Chip,
    kernel_type: SuperKernelType,
    block_num: u32,
    split: u32,
    func_align: u64,
    form: StreamForm,
    ops: Vec<OpFacts>,
    positions: HashMap<OpIndex, OpPosition>,
    slots: Vec<Slot>,
    functions: Vec<FunctionRef>,
    ids: HashMap<String, FunctionId>,
    tables: Vec<Vec<TableEntry>>,
    debug_output: Option<u64>,
    cleared_bytes: Option<u64>,
    last_config: Option<EarlyStartConfig>,
    requires: Vec<OpRequirement>,
    edges: Vec<Edge>,
    steps: Vec<Step>,
}

impl Default for Reader {
    fn default() -> Self {
        Self {
            section: Section::Head,
            head: 0,
            kernel_name: String::new(),
            chip: Chip::C220,
            kernel_type: SuperKernelType::Aiv,
            block_num: 0,
            split: 0,
            func_align: 0,
            form: StreamForm::One,
            ops: Vec::new(),
            positions: HashMap::new(),
            slots: Vec::new(),
            functions: Vec::new(),
            ids: HashMap::new(),
            tables: Vec::new(),
            debug_output: None,
            cleared_bytes: None,
            last_config: None,
            requires: Vec::new(),
            edges: Vec::new(),
            steps: Vec::new(),
        }
    }
}

impl Reader {
    fn line(&mut self, text: &str) -> Read<()> {
        if text.trim().is_empty() {
            return Ok(());
        }
        if !text.starts_with(' ') && self.head > 0 {
            return self.heading(text);
        }
        let mut line = Line::of(text)?;
        match self.section {
            Section::Head => self.head(&mut line)?,
            Section::Ops => self.op(&mut line)?,
            Section::Slots => self.slot(&mut line)?,
            Section::Functions => self.function(&mut line)?,
            Section::Table => self.table_entry(&mut line)?,
            Section::Requires => self.requirement(&mut line)?,
            Section::Edges => self.edge(&mut line)?,
            Section::Steps => self.step(&mut line)?,
        }
        line.end()
    }

    fn heading(&mut self, text: &str) -> Read<()> {
        self.section = match text.trim_end() {
            "ops" => Section::Ops,
            "slots" => Section::Slots,
            "functions" => Section::Functions,
            "requires" => Section::Requires,
            "edges" => Section::Edges,
            "steps" => Section::Steps,
            table if table.strip_prefix("table ").is_some_and(|number| number == self.tables.len().to_string()) => {
                self.tables.push(Vec::new());
                Section::Table
            }
            other => return Err(format!("no part of a program is called `{other}` here")),
        };
        Ok(())
    }

    fn head(&mut self, line: &mut Line) -> Read<()> {
        self.head += 1;
        match self.head {
            1 => {
                line.expect("super")?;
                line.expect("kernel")?;
                self.kernel_name = line.word("the kernel's name")?;
            }
            2 => {
                let name = line.word("the kernel's type")?;
                let types =
                    [SuperKernelType::Aiv, SuperKernelType::Aic, SuperKernelType::Mix1_1, SuperKernelType::Mix1_2];
                self.kernel_type = among(types, &name, "type of a super kernel")?;
                line.expect("on")?;
                self.chip = among(Chip::ALL, line.word("the chip")?.trim_end_matches(','), "chip")?;
                self.block_num = line.number("the number of blocks")?;
                line.expect("blocks")?;
                if self.block_num == 0 {
                    return Err("a launch has at least one block".to_owned());
                }
            }
            3 => {
                self.form = match line.word("`one` or `several`")?.as_str() {
                    "one" => line.expect("stream,").map(|()| StreamForm::One)?,
                    "several" => line.expect("streams,").map(|()| StreamForm::Several)?,
                    other => return Err(format!("`{other}` is neither `one` nor `several`")),
                };
                line.expect("split")?;
                self.split = number(line.word("the split")?.trim_end_matches(','), "the split")?;
                line.expect("align")?;
                self.func_align = line.number("the alignment")?;
            }
            _ => return Err("the kernel is described by three lines".to_owned()),
        }
        Ok(())
    }

    fn op(&mut self, line: &mut Line) -> Read<()> {
        let index = OpIndex(line.number("the op's index")?);
        let kernel_name = line.word("the op's kernel")?;
        let type_name = line.word("the op's type")?;
        let type_name = type_name.trim_end_matches(',');
        let kernel_type =
            KernelType::from_name(type_name).ok_or_else(|| format!("`{type_name}` is no type of a kernel"))?;
        let block_num = line.number("the op's blocks")?;
        line.expect("blocks,")?;
        line.expect("stream")?;
        let stream_id = StreamId(line.number("the op's stream")?);
        if self.positions.insert(index, OpPosition::at(self.ops.len())).is_some() {
            return Err(format!("op {index} is there already"));
        }
        self.ops.push(OpFacts {
            index,
            kernel_name: kernel_name.into(),
            kernel_type,
            block_num,
            stream_id,
            own_set: None,
            own_wait: None,
            is_dynamic: false,
            feeds_sync_all: false,
        });
        Ok(())
    }

    fn slot(&mut self, line: &mut Line) -> Read<()> {
        let number: usize = line.number("the slot's number")?;
        if number != self.slots.len() {
            return Err(format!("slot {} is next, not {number}", self.slots.len()));
        }
        let op = match line.word("the slot's op")?.as_str() {
            "-" => None,
            index => Some(OpIndex(self::number(index, "the slot's op")?)),
        };
        let name = line.word("the slot's name")?;
        let role = line.word("the slot's role")?;
        let role = SlotRole::from_name(&role).ok_or_else(|| format!("`{role}` is no role of a slot"))?;
        self.slots.push(Slot { name: name.into(), op, role });
        Ok(())
    }

    fn function(&mut self, line: &mut Line) -> Read<()> {
        let kind = among(CoreKind::BOTH, &line.word("the kind of core")?, "kind of core")?;
        let name = line.word("the function's name")?;
        if self.ids.insert(name.clone(), FunctionId(self.functions.len() as u32)).is_some() {
            return Err(format!("function `{name}` is there already"));
        }
        self.functions.push(FunctionRef { name, kind });
        Ok(())
    }

    fn table_entry(&mut self, line: &mut Line) -> Read<()> {
        let key = line.number("the tiling key")?;
        let type_name = line.word("the key's type")?;
        let kernel_type =
            KernelType::from_name(&type_name).ok_or_else(|| format!("`{type_name}` is no type of a kernel"))?;
        let aic = line.field("aic").map(|name| self.function_id(&name)).transpose()?;
        let aiv = line.field("aiv").map(|name| self.function_id(&name)).transpose()?;
        self.tables.last_mut().ok_or("no table")?.push(TableEntry { key, kernel_type, aic, aiv });
        Ok(())
    }

    fn requirement(&mut self, line: &mut Line) -> Read<()> {
        let op = line.word("the op")?;
        if op == "-" {
            self.debug_output = line.number_field("debug_output")?;
            self.cleared_bytes = line.number_field("cleared_bytes")?;
            self.last_config = line.field("last_config").map(|text| config(&text)).transpose()?;
            return Ok(());
        }
        let position = self.position(&op)?;
        if position.place() != self.requires.len() {
            return Err(format!("op {op} is not the next one"));
        }
        let after =
            line.field("after").map_or(Ok(Vec::new()), |list| list.split(',').map(|op| self.position(op)).collect())?;
        let param = line.slot("slot")?;
        let code = match line.number_field("table")? {
            Some(table) => {
                let lock = line.required("lock")?;
                let (lock, releaser) = by_kind(&lock)?;
                let lock = SlotNumber(number(lock, "the lock's slot")?);
                RequiredCode::Dynamic { table: self.table(table)?, key_slot: line.slot("key_slot")?, lock, releaser }
            }
            None => RequiredCode::Static {
                aic: self.required_function(line, position, CoreKind::Aic)?,
                aiv: self.required_function(line, position, CoreKind::Aiv)?,
            },
        };
        let waits = line.field("waits").map_or(Ok(Vec::new()), |list| outer_events(&list))?;
        let notifies = line.field("notifies").map_or(Ok(Vec::new()), |list| outer_events(&list))?;
        let flush = line.field("flush").unwrap_or_default();
        let (flush_before, flush_after) = match flush.as_str() {
            "" => (false, false),
            "before" => (true, false),
            "after" => (false, true),
            "before,after" => (true, true),
            other => return Err(format!("`{other}` is no place for a flush")),
        };
        let records = line.field("records").map(|text| records(&text)).transpose()?;
        let config = line.field("config").map(|text| config(&text)).transpose()?;
        let own_set = line.field("own_set").map(|text| self.round(&text)).transpose()?;
        let own_wait = line.field("own_wait").map(|text| self.own_wait(&text)).transpose()?;
        let facts = &mut self.ops[position.place()];
        facts.own_set = own_set;
        facts.own_wait = own_wait;
        facts.is_dynamic = matches!(code, RequiredCode::Dynamic { .. });
        facts.feeds_sync_all = records.is_some();
        self.requires.push(OpRequirement {
            after: after.into(),
            code,
            param,
            waits: waits.into(),
            notifies: notifies.into(),
            config,
            flush_before,
            flush_after,
            records,
        });
        Ok(())
    }

    /// A function on the cores that run it, which follow from the op.
    fn required_function(&self, line: &mut Line, op: OpPosition, kind: CoreKind) -> Read<Option<FunctionId>> {
        let facts = &self.ops[op.place()];
        let part = Part::Below(index_of_class(facts.class()), facts.block_num);
        let cores = Cores { kinds: Kinds::Only(kind), part };
        line.field(&cores.to_string()).map(|name| self.function_id(&name)).transpose()
    }

    fn edge(&mut self, line: &mut Line) -> Read<()> {
        let sender = self.position(&line.word("the sender")?)?;
        line.expect("->")?;
        let receiver = self.position(&line.word("the receiver")?)?;
        let words = line.rest();
        let mut parts = words.split(", ");
        let origin = edge_origin(parts.next().unwrap_or_default())?;
        let (mut cube_to_vector, mut vector_to_cube) = (CrossNeed::None, CrossNeed::None);
        for part in parts {
            let (direction, need) = part.split_once(' ').ok_or_else(|| format!("`{part}` is no need of an edge"))?;
            let need = match need.strip_prefix("flag received at op ") {
                Some(op) => CrossNeed::Flag { received_at: self.position(op)? },
                None if need == "implied by other flags" => CrossNeed::Implied,
                None => return Err(format!("`{need}` is no need of an edge")),
            };
            match among(Direction::BOTH, direction, "direction")? {
                Direction::CubeToVector => cube_to_vector = need,
                Direction::VectorToCube => vector_to_cube = need,
            }
        }
        self.edges.push(Edge { sender, receiver, origin, cube_to_vector, vector_to_cube });
        Ok(())
    }

    fn step(&mut self, line: &mut Line) -> Read<()> {
        let op = match line.word("the step's op")?.as_str() {
            "-" => None,
            index => Some(self.position(index)?),
        };
        let cores = cores(&line.word("the step's cores")?)?;
        let name = line.word("the action")?;
        let action = self.action(&name, line)?;
        let reason = line.comment().map(|words| reason(&words, &action)).transpose()?;
        self.steps.push(Step { op, cores, action, reason });
        Ok(())
    }

    fn action(&self, name: &str, line: &mut Line) -> Read<Action> {
        Ok(match name {
            "load-parameters" => Action::LoadParameters,
            "load-workspace" => Action::LoadWorkspace { slot: line.slot("slot")? },
            "set-sync-all-base" => Action::SetSyncAllBase,
            "init-dump" => Action::InitDump { offset: line.required_number("offset")? },
            "init-profiling" => {
                Action::InitProfiling { buffer: line.slot("slot")?, task_id: line.slot("task_id_slot")? }
            }
            "set-ffts-base" => Action::SetFftsBase { slot: line.slot("slot")? },
            "clear-workspace" => Action::ClearWorkspace { bytes: line.required_number("bytes")? },
            "preload-here" => Action::PreloadHere { units: line.required_number("units")? },
            "preload" => {
                let function = self.function_id(&line.required("function")?)?;
                let units = match line.required("units")?.as_str() {
                    "?" => None,
                    units => Some(number(units, "units")?),
                };
                Action::Preload { function, units }
            }
            "preload-picked" => Action::PreloadPicked { units: line.required_number("units")? },
            "record" => self.record(line)?,
            "pipe-barrier" => Action::PipeBarrier,
            "barrier" => {
                let all = [Barrier::Aic, Barrier::AicAfterMte3, Barrier::Aiv, Barrier::All];
                Action::Barrier(among(all, &line.required("over")?, "barrier")?)
            }
            "set-flag" => {
                let (direction, pair) = self.flag(line)?;
                Action::SetFlag { direction, pair }
            }
            "wait-flag" => {
                let (direction, pair) = self.flag(line)?;
                Action::WaitFlag { direction, pair }
            }
            "early-start-set" => Action::EarlyStartSet { round: self.round(&line.required("round")?)? },
            "early-start-config" => Action::EarlyStartConfig { config: config(&line.required("config")?)? },
            "early-start-wait" => {
                let config = config(&line.required("config")?)?;
                Action::EarlyStartWait { config, round: self.round(&line.required("round")?)? }
            }
            "notify" => Action::Notify { event: line.event()?, slot: line.slot("slot")? },
            "wait-event" => Action::WaitEvent { event: line.event()?, slot: line.slot("slot")? },
            "clear-event" => Action::ClearEvent { event: line.event()?, slot: line.slot("slot")? },
            "enable-sync-all" => {
                let (aic, aiv) = (line.required_number("aic_offset")?, line.required_number("aiv_offset")?);
                Action::EnableSyncAll { records: Box::new(SyncAllRecords { aic, aiv }) }
            }
            "disable-sync-all" => Action::DisableSyncAll,
            "end-sync-all" => Action::EndSyncAll,
            "complement-sync-all" => Action::ComplementSyncAll,
            "flush" => Action::Flush,
            "call" => {
                Action::Call { function: self.function_id(&line.required("function")?)?, offset: line.slot("offset")? }
            }
            "switch" => {
                Action::Switch { table: self.table(line.required_number("table")?)?, key_slot: line.slot("key_slot")? }
            }
            "call-picked" => {
                Action::CallPicked { table: self.table(line.required_number("table")?)?, offset: line.slot("offset")? }
            }
            "release-lock" => Action::ReleaseLock { slot: line.slot("slot")? },
            other => return Err(format!("no step is called `{other}`")),
        })
    }

    fn record(&self, line: &mut Line) -> Read<Action> {
        let subject = match line.required("subject")?.as_str() {
            "super-kernel" => RecordSubject::SuperKernel,
            "op" => RecordSubject::Op(self.position(&line.required("op")?)?),
            "notify" => RecordSubject::Notify(line.event()?),
            "wait" => RecordSubject::Wait(line.event()?),
            other => return Err(format!("`{other}` is no subject of a record")),
        };
        let edge = among([RecordEdge::Start, RecordEdge::End], &line.required("edge")?, "edge of a record")?;
        Ok(Action::Record { subject, edge })
    }

    fn flag(&self, line: &mut Line) -> Read<(Direction, Pair)> {
        let direction = among(Direction::BOTH, &line.required("direction")?, "direction")?;
        let pair = match line.field("sender") {
            Some(sender) => {
                Pair::Ops { sender: self.position(&sender)?, receiver: self.position(&line.required("receiver")?)? }
            }
            None => Pair::Workspace,
        };
        Ok((direction, pair))
    }

    fn round(&self, text: &str) -> Read<Round> {
        if text == "at-end" {
            return Ok(Round::AtEnd);
        }
        match (text.strip_prefix("into-"), text.strip_prefix("own-wait-")) {
            (Some(op), _) => Ok(Round::Into(self.position(op)?)),
            (_, Some(op)) => Ok(Round::OwnWait(self.position(op)?)),
            (None, None) => Err(format!("`{text}` is no hand-over")),
        }
    }

    fn own_wait(&self, text: &str) -> Read<(EarlyStartConfig, Round)> {
        let (number, round) = text.split_once('/').ok_or_else(|| format!("`{text}` is no own wait"))?;
        Ok((config(number)?, self.round(round)?))
    }

    fn position(&self, index: &str) -> Read<OpPosition> {
        let index = OpIndex(number(index, "an op")?);
        self.positions.get(&index).copied().ok_or_else(|| format!("there is no op {index}"))
    }

    fn function_id(&self, name: &str) -> Read<FunctionId> {
        self.ids.get(name).copied().ok_or_else(|| format!("there is no function `{name}`"))
    }

    fn table(&self, number: usize) -> Read<TableId> {
        if number < self.tables.len() { Ok(TableId(number as u32)) } else { Err(format!("there is no table {number}")) }
    }

    fn finish(self) -> Read<Program> {
        if self.head < 3 {
            return Err("the kernel is described by three lines".to_owned());
        }
        if self.ops.is_empty() {
            return Err("a program has at least one op".to_owned());
        }
        if self.requires.len() != self.ops.len() {
            return Err(format!("{} ops, but requirements of {}", self.ops.len(), self.requires.len()));
        }
        Ok(Program {
            kernel_name: self.kernel_name,
            chip: self.chip,
            kernel_type: self.kernel_type,
            block_num: self.block_num,
            split: self.split,
            func_align: self.func_align,
            form: self.form,
            ops: self.ops.into(),
            functions: self.functions,
            tables: self.tables,
            requires: Requirements {
                slots: SlotLayout::of(self.slots),
                debug_output: self.debug_output,
                cleared_bytes: self.cleared_bytes,
                ops: ByPosition::from(self.requires),
                last_config: self.last_config,
            },
            edges: self.edges,
            steps: self.steps,
        })
    }
}

/// The one of `all` that prints as `text`.
fn among<T: Copy + ToString>(all: impl IntoIterator<Item = T>, text: &str, what: &str) -> Read<T> {
    all.into_iter().find(|known| known.to_string() == text).ok_or_else(|| format!("`{text}` is no {what}"))
}

fn number<N: std::str::FromStr>(text: &str, what: &str) -> Read<N> {
    text.parse().map_err(|_| format!("`{text}` is no number for {what}"))
}

fn config(text: &str) -> Read<EarlyStartConfig> {
    const CLASSES: [CoreClass; 3] = [CoreClass::Aic, CoreClass::Aiv, CoreClass::Mix];
    let all = CLASSES.into_iter().flat_map(|previous| CLASSES.map(|current| EarlyStartConfig { previous, current }));
    among(all, text, "early-start configuration")
}

fn records(text: &str) -> Read<SyncAllRecords> {
    let (aic, aiv) = text.split_once('/').ok_or_else(|| format!("`{text}` are no two offsets"))?;
    Ok(SyncAllRecords { aic: number(aic, "an offset")?, aiv: number(aiv, "an offset")? })
}

/// `WHAT:KIND`.
fn by_kind(text: &str) -> Read<(&str, CoreKind)> {
    let (what, kind) = text.split_once(':').ok_or_else(|| format!("`{text}` names no kind of core"))?;
    Ok((what, among(CoreKind::BOTH, kind, "kind of core")?))
}

/// `EVENT@SLOT:KIND`, several with commas.
fn outer_events(list: &str) -> Read<Vec<OuterEvent>> {
    let event = |text: &str| {
        let (both, by) = by_kind(text)?;
        let (event, slot) = both.split_once('@').ok_or_else(|| format!("`{text}` names no slot"))?;
        Ok(OuterEvent { event: EventId(number(event, "an event")?), slot: SlotNumber(number(slot, "a slot")?), by })
    };
    list.split(',').map(event).collect()
}

fn cores(text: &str) -> Read<Cores> {
    let (kinds, part) = match text.split_once('[') {
        Some((kinds, part)) => (kinds, part.strip_suffix(']').ok_or_else(|| format!("`{text}` lacks its `]`"))?),
        None => (text, ""),
    };
    let kinds = match kinds {
        "every" => Kinds::Every,
        kind => Kinds::Only(among(CoreKind::BOTH, kind, "kind of core")?),
    };
    let indices = [CoreIndex::Block, CoreIndex::Core];
    let part = match (part, part.split_once(">="), part.split_once('<')) {
        ("", _, _) => Part::All,
        ("first", _, _) => Part::First,
        (_, Some((index, count)), _) => Part::From(among(indices, index, "index of cores")?, number(count, "cores")?),
        (_, _, Some((index, count))) => Part::Below(among(indices, index, "index of cores")?, number(count, "cores")?),
        (other, None, None) => return Err(format!("`{other}` is no part of the cores")),
    };
    Ok(Cores { kinds, part })
}

fn edge_origin(words: &str) -> Read<EdgeOrigin> {
    match (words.strip_prefix("same stream "), words.strip_prefix("event ")) {
        (Some(stream), _) => Ok(EdgeOrigin::Stream(StreamId(number(stream, "a stream")?))),
        (_, Some(event)) => Ok(EdgeOrigin::Event(EventId(number(event, "an event")?))),
        (None, None) if words == "flow control" => Ok(EdgeOrigin::FlowControl),
        (None, None) => Err(format!("`{words}` is no origin of an edge")),
    }
}

/// Telling and waiting for an outer event have the same words; the step says which it is.
fn reason(words: &str, action: &Action) -> Read<Reason> {
    const FIXED: [Reason; 12] = [
        Reason::ListOrder,
        Reason::FlowControl,
        Reason::BeforeNotify,
        Reason::AfterOuterWait,
        Reason::AfterSwitch,
        Reason::Tiling,
        Reason::DebugSyncAll,
        Reason::DebugDcciAll,
        Reason::OwnWait,
        Reason::OwnSet,
        Reason::WorkspaceCleared,
        Reason::NextOnThisCore,
    ];
    if let Some(event) = words.strip_prefix("outer event ") {
        let event = EventId(number(event, "an event")?);
        let tells = matches!(action, Action::Notify { .. });
        return Ok(if tells { Reason::OuterNotify(event) } else { Reason::OuterWait(event) });
    }
    match edge_origin(words) {
        Ok(origin) => Ok(origin.into()),
        Err(_) => among(FIXED, words, "reason"),
    }
}

/// What the fields of steps have in common.
impl Line {
    fn required(&mut self, name: &str) -> Read<String> {
        self.field(name).ok_or_else(|| format!("`{name}=` is missing"))
    }

    fn required_number<N: std::str::FromStr>(&mut self, name: &str) -> Read<N> {
        number(&self.required(name)?, name)
    }

    fn number_field<N: std::str::FromStr>(&mut self, name: &str) -> Read<Option<N>> {
        self.field(name).map(|text| number(&text, name)).transpose()
    }

    fn slot(&mut self, name: &str) -> Read<SlotNumber> {
        Ok(SlotNumber(self.required_number(name)?))
    }

    fn event(&mut self) -> Read<EventId> {
        Ok(EventId(self.required_number("event")?))
    }

    fn number<N: std::str::FromStr>(&mut self, what: &str) -> Read<N> {
        number(&self.word(what)?, what)
    }

    fn expect(&mut self, wanted: &str) -> Read<()> {
        let found = self.word(&format!("`{wanted}`"))?;
        if found == wanted { Ok(()) } else { Err(format!("`{found}` stands where `{wanted}` belongs")) }
    }

    /// All words that are left, as they stand.
    fn rest(&mut self) -> String {
        let words: Vec<String> = self.tokens.drain(..).map(Token::into_text).collect();
        words.join(" ")
    }
}
