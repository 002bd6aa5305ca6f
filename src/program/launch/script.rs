//! What cores do, in micro steps, written down once for all blocks that do the same.
//!
//! Blocks differ in the ops they run, but hardly ever in their sets and waits: where one core runs an op that waits
//! itself, an idle one takes a step with the same wait. Blocks whose cores set and wait alike can change places without
//! any flag being different, so one script stands for them all, and it starts and ends every op that any of them runs.
//! Two of them are played, since order between equals matters as well: whatever can happen between some two blocks of
//! the launch happens between those two.

use std::collections::HashMap;

use super::super::classes::{Takers, block_groups};
use super::super::{CoreId, Program};
use super::micro::{Micro, expand, runs};
use crate::model::{ByPosition, CoreKind, OpPosition};

/// One micro step of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    /// The step it belongs to.
    pub step: u32,
    /// Its number in [`Cast::micros`].
    pub micro: u32,
}

/// What one core does, or several that set and wait alike.
#[derive(Debug)]
pub(super) struct Script {
    pub entries: Vec<Entry>,
    /// The ops that one of them runs.
    runs: ByPosition<bool>,
}

impl Script {
    pub(super) fn runs(&self, op: OpPosition) -> bool {
        self.runs[op]
    }
}

/// The cores of a launch and what each does.
#[derive(Debug)]
pub(super) struct Cast {
    pub cores: Vec<CoreId>,
    /// The different micro steps of the program.
    pub micros: Vec<Micro>,
    scripts: Vec<Script>,
    /// By core: its script.
    roles: Vec<usize>,
}

impl Cast {
    /// The cores of these blocks, each as itself.
    pub(super) fn of_blocks(program: &Program, blocks: &[u32]) -> Self {
        let (takers, mut written) = (Takers::of(program), Written::of(program));
        let cores = program.cores(blocks.iter().copied());
        let scripts: Vec<Script> = cores.iter().map(|core| written.script(program, &takers, *core)).collect();
        Self { roles: (0..cores.len()).collect(), cores, micros: written.micros, scripts }
    }

    /// At most two blocks for all that set and wait alike.
    pub(super) fn of_classes(program: &Program) -> Self {
        let (takers, mut written) = (Takers::of(program), Written::of(program));
        let mut known: HashMap<Vec<u32>, usize> = HashMap::new();
        let mut classes: Vec<Class> = Vec::new();
        let mut by_signature: HashMap<Vec<usize>, usize> = HashMap::new();
        for (first, count) in block_groups(program) {
            let mut signature = Vec::new();
            let mut scripts = Vec::new();
            for core in program.cores([first]) {
                let script = written.script(program, &takers, core);
                let flags: Vec<u32> = (script.entries.iter().map(|entry| entry.micro))
                    .filter(|micro| !is_mark(written.micros[*micro as usize]))
                    .collect();
                let number = known.len();
                signature.push(*known.entry(flags).or_insert(number));
                scripts.push(script);
            }
            let blocks = (first..).take(count.min(2) as usize);
            match by_signature.get(&signature) {
                Some(&class) => classes[class].join(blocks, scripts, &written.micros),
                None => {
                    by_signature.insert(signature, classes.len());
                    classes.push(Class { blocks: blocks.collect(), scripts });
                }
            }
        }
        let (mut cores, mut roles, mut scripts) = (Vec::new(), Vec::new(), Vec::new());
        for class in classes {
            for block in class.blocks {
                let of_block = program.cores([block]);
                roles.extend(scripts.len()..scripts.len() + of_block.len());
                cores.extend(of_block);
            }
            scripts.extend(class.scripts);
        }
        Self { cores, micros: written.micros, scripts, roles }
    }

    pub(super) fn script(&self, core: usize) -> &Script {
        &self.scripts[self.roles[core]]
    }

    /// The next micro step of a core that has done `place` of them, and the step it belongs to.
    pub(super) fn next(&self, core: usize, place: usize) -> Option<(Micro, usize)> {
        let entry = self.script(core).entries.get(place)?;
        Some((self.micros[entry.micro as usize], entry.step as usize))
    }

    /// One core of each script.
    pub(super) fn one_of_each(&self) -> Vec<usize> {
        let first = |script: usize| self.roles.iter().position(|role| *role == script);
        (0..self.scripts.len()).filter_map(first).collect()
    }
}

/// Where an op starts and ends: what blocks may differ in.
fn is_mark(micro: Micro) -> bool {
    matches!(micro, Micro::Start(_) | Micro::End(_))
}

/// Blocks that set and wait alike.
struct Class {
    blocks: Vec<u32>,
    /// Core by core of a block.
    scripts: Vec<Script>,
}

impl Class {
    fn join(&mut self, blocks: impl Iterator<Item = u32>, scripts: Vec<Script>, micros: &[Micro]) {
        self.blocks.extend(blocks);
        self.blocks.truncate(2);
        for (mine, theirs) in self.scripts.iter_mut().zip(scripts) {
            for (mine, theirs) in mine.runs.iter_mut().zip(&theirs.runs) {
                *mine |= theirs;
            }
            mine.entries = joined(&mine.entries, &theirs.entries, micros);
        }
    }
}

/// Two scripts with the same sets and waits as one that starts and ends the ops of both.
fn joined(one: &[Entry], other: &[Entry], micros: &[Micro]) -> Vec<Entry> {
    let mark = |entries: &[Entry], place: usize| {
        entries.get(place).copied().filter(|entry| is_mark(micros[entry.micro as usize]))
    };
    let mut out = Vec::with_capacity(one.len().max(other.len()));
    let (mut left, mut right) = (0, 0);
    loop {
        match (mark(one, left), mark(other, right)) {
            (Some(mine), Some(theirs)) if mine == theirs => {
                out.push(mine);
                (left, right) = (left + 1, right + 1);
            }
            (Some(mine), theirs) if theirs.is_none_or(|theirs| mine.step < theirs.step) => {
                out.push(mine);
                left += 1;
            }
            (_, Some(theirs)) => {
                out.push(theirs);
                right += 1;
            }
            (_, None) => match one.get(left) {
                Some(both) => {
                    out.push(*both);
                    (left, right) = (left + 1, right + 1);
                }
                None => return out,
            },
        }
    }
}

/// The micro steps of all steps, for each kind: whoever takes a step does the same as others of its kind.
struct Written {
    micros: Vec<Micro>,
    kinds: [Expanded; 2],
}

/// The micro steps of one kind: those of step `n` are `ids[starts[n]..starts[n + 1]]`.
struct Expanded {
    starts: Vec<u32>,
    ids: Vec<u32>,
}

impl Expanded {
    fn of_step(&self, step: usize) -> &[u32] {
        &self.ids[self.starts[step] as usize..self.starts[step + 1] as usize]
    }
}

impl Written {
    fn of(program: &Program) -> Self {
        /// Equal micro steps of one kind stand close together: both are about the same op. One that is not found only
        /// costs time, since then blocks do not look alike.
        const NEAR: usize = 48;
        // About as many as there are steps, and half as many more: a list that grows bit by bit is in memory twice.
        let mut micros: Vec<Micro> = Vec::with_capacity(program.steps.len() / 2 * 3);
        let kinds = CoreKind::BOTH.map(|kind| {
            let mut expanded = Expanded {
                starts: Vec::with_capacity(program.steps.len() + 1),
                ids: Vec::with_capacity(program.steps.len()),
            };
            let core = CoreId { kind, block: 0, sub_block: 0, sub_blocks: 1 };
            for step in &program.steps {
                expanded.starts.push(expanded.ids.len() as u32);
                if step.cores.kinds.contain(kind) && program.kinds().contains(&kind) {
                    let list = expand(program, step, core);
                    for micro in (0..list.len()).filter_map(|place| list.get(place)) {
                        let near = micros.len().saturating_sub(NEAR)..micros.len();
                        let number = match near.clone().rev().find(|number| micros[*number] == micro) {
                            Some(number) => number,
                            None => {
                                micros.push(micro);
                                near.end
                            }
                        };
                        expanded.ids.push(number as u32);
                    }
                }
            }
            expanded.starts.push(expanded.ids.len() as u32);
            expanded.ids.shrink_to_fit();
            expanded
        });
        micros.shrink_to_fit();
        Self { micros, kinds }
    }

    fn script(&mut self, program: &Program, takers: &Takers, core: CoreId) -> Script {
        let expanded = match core.kind {
            CoreKind::Aic => &self.kinds[0],
            CoreKind::Aiv => &self.kinds[1],
        };
        let count = takers.steps_of(core).map(|step| expanded.of_step(step).len()).sum();
        let mut entries = Vec::with_capacity(count);
        for step in takers.steps_of(core) {
            entries.extend(expanded.of_step(step).iter().map(|micro| Entry { step: step as u32, micro: *micro }));
        }
        Script { entries, runs: program.ops.positions().map(|op| runs(program, core, op)).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::micro::{Flag, Tag};
    use super::*;

    /// One that runs op 0 and op 1, and one that runs op 2 and op 1, around the same set and wait.
    #[test]
    fn scripts_with_the_same_flags_become_one_with_the_ops_of_both() {
        let (flag, tag) = (Flag::AllCubes, Tag::Barrier(None, None));
        let [zero, one, two] = [0, 1, 2].map(OpPosition::at);
        let micros = [
            Micro::Set { flag, tag },
            Micro::Wait { flag, tag },
            Micro::Start(zero),
            Micro::End(zero),
            Micro::Start(one),
            Micro::End(one),
            Micro::Start(two),
            Micro::End(two),
        ];
        let script = |entries: &[(u32, u32)]| -> Vec<Entry> {
            entries.iter().map(|&(step, micro)| Entry { step, micro }).collect()
        };
        let first = script(&[(1, 2), (1, 3), (2, 0), (3, 1), (5, 4), (5, 5)]);
        let second = script(&[(2, 0), (3, 1), (4, 6), (4, 7), (5, 4), (5, 5)]);
        let both = script(&[(1, 2), (1, 3), (2, 0), (3, 1), (4, 6), (4, 7), (5, 4), (5, 5)]);
        assert_eq!(joined(&first, &second, &micros), both);
        assert_eq!(joined(&second, &first, &micros), both);
        assert_eq!(joined(&both, &first, &micros), both);
        assert_eq!(joined(&first, &first, &micros), first);
        // The one behind has nothing more to do, or not yet.
        let idle = script(&[(2, 0), (3, 1)]);
        assert_eq!(joined(&idle, &second, &micros), second);
        assert_eq!(joined(&first, &idle, &micros), first);
        assert_eq!(joined(&[], &[], &micros), []);
    }
}
