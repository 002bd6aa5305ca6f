//! "Did you mean": the known names closest to one that was not found.

/// The candidates within a third of `name`'s length in edits, closest first, at most `limit`.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>, limit: usize) -> Vec<&'a str> {
    // Bounded work on hostile names: nobody mistypes a kilobyte.
    const LONGEST: usize = 256;
    let target: Vec<char> = name.chars().take(LONGEST).collect();
    let allowed = (target.len() / 3).max(1);
    let mut found: Vec<(usize, &str)> = candidates
        .into_iter()
        .filter(|candidate| candidate.len().abs_diff(name.len()) <= 4 * allowed && candidate.len() <= LONGEST)
        .filter_map(|candidate| {
            let distance = edit_distance(&target, candidate);
            (distance <= allowed).then_some((distance, candidate))
        })
        .collect();
    found.sort();
    found.dedup();
    found.into_iter().take(limit).map(|(_, candidate)| candidate).collect()
}

/// Insertions, deletions and replacements that turn `from` into `to`.
fn edit_distance(from: &[char], to: &str) -> usize {
    let mut row: Vec<usize> = (0..=from.len()).collect();
    for (line, letter) in to.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for column in 0..from.len() {
            let replaced = diagonal + usize::from(from[column] != letter);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[from.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_edits() {
        let letters: Vec<char> = "kitten".chars().collect();
        assert_eq!(edit_distance(&letters, "sitting"), 3);
        assert_eq!(edit_distance(&letters, "kitten"), 0);
        assert_eq!(edit_distance(&[], "abc"), 3);
    }

    #[test]
    fn a_mistyped_name_is_found() {
        assert_eq!(nearest("stream-funsion", ["stream-fusion", "split-mode"], 3), ["stream-fusion"]);
    }

    #[test]
    fn far_names_are_not_offered() {
        assert!(nearest("profiling", ["split-mode"], 3).is_empty());
    }

    #[test]
    fn closest_comes_first_and_the_limit_holds() {
        assert_eq!(nearest("add_1", ["add_12", "add_1x3", "add_2", "mul"], 2), ["add_12", "add_2"]);
    }
}
