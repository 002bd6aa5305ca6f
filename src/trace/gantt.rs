//! A chart for terminals: a row per op, readable without colour.

use std::fmt::Write as _;

use super::{Trace, What};
use crate::model::CoreKind;

/// Narrower than this nothing can be read.
const LEAST_WIDTH: usize = 40;
/// Nobody looks at wider ones, and each op has a number per column.
const MOST_WIDTH: usize = 10_000;
/// Wider labels are cut.
const WIDEST_LABEL: usize = 32;

/// When an op ran.
struct Row {
    label: String,
    cores: String,
    start: f64,
    end: f64,
    /// By column: time summed over its cores.
    columns: Vec<f64>,
    running: usize,
}

/// The chart, at most `width` and 10,000 columns wide: how many cores run each op when, and how busy the cores are in all.
pub(crate) fn gantt(trace: &Trace, width: usize) -> String {
    let width = width.clamp(LEAST_WIDTH, MOST_WIDTH);
    let (begin, end) = trace.span();
    let mut out = String::new();
    out += &wrapped(&format!("{}: {}", trace.kernel, trace.axis.label()), width);
    if end <= begin {
        let _ = writeln!(out, "  nothing ran");
        return out;
    }
    let seen = ops_seen(trace);
    let widest = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0);
    let label = widest(&mut seen.iter().map(|op| op.label.chars().count())).clamp(11, WIDEST_LABEL.min(width / 3));
    let cores = widest(&mut seen.iter().map(|op| op.cores.chars().count())).max(5);
    let bar = width.saturating_sub(label + cores + 4).max(10);
    let scale = bar as f64 / (end - begin);
    let mut rows = seen;
    for row in &mut rows {
        row.columns = vec![0.0; bar];
    }
    let mut row_of = vec![None; trace.ops.len()];
    for (number, row) in rows.iter().enumerate() {
        row_of[row.running] = Some(number);
    }
    let mut busy = CoreKind::BOTH.map(|kind| (kind, 0_usize, vec![0.0; bar]));
    for track in &trace.tracks {
        let place = busy.iter().position(|(kind, ..)| track.kind == Some(*kind));
        if let Some(place) = place {
            busy[place].1 += 1;
        }
        for slice in track.slices.iter().filter(|slice| slice.what == What::Op) {
            let (from, to) = ((slice.start - begin) * scale, (slice.end - begin) * scale);
            if let Some(Some(row)) = slice.op.and_then(|op| row_of.get(op)) {
                spread(&mut rows[*row].columns, from, to);
            }
            if let Some(place) = place {
                spread(&mut busy[place].2, from, to);
            }
        }
    }
    let _ = writeln!(out, "{:label$}  {:>cores$}  {}", "", "cores", axis(begin, end, bar));
    for (kind, count, columns) in busy.iter().filter(|(_, count, _)| *count > 0) {
        let name = match kind {
            CoreKind::Aic => "cube busy",
            CoreKind::Aiv => "vector busy",
        };
        let tenths: String = columns.iter().map(|time| tenth(time / *count as f64)).collect();
        let _ = writeln!(out, "{name:label$}  {count:>cores$}  {}", tenths.trim_end());
    }
    for row in &rows {
        let most = row.columns.iter().copied().fold(0.0, f64::max);
        let mut marks: String = row.columns.iter().map(|time| mark(*time, most)).collect();
        if most <= 0.0 {
            // It took no time; it is there all the same.
            let at = (((row.start - begin) * scale) as usize).min(bar - 1);
            marks = " ".repeat(at) + "|";
        }
        let name = shortened(&row.label, label);
        let _ = writeln!(out, "{name:label$}  {:>cores$}  {}", row.cores, marks.trim_end());
    }
    out += &wrapped("# all cores of the op, + and . fewer of them, | no time at all; busy cores in tenths", width);
    for note in &trace.notes {
        out += &wrapped(&format!("note: {note}"), width);
    }
    out
}

/// The ops that ran, in order, with the cores they ran on.
fn ops_seen(trace: &Trace) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut by_op: Vec<(f64, f64, [usize; 2])> = vec![(f64::INFINITY, 0.0, [0, 0]); trace.ops.len()];
    for track in &trace.tracks {
        let place = usize::from(track.kind == Some(CoreKind::Aiv));
        let mut counted = std::collections::HashSet::new();
        for slice in track.slices.iter().filter(|slice| slice.what == What::Op) {
            let Some(op) = slice.op.filter(|op| *op < by_op.len()) else { continue };
            let seen = &mut by_op[op];
            *seen = (seen.0.min(slice.start), seen.1.max(slice.end), seen.2);
            seen.2[place] += usize::from(counted.insert(op));
        }
    }
    for (position, (start, end, cores)) in by_op.into_iter().enumerate() {
        if cores == [0, 0] {
            continue;
        }
        let cores = match cores {
            [cubes, 0] => format!("{cubes}c"),
            [0, vectors] => format!("{vectors}v"),
            [cubes, vectors] => format!("{cubes}c {vectors}v"),
        };
        let label = trace.ops[position].label();
        rows.push(Row { label, cores, start, end, columns: Vec::new(), running: position });
    }
    rows.sort_by(|left, right| left.start.total_cmp(&right.start).then(left.end.total_cmp(&right.end)));
    rows
}

/// Adds the time between two places to the columns it covers.
fn spread(columns: &mut [f64], from: f64, to: f64) {
    let first = (from.floor().max(0.0) as usize).min(columns.len());
    let behind = (to.ceil().max(0.0) as usize).min(columns.len());
    for (number, column) in columns.iter_mut().enumerate().take(behind).skip(first) {
        let number = number as f64;
        *column += (to.min(number + 1.0) - from.max(number)).max(0.0);
    }
}

fn mark(time: f64, most: f64) -> char {
    match time / most {
        share if share > 0.66 => '#',
        share if share > 0.33 => '+',
        share if share > 0.0 => '.',
        _ => ' ',
    }
}

fn tenth(share: f64) -> char {
    match (share * 10.0).round() as u32 {
        0 if share > 0.0 => '.',
        0 => ' ',
        tenths @ 1..=9 => char::from_digit(tenths, 10).unwrap_or('9'),
        _ => '#',
    }
}

/// Numbers over the bar, each with its first digit at its place.
fn axis(begin: f64, end: f64, bar: usize) -> String {
    const APART: usize = 12;
    let mut line = String::new();
    let span = end - begin;
    let digits = if span >= 100.0 {
        0
    } else if span >= 1.0 {
        1
    } else {
        3
    };
    for column in (0..bar).step_by(APART) {
        let number = format!("|{:.digits$}", begin + span * column as f64 / bar as f64);
        if column + number.len() > bar || number.len() > APART {
            break;
        }
        let _ = write!(line, "{number:<APART$}");
    }
    line.trim_end().to_owned()
}

/// The text in lines of `width` at most, those after the first one indented. Words that are longer stay whole.
fn wrapped(text: &str, width: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) => lines.push(format!("  {word}")),
            None => lines.push(word.to_owned()),
        }
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

fn shortened(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(2)).collect();
    format!("{kept}..")
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Slice, TracedOp, Track};
    use super::*;

    fn traced() -> Trace {
        let op = |name: &str, index| TracedOp { index, name: name.to_owned(), stream: Some(0) };
        let run = |op, start, end| Slice { op: Some(op), ..Slice::new(start, end, What::Op) };
        let track = |kind, number, slices| Track { slices, ..Track::core(kind, number) };
        Trace {
            kernel: "k".to_owned(),
            axis: Axis::Cycles,
            ops: vec![op("first", 0), op("a_name_that_is_far_too_long_for_a_column_of_a_terminal", 1), op("never", 2)],
            tracks: vec![
                track(CoreKind::Aic, 0, vec![run(0, 0.0, 50.0)]),
                track(CoreKind::Aiv, 0, vec![run(1, 50.0, 100.0)]),
                track(CoreKind::Aiv, 1, vec![run(1, 50.0, 75.0)]),
            ],
            arrows: Vec::new(),
            notes: vec!["a note".to_owned(), "a longer note, which goes on and on and on and on and on".to_owned()],
        }
    }

    #[test]
    fn every_line_fits_and_bars_stand_where_ops_ran() {
        for width in [40, 60, 80, 133, 400, 70_000, usize::MAX] {
            let chart = gantt(&traced(), width);
            let bars: Vec<&str> = chart.lines().skip(1).take(5).collect();
            assert!(chart.lines().all(|line| line.chars().count() <= width), "{chart}");
            assert!(chart.starts_with("k: device cycles"), "{chart}");
            assert!(chart.contains("0 first") && !chart.contains("never") && chart.contains("note: a note"));
            // The second op starts where the first ends, and only half of its cores run to the end.
            let [first, second] = [bars[3], bars[4]];
            let begins = second.find('#').unwrap();
            assert!(first.rfind('#').unwrap().abs_diff(begins) <= 2, "{chart}");
            assert!(second.ends_with(['.', '+']), "{chart}");
        }
    }

    #[test]
    fn nothing_is_a_chart_too() {
        let empty = Trace { tracks: Vec::new(), ..traced() };
        assert!(gantt(&empty, 10).contains("nothing ran"));
    }
}
