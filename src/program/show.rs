//! The program for people: a stable text form, and JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::fields::{TILED, round_text};
use super::requires::index_of_class;
use super::words::word;
use super::{
    Cores, CrossNeed, Direction, Edge, Entering, Field, Kinds, OpRequirement, OuterEvent, Part, Program, RequiredCode,
    Step,
};
use crate::model::{CoreKind, OpPosition, StreamForm};

impl Program {
    /// The whole program as text: same program, same text.
    pub fn text(&self) -> String {
        let mut out = String::new();
        self.write_text(&mut out).expect("writing to a string cannot fail");
        out
    }

    fn write_text(&self, out: &mut String) -> std::fmt::Result {
        let form = match self.form {
            StreamForm::One => "one stream",
            StreamForm::Several => "several streams",
        };
        writeln!(out, "super kernel {}", word(&self.kernel_name))?;
        writeln!(out, "  {} on {}, {} blocks", self.kernel_type, self.chip, self.block_num)?;
        let sync = self.sync.as_str();
        writeln!(out, "  {form}, sync {sync}, split {}, align {}", self.split, self.func_align)?;
        writeln!(out, "\nops")?;
        for op in &self.ops {
            let (name, blocks) = (word(&op.kernel_name), op.block_num);
            writeln!(out, "  {:>4} {name} {}, {blocks} blocks, stream {}", op.index, op.kernel_type, op.stream_id)?;
        }
        writeln!(out, "\nslots")?;
        for (number, slot) in self.requires.slots.slots.iter().enumerate() {
            let op = slot.op.map_or_else(|| "-".to_owned(), |op| op.to_string());
            writeln!(out, "  {number:>4} {op:>4} {} {}", word(&slot.name), slot.role.as_str())?;
        }
        writeln!(out, "\nfunctions")?;
        for function in &self.functions {
            writeln!(out, "  {} {}", function.kind, word(&function.name))?;
        }
        for (number, table) in self.tables.iter().enumerate() {
            writeln!(out, "\ntable {number}")?;
            for entry in table {
                write!(out, "  {:>20} {}", entry.key, entry.kernel_type)?;
                for kind in CoreKind::BOTH {
                    if let Some(function) = entry.function(kind) {
                        write!(out, " {kind}={}", word(&self.function(function).name))?;
                    }
                }
                writeln!(out)?;
            }
        }
        writeln!(out, "\nrequires")?;
        self.write_requirements(out)?;
        if !self.edges.is_empty() {
            writeln!(out, "\nedges")?;
        }
        for edge in &self.edges {
            let (sender, receiver) = (self.index(edge.sender), self.index(edge.receiver));
            write!(out, "  {sender:>4} -> {receiver:<4} {}", edge.origin)?;
            for direction in Direction::ALL {
                match edge.need(direction) {
                    CrossNeed::None => {}
                    need @ (CrossNeed::Flag { .. } | CrossNeed::Implied) => {
                        write!(out, ", {direction} {}", need.describe(self))?
                    }
                }
            }
            writeln!(out)?;
        }
        writeln!(out, "\nsteps")?;
        for step in &self.steps {
            self.write_step(out, step)?;
        }
        Ok(())
    }

    fn write_requirements(&self, out: &mut String) -> std::fmt::Result {
        let requires = &self.requires;
        let debug = match (requires.debug_flush, requires.debug_meeting) {
            (false, false) => None,
            (true, false) => Some("flush"),
            (false, true) => Some("meeting"),
            (true, true) => Some("flush,meeting"),
        };
        let own = [
            requires.debug_output.map(|offset| format!(" debug_output={offset}")),
            requires.cleared_bytes.map(|bytes| format!(" cleared_bytes={bytes}")),
            requires.last_config.map(|config| format!(" last_config={config}")),
            debug.map(|debug| format!(" debug={debug}")),
        ];
        let own: String = own.into_iter().flatten().collect();
        if !own.is_empty() {
            writeln!(out, "     -{own}")?;
        }
        for (position, required) in requires.ops.enumerate() {
            self.write_requirement(out, position, required)?;
        }
        Ok(())
    }

    fn write_requirement(&self, out: &mut String, position: OpPosition, required: &OpRequirement) -> std::fmt::Result {
        let facts = &self.ops[position];
        write!(out, "  {:>4}", facts.index)?;
        if !required.after.is_empty() {
            let after: Vec<String> = required.after.iter().map(|op| self.index(*op).to_string()).collect();
            write!(out, " after={}", after.join(","))?;
        }
        match required.code {
            RequiredCode::Static { aic, aiv } => {
                for (kind, function) in [(CoreKind::Aic, aic), (CoreKind::Aiv, aiv)] {
                    let Some(function) = function else { continue };
                    let part = Part::Below(index_of_class(facts.class()), facts.block_num);
                    let cores = Cores { kinds: Kinds::Only(kind), part };
                    write!(out, " {cores}={}", word(&self.function(function).name))?;
                }
            }
            RequiredCode::Dynamic { table, key_slot, lock, releaser, entering } => {
                write!(out, " table={} key_slot={key_slot} lock={lock}:{releaser}", table.0)?;
                match entering {
                    Entering::All => {}
                    Entering::Tiled => write!(out, " cores={TILED}")?,
                }
            }
        }
        write!(out, " slot={}", required.param)?;
        for (name, events) in [("waits", &required.waits), ("notifies", &required.notifies)] {
            if !events.is_empty() {
                let each = |outer: &OuterEvent| format!("{}@{}:{}", outer.event, outer.slot, outer.by);
                let events: Vec<String> = events.iter().map(each).collect();
                write!(out, " {name}={}", events.join(","))?;
            }
        }
        match (required.flush_before, required.flush_after) {
            (false, false) => {}
            (true, false) => out.push_str(" flush=before"),
            (false, true) => out.push_str(" flush=after"),
            (true, true) => out.push_str(" flush=before,after"),
        }
        if let Some(records) = required.records {
            write!(out, " records={}/{}", records.aic, records.aiv)?;
        }
        if let Some(config) = required.config {
            write!(out, " config={config}")?;
        }
        if let Some((config, round)) = facts.own_wait {
            write!(out, " own_wait={config}/{}", round_text(round, self))?;
        }
        if let Some(round) = facts.own_set {
            write!(out, " own_set={}", round_text(round, self))?;
        }
        writeln!(out)
    }

    fn write_step(&self, out: &mut String, step: &Step) -> std::fmt::Result {
        match step.op {
            Some(position) => write!(out, "  {:>4} ", self.index(position))?,
            None => write!(out, "     - ")?,
        }
        write!(out, "{:<16} {}", step.cores.to_string(), step.action.name())?;
        for (name, value) in step.action.fields(self) {
            match value {
                Field::Text(text) => write!(out, " {name}={}", word(&text))?,
                Field::Number(_) | Field::Unknown => write!(out, " {name}={value}")?,
            }
        }
        if let Some(reason) = step.reason {
            write!(out, "  # {reason}")?;
        }
        writeln!(out)
    }

    /// The steps as JSON: a list of objects with `op`, `cores`, `action`, the action's fields and `reason`.
    pub(crate) fn steps_json(&self) -> Value {
        Value::Array(self.steps.iter().map(|step| self.step_json(step)).collect())
    }

    fn step_json(&self, step: &Step) -> Value {
        let mut object = Map::new();
        object.insert("op".to_owned(), json!(step.op.map(|position| self.index(position))));
        object.insert("cores".to_owned(), json!(step.cores.to_string()));
        object.insert("action".to_owned(), json!(step.action.name()));
        for (name, value) in step.action.fields(self) {
            // An action's own `op` field names the op it is about, which is the step's op as well.
            object.insert(name.to_owned(), field_json(value));
        }
        object.insert("reason".to_owned(), json!(step.reason.map(|reason| reason.to_string())));
        Value::Object(object)
    }

    /// The flags between the sides as JSON, by sender and the op that waits (indices in `op_list`).
    pub(crate) fn edges_json(&self) -> Value {
        let mut flags: BTreeMap<(OpPosition, OpPosition), [bool; 2]> = BTreeMap::new();
        for edge in &self.edges {
            for (number, direction) in [Direction::CubeToVector, Direction::VectorToCube].into_iter().enumerate() {
                if let CrossNeed::Flag { received_at } = edge.need(direction) {
                    flags.entry((edge.sender, received_at)).or_default()[number] = true;
                }
            }
        }
        flags
            .into_iter()
            .map(|((sender, receiver), [cube_to_vec, vec_to_cube])| {
                json!({
                    "from": self.index(sender),
                    "to": self.index(receiver),
                    "cube_to_vec": cube_to_vec,
                    "vec_to_cube": vec_to_cube,
                })
            })
            .collect()
    }

    /// Every order between two ops as JSON: `from`, `to` (indices in `op_list`), `reason`, and what became of the needs
    /// per direction.
    pub(crate) fn order_json(&self) -> Value {
        Value::Array(self.edges.iter().map(|edge| self.edge_json(edge)).collect())
    }

    fn edge_json(&self, edge: &Edge) -> Value {
        let need = |direction| match edge.need(direction) {
            CrossNeed::None => Value::Null,
            CrossNeed::Flag { received_at } => json!({"flag": true, "received_at": self.index(received_at)}),
            CrossNeed::Implied => json!({"flag": false}),
        };
        json!({
            "from": self.index(edge.sender),
            "to": self.index(edge.receiver),
            "reason": edge.origin.to_string(),
            "cube_to_vec": need(Direction::CubeToVector),
            "vec_to_cube": need(Direction::VectorToCube),
        })
    }
}

fn field_json(field: Field) -> Value {
    match field {
        Field::Number(number) => match (u64::try_from(number), i64::try_from(number)) {
            (Ok(number), _) => json!(number),
            (_, Ok(number)) => json!(number),
            (Err(_), Err(_)) => json!(number.to_string()),
        },
        Field::Text(text) => json!(text),
        Field::Unknown => Value::Null,
    }
}
