//! The tables that the rows of a split are made from.

use crate::open_study::OpenStudy;
use crate::study_split::SplitSpan;
use ktd_alphas::{DayTable, EvaluationSplit, MemberTable};
use std::ops::Range;

/// What all splits share.
#[derive(Debug)]
pub(crate) struct StudyTables {
    pub(crate) window: Range<usize>,
    pub(crate) labels: DayTable,
    pub(crate) other_labels: DayTable,
    pub(crate) members: MemberTable,
}

/// What a split's rows are made from.
#[derive(Debug)]
pub(crate) struct SplitTables<'s> {
    pub(crate) name: &'static str,
    pub(crate) window: Range<usize>,
    pub(crate) split: EvaluationSplit<'s>,
}

impl<'s> SplitTables<'s> {
    pub(crate) fn new(open: &OpenStudy, tables: &'s StudyTables, span: &SplitSpan) -> Self {
        let first = tables.window.start;
        Self {
            name: span.name,
            window: tables.window.clone(),
            split: EvaluationSplit {
                labels: &tables.labels,
                other_labels: &tables.other_labels,
                members: &tables.members,
                days: span.days(first),
                label_days: span.label_days(first),
                min_names: open.study.min_names,
                beta: open.study.beta,
                cost_bps: open.study.cost_bps,
                ties: open.study.ties,
            },
        }
    }
}
