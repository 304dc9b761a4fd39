//! Scores of recorded submissions, made again from what their records say the runs showed. No program runs.

use super::kind::StrategyStudy;
use super::unit::StrategyFound;
use crate::experiment_report::score_tables;
use crate::run::SubmissionFound;
use ktd_strategy_code::VersionRow;
use ktd_study::{StudyError, kind_of, recorded_study};
use ktd_view::report_table::ReportTable;
use std::path::Path;

/// The scores of a submission's folder, or of all submissions of an experiment's folder, part by part: measured ones, then
/// published ones. Every file is compared with its digest first, and every row with the one that the result has.
///
/// # Errors
/// [`StudyError`] naming a file or an iteration that differs; for a folder without finished submissions.
pub fn recorded_scores(folder: &Path) -> Result<[ReportTable; 2], StudyError> {
    // A folder below `units` is one submission of the study above.
    let above = folder.ancestors().nth(2).filter(|above| kind_of(above).is_some());
    let (root, only) = match above {
        Some(above) if kind_of(folder).is_none() => (above, folder.file_name()),
        _ => (folder, None),
    };
    let found = recorded_study::<StrategyStudy>(root)?;
    let mut submissions = Vec::new();
    for (id, found) in found {
        if let StrategyFound::Submission(found) = found
            && only.is_none_or(|only| only == id.as_str())
        {
            check(&found).map_err(|error| error.at(&id))?;
            submissions.push(*found);
        }
    }
    if submissions.is_empty() {
        return Err(StudyError::input(
            format_args!("{}: the folder holds no finished submission", folder.display()),
            "name the folder of results of `ktd strategy-code run`, or one below its `units`",
        ));
    }
    Ok(score_tables(&submissions.iter().collect::<Vec<_>>()))
}

/// Whether each row is what its iteration says.
fn check(found: &SubmissionFound) -> Result<(), StudyError> {
    let changed = |what: &dyn std::fmt::Display| {
        StudyError::difference(
            what,
            "the record was changed; take the folder from whoever made it, or `ktd replay DIR --deep` makes it again",
        )
    };
    let document = found
        .document()
        .ok_or_else(|| changed(&"its document cannot be read"))?;
    let made = found
        .judged
        .iter()
        .map(|version| VersionRow::of(version, &document));
    let mut differing = made.zip(&found.rows.versions).filter(|(made, row)| made != *row);
    match differing.next() {
        Some((_, row)) => {
            let what = format_args!("the result names other scores of iteration {}", row.iteration);
            Err(changed(&what))
        }
        None if found.judged.len() != found.rows.versions.len() => {
            Err(changed(&"it has other iterations than rows"))
        }
        None => Ok(()),
    }
}
