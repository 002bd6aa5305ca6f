//! Expected files: compared whole, rewritten with `SUPERKERNEL_BLESS=1`.

use std::path::Path;

/// Compares `found` with the file, or writes it.
pub fn check(path: &Path, found: &str) {
    if std::env::var_os("SUPERKERNEL_BLESS").is_some() {
        std::fs::write(path, found).unwrap();
        return;
    }
    let expected = std::fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("{}: {error}; run with SUPERKERNEL_BLESS=1 to write it", path.display()));
    if expected == found {
        return;
    }
    let lines = expected.lines().zip(found.lines()).enumerate();
    let place =
        lines.filter(|(_, (expected, found))| expected != found).map(|(number, pair)| (number + 1, pair)).next();
    match place {
        Some((number, (expected, found))) => {
            panic!("{}:{number} differs\n  expected: {expected}\n  found:    {found}", path.display())
        }
        None => panic!("{}: one text is longer than the other", path.display()),
    }
}
