//! The stages a call goes through, each once and in order, and how long each took.

use crate::named::named;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

named! {
    /// One stage; the order is the order of a full build.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Stage {
        /// `kernel_infos` and the sub-kernels' JSONs.
        Load = "load",
        /// The sub-kernels' objects.
        Read = "read",
        /// Finding the tools, comparing with the last build.
        Compare = "compare",
        /// Deciding what every core does.
        Plan = "plan",
        /// Printing it as C++.
        Emit = "emit",
        /// Asking the cache, and checking its answer.
        Cache = "cache",
        /// Copies of sub-kernels.
        Copy = "copy",
        /// The external compiler, and copies of what it made.
        Compile = "compile",
        /// The external linker.
        Link = "link",
        /// Making symbols local.
        Localize = "localize",
        /// Reading the result again.
        Check = "check",
        /// Putting it in place.
        Publish = "publish",
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
pub(crate) struct Timings<'a> {
    observer: &'a dyn Observer,
    started: Instant,
    spent: Vec<(Stage, Duration)>,
}

impl<'a> Timings<'a> {
    /// Starts now.
    pub(crate) fn start(observer: &'a dyn Observer) -> Self {
        Self { observer, started: Instant::now(), spent: Vec::new() }
    }

    /// Runs `work` as `stage`, or as a further part of the stage before it.
    pub(crate) fn measure<T>(&mut self, stage: Stage, work: impl FnOnce() -> T) -> T {
        let last = self.spent.last().map(|(stage, _)| *stage);
        debug_assert!(last <= Some(stage), "{stage:?} is told after {last:?}");
        if last != Some(stage) {
            self.tell_last();
            self.spent.push((stage, Duration::ZERO));
            self.observer.begins(stage);
        }
        let started = Instant::now();
        let result = work();
        if let Some((_, spent)) = self.spent.last_mut() {
            *spent += started.elapsed();
        }
        result
    }

    /// The latest stage is over: all its parts in one line.
    fn tell_last(&self) {
        if let Some((stage, spent)) = self.spent.last() {
            log::debug!(target: "superkernel.compile", "{}: {:.1} ms", stage.as_str(), spent.as_secs_f64() * 1e3);
        }
    }

    /// Milliseconds per stage, and in all under `total`.
    pub(crate) fn to_json(&self) -> Value {
        let milliseconds = |time: Duration| json!((time.as_secs_f64() * 1e6).round() / 1e3);
        let mut timings: Map<String, Value> =
            self.spent.iter().map(|(stage, time)| (stage.as_str().to_owned(), milliseconds(*time))).collect();
        timings.insert("total".to_owned(), milliseconds(self.started.elapsed()));
        Value::Object(timings)
    }
}

/// However the call ends, its last stage is told.
impl Drop for Timings<'_> {
    fn drop(&mut self) {
        self.tell_last();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[derive(Default)]
    struct Told(Mutex<Vec<Stage>>);

    impl Observer for Told {
        fn begins(&self, stage: Stage) {
            self.0.lock().unwrap().push(stage);
        }
    }

    #[test]
    fn a_stage_in_parts_is_told_once() {
        let told = Told::default();
        let mut timings = Timings::start(&told);
        for stage in [Stage::Load, Stage::Read, Stage::Read, Stage::Plan] {
            timings.measure(stage, || ());
        }
        assert_eq!(*told.0.lock().unwrap(), [Stage::Load, Stage::Read, Stage::Plan]);
        let named: Vec<String> = timings.to_json().as_object().unwrap().keys().cloned().collect();
        assert_eq!(named, ["load", "read", "plan", "total"]);
    }

    #[test]
    #[should_panic(expected = "Read is told after Some(Plan)")]
    fn a_stage_out_of_order_is_a_mistake() {
        let mut timings = Timings::start(&());
        timings.measure(Stage::Plan, || ());
        timings.measure(Stage::Read, || ());
    }

    #[test]
    fn all_are_listed_in_order() {
        assert!(Stage::ALL.is_sorted());
    }
}
