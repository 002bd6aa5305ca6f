//! The plan as a table a person can read.

use std::collections::HashMap;
use std::fmt::Write;

use super::graph::Origin;
use super::outcome::{Piece, ScopePlan, ScopeReport, Status};
use crate::shortened::OneLine;

/// `1 op`, `2 ops`.
fn counted(count: usize, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

/// The whole report.
pub(crate) fn text(plan: &ScopePlan) -> String {
    let mut out = String::new();
    for note in &plan.prediction {
        let _ = writeln!(out, "{note}");
    }
    let title = if plan.graph.is_empty() { "graph" } else { &plan.graph };
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "{}: {}, {}, mode {}",
        OneLine(title),
        counted(plan.scopes.len(), "scope"),
        counted(plan.pieces.len(), "super kernel"),
        plan.mode
    );
    if plan.status == Status::UnknownShape {
        let _ = writeln!(
            out,
            "  not planned: the shapes of this graph are not static, and the engine fuses nothing then (compile it with \
             `dynamic=False` and inputs of fixed shapes)"
        );
    }
    for mistake in &plan.mistakes {
        let _ = writeln!(
            out,
            "\nmistake in the options of scope `{}` [{}]: {}",
            OneLine(&mistake.scope),
            mistake.id,
            mistake.message
        );
        let _ = writeln!(out, "  {}", mistake.solution);
    }
    for finding in &plan.findings {
        let _ = writeln!(out, "\nfinding: {}", finding.message);
        let _ = writeln!(out, "  {}", finding.solution);
    }
    let mut pieces: HashMap<(&str, &str), Vec<&Piece>> = HashMap::new();
    for piece in &plan.pieces {
        pieces.entry((&piece.branch, &piece.scope)).or_default().push(piece);
    }
    for scope in &plan.scopes {
        let _ = writeln!(out);
        let pieces = pieces.get(&(scope.branch.as_str(), scope.name.as_str()));
        scope_text(&mut out, scope, pieces.map_or(&[], Vec::as_slice));
    }
    out
}

fn scope_text(out: &mut String, scope: &ScopeReport, pieces: &[&Piece]) {
    let strict = scope.strict.map_or_else(String::new, |strict| format!(", strict-scope-check={strict}"));
    let fate = match (scope.outcome, scope.pieces.len()) {
        ("bypassed", _) => "left unfused as a whole".to_owned(),
        ("mistaken", _) => "not planned, its options are not valid".to_owned(),
        ("empty", _) => "nothing in it can be fused".to_owned(),
        (_, 0) => "no super kernel".to_owned(),
        (_, count) => counted(count, "super kernel"),
    };
    let branch = if scope.branch.is_empty() { String::new() } else { format!(" in graph {}", OneLine(&scope.branch)) };
    let _ = writeln!(out, "scope {}{branch}: {fate}{strict}", OneLine(&scope.name));
    for piece in pieces {
        piece_text(out, piece);
    }
    if !scope.cuts.is_empty() {
        let rows: Vec<Vec<String>> = scope
            .cuts
            .iter()
            .map(|cut| {
                let name = match &cut.through {
                    Some(through) => format!("{} ({through})", cut.node),
                    None => cut.node.clone().into(),
                };
                let (stream, reason) = (cut.stream.to_string(), cut.reason.to_owned());
                vec![cut.id.to_string(), name, cut.op_type.clone().into(), stream, told(cut.origin.as_deref()), reason]
            })
            .collect();
        let _ = writeln!(out, "  cut at:");
        table(out, &["id", "node", "type", "stream", FROM, "reason"], &rows);
    }
    if !scope.left_out.is_empty() {
        let rows: Vec<Vec<String>> = scope
            .left_out
            .iter()
            .map(|dropped| {
                let reason = format!("{}: {}", dropped.reason, dropped.explanation);
                vec![
                    dropped.id.to_string(),
                    dropped.node.clone().into(),
                    dropped.op_type.clone().into(),
                    dropped.stream.to_string(),
                    told(dropped.origin.as_deref()),
                    reason,
                ]
            })
            .collect();
        let _ = writeln!(out, "  left out:");
        table(out, &["id", "node", "type", "stream", FROM, "reason"], &rows);
    }
}

fn piece_text(out: &mut String, piece: &Piece) {
    let options =
        if piece.options.is_empty() { String::new() } else { format!(", options {}", OneLine(&piece.options)) };
    let limits = piece
        .core_limits
        .map_or_else(String::new, |(aic, aiv)| format!(", limited to {aic} cube and {aiv} vector cores"));
    let _ = writeln!(
        out,
        "  piece {}: {}, main stream {}{limits}{options}",
        OneLine(&piece.name),
        counted(piece.ops.len(), "op"),
        piece.main_stream
    );
    if !piece.kernel_name.is_empty() {
        let _ = writeln!(out, "    {}", piece.kernel_name);
    }
    let ids = |ids: &[i64]| ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let rows: Vec<Vec<String>> = piece
        .ops
        .iter()
        .map(|op| {
            let events = match (ids(&op.recv_event_list), ids(&op.send_event_list)) {
                (recv, send) if recv.is_empty() && send.is_empty() => String::new(),
                (recv, send) if send.is_empty() => format!("waits {recv}"),
                (recv, send) if recv.is_empty() => format!("sends {send}"),
                (recv, send) => format!("waits {recv}, sends {send}"),
            };
            let stream = op.stream.to_string();
            vec![
                op.id.to_string(),
                op.name.clone().into(),
                op.op_type.clone().into(),
                stream,
                told(op.origin.as_deref()),
                events,
            ]
        })
        .collect();
    table(out, &["id", "op", "type", "stream", FROM, "events"], &rows);
    for problem in &piece.problems {
        let _ = writeln!(out, "    problem: {}", problem.explain());
    }
    for warning in &piece.warnings {
        let _ = writeln!(out, "    warning: {warning}");
    }
}

/// No column gets wider than this: padding every row for one absurd cell would cost rows times width.
const WIDEST: usize = 120;

/// The column that tells what the user wrote; left out where nothing is known of it.
const FROM: &str = "from";

fn told(origin: Option<&Origin>) -> String {
    origin.map_or_else(String::new, Origin::to_string)
}

/// Left-aligned columns, as wide as their widest cell up to a limit; no blanks at line ends.
fn table(out: &mut String, header: &[&str], rows: &[Vec<String>]) {
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| OneLine(cell).to_string()).collect()).collect();
    let is_shown = |column: usize| header[column] != FROM || rows.iter().any(|row| !row[column].is_empty());
    let columns: Vec<usize> = (0..header.len()).filter(|column| is_shown(*column)).collect();
    let mut widths: Vec<usize> = header.iter().map(|cell| cell.chars().count()).collect();
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count().min(WIDEST));
        }
    }
    let mut line = |cell: &dyn Fn(usize) -> String| {
        let mut text = String::from("    ");
        for &column in &columns {
            let width = widths[column];
            let _ = write!(text, "{:width$}  ", cell(column));
        }
        let _ = writeln!(out, "{}", text.trim_end());
    };
    line(&|column| header[column].to_owned());
    for row in &rows {
        line(&|column| row[column].clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_of_any_length_is_printed_whole() {
        let long = "x".repeat(70_000);
        let mut out = String::new();
        table(&mut out, &["a", "b"], &[vec![long.clone(), "1".to_owned()], vec!["y".to_owned(), "2".to_owned()]]);
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(lines[1], format!("    {long}  1"));
        assert_eq!(lines[2].len(), 4 + WIDEST + 2 + 1, "other rows are not padded to it");
        let mut out = String::new();
        table(&mut out, &["a", "b"], &[vec!["x\ny".to_owned(), "1".to_owned()]]);
        assert_eq!(out.lines().collect::<Vec<_>>(), ["    a     b", "    x\\ny  1"]);
    }
}
