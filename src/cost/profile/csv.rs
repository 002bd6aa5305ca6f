//! Tables of the profiler: comma-separated values with a header; columns are found by name.

use std::collections::HashMap;
use std::path::Path;

use super::super::CostError;

/// A table with a header.
pub(super) struct Table<'a> {
    path: &'a Path,
    columns: HashMap<String, usize>,
    header: Vec<String>,
    /// Line numbers and cells.
    rows: Vec<(usize, Vec<String>)>,
}

impl<'a> Table<'a> {
    /// Reads a table; lines without content are skipped.
    pub(super) fn read(path: &'a Path, bytes: &[u8]) -> Result<Self, CostError> {
        let bad = |problem: String| CostError::BadProfile { path: path.to_path_buf(), problem };
        let text = std::str::from_utf8(bytes).map_err(|error| bad(format!("no UTF-8 text: {error}")))?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut rows = Vec::new();
        for (line, cells) in records(text).map_err(bad)? {
            if cells.iter().any(|cell| !cell.is_empty()) {
                rows.push((line, cells));
            }
        }
        if rows.is_empty() {
            return Err(bad("it is empty".to_owned()));
        }
        let (_, header) = rows.remove(0);
        let columns = header.iter().enumerate().rev().map(|(place, name)| (key(name), place)).collect();
        Ok(Self { path, columns, header, rows })
    }

    /// The place of the first of these columns that is there.
    pub(super) fn column(&self, names: &[&str]) -> Option<usize> {
        names.iter().find_map(|name| self.columns.get(*name).copied())
    }

    /// The same, or an error that lists what is there.
    pub(super) fn needed(&self, what: &str, names: &[&str]) -> Result<usize, CostError> {
        self.column(names)
            .ok_or_else(|| self.bad(format!("it has no column for {what}; its columns are {}", self.header.join(", "))))
    }

    /// The rows below the header.
    pub(super) fn rows(&self) -> impl Iterator<Item = Cells<'_>> {
        self.rows.iter().map(|(line, cells)| Cells { table: self, line: *line, cells })
    }

    pub(super) fn bad(&self, problem: String) -> CostError {
        CostError::BadProfile { path: self.path.to_path_buf(), problem }
    }
}

/// One row.
pub(super) struct Cells<'a> {
    table: &'a Table<'a>,
    line: usize,
    cells: &'a [String],
}

impl Cells<'_> {
    /// A cell as text; empty if the row is shorter.
    pub(super) fn text(&self, column: Option<usize>) -> &str {
        column.and_then(|column| self.cells.get(column)).map_or("", String::as_str)
    }

    /// A cell as a number from 0 up; `None` if it is empty or says that there is none.
    pub(super) fn number(&self, column: Option<usize>) -> Result<Option<f64>, CostError> {
        let text = self.text(column);
        if matches!(text, "" | "N/A" | "NA" | "-") {
            return Ok(None);
        }
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() && number >= 0.0 => Ok(Some(number)),
            Ok(_) | Err(_) => Err(self.table.bad(format!("line {}: `{text}` is no number from 0 up", self.line))),
        }
    }
}

/// `OP Type`, `Op_Type` and `op type` are one column.
fn key(name: &str) -> String {
    name.chars().filter(|letter| !matches!(letter, ' ' | '_')).flat_map(char::to_lowercase).collect()
}

/// Records with the line each begins on; a quoted cell may hold commas, quotes written twice, and line ends.
fn records(text: &str) -> Result<Vec<(usize, Vec<String>)>, String> {
    let mut records = Vec::new();
    let mut cells: Vec<String> = Vec::new();
    let mut cell = String::new();
    let (mut line, mut begin, mut quoted) = (1, 1, false);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, quoted) {
            ('"', true) if letters.peek() == Some(&'"') => {
                letters.next();
                cell.push('"');
            }
            ('"', true) => quoted = false,
            ('"', false) if cell.trim().is_empty() => {
                cell.clear();
                quoted = true;
            }
            (',', false) => {
                cells.push(cell.trim().to_owned());
                cell.clear();
            }
            ('\n', false) => {
                cells.push(cell.trim().to_owned());
                cell.clear();
                records.push((begin, std::mem::take(&mut cells)));
                line += 1;
                begin = line;
            }
            (letter, _) => {
                line += usize::from(letter == '\n');
                cell.push(letter);
            }
        }
    }
    if quoted {
        return Err(format!("a quotation that begins on line {begin} does not end"));
    }
    cells.push(cell.trim().to_owned());
    records.push((begin, cells));
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_may_be_quoted_and_padded() {
        let found = records("a,b\n\"x, \"\"y\"\"\", 7\t\r\n\"two\nlines\",1").unwrap();
        assert_eq!(found[1], (2, vec!["x, \"y\"".to_owned(), "7".to_owned()]));
        assert_eq!(found[2], (3, vec!["two\nlines".to_owned(), "1".to_owned()]));
        assert!(records("a,\"b").is_err());
    }

    #[test]
    fn columns_are_found_by_name() {
        let path = Path::new("t.csv");
        let table = Table::read(path, b"\xef\xbb\xbfOP_Type, Task Duration(us)\nAdd,1.5\nMul,N/A\nSub,x\n").unwrap();
        let column = table.needed("time", &["duration(us)", "taskduration(us)"]).unwrap();
        let cells: Vec<Result<Option<f64>, CostError>> = table.rows().map(|row| row.number(Some(column))).collect();
        assert!(matches!(cells[0], Ok(Some(us)) if us == 1.5));
        assert!(matches!(cells[1], Ok(None)));
        assert!(cells[2].as_ref().unwrap_err().to_string().contains("line 4"));
        assert!(table.needed("blocks", &["blockdim"]).is_err());
    }
}
