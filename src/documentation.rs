//! What the documents say about an error; they travel inside the package.

use std::collections::HashMap;

const ERRORS: &str = include_str!("../docs/errors.md");
const EXAMPLES: &str = include_str!("../docs/error-examples.md");

/// The row of one error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ErrorEntry {
    /// Its id, `SK0306`.
    pub id: &'static str,
    /// The heading it stands under.
    pub area: &'static str,
    /// What is wrong.
    pub what: &'static str,
    /// What to do.
    pub solution: &'static str,
    /// What is wrong and what is right, of an error that an input causes.
    pub example: Option<(&'static str, &'static str)>,
}

/// All documented errors, in the document's order.
pub(crate) fn errors() -> Vec<ErrorEntry> {
    let examples: HashMap<_, _> = rows(EXAMPLES).map(|row| (row.id, (row.second, row.third))).collect();
    let entry = |Row { area, id, second, third }: Row| ErrorEntry {
        id,
        area,
        what: second,
        solution: third,
        example: examples.get(id).copied(),
    };
    rows(ERRORS).map(entry).collect()
}

/// A row of a table, with the heading above it.
struct Row {
    area: &'static str,
    id: &'static str,
    second: &'static str,
    third: &'static str,
}

fn rows(document: &'static str) -> impl Iterator<Item = Row> {
    let mut area = "";
    document.lines().filter_map(move |line| {
        area = line.strip_prefix("## ").unwrap_or(area);
        let mut cells = line.split(" | ").map(|cell| cell.trim_matches(['|', ' ']));
        let (id, second, third) = (cells.next()?, cells.next()?, cells.next()?);
        id.starts_with("SK").then_some(Row { area, id, second, third })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_tables_is_read() {
        let rows = ERRORS.lines().filter(|line| line.starts_with("| SK")).count();
        let errors = errors();
        assert_eq!(errors.len(), rows);
        assert!(errors.iter().all(|entry| entry.id.len() == 6 && !entry.what.is_empty() && !entry.solution.is_empty()));
        let deadlock = errors.iter().find(|entry| entry.id == "SK0910").unwrap();
        assert_eq!((deadlock.area, deadlock.what), ("Simulator", "deadlock: some cores can never go on"));
    }

    #[test]
    fn every_example_is_of_an_error() {
        let rows = EXAMPLES.lines().filter(|line| line.starts_with("| SK")).count();
        let with_example = errors().iter().filter(|entry| entry.example.is_some()).count();
        assert_eq!(with_example, rows);
        let of = |id: &str| errors().into_iter().find(|entry| entry.id == id).unwrap().example;
        assert_eq!(of("SK0101"), Some(("`stream-funsion=1`", "`stream-fusion=1`")));
        assert_eq!(of("SK0705"), None);
    }
}
