//! Building all super kernels of a model: each kernel once, the long ones first, jobs shared out among them.

mod once;

use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use self::once::{Claim, Ended, Round};
pub use self::once::{KernelState, Kernels};
use super::cached;
use super::{BuildError, Origin, Outcome, Request, Reuse, Shared, Standing};
use crate::cancel::Cancel;
use crate::diagnostic::Diagnostic;
use crate::environment::{Environment, Intermediates};
use crate::fs;
use crate::model::{KnownKernels, Platform};
use crate::parallel;
use crate::phases::PhaseError;
use crate::stage::{Observer, Stage};
use crate::store::cache::{Cache, CacheSettings, Sharing};
use crate::store::work_dir::WorkDir;
use crate::toolchain::ToolchainError;

/// One super kernel of a model.
#[derive(Debug, Clone)]
pub struct ModelPiece {
    /// What reports call it.
    pub name: String,
    /// The kernel's name.
    pub kernel_name: String,
    /// Everything the model says about what the kernel is.
    pub identity: String,
    /// The argument of a build.
    pub kernel_infos: Value,
    /// Cube and vector cores it is limited to.
    pub core_limits: Option<(u32, u32)>,
    /// The nodes its ops come from.
    pub members: Vec<String>,
    /// What the planner knows that a build would refuse: message, id and solution of each.
    pub problems: Vec<(String, &'static str, String)>,
}

/// The super kernels of a model that are wanted.
pub struct ModelRequest<'a> {
    /// The super kernels.
    pub pieces: Vec<ModelPiece>,
    /// JSONs of their ops that were read to plan them.
    pub kernels: KnownKernels,
    /// The world around them.
    pub environment: Environment,
    /// Keep the generated source and the super kernels' own objects.
    pub keep: Intermediates,
    /// May earlier results be used?
    pub reuse: Reuse,
    /// How many tools may run at the same time in all builds together; `None`: one per processor.
    pub jobs: Option<u32>,
    /// Who builds, if not this process, and how many kernels are waited for there.
    pub elsewhere: Option<(&'a dyn Elsewhere, usize)>,
    /// A folder of the user's own for what others built and nobody keeps.
    pub temporary: &'a Path,
}

/// Builds on other machines.
pub trait Elsewhere: Sync {
    /// The entry of a kernel for a cache; `None`: nobody can, or a file is missing, so it is built here.
    fn entry(&self, infos: &Value, name: &str, settings: &Map<String, Value>) -> Result<Option<Vec<u8>>, Told>;
}

/// An error of another process.
#[derive(Debug, Clone)]
pub struct Told {
    /// Its id.
    pub id: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub solution: String,
}

/// Why a super kernel of a model was not built. Everybody who waited for it gets the same.
#[derive(Debug, Clone)]
pub enum Failure {
    /// Its build failed.
    Build(Arc<BuildError>),
    /// The machine that built it says so.
    Elsewhere(Told),
}

impl<E: Into<BuildError>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Build(Arc::new(error.into()))
    }
}

impl Failure {
    /// In words, for who knows the ops by their nodes: `members`, in the order of the op list.
    pub fn told(&self, members: &[String]) -> Told {
        let told = match self {
            Self::Build(error) => {
                Told { id: error.id().to_owned(), message: error.to_string(), solution: error.solution() }
            }
            Self::Elsewhere(told) => told.clone(),
        };
        Told { message: naming_nodes(told.message, members), ..told }
    }
}

/// A message about ``op_list[2].json_path`` says which node that is: nobody who gave a graph has seen the list.
fn naming_nodes(message: String, members: &[String]) -> String {
    let place = || {
        let (before, rest) = message.split_once("`op_list[")?;
        let (number, rest) = rest.split_once(']')?;
        let node = members.get(number.parse::<usize>().ok()?)?;
        Some(match rest.strip_prefix('.') {
            Some(key) => format!("node `{node}`: {before}`{key}"),
            None => format!("node `{node}`: {message}"),
        })
    };
    place().unwrap_or(message)
}

/// Where a super kernel of a model came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Built now, found in place or in the cache.
    Made(Origin),
    /// The same kernel as another piece of the model.
    Shared,
}

impl State {
    /// Its name in reports.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Made(origin) => origin.as_str(),
            Self::Shared => "shared",
        }
    }
}

/// What became of one piece.
#[derive(Debug)]
pub struct PieceResult {
    /// Which.
    pub number: usize,
    /// Where it came from.
    pub state: Result<State, Failure>,
    /// How long it took.
    pub took: Duration,
    /// What its build says about itself, if it was built for this piece.
    pub report: Option<Value>,
}

/// Hears of the builds of a model, from the threads that build.
pub trait ModelObserver: Sync {
    /// A stage of a piece begins.
    fn begins(&self, piece: &str, stage: Stage);
    /// A piece has ended.
    fn ended(&self, result: PieceResult);
}

/// Builds all pieces; `kernels` are those of the process.
pub(crate) fn build_model(
    request: &ModelRequest<'_>,
    kernels: &Kernels<Failure>,
    observer: &dyn ModelObserver,
    cancel: &Cancel,
) {
    let (pieces, jobs) = (request.pieces.len(), parallel::count(request.jobs));
    let builders = match request.elsewhere {
        // Threads that only wait for others cost nothing.
        Some((_, waiting)) => waiting,
        // While tools run for some, others are read, planned and printed, or checked and published: no tool waits.
        None => jobs + jobs / 2 + 2,
    };
    let shared = Shared::new(request.jobs, &request.kernels);
    let (left, round, queue) = (AtomicUsize::new(pieces), Round::new(), Mutex::new(order(&request.pieces).into_iter()));
    let builds = Builds { request, kernels, observer, cancel, shared, jobs, left, round };
    std::thread::scope(|scope| {
        for _ in 0..builders.clamp(1, pieces.max(1)) {
            scope.spawn(|| {
                while let Some((number, claim, started)) = builds.next(&queue) {
                    let result = builds.piece(&request.pieces[number], claim);
                    builds.left.fetch_sub(1, Ordering::Relaxed);
                    let (state, report) = match result {
                        Ok((state, report)) => (Ok(state), report),
                        Err(failure) => (Err(failure), None),
                    };
                    observer.ended(PieceResult { number, state, took: started.elapsed(), report });
                }
            });
        }
    });
}

/// Those with most ops first: a long one at the end would leave the others idle. Who will only wait for an equal one comes
/// last.
fn order(pieces: &[ModelPiece]) -> Vec<usize> {
    let mut seen = HashSet::new();
    let waits: Vec<bool> = pieces.iter().map(|piece| !seen.insert(piece.kernel_name.as_str())).collect();
    let mut order: Vec<usize> = (0..pieces.len()).collect();
    order.sort_by_key(|number| (waits[*number], std::cmp::Reverse(pieces[*number].members.len())));
    order
}

struct Builds<'a> {
    request: &'a ModelRequest<'a>,
    kernels: &'a Kernels<Failure>,
    observer: &'a dyn ModelObserver,
    cancel: &'a Cancel,
    shared: Arc<Shared>,
    jobs: usize,
    /// Builds that have not ended.
    left: AtomicUsize,
    round: Round,
}

type Made = (State, Option<Value>);

impl<'a> Builds<'a> {
    /// The next piece in the row, claimed in the same step: which of two is the first does not depend on threads.
    fn next(
        &self,
        queue: &Mutex<std::vec::IntoIter<usize>>,
    ) -> Option<(usize, Result<Claim<'a, Failure>, Failure>, Instant)> {
        let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
        if self.cancel.is_cancelled() {
            return None;
        }
        let number = queue.next()?;
        Some((number, self.claim(&self.request.pieces[number]), Instant::now()))
    }

    fn claim(&self, piece: &ModelPiece) -> Result<Claim<'a, Failure>, Failure> {
        if !piece.problems.is_empty() {
            return Err(BuildError::Planned { piece: piece.name.clone(), problems: piece.problems.clone() }.into());
        }
        let environment = self.environment(piece)?;
        let folder = fs::absolute(&environment.kernel_meta());
        let folder = folder.to_string_lossy();
        let content = json!([piece.identity, folder, environment.settings.recorded()]).to_string();
        let name = format!("{folder}:{}", piece.kernel_name);
        match self.kernels.claim(&name, &content, self.round) {
            Claim::Conflict => Err(BuildError::SameName { kernel: piece.kernel_name.clone() }.into()),
            claim @ (Claim::Mine(_) | Claim::Others(_)) => Ok(claim),
        }
    }

    /// The world around a piece, with its part of the jobs: what runs already got its part when there were more left.
    fn environment(&self, piece: &ModelPiece) -> Result<Environment, Failure> {
        let mut environment = self.request.environment.clone();
        if let Some((aic, aiv)) = piece.core_limits {
            let settings = &mut environment.settings;
            (settings.aic_num, settings.aiv_num) = (Some(aic), Some(aiv));
            environment.platform =
                Platform::new(&settings.soc.0, settings.aic_num, settings.aiv_num).map_err(PhaseError::from)?;
        }
        let share = (self.jobs / self.left.load(Ordering::Relaxed).max(1)).max(1);
        environment.settings.jobs = u32::try_from(share).ok();
        Ok(environment)
    }

    fn piece(&self, piece: &ModelPiece, claim: Result<Claim<'_, Failure>, Failure>) -> Result<Made, Failure> {
        let mut claim = claim?;
        loop {
            match claim {
                Claim::Mine(mine) => {
                    let made = self.make(piece);
                    match &made {
                        Ok(_) => mine.end(Ended::Built),
                        // Others who want it are not interrupted.
                        Err(_) if self.cancel.is_cancelled() => drop(mine),
                        Err(failure) => mine.end(Ended::Failed(failure.clone())),
                    }
                    return made;
                }
                Claim::Others(entry) => match self.kernels.wait(&entry, self.cancel) {
                    Ok(Ended::Built) => return Ok((State::Shared, None)),
                    Ok(Ended::Failed(failure)) => return Err(failure),
                    Ok(Ended::GivenUp) => claim = self.claim(piece)?,
                    Err(_) => return Err(ToolchainError::Cancelled { title: piece.kernel_name.clone() }.into()),
                },
                Claim::Conflict => return Err(BuildError::SameName { kernel: piece.kernel_name.clone() }.into()),
            }
        }
    }

    /// Builds a piece here, or has it built and takes it over.
    fn make(&self, piece: &ModelPiece) -> Result<Made, Failure> {
        let mut wanted = Request {
            kernel_infos: piece.kernel_infos.clone(),
            name: piece.kernel_name.clone(),
            environment: self.environment(piece)?,
            keep: self.request.keep,
            reuse: self.request.reuse,
            shared: Arc::clone(&self.shared),
        };
        let Some((elsewhere, _)) = self.request.elsewhere else { return self.build(piece, &wanted) };
        if wanted.reuse == Reuse::Allowed && super::compare(&wanted)? == Standing::UpToDate {
            return self.build(piece, &wanted);
        }
        let settings = wanted.environment.settings.recorded();
        let entry = elsewhere.entry(&wanted.kernel_infos, &wanted.name, &settings).map_err(Failure::Elsewhere)?;
        let Some(entry) = entry else { return self.build(piece, &wanted) };
        // A cache the user has is a good place for it; otherwise it is kept until the kernel is in place.
        let folder = WorkDir::create(self.request.temporary, "entries", self.cancel)?;
        let file = folder.path().join("entry.skc");
        fs::write(&file, &entry)?;
        let settings = &mut wanted.environment.settings;
        let directory = settings.cache_dir.get_or_insert_with(|| folder.path().join("cache")).clone();
        let sharing = Sharing::with_others(settings.cache_shared);
        let limit = wanted.environment.settings.cache_size;
        cached::import(&Cache::new(&CacheSettings { directory, limit, sharing }), &file)?;
        // Where it came from before it was in that cache: a worker's compiler.
        wanted.reuse = Reuse::Allowed;
        let (_, report) = self.build(piece, &wanted)?;
        Ok((State::Made(Origin::Built), report))
    }

    fn build(&self, piece: &ModelPiece, wanted: &Request) -> Result<Made, Failure> {
        let stages = Stages { piece: &piece.name, observer: self.observer };
        let built: Result<Outcome, BuildError> =
            parallel::with_threads(wanted.environment.settings.jobs, || super::build(wanted, &stages, self.cancel));
        let built = built?;
        Ok((State::Made(built.origin), Some(built.to_json().clone())))
    }
}

/// The stages of one piece.
struct Stages<'a> {
    piece: &'a str,
    observer: &'a dyn ModelObserver,
}

impl Observer for Stages<'_> {
    fn begins(&self, stage: Stage) {
        self.observer.begins(self.piece, stage);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_the_op_list_is_that_of_a_node() {
        let members = ["first".to_owned(), "layer/second".to_owned()];
        let named = |message: &str| naming_nodes(message.to_owned(), &members);
        assert_eq!(
            named("`op_list[1].json_path` in `k.json` is text"),
            "node `layer/second`: `json_path` in `k.json` is text"
        );
        assert_eq!(named("`op_list[0]` is a number"), "node `first`: `op_list[0]` is a number");
        for other in ["`op_list` is empty", "`op_list[2].json_path` is text", "`op_list[x", ""] {
            assert_eq!(named(other), other);
        }
    }

    #[test]
    fn long_ones_come_first_and_equal_ones_last() {
        let piece = |kernel: &str, size: usize| ModelPiece {
            name: String::new(),
            kernel_name: kernel.to_owned(),
            identity: String::new(),
            kernel_infos: Value::Null,
            core_limits: None,
            members: (0..size).map(|number| format!("node_{number}")).collect(),
            problems: Vec::new(),
        };
        let pieces = [piece("a", 3), piece("b", 9), piece("b", 9), piece("c", 5), piece("a", 3)];
        assert_eq!(order(&pieces), [1, 3, 0, 2, 4]);
    }
}
