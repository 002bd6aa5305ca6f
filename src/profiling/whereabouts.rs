//! Where a core is that has not come to the end of the super kernel, and is in no op: what it did last, and what its program
//! has next.

use super::Profiled;
use super::records::{CoreLog, Span, Subject};
use super::timeline::Passed;
use crate::program::{Action, RecordEdge};
use crate::trace::Told;

/// Knows where cores of a kernel can be.
pub(super) struct Whereabouts<'a> {
    kernel: &'a Profiled,
    told: Option<Told<'a>>,
}

impl<'a> Whereabouts<'a> {
    pub(super) fn new(kernel: &'a Profiled) -> Self {
        Self { kernel, told: kernel.program.as_ref().map(Told::new) }
    }

    /// "after op 1 `add`, where early-start-wait of op 2 `mul` (list order) can hold a core up".
    pub(super) fn of(&self, log: &CoreLog) -> String {
        let ended = log.spans.iter().filter(|span| span.end.is_some()).max_by_key(|span| span.end);
        let place = match ended {
            Some(span) => format!("after {}", self.kernel.subject_name(span.subject)),
            None => "in front of all ops".to_owned(),
        };
        match self.waits(log).as_slice() {
            [] => place,
            waits => format!("{place}, where {} can hold a core up", waits.join(" or ")),
        }
    }

    /// What the core may wait for between its last record and the next one.
    fn waits(&self, log: &CoreLog) -> Vec<String> {
        let Some(told) = &self.told else { return Vec::new() };
        let mut passed = Passed::new(told, self.kernel, log.core);
        for Span { subject, end, .. } in &log.spans {
            passed.to(*subject, RecordEdge::Start);
            if *subject != Subject::SuperKernel && end.is_some() {
                passed.to(*subject, RecordEdge::End);
            }
        }
        let waits = passed.until_record().into_iter().filter(|number| passed.waits(*number));
        let text = |number: usize| {
            let of = told.op(number).map(|op| format!(" of {}", self.kernel.op_name(op))).unwrap_or_default();
            let why = told.words(number).reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
            format!("{}{of}{why}", told.step(number).action.name())
        };
        waits.map(text).collect()
    }
}

impl Passed<'_> {
    /// The steps up to the next record, whatever that is about.
    pub(super) fn until_record(&self) -> Vec<usize> {
        let is_record = |number: &&usize| matches!(self.told.step(**number).action, Action::Record { .. });
        self.steps[self.next..].iter().take_while(|number| !is_record(number)).copied().collect()
    }
}
