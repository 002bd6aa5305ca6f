//! Reads the text form back: the inverse of [`Program::text`], so that a program can be written down, changed and
//! checked.

mod values;

use super::fields::{Names, config, entering};
use super::requires::index_of_class;
use super::words::{Line, Read, among, number};
use super::{
    Action, Cores, CrossNeed, Direction, EarlyStartConfig, Edge, FunctionId, FunctionRef, Kinds, OpFacts,
    OpRequirement, Part, Program, RequiredCode, Requirements, Round, Step, TableEntry,
};
use crate::diagnostic::{Advice, Diagnostic, advice};
use crate::model::{
    ByPosition, Chip, CoreKind, KernelType, OpIndex, OpPosition, Slot, SlotLayout, SlotNumber, SlotRole, StreamForm,
    StreamId, SuperKernelType, SyncMode,
};
use values::{by_kind, cores, edge_origin, outer_events, reason, records};

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
    fn advice(&self) -> Advice {
        advice("SK0503", "write the line as `superkernel plan --text` prints such a line")
    }
}

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
    sync: SyncMode,
    ops: Vec<OpFacts>,
    names: Names,
    slots: Vec<Slot>,
    functions: Vec<FunctionRef>,
    tables: Vec<Vec<TableEntry>>,
    debug_output: Option<u64>,
    cleared_bytes: Option<u64>,
    last_config: Option<EarlyStartConfig>,
    debug_flush: bool,
    debug_meeting: bool,
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
            sync: SyncMode::Contract,
            ops: Vec::new(),
            names: Names::default(),
            slots: Vec::new(),
            functions: Vec::new(),
            tables: Vec::new(),
            debug_output: None,
            cleared_bytes: None,
            last_config: None,
            debug_flush: false,
            debug_meeting: false,
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
                self.names.tables += 1;
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
                line.expect("sync")?;
                let sync = line.word("the sync mode")?;
                let sync = sync.trim_end_matches(',');
                self.sync = SyncMode::from_name(sync).ok_or_else(|| format!("`{sync}` is no sync mode"))?;
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
        if self.names.ops.insert(index, OpPosition::at(self.ops.len())).is_some() {
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
        if self.names.functions.insert(name.clone(), FunctionId(self.functions.len() as u32)).is_some() {
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
        let aic = line.field("aic").map(|name| self.names.function(&name)).transpose()?;
        let aiv = line.field("aiv").map(|name| self.names.function(&name)).transpose()?;
        self.tables.last_mut().ok_or("no table")?.push(TableEntry { key, kernel_type, aic, aiv });
        Ok(())
    }

    fn requirement(&mut self, line: &mut Line) -> Read<()> {
        let op = line.word("the op")?;
        if op == "-" {
            self.debug_output = line.number_field("debug_output")?;
            self.cleared_bytes = line.number_field("cleared_bytes")?;
            self.last_config = line.field("last_config").map(|text| config(&text)).transpose()?;
            for word in line.field("debug").iter().flat_map(|words| words.split(',')) {
                match word {
                    "flush" => self.debug_flush = true,
                    "meeting" => self.debug_meeting = true,
                    other => return Err(format!("`{other}` is no debug option")),
                }
            }
            return Ok(());
        }
        let position = self.names.op(&op)?;
        if position.place() != self.requires.len() {
            return Err(format!("op {op} is not the next one"));
        }
        let after =
            line.field("after").map_or(Ok(Vec::new()), |list| list.split(',').map(|op| self.names.op(op)).collect())?;
        let param = line.slot("slot")?;
        let code = match line.number_field("table")? {
            Some(table) => {
                let lock = line.required("lock")?;
                let (lock, releaser) = by_kind(&lock)?;
                let lock = SlotNumber(number(lock, "the lock's slot")?);
                RequiredCode::Dynamic {
                    table: self.names.table(table)?,
                    key_slot: line.slot("key_slot")?,
                    lock,
                    releaser,
                    entering: entering(line.field("cores"))?,
                }
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
        let own_set = line.field("own_set").map(|text| self.names.round(&text)).transpose()?;
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
        line.field(&cores.to_string()).map(|name| self.names.function(&name)).transpose()
    }

    fn edge(&mut self, line: &mut Line) -> Read<()> {
        let sender = self.names.op(&line.word("the sender")?)?;
        line.expect("->")?;
        let receiver = self.names.op(&line.word("the receiver")?)?;
        let words = line.rest();
        let mut parts = words.split(", ");
        let origin = edge_origin(parts.next().unwrap_or_default())?;
        let (mut cube_to_vector, mut vector_to_cube) = (CrossNeed::None, CrossNeed::None);
        for part in parts {
            let (direction, need) = part.split_once(' ').ok_or_else(|| format!("`{part}` is no need of an edge"))?;
            let need = match need.strip_prefix("flag received at op ") {
                Some(op) => CrossNeed::Flag { received_at: self.names.op(op)? },
                None if need == "implied by other flags" => CrossNeed::Implied,
                None => return Err(format!("`{need}` is no need of an edge")),
            };
            match among(Direction::ALL, direction, "direction")? {
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
            index => Some(self.names.op(index)?),
        };
        let cores = cores(&line.word("the step's cores")?)?;
        let name = line.word("the action")?;
        let action = Action::read(&name, &self.names, line)?;
        let reason = line.comment().map(|words| reason(&words, &action)).transpose()?;
        self.steps.push(Step { op, cores, action, reason });
        Ok(())
    }

    fn own_wait(&self, text: &str) -> Read<(EarlyStartConfig, Round)> {
        let (number, round) = text.split_once('/').ok_or_else(|| format!("`{text}` is no own wait"))?;
        Ok((config(number)?, self.names.round(round)?))
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
            sync: self.sync,
            ops: self.ops.into(),
            functions: self.functions,
            tables: self.tables,
            requires: Requirements {
                slots: SlotLayout::of(self.slots),
                debug_output: self.debug_output,
                cleared_bytes: self.cleared_bytes,
                debug_flush: self.debug_flush,
                debug_meeting: self.debug_meeting,
                ops: ByPosition::from(self.requires),
                last_config: self.last_config,
            },
            edges: self.edges,
            steps: self.steps,
        })
    }
}
