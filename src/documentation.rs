//! What the documents say about an error; they travel inside the package.

const ERRORS: &str = include_str!("../docs/errors.md");

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
}

/// All documented errors, in the document's order.
pub(crate) fn errors() -> Vec<ErrorEntry> {
    let mut area = "";
    let mut found = Vec::new();
    for line in ERRORS.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            area = heading;
        }
        let mut cells = line.split(" | ").map(|cell| cell.trim_matches(['|', ' ']));
        if let (Some(id), Some(what), Some(solution)) = (cells.next(), cells.next(), cells.next())
            && id.starts_with("SK")
        {
            found.push(ErrorEntry { id, area, what, solution });
        }
    }
    found
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
}
