//! The fields of actions: how each kind of value is written, and read again.

use std::collections::HashMap;
use std::fmt;

use super::words::{Line, Read, among, number};
use super::{
    Barrier, Direction, EarlyStartConfig, Entering, FunctionId, Pair, Program, RecordEdge, RecordSubject, Round,
    SyncAllRecords, TableId,
};
use crate::model::{CoreClass, EventId, OpIndex, OpPosition, SlotNumber};

/// One field of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Field {
    /// A number.
    Number(i128),
    /// A name or a few words.
    Text(String),
    /// Not known.
    Unknown,
}

impl From<u32> for Field {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<u64> for Field {
    fn from(number: u64) -> Self {
        Self::Number(number.into())
    }
}

impl From<EventId> for Field {
    fn from(event: EventId) -> Self {
        Self::Number(event.0.into())
    }
}

impl From<SlotNumber> for Field {
    fn from(slot: SlotNumber) -> Self {
        Self::Number(slot.0.into())
    }
}

impl From<OpIndex> for Field {
    fn from(index: OpIndex) -> Self {
        Self::Number(index.0 as i128)
    }
}

impl<T: Into<Self>> From<Option<T>> for Field {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Unknown, Into::into)
    }
}

impl fmt::Display for Field {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(formatter),
            Self::Text(text) => formatter.write_str(text),
            Self::Unknown => formatter.write_str("?"),
        }
    }
}

/// What fields of steps name.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// The ops, by the index they are called by.
    pub(super) ops: HashMap<OpIndex, OpPosition>,
    /// The functions.
    pub(super) functions: HashMap<String, FunctionId>,
    /// How many tables there are.
    pub(super) tables: usize,
}

impl Names {
    pub(super) fn op(&self, index: &str) -> Read<OpPosition> {
        let index = OpIndex(number(index, "an op")?);
        self.ops.get(&index).copied().ok_or_else(|| format!("there is no op {index}"))
    }

    pub(super) fn function(&self, name: &str) -> Read<FunctionId> {
        self.functions.get(name).copied().ok_or_else(|| format!("there is no function `{name}`"))
    }

    pub(super) fn table(&self, number: usize) -> Read<TableId> {
        if number < self.tables { Ok(TableId(number as u32)) } else { Err(format!("there is no table {number}")) }
    }

    pub(super) fn round(&self, text: &str) -> Read<Round> {
        if text == "at-end" {
            return Ok(Round::AtEnd);
        }
        match (text.strip_prefix("into-"), text.strip_prefix("own-wait-")) {
            (Some(op), _) => Ok(Round::Into(self.op(op)?)),
            (_, Some(op)) => Ok(Round::OwnWait(self.op(op)?)),
            (None, None) => Err(format!("`{text}` is no hand-over")),
        }
    }
}

/// Fields with their names, as they are written.
pub(super) type Written = Vec<(&'static str, Field)>;

/// The value of a field of an action. Some have one name and further ones of their own.
pub(super) trait FieldValue: Sized {
    /// Does it name a slot of the parameter block?
    const IS_SLOT: bool = false;

    /// Adds what it says.
    fn write(&self, name: &'static str, program: &Program, out: &mut Written);

    /// The inverse.
    fn read(name: &str, names: &Names, line: &mut Line) -> Read<Self>;
}

macro_rules! numbers {
    ($($type:ty),*) => { $(
        impl FieldValue for $type {
            fn write(&self, name: &'static str, _program: &Program, out: &mut Written) {
                out.push((name, (*self).into()));
            }

            fn read(name: &str, _names: &Names, line: &mut Line) -> Read<Self> {
                line.required_number(name)
            }
        }
    )* };
}
numbers!(u32, u64);

impl FieldValue for Option<u32> {
    fn write(&self, name: &'static str, _program: &Program, out: &mut Written) {
        out.push((name, (*self).into()));
    }

    fn read(name: &str, _names: &Names, line: &mut Line) -> Read<Self> {
        match line.required(name)?.as_str() {
            "?" => Ok(None),
            text => Ok(Some(number(text, name)?)),
        }
    }
}

impl FieldValue for SlotNumber {
    const IS_SLOT: bool = true;

    fn write(&self, name: &'static str, _program: &Program, out: &mut Written) {
        out.push((name, (*self).into()));
    }

    fn read(name: &str, _names: &Names, line: &mut Line) -> Read<Self> {
        line.slot(name)
    }
}

impl FieldValue for EventId {
    fn write(&self, name: &'static str, _program: &Program, out: &mut Written) {
        out.push((name, (*self).into()));
    }

    fn read(name: &str, _names: &Names, line: &mut Line) -> Read<Self> {
        Ok(Self(line.required_number(name)?))
    }
}

impl FieldValue for FunctionId {
    fn write(&self, name: &'static str, program: &Program, out: &mut Written) {
        out.push((name, Field::Text(program.function(*self).name.clone())));
    }

    fn read(name: &str, names: &Names, line: &mut Line) -> Read<Self> {
        names.function(&line.required(name)?)
    }
}

impl FieldValue for TableId {
    fn write(&self, name: &'static str, _program: &Program, out: &mut Written) {
        out.push((name, self.0.into()));
    }

    fn read(name: &str, names: &Names, line: &mut Line) -> Read<Self> {
        names.table(line.required_number(name)?)
    }
}

macro_rules! words {
    ($($type:ty: $what:literal),*) => { $(
        impl FieldValue for $type {
            fn write(&self, name: &'static str, _program: &Program, out: &mut Written) {
                out.push((name, Field::Text(self.to_string())));
            }

            fn read(name: &str, _names: &Names, line: &mut Line) -> Read<Self> {
                among(Self::ALL, &line.required(name)?, $what)
            }
        }
    )* };
}
words!(Barrier: "barrier", Direction: "direction", RecordEdge: "edge of a record");

impl FieldValue for EarlyStartConfig {
    fn write(&self, name: &'static str, _program: &Program, out: &mut Written) {
        out.push((name, self.number().into()));
    }

    fn read(name: &str, _names: &Names, line: &mut Line) -> Read<Self> {
        config(&line.required(name)?)
    }
}

/// `cores=tiled`, or nothing.
impl FieldValue for Entering {
    fn write(&self, name: &'static str, _program: &Program, out: &mut Written) {
        match self {
            Self::All => {}
            Self::Tiled => out.push((name, Field::Text(TILED.to_owned()))),
        }
    }

    fn read(name: &str, _names: &Names, line: &mut Line) -> Read<Self> {
        entering(line.field(name))
    }
}

/// How few cores are written.
pub(super) const TILED: &str = "tiled";

pub(super) fn entering(text: Option<String>) -> Read<Entering> {
    match text.as_deref() {
        None => Ok(Entering::All),
        Some(TILED) => Ok(Entering::Tiled),
        Some(other) => Err(format!("`{other}` are no cores that enter a dynamic op")),
    }
}

impl FieldValue for Round {
    fn write(&self, name: &'static str, program: &Program, out: &mut Written) {
        out.push((name, Field::Text(round_text(*self, program))));
    }

    fn read(name: &str, names: &Names, line: &mut Line) -> Read<Self> {
        names.round(&line.required(name)?)
    }
}

/// `sender=` and `receiver=`, or nothing.
impl FieldValue for Pair {
    fn write(&self, sender_name: &'static str, program: &Program, out: &mut Written) {
        match self {
            Self::Ops { sender, receiver } => {
                let op = |position: OpPosition| Field::from(program.index(position));
                out.extend([(sender_name, op(*sender)), ("receiver", op(*receiver))]);
            }
            Self::Workspace => {}
        }
    }

    fn read(sender_name: &str, names: &Names, line: &mut Line) -> Read<Self> {
        match line.field(sender_name) {
            Some(sender) => {
                Ok(Self::Ops { sender: names.op(&sender)?, receiver: names.op(&line.required("receiver")?)? })
            }
            None => Ok(Self::Workspace),
        }
    }
}

/// `subject=`, and `op=` or `event=` where it is one.
impl FieldValue for RecordSubject {
    fn write(&self, name: &'static str, program: &Program, out: &mut Written) {
        out.push((name, Field::Text(self.to_string())));
        match self {
            Self::SuperKernel => {}
            Self::Op(position) => out.push(("op", program.index(*position).into())),
            Self::Notify(event) | Self::Wait(event) => out.push(("event", (*event).into())),
        }
    }

    fn read(name: &str, names: &Names, line: &mut Line) -> Read<Self> {
        Ok(match line.required(name)?.as_str() {
            "super-kernel" => Self::SuperKernel,
            "op" => Self::Op(names.op(&line.required("op")?)?),
            "notify" => Self::Notify(line.event()?),
            "wait" => Self::Wait(line.event()?),
            other => return Err(format!("`{other}` is no subject of a record")),
        })
    }
}

/// `aic_offset=` and `aiv_offset=`.
impl FieldValue for Box<SyncAllRecords> {
    fn write(&self, cube_name: &'static str, _program: &Program, out: &mut Written) {
        out.extend([(cube_name, self.aic.into()), ("aiv_offset", self.aiv.into())]);
    }

    fn read(cube_name: &str, _names: &Names, line: &mut Line) -> Read<Self> {
        let (aic, aiv) = (line.required_number(cube_name)?, line.required_number("aiv_offset")?);
        Ok(Self::new(SyncAllRecords { aic, aiv }))
    }
}

pub(super) fn round_text(round: Round, program: &Program) -> String {
    match round {
        Round::Into(position) => format!("into-{}", program.index(position)),
        Round::OwnWait(position) => format!("own-wait-{}", program.index(position)),
        Round::AtEnd => "at-end".to_owned(),
    }
}

pub(super) fn config(text: &str) -> Read<EarlyStartConfig> {
    const CLASSES: [CoreClass; 3] = [CoreClass::Aic, CoreClass::Aiv, CoreClass::Mix];
    let all = CLASSES.into_iter().flat_map(|previous| CLASSES.map(|current| EarlyStartConfig { previous, current }));
    among(all, text, "early-start configuration")
}
