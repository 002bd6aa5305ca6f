//! The program for people: a stable text form, and JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::{CrossNeed, Direction, Edge, Field, Program, Step};
use crate::model::{OpPosition, StreamForm};

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
        writeln!(out, "super kernel {}", self.kernel_name)?;
        writeln!(out, "  {} on {}, {} blocks", self.kernel_type, self.chip, self.block_num)?;
        writeln!(out, "  {form}, split {}, align {}", self.split, self.func_align)?;
        writeln!(out, "\nops")?;
        for op in &self.ops {
            let own = match (op.own_set.is_some(), op.own_wait.is_some()) {
                (false, false) => "",
                (true, false) => ", sets itself",
                (false, true) => ", waits itself",
                (true, true) => ", sets and waits itself",
            };
            writeln!(
                out,
                "  {:>4} {} {}, {} blocks, stream {}{own}",
                op.index, op.kernel_name, op.kernel_type, op.block_num, op.stream_id
            )?;
        }
        for (number, table) in self.tables.iter().enumerate() {
            writeln!(out, "\ntable {number}")?;
            for entry in table {
                write!(out, "  {:>20} {}", entry.key, entry.kernel_type)?;
                for function in [entry.aic, entry.aiv].into_iter().flatten() {
                    write!(out, " {}", self.functions[function.0].name)?;
                }
                writeln!(out)?;
            }
        }
        if !self.edges.is_empty() {
            writeln!(out, "\nedges")?;
        }
        for edge in &self.edges {
            let (sender, receiver) = (self.index(edge.sender), self.index(edge.receiver));
            write!(out, "  {sender:>4} -> {receiver:<4} {}", edge.origin)?;
            for direction in Direction::BOTH {
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

    fn write_step(&self, out: &mut String, step: &Step) -> std::fmt::Result {
        match step.op {
            Some(position) => write!(out, "  {:>4} ", self.index(position))?,
            None => write!(out, "     - ")?,
        }
        write!(out, "{:<16} {}", step.cores.to_string(), step.action.name())?;
        for (name, value) in step.action.fields(self) {
            write!(out, " {name}={value}")?;
        }
        if let Some(reason) = step.reason {
            write!(out, "  # {reason}")?;
        }
        writeln!(out)
    }

    /// The steps as JSON: a list of objects with `op`, `cores`, `action`, the action's fields and `reason`.
    pub fn steps_json(&self) -> Value {
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
    pub fn edges_json(&self) -> Value {
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
    pub fn order_json(&self) -> Value {
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
