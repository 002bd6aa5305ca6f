//! Which argument of a launch goes into which slot.

use super::{Form, Launchable, LoadError};
use crate::model::{Slot, SlotRole};
use crate::nearest::nearest;

/// Names listed before "and n more".
const LISTED: usize = 24;

/// How the arguments of a launch are given.
#[derive(Debug)]
pub(crate) enum Given<'a> {
    /// One after another.
    List(usize),
    /// By name.
    Names(&'a [ArgumentName]),
}

/// The name an argument is given by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ArgumentName {
    /// The op whose parameter it is; otherwise `name` is the slot's own.
    pub op: Option<OpKey>,
    /// As the op's source has it, or as the slot is called.
    pub name: String,
}

/// How an op is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OpKey {
    /// By its place in `op_list`.
    Index(usize),
    /// By the name of its sub-kernel.
    Name(String),
}

/// Where a slot's value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// From the argument with this number.
    Argument(usize),
    /// Nobody gave it: it is filled by whoever launches.
    Own(SlotRole),
}

impl Launchable {
    /// Tells for every slot where its value comes from.
    pub(crate) fn assign(&self, given: &Given<'_>) -> Result<Vec<Source>, LoadError> {
        match given {
            Given::List(count) if self.parameters.is_empty() && !self.has_no_parameters() => Ok(self.unnamed(*count)),
            Given::List(count) => self.assign_list(*count),
            Given::Names(names) => self.assign_names(names),
        }
    }

    /// Do its files say that there are none?
    fn has_no_parameters(&self) -> bool {
        match &self.form {
            Form::SuperKernel { .. } => false,
            Form::SubKernel { described, .. } => *described,
        }
    }

    /// Slots that no file describes: all that is known is that a super kernel begins with the FFTS address.
    fn unnamed(&self, count: usize) -> Vec<Source> {
        let ffts = match self.form {
            Form::SuperKernel { .. } if self.chip.has_ffts_slot() => Some(Source::Own(SlotRole::FftsAddress)),
            Form::SuperKernel { .. } | Form::SubKernel { .. } => None,
        };
        ffts.into_iter().chain((0..count).map(Source::Argument)).collect()
    }

    /// The slots that a list of all arguments fills: behind the FFTS address of a super kernel.
    fn listed(&self) -> &[Slot] {
        match (&self.form, self.parameters.split_first()) {
            (Form::SuperKernel { .. }, Some((first, rest)))
                if first.role == SlotRole::FftsAddress && first.op.is_none() =>
            {
                rest
            }
            (Form::SuperKernel { .. } | Form::SubKernel { .. }, _) => &self.parameters,
        }
    }

    fn assign_list(&self, count: usize) -> Result<Vec<Source>, LoadError> {
        let listed = self.listed();
        let skipped = self.parameters.len() - listed.len();
        let visible = listed.iter().filter(|slot| !slot.role.is_hidden()).count();
        if count == listed.len() {
            let own = self.parameters[..skipped].iter().map(|slot| Source::Own(slot.role));
            return Ok(own.chain((0..count).map(Source::Argument)).collect());
        }
        if count == visible {
            let mut given = 0;
            let source = |slot: &Slot| match slot.role.is_hidden() {
                true => Source::Own(slot.role),
                false => {
                    given += 1;
                    Source::Argument(given - 1)
                }
            };
            return Ok(self.parameters.iter().map(source).collect());
        }
        Err(self.wrong_count(count, listed, visible))
    }

    fn wrong_count(&self, count: usize, listed: &[Slot], visible: usize) -> LoadError {
        let shown: Vec<&str> = listed.iter().filter(|slot| !slot.role.is_hidden()).map(|s| s.name.as_str()).collect();
        let all: Vec<&str> = listed.iter().map(|slot| slot.name.as_str()).collect();
        let mut takes = format!("{visible} arguments ({})", list(&shown));
        if listed.len() != visible {
            takes.push_str(&format!(", or {} with the hidden ones ({})", listed.len(), list(&all)));
        }
        let rest = if count < visible { shown.get(count..) } else { all.get(count..) };
        let rest = match rest {
            Some(missing) if !missing.is_empty() => format!("; missing: {}", list(missing)),
            Some(_) | None => String::new(),
        };
        LoadError::argument(
            format!("kernel `{}` takes {takes}, {count} given{rest}", self.name),
            "pass a dict of names, or a list as long as the kernel's parameters (`kernel.parameters` lists them)",
        )
    }

    fn assign_names(&self, names: &[ArgumentName]) -> Result<Vec<Source>, LoadError> {
        if self.parameters.is_empty() && !names.is_empty() {
            return Err(LoadError::argument(
                format!("the files of kernel `{}` do not name its parameters", self.name),
                "pass a list; the names of a super kernel are in the build record (`.manifest.json`) beside its JSON",
            ));
        }
        let mut sources: Vec<Source> = self.parameters.iter().map(|slot| Source::Own(slot.role)).collect();
        for (number, name) in names.iter().enumerate() {
            let slot = self.slot_of(name)?;
            if let Source::Argument(_) = sources[slot] {
                return Err(LoadError::argument(
                    format!("parameter `{}` of kernel `{}` is given twice", self.parameters[slot].name, self.name),
                    "give it once: by its own name, or by its op and its name",
                ));
            }
            sources[slot] = Source::Argument(number);
        }
        let missing = self.parameters.iter().zip(&sources).filter(|(slot, source)| match source {
            Source::Argument(_) => false,
            Source::Own(_) => !slot.role.is_hidden(),
        });
        let missing: Vec<&str> = missing.map(|(slot, _)| slot.name.as_str()).collect();
        if missing.is_empty() {
            return Ok(sources);
        }
        let visible = self.parameters.iter().filter(|slot| !slot.role.is_hidden()).count();
        Err(LoadError::argument(
            format!(
                "kernel `{}` takes {visible} arguments, {} given; missing: {}",
                self.name,
                names.len(),
                list(&missing)
            ),
            "give every parameter that is not hidden (`kernel.parameters` lists them)",
        ))
    }

    /// The slot that `name` means.
    fn slot_of(&self, name: &ArgumentName) -> Result<usize, LoadError> {
        let Some(op) = &name.op else {
            let found = self.parameters.iter().position(|slot| slot.name == name.name);
            return found.ok_or_else(|| {
                let near = nearest(&name.name, self.parameters.iter().map(|slot| slot.name.as_str()), 3);
                self.unknown(&format!("`{}`", name.name), &near)
            });
        };
        let owner = |number: usize| self.owner(number);
        let is_op = |number: usize| match (op, owner(number)) {
            (OpKey::Index(wanted), Some((index, _))) => *wanted == index,
            (OpKey::Name(wanted), Some((_, Some(name)))) => wanted == name,
            (OpKey::Index(_) | OpKey::Name(_), _) => false,
        };
        let of_op: Vec<usize> = (0..self.parameters.len()).filter(|number| is_op(*number)).collect();
        let label = match op {
            OpKey::Index(index) => format!("op {index}"),
            OpKey::Name(name) => format!("op `{name}`"),
        };
        let (own, slot) =
            (|number: usize| self.own_name(number), |number: usize| self.parameters[number].name.as_str());
        let mut found = of_op.iter().copied().filter(|number| own(*number) == name.name || slot(*number) == name.name);
        match (found.next(), found.next()) {
            (Some(only), None) => Ok(only),
            (Some(_), Some(_)) => Err(LoadError::argument(
                format!("kernel `{}` has several ops `{label}` with a parameter `{}`", self.name, name.name),
                "name the op by its place in `op_list`: (2, \"x\"), or the slot: \"x_2\"",
            )),
            (None, _) if of_op.is_empty() => {
                let names: Vec<&str> = match op {
                    OpKey::Index(_) => Vec::new(),
                    OpKey::Name(wanted) => nearest(wanted, self.op_names(), 3),
                };
                Err(self.unknown(&format!("of {label}: there is no such op with parameters"), &names))
            }
            (None, _) => {
                let near = nearest(&name.name, of_op.iter().map(|number| own(*number)), 3);
                Err(self.unknown(&format!("`{}` of {label}", name.name), &near))
            }
        }
    }

    fn unknown(&self, what: &str, near: &[&str]) -> LoadError {
        let hint = match near {
            [] => "`kernel.parameters` lists all".to_owned(),
            near => format!("did you mean {}? `kernel.parameters` lists all", list(near)),
        };
        LoadError::Argument {
            problem: format!("kernel `{}` has no parameter {what}", self.name),
            solution: hint.into(),
        }
    }

    fn op_names(&self) -> impl Iterator<Item = &str> {
        let ops = match &self.form {
            Form::SuperKernel { ops, .. } => ops.as_slice(),
            Form::SubKernel { .. } => &[],
        };
        ops.iter().map(|op| op.name.as_str())
    }

    /// Place in `op_list` and, if the description lists it, name of the op that slot `number` belongs to.
    pub(crate) fn owner(&self, number: usize) -> Option<(usize, Option<&str>)> {
        let index = self.parameters.get(number)?.op?;
        let ops = match &self.form {
            Form::SuperKernel { ops, .. } => ops.as_slice(),
            Form::SubKernel { .. } => &[],
        };
        // Ops without any slot start where the next one starts: the last of them is the owner.
        let after = ops.partition_point(|op| op.param_offset as usize <= number);
        Some((index.0, after.checked_sub(1).map(|at| ops[at].name.as_str())))
    }

    /// The name of slot `number` in its op's own words: `x` for `x_2` of op 2.
    pub(crate) fn own_name(&self, number: usize) -> &str {
        let slot = &self.parameters[number];
        let suffix = slot.op.map(|op| format!("_{op}"));
        let own = suffix.as_deref().and_then(|suffix| slot.name.strip_suffix(suffix));
        match slot.role {
            SlotRole::Parameter | SlotRole::FftsAddress => own.unwrap_or(&slot.name),
            SlotRole::TilingKey
            | SlotRole::BlockNum
            | SlotRole::TilingLock
            | SlotRole::NotifyLock
            | SlotRole::WaitLock
            | SlotRole::Workspace
            | SlotRole::Profiling
            | SlotRole::TaskId => &slot.name,
        }
    }
}

fn list(names: &[&str]) -> String {
    match names.len().checked_sub(LISTED) {
        Some(more) if more > 0 => format!("{} and {more} more", names[..LISTED].join(", ")),
        Some(_) | None => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::super::LaunchableOp;
    use super::*;
    use crate::diagnostic::Diagnostic;
    use crate::model::{Chip, KernelType, OpIndex};
    use crate::sim::interface::request::Entries;

    /// Ops 0 `add`, 2 `mul` (with a lock) and 3 `add`; a workspace.
    fn kernel() -> Launchable {
        let slot = |name: &str, op: Option<usize>, role| Slot { name: name.into(), op: op.map(OpIndex), role };
        let parameter = |name: &str, op| slot(&format!("{name}_{op}"), Some(op), SlotRole::Parameter);
        let op = |name: &str, param_offset| LaunchableOp { param_offset, ..LaunchableOp::named(name) };
        Launchable {
            name: "k".to_owned(),
            object: "k.o".into(),
            chip: Chip::C220,
            kernel_type: KernelType::MixAiv1_0,
            blocks: Some(2),
            workspace_bytes: 0,
            parameters: vec![
                slot("ffts_addr", None, SlotRole::FftsAddress),
                parameter("x", 0),
                parameter("y", 0),
                parameter("x", 2),
                slot("__ac_wait_lock_2_0", Some(2), SlotRole::WaitLock),
                parameter("x", 3),
                slot("workspace", None, SlotRole::Workspace),
            ],
            program: None,
            form: Form::SuperKernel {
                entries: Entries::default(),
                ops: vec![op("add", 1), op("nothing", 3), op("mul", 3), op("add", 5)],
            },
        }
    }

    fn by_name(names: &[(Option<OpKey>, &str)]) -> Result<Vec<Source>, String> {
        let names: Vec<ArgumentName> =
            names.iter().map(|(op, name)| ArgumentName { op: op.clone(), name: (*name).to_owned() }).collect();
        kernel().assign(&Given::Names(&names)).map_err(|error| format!("{error}; {}", error.solution()))
    }

    #[test]
    fn a_list_has_all_arguments_or_the_visible_ones() {
        use Source::{Argument, Own};
        let (ffts, lock, workspace) = (Own(SlotRole::FftsAddress), Own(SlotRole::WaitLock), Own(SlotRole::Workspace));
        let all = kernel().assign(&Given::List(6)).unwrap();
        assert_eq!(all, [ffts, Argument(0), Argument(1), Argument(2), Argument(3), Argument(4), Argument(5)]);
        let visible = kernel().assign(&Given::List(4)).unwrap();
        assert_eq!(visible, [ffts, Argument(0), Argument(1), Argument(2), lock, Argument(3), workspace]);
        for (count, missing) in [(0, "missing: x_0, y_0, x_2, x_3"), (3, "missing: x_3"), (5, "missing: workspace")] {
            let error = kernel().assign(&Given::List(count)).unwrap_err().to_string();
            assert!(error.contains("`k` takes 4 arguments (x_0, y_0, x_2, x_3)"), "{error}");
            assert!(error.ends_with(missing) && error.contains(&format!("{count} given")), "{error}");
        }
        assert!(kernel().assign(&Given::List(7)).unwrap_err().to_string().ends_with("7 given"));
    }

    #[test]
    fn names_are_those_of_slots_or_of_an_op_s_parameters() {
        use OpKey::{Index, Name};
        let sources = by_name(&[
            (Some(Name("mul".to_owned())), "x"),
            (None, "x_0"),
            (Some(Index(3)), "x"),
            (Some(Index(0)), "y_0"),
        ]);
        let numbers: Vec<Option<usize>> = sources
            .unwrap()
            .iter()
            .map(|source| match source {
                Source::Argument(number) => Some(*number),
                Source::Own(_) => None,
            })
            .collect();
        assert_eq!(numbers, [None, Some(1), Some(3), Some(0), None, Some(2), None]);
    }

    #[test]
    fn wrong_names_are_told_with_those_that_may_be_meant() {
        use OpKey::{Index, Name};
        let cases: [(Option<OpKey>, &str, &str); 7] = [
            (None, "y_1", "no parameter `y_1`; did you mean"),
            (Some(Index(0)), "z", "no parameter `z` of op 0"),
            (Some(Index(1)), "x", "no such op"),
            (Some(Name("mull".to_owned())), "x", "did you mean mul"),
            (Some(Name("add".to_owned())), "x", "several ops"),
            (None, "x_0", "missing: y_0, x_2, x_3"),
            (Some(Name("nothing".to_owned())), "x", "no such op"),
        ];
        for (op, name, text) in cases {
            let error = by_name(&[(op, name)]).unwrap_err();
            assert!(error.contains(text), "{error}");
        }
        let twice = by_name(&[(None, "x_0"), (Some(Index(0)), "x")]).unwrap_err();
        assert!(twice.contains("`x_0` of kernel `k` is given twice"), "{twice}");
    }

    #[test]
    fn without_a_record_any_number_of_arguments_is_taken() {
        let mut unknown = kernel();
        unknown.parameters.clear();
        assert_eq!(unknown.assign(&Given::List(9)).unwrap().len(), 10);
        unknown.chip = Chip::C310;
        assert_eq!(unknown.assign(&Given::List(9)).unwrap().len(), 9);
        let names = [ArgumentName { op: None, name: "x_0".to_owned() }];
        assert!(unknown.assign(&Given::Names(&names)).unwrap_err().to_string().contains("do not name"));
    }
}
