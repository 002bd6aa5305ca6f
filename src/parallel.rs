//! Threads for work that is done side by side.
//!
//! Never the global pool: its threads do not survive a `fork`, Python programs fork, and the child would wait for them
//! for ever.

/// More threads than this only wait for each other.
const MOST_THREADS: usize = 16;

/// Runs `work`, whose parallel iterators then use the caller's pool if there is one, else one of their own.
pub(crate) fn run<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    if rayon::current_thread_index().is_some() { work() } else { with_threads(None, work) }
}

/// So many as were asked for; `None`: one per processor.
pub(crate) fn count(asked: Option<u32>) -> usize {
    let processors = || std::thread::available_parallelism().map_or(1, |count| count.get().min(MOST_THREADS));
    asked.map_or_else(processors, |asked| asked as usize).max(1)
}

/// Runs `work` in a pool of `threads` threads; `None`: one per processor.
pub(crate) fn with_threads<T: Send>(threads: Option<u32>, work: impl FnOnce() -> T + Send) -> T {
    match rayon::ThreadPoolBuilder::new().num_threads(count(threads)).build() {
        Ok(pool) => pool.install(work),
        // No threads to be had (a limit of the system): one on the spot, which needs no new thread.
        Err(_) => match rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build() {
            Ok(pool) => pool.install(work),
            Err(_) => work(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pool_is_our_own_and_is_kept_inside() {
        assert_eq!(with_threads(Some(3), rayon::current_num_threads), 3);
        assert_eq!(with_threads(Some(3), || run(rayon::current_num_threads)), 3);
        assert!(run(|| rayon::current_thread_index().is_some()));
    }
}
