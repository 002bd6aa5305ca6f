//! The bytes of a buffer.
//!
//! Damaged parts are left out and told.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::layout::{AREA_HEAD, AREA_SIZE_AT, FIRST_RECORD, HEADER, MAGIC, RECORD, Record, word32, word64};
use super::records::{CoreLog, Decoded, Launch, Span, Subject};
use super::times::{self, Stamped};
use super::whereabouts::Whereabouts;
use super::{Core, Profiled, ProfilingError};

/// More areas than any chip has cores.
const MOST_AREAS: usize = 4096;

/// Reads a buffer. Damaged parts are left out and told.
pub(crate) fn decode(path: &Path, bytes: &[u8], kernel: &Profiled) -> Result<Decoded, ProfilingError> {
    let refuse = |problem: String| ProfilingError::NoBuffer { path: path.to_path_buf(), problem };
    if bytes.len() < HEADER {
        return Err(refuse(format!("it has {} bytes, and the header alone has {HEADER}", bytes.len())));
    }
    let size = word32(bytes, AREA_SIZE_AT) as usize;
    if size < AREA_HEAD + RECORD || !size.is_multiple_of(8) {
        return Err(refuse(format!("the size of a core's area is said to be {size} bytes")));
    }
    let other = |problem: String| ProfilingError::OtherKernel {
        path: path.to_path_buf(),
        kernel: kernel.name.clone(),
        problem,
    };
    if !kernel.records() {
        return Err(other("it was built without profiling=1".to_owned()));
    }
    let mut reader = Reader {
        kernel,
        launches: BTreeMap::new(),
        nameless: Vec::new(),
        unknown_ops: BTreeMap::new(),
        problems: Vec::new(),
    };
    let areas: Vec<&[u8]> = bytes[HEADER..].chunks(size).take(MOST_AREAS).collect();
    for (number, area) in areas.iter().enumerate() {
        reader.area(Core::of_area(number as u32), area, size);
    }
    reader.name_logs();
    let mismatch = reader.mismatch();
    reader.missing(areas.len());
    if reader.launches.is_empty() && reader.problems.is_empty() {
        reader
            .problems
            .push("no core has recorded anything: was the kernel built with profiling=1, and did it run?".to_owned());
    }
    match mismatch {
        Some(problem) => Err(other(problem)),
        None => Ok(reader.finish()),
    }
}

struct Reader<'a> {
    kernel: &'a Profiled,
    /// By how many launches of this task came before, and task.
    launches: BTreeMap<(u32, u32), Vec<CoreLog>>,
    /// Logs whose first record, which names the task, is damaged.
    nameless: Vec<CoreLog>,
    /// Ops that the kernel does not have, with the cores that recorded them.
    unknown_ops: BTreeMap<usize, BTreeSet<Core>>,
    problems: Vec<String>,
}

impl Reader<'_> {
    fn area(&mut self, core: Core, area: &[u8], size: usize) {
        if area.iter().all(|byte| *byte == 0) {
            // Nobody has set it up; of a dump that ends here nothing is missing that is known of.
            return;
        }
        if area.len() < AREA_HEAD {
            self.problems.push(format!("the dump ends in the head of the area of {core}"));
            return;
        }
        let [magic, next, end] = [0, 8, 16].map(|at| word64(area, at));
        let begin = end.wrapping_sub(size as u64);
        let used = next.wrapping_sub(begin);
        let is_sound = magic == MAGIC && used <= size as u64 && used >= AREA_HEAD as u64 && used.is_multiple_of(8);
        let used = if is_sound { used as usize } else { size };
        if !is_sound {
            let what = if magic == MAGIC { "addresses" } else { "magic word" };
            self.problems.push(format!("{core}: the {what} of its area is damaged; what looks like records is read"));
        }
        let usual = (is_sound && used >= FIRST_RECORD + RECORD).then_some(FIRST_RECORD);
        let first = match first_record(area, core, used.min(area.len())) {
            // Further behind stands the first record of a later launch, and what is before it may be read too.
            Some(found) if found > FIRST_RECORD && (found - FIRST_RECORD).is_multiple_of(RECORD) => {
                usual.or(Some(found))
            }
            Some(found) => Some(found),
            None => usual,
        };
        let Some(first) = first.filter(|first| *first < area.len()) else { return };
        if used > area.len() {
            let missing = (used - area.len()).div_ceil(RECORD);
            self.problems.push(format!("{core}: the dump ends in its area; {missing} records are missing"));
        }
        if is_sound && used + RECORD > size {
            self.problems.push(format!("{core}: its area is full; what came later was not recorded"));
        }
        self.records(core, &area[first..used.min(area.len())], is_sound);
    }

    fn records(&mut self, core: Core, data: &[u8], is_sound: bool) {
        let mut logs: Vec<(Option<u32>, Vec<Stamped>)> = Vec::new();
        let (mut damaged, mut first_damaged) = (0_usize, None);
        for (number, record) in data.chunks_exact(RECORD).enumerate() {
            let (header, cycle) = (word64(record, 0), word64(record, 8));
            let is_empty = header == 0 && cycle == 0;
            if !is_sound && is_empty {
                break;
            }
            match Record::read(header).filter(|_| !is_empty) {
                Some(Record::First { task, core: area }) if area == core.area() => {
                    logs.push((Some(task), vec![Stamped { edge: None, cycle }]));
                }
                Some(Record::Edge { subject, is_end }) if self.is_known(subject) => {
                    let stamped = Stamped { edge: Some((subject, is_end)), cycle };
                    match logs.last_mut() {
                        Some((_, log)) => log.push(stamped),
                        // The first record of the launch is damaged.
                        None => logs.push((None, vec![stamped])),
                    }
                }
                other @ (Some(Record::First { .. } | Record::Edge { .. }) | None) => {
                    if let Some(Record::Edge { subject: Subject::Op(position), .. }) = other {
                        self.unknown_ops.entry(position).or_default().insert(core);
                    }
                    damaged += 1;
                    first_damaged.get_or_insert((number, header));
                }
            }
        }
        if let Some((number, header)) = first_damaged {
            let more = if damaged > 1 { format!(" and {} more", damaged - 1) } else { String::new() };
            self.problems
                .push(format!("{core}: record {number} ({header:#018x}){more} makes no sense and is left out"));
        }
        let mut seen: BTreeMap<u32, u32> = BTreeMap::new();
        for (task, mut records) in logs {
            let wrong = times::mend(&mut records);
            let mut log = Log::default();
            for record in &records {
                log.take(record);
            }
            self.tell(core, &log, wrong);
            let started = records.first().map_or(0, |record| record.cycle);
            let log = CoreLog { core, started, spans: log.spans() };
            let Some(task) = task else {
                self.problems.push(format!(
                    "{core}: its first record is damaged; the others are taken to be of the launch they fit into"
                ));
                self.nameless.push(log);
                continue;
            };
            let before = seen.entry(task).or_default();
            self.launches.entry((*before, task)).or_default().push(log);
            *before += 1;
        }
    }

    /// Puts logs without a task into the launch whose other cores ran at that time.
    fn name_logs(&mut self) {
        for log in std::mem::take(&mut self.nameless) {
            let has_room = |logs: &[CoreLog]| logs.iter().all(|other| other.core != log.core);
            let distance = |logs: &[CoreLog]| logs.iter().map(|other| other.started.abs_diff(log.started)).min();
            let nearest =
                self.launches.iter_mut().filter(|(_, logs)| has_room(logs)).min_by_key(|(_, logs)| distance(logs));
            match nearest {
                Some((_, logs)) => logs.push(log),
                None => self.launches.entry((u32::MAX, 0)).or_default().push(log),
            }
        }
    }

    /// Cores of the kernel that have no area in the dump, or have recorded nothing though others have.
    fn missing(&mut self, areas: usize) {
        let expected = self.kernel.cores();
        let (inside, beyond): (Vec<Core>, Vec<Core>) =
            expected.into_iter().partition(|core| (core.area() as usize) < areas);
        if !beyond.is_empty() {
            self.problems.push(format!("the dump ends before the areas of {}", listed(&beyond)));
        }
        let silent = |core: &Core| !self.launches.values().flatten().any(|log| log.core == *core);
        let silent: Vec<Core> = inside.into_iter().filter(silent).collect();
        if !silent.is_empty() && !self.launches.is_empty() {
            self.problems.push(format!("nothing can be read of {}", listed(&silent)));
        }
    }

    /// What shows that another kernel wrote the records; damage never looks the same on two cores.
    fn mismatch(&self) -> Option<String> {
        let has = self.kernel.ops.len();
        let logs = || self.launches.values().flatten();
        if let Some((position, cores)) = self.unknown_ops.iter().find(|(_, cores)| cores.len() > 1) {
            return Some(format!(
                "{} recorded op {position}, and it has {has} ops",
                listed(&Vec::from_iter(cores.iter().copied()))
            ));
        }
        let is_whole =
            |log: &CoreLog| log.spans.iter().any(|span| span.subject == Subject::SuperKernel && span.end.is_some());
        let own = self.kernel.cores();
        let foreign: BTreeSet<Core> =
            logs().filter(|log| is_whole(log) && !own.contains(&log.core)).map(|log| log.core).collect();
        if !foreign.is_empty() {
            let cores = listed(&Vec::from_iter(foreign));
            return Some(format!("{cores} recorded a launch, and it does not run on them"));
        }
        // Every core records every op, also where it has nothing to do.
        let recorded: BTreeSet<Subject> = logs().flat_map(|log| &log.spans).map(|span| span.subject).collect();
        let silent = (0..has).find(|position| !recorded.contains(&Subject::Op(*position)))?;
        (self.problems.is_empty() && logs().count() > 0 && logs().all(is_whole))
            .then(|| format!("all cores came to the end, and none recorded op {silent} of its {has} ops"))
    }

    fn is_known(&self, subject: Subject) -> bool {
        match subject {
            Subject::Op(position) => self.kernel.ops.is_empty() || position < self.kernel.ops.len(),
            Subject::SuperKernel | Subject::Notify(_) | Subject::Wait(_) => true,
        }
    }

    fn tell(&mut self, core: Core, log: &Log, wrong: usize) {
        if log.orphans > 0 {
            self.problems.push(format!("{core}: {} records end what never started", log.orphans));
        }
        if wrong > 0 {
            self.problems.push(format!(
                "{core}: {wrong} of its times do not fit the others; those of the records beside them are taken instead"
            ));
        }
    }

    fn finish(mut self) -> Decoded {
        let mut launches: Vec<Launch> =
            self.launches.into_iter().map(|((_, task), cores)| Launch { task, cores }).collect();
        launches.sort_by_key(|launch| launch.cores.iter().map(|log| log.started).min());
        for launch in &launches {
            self.problems.extend(unfinished(launch, self.kernel));
        }
        Decoded { launches, problems: self.problems }
    }
}

/// What cores started and did not end: after a hang this is where they are.
fn unfinished(launch: &Launch, kernel: &Profiled) -> Vec<String> {
    let mut open: BTreeMap<Subject, Vec<Core>> = BTreeMap::new();
    let mut between: BTreeMap<String, Vec<Core>> = BTreeMap::new();
    let whereabouts = Whereabouts::new(kernel);
    for log in &launch.cores {
        for span in log.open() {
            open.entry(span.subject).or_default().push(log.core);
        }
        if log.stopped_between_ops() {
            between.entry(whereabouts.of(log)).or_default().push(log.core);
        }
    }
    let told = |(subject, cores): (Subject, Vec<Core>)| {
        let what = kernel.subject_name(subject);
        format!("task {}: {what} was started and not ended on {}", launch.task, listed(&cores))
    };
    let placed = |(place, cores): (String, Vec<Core>)| format!("task {}: {place}: {}", launch.task, listed(&cores));
    open.into_iter().map(told).chain(between.into_iter().map(placed)).collect()
}

/// The first few of some cores.
fn listed(cores: &[Core]) -> String {
    const SHOWN: usize = 6;
    let shown = cores.iter().take(SHOWN).map(ToString::to_string).collect::<Vec<_>>().join(", ");
    match cores.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        Some(more) => format!("{shown} and {more} more"),
        None => shown,
    }
}

/// Spans of one core while they grow.
#[derive(Default)]
struct Log {
    done: Vec<Span>,
    open: Vec<Span>,
    orphans: usize,
}

impl Log {
    fn take(&mut self, record: &Stamped) {
        let Some((subject, is_end)) = record.edge else { return };
        if !is_end {
            self.open.push(Span { subject, start: record.cycle, end: None });
            return;
        }
        match self.open.iter().rposition(|span| span.subject == subject) {
            Some(place) => {
                let span = self.open.remove(place);
                self.done.push(Span { end: Some(record.cycle), ..span });
            }
            None => self.orphans += 1,
        }
    }

    fn spans(self) -> Vec<Span> {
        let mut spans = self.done;
        spans.extend(self.open);
        spans.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
        spans
    }
}

/// Where the records of an area begin: at the first record that names this core.
fn first_record(area: &[u8], core: Core, used: usize) -> Option<usize> {
    let names_core = |at: usize| {
        let is_first =
            |header| matches!(Record::read(header), Some(Record::First { core: area, .. }) if area == core.area());
        at + RECORD <= used && is_first(word64(area, at))
    };
    std::iter::once(FIRST_RECORD).chain((AREA_HEAD..used).step_by(8)).find(|at| names_core(*at))
}
