//! The stages of a build, and how long each took.

use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

/// One stage; the order is the order of a full build.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// `kernel_infos` and the sub-kernels' JSONs.
    Load,
    /// The sub-kernels' objects.
    Read,
    /// Finding the tools, comparing with the last build.
    Compare,
    /// Deciding what every core does.
    Plan,
    /// Printing it as C++.
    Emit,
    /// Asking the cache.
    Cache,
    /// The external compiler; the copies of sub-kernels are made meanwhile.
    Compile,
    /// Copies of sub-kernels and of the super kernel itself.
    Copy,
    /// The external linker.
    Link,
    /// Making symbols local.
    Localize,
    /// Reading the result again.
    Check,
    /// Putting it in place.
    Publish,
}

impl Stage {
    /// All stages in order.
    pub const ALL: [Self; 12] = [
        Self::Load,
        Self::Read,
        Self::Compare,
        Self::Plan,
        Self::Emit,
        Self::Cache,
        Self::Compile,
        Self::Copy,
        Self::Link,
        Self::Localize,
        Self::Check,
        Self::Publish,
    ];

    /// Its name in timings and progress displays.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Read => "read",
            Self::Compare => "compare",
            Self::Plan => "plan",
            Self::Emit => "emit",
            Self::Cache => "cache",
            Self::Compile => "compile",
            Self::Copy => "copy",
            Self::Link => "link",
            Self::Localize => "localize",
            Self::Check => "check",
            Self::Publish => "publish",
        }
    }
}

/// Is told when a stage begins.
pub trait Observer: Sync {
    /// `stage` begins now.
    fn begins(&self, stage: Stage);
}

/// Looks away.
impl Observer for () {
    fn begins(&self, _stage: Stage) {}
}

/// Time spent per stage.
pub struct Timings<'a> {
    observer: &'a dyn Observer,
    started: Instant,
    spent: Vec<(Stage, Duration)>,
}

impl<'a> Timings<'a> {
    /// Starts now.
    pub fn start(observer: &'a dyn Observer) -> Self {
        Self { observer, started: Instant::now(), spent: Vec::new() }
    }

    /// Runs `work` as `stage`.
    pub fn measure<T>(&mut self, stage: Stage, work: impl FnOnce() -> T) -> T {
        self.observer.begins(stage);
        let started = Instant::now();
        let result = work();
        self.add(stage, started.elapsed());
        result
    }

    /// Adds time that was measured elsewhere.
    pub fn add(&mut self, stage: Stage, time: Duration) {
        match self.spent.iter_mut().find(|(known, _)| *known == stage) {
            Some((_, spent)) => *spent += time,
            None => self.spent.push((stage, time)),
        }
    }

    /// Milliseconds per stage, and in all under `total`.
    pub fn to_json(&self) -> Value {
        let milliseconds = |time: Duration| json!((time.as_secs_f64() * 1e6).round() / 1e3);
        let mut timings: Map<String, Value> =
            self.spent.iter().map(|(stage, time)| (stage.as_str().to_owned(), milliseconds(*time))).collect();
        timings.insert("total".to_owned(), milliseconds(self.started.elapsed()));
        Value::Object(timings)
    }
}
