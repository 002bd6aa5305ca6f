//! What cores do, in micro steps, written down once for all blocks that do the same.
//!
//! Blocks differ in the ops they run, but hardly ever in their sets and waits: where one core runs an op that waits
//! itself, an idle one takes a step with the same wait. Blocks whose cores set and wait alike can change places without
//! any flag being different, so one script stands for them all, and it starts and ends every op that any of them runs.
//! Two of them are played, since order between equals matters as well: whatever can happen between some two blocks of
//! the launch happens between those two.

use super::super::classes::{Takers, block_groups};
use super::super::{CoreId, Program};
use super::locks::Locks;
use super::micro::{Micro, expand, runs};
use crate::model::{ByPosition, CoreKind, OpPosition};

/// What one core does, or several that set and wait alike.
#[derive(Debug)]
pub(super) struct Script {
    kind: CoreKind,
    /// Its micro steps, by their places in what is written for its kind.
    places: Vec<u32>,
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
    written: Written,
    scripts: Vec<Script>,
    /// By core: its script.
    roles: Vec<usize>,
    /// Who has to be done before an outer event is told.
    pub locks: Locks,
}

impl Cast {
    /// The cores of these blocks, each as itself.
    pub(super) fn of_blocks(program: &Program, blocks: &[u32]) -> Self {
        let casting = Casting::of(program);
        let cores = program.cores(blocks.iter().copied());
        let scripts: Vec<Script> = cores.iter().map(|core| casting.script(*core)).collect();
        Self { roles: (0..cores.len()).collect(), cores, locks: Locks::of(program), written: casting.written, scripts }
    }

    /// At most two blocks for all that set and wait alike.
    pub(super) fn of_classes(program: &Program) -> Self {
        let casting = Casting::of(program);
        let mut classes: Vec<Class> = Vec::new();
        for (first, count) in block_groups(program) {
            let cores = program.cores([first]);
            let blocks = (first..).take(count.min(2) as usize);
            match classes.iter_mut().find(|class| class.sets_and_waits_like(&cores, &casting)) {
                Some(class) => class.join(blocks, &cores, &casting),
                None => {
                    let scripts = cores.iter().map(|core| casting.script(*core)).collect();
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
        Self { cores, written: casting.written, scripts, roles, locks: Locks::of(program) }
    }

    pub(super) fn script(&self, core: usize) -> &Script {
        &self.scripts[self.roles[core]]
    }

    /// The next micro step of a core that has done `done` of them.
    pub(super) fn next(&self, core: usize, done: usize) -> Option<Micro> {
        let script = self.script(core);
        script.places.get(done).map(|place| self.written.of_kind(script.kind).at(*place))
    }

    /// The step that this micro step belongs to.
    pub(super) fn next_step(&self, core: usize, done: usize) -> Option<usize> {
        let script = self.script(core);
        script.places.get(done).map(|place| self.written.of_kind(script.kind).step(*place))
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
    /// Do these cores, those of one block, do the same as the class but for the ops they run?
    fn sets_and_waits_like(&self, cores: &[CoreId], casting: &Casting<'_>) -> bool {
        self.scripts.iter().zip(cores).all(|(script, core)| {
            let written = casting.written.of_kind(core.kind);
            let rest = |place| Some(written.at(place)).filter(|micro| !is_mark(*micro));
            script.places.iter().copied().filter_map(rest).eq(casting.places(*core).filter_map(rest))
        })
    }

    fn join(&mut self, blocks: impl Iterator<Item = u32>, cores: &[CoreId], casting: &Casting<'_>) {
        self.blocks.extend(blocks);
        self.blocks.truncate(2);
        for (script, &core) in self.scripts.iter_mut().zip(cores) {
            for (op, known) in casting.program.ops.positions().zip(script.runs.iter_mut()) {
                *known |= runs(casting.program, core, op);
            }
            let written = casting.written.of_kind(core.kind);
            script.places = joined(&script.places, casting.places(core), |place| is_mark(written.at(place)));
        }
    }
}

/// Two scripts with the same sets and waits as one that starts and ends the ops of both.
fn joined(one: &[u32], other: impl Iterator<Item = u32>, is_mark: impl Fn(u32) -> bool) -> Vec<u32> {
    let mut out = Vec::with_capacity(one.len());
    let (mut one, mut other) = (one.iter().copied().peekable(), other.peekable());
    loop {
        let mark = |place: &u32| is_mark(*place);
        match (one.peek().copied().filter(mark), other.peek().copied().filter(mark)) {
            (Some(mine), Some(theirs)) if mine == theirs => {
                out.extend(one.next());
                other.next();
            }
            (Some(mine), theirs) if theirs.is_none_or(|theirs| mine < theirs) => out.extend(one.next()),
            (_, Some(_)) => out.extend(other.next()),
            (_, None) => {
                let Some(both) = one.next() else { return out };
                out.push(both);
                other.next();
            }
        }
    }
}

/// What scripts are made from.
struct Casting<'a> {
    program: &'a Program,
    takers: Takers,
    written: Written,
}

impl<'a> Casting<'a> {
    fn of(program: &'a Program) -> Self {
        Self { program, takers: Takers::of(program), written: Written::of(program) }
    }

    fn script(&self, core: CoreId) -> Script {
        let mut places = Vec::with_capacity(self.places(core).count());
        places.extend(self.places(core));
        let runs = self.program.ops.positions().map(|op| runs(self.program, core, op)).collect();
        Script { kind: core.kind, places, runs }
    }

    /// The places of what a core does in what is written for its kind, in order.
    fn places(&self, core: CoreId) -> impl Iterator<Item = u32> {
        let written = self.written.of_kind(core.kind);
        self.takers.steps_of(core).flat_map(|step| written.starts[step]..written.starts[step + 1])
    }
}

/// The micro steps of all steps, for each kind: whoever takes a step does the same as others of its kind.
#[derive(Debug)]
struct Written {
    aic: OfKind,
    aiv: OfKind,
}

impl Written {
    fn of(program: &Program) -> Self {
        Self { aic: OfKind::of(program, CoreKind::Aic), aiv: OfKind::of(program, CoreKind::Aiv) }
    }

    fn of_kind(&self, kind: CoreKind) -> &OfKind {
        match kind {
            CoreKind::Aic => &self.aic,
            CoreKind::Aiv => &self.aiv,
        }
    }
}

/// The micro steps of one kind.
#[derive(Debug, Default)]
struct OfKind {
    micros: Vec<Micro>,
    /// Those of step `n` are at `starts[n]..starts[n + 1]`.
    starts: Vec<u32>,
}

impl OfKind {
    fn of(program: &Program, kind: CoreKind) -> Self {
        if !program.kinds().contains(&kind) {
            return Self::default();
        }
        // As a rule there are no more than steps: a list that grows bit by bit is in memory twice.
        let mut micros: Vec<Micro> = Vec::with_capacity(program.steps.len());
        let mut starts = Vec::with_capacity(program.steps.len() + 1);
        let core = CoreId { kind, block: 0, sub_block: 0, sub_blocks: 1 };
        for step in &program.steps {
            starts.push(micros.len() as u32);
            if step.cores.kinds.contain(kind) {
                let list = expand(program, step, core);
                micros.extend((0..list.len()).filter_map(|place| list.get(place)));
            }
        }
        starts.push(micros.len() as u32);
        micros.shrink_to_fit();
        Self { micros, starts }
    }

    fn at(&self, place: u32) -> Micro {
        self.micros[place as usize]
    }

    /// The step whose micro step is at `place`.
    fn step(&self, place: u32) -> usize {
        self.starts.partition_point(|start| *start <= place) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One that runs op 0 and op 1, and one that runs op 2 and op 1, around the same set and wait.
    #[test]
    fn scripts_with_the_same_flags_become_one_with_the_ops_of_both() {
        let is_mark = |place| ![2, 3, 8, 9].contains(&place);
        let joined = |one: &[u32], other: &[u32]| joined(one, other.iter().copied(), is_mark);
        let first = [0, 1, 2, 3, 6, 7];
        let second = [2, 3, 4, 5, 6, 7];
        let both = [0, 1, 2, 3, 4, 5, 6, 7];
        assert_eq!(joined(&first, &second), both);
        assert_eq!(joined(&second, &first), both);
        assert_eq!(joined(&both, &first), both);
        assert_eq!(joined(&first, &first), first);
        // The one behind has nothing more to do, or not yet.
        let idle = [2, 3];
        assert_eq!(joined(&idle, &second), second);
        assert_eq!(joined(&first, &idle), first);
        assert!(joined(&[], &[]).is_empty());
        // An idle core sets and waits in a step of its own.
        let instead = [8, 9];
        assert_eq!(joined(&first, &instead), first);
        assert_eq!(joined(&instead, &first), [0, 1, 8, 9, 6, 7]);
    }

    /// A micro step is found in the step that it comes from, though most steps have none or several.
    #[test]
    fn a_micro_step_tells_its_step() {
        let program = Program::read(include_str!("../../../tests/cases/several_streams/program.txt")).unwrap();
        let cast = Cast::of_classes(&program);
        let mut seen = 0;
        for core in 0..cast.cores.len() {
            for done in 0.. {
                let (Some(micro), Some(step)) = (cast.next(core, done), cast.next_step(core, done)) else { break };
                let step = &program.steps[step];
                assert!(step.cores.contain(cast.cores[core]));
                let list = expand(&program, step, cast.cores[core]);
                assert!((0..list.len()).any(|place| list.get(place) == Some(micro)), "{micro:?} in {step:?}");
                seen += 1;
            }
        }
        assert!(seen > 20, "{seen}");
    }
}
