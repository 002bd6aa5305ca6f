//! Values that several may ask for at the same time, each made once.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Values by key, made when they are first asked for. Whoever asks while one is made waits for it; a failure is not kept.
#[derive(Debug)]
pub(crate) struct Shelf<K, V>(Mutex<HashMap<K, Arc<Mutex<Option<V>>>>>);

impl<K, V> Default for Shelf<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash, V: Clone> Shelf<K, V> {
    /// The value of `key`; `make` makes it if nobody has.
    pub(crate) fn get<E>(&self, key: K, make: impl FnOnce() -> Result<V, E>) -> Result<V, E> {
        let place = Arc::clone(lock(&self.0).entry(key).or_default());
        let mut kept = lock(&place);
        if let Some(value) = &*kept {
            return Ok(value.clone());
        }
        let value = make()?;
        *kept = Some(value.clone());
        Ok(value)
    }

    /// With values that are known already.
    pub(crate) fn with(values: impl Iterator<Item = (K, V)>) -> Self {
        Self(Mutex::new(values.map(|(key, value)| (key, Arc::new(Mutex::new(Some(value))))).collect()))
    }

    /// All values that were made.
    pub(crate) fn into_values(self) -> HashMap<K, V> {
        let places = self.0.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter();
        places.filter_map(|(key, place)| Some((key, lock(&place).clone()?))).collect()
    }
}

/// A thread that died while it made a value has left the place empty, which is as good as new.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn a_value_is_made_once_however_many_ask() {
        let (shelf, made) = (Shelf::<&str, u32>::default(), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let value = shelf.get("a", || Ok::<_, Infallible>(made.fetch_add(1, Ordering::Relaxed)));
                    assert_eq!(value, Ok(0));
                });
            }
        });
        assert_eq!(shelf.get("b", || Ok::<_, Infallible>(7)), Ok(7));
        assert_eq!(made.into_inner(), 1);
    }

    #[test]
    fn a_failure_is_not_kept() {
        let shelf = Shelf::<&str, u32>::default();
        assert_eq!(shelf.get("a", || Err("no")), Err("no"));
        assert_eq!(shelf.get("a", || Ok::<_, &str>(1)), Ok(1));
    }
}
