//! What a run of all tests passes over on this machine, in one line.

use crate::tidy::sources;
use ktd_kit::Need;
use ktd_kit::need::{COMPILER, summary};
use std::io::Write as _;

/// Every test that is passed over says so in output of its own, which is shown only where it fails. This one writes past
/// the capture of output, so that one line of a run always says it.
#[test]
fn skipped_sets_are_summed_up_in_one_line() {
    let summary = summary();
    if let Some(line) = &summary {
        assert_eq!(line.lines().count(), 1, "{line}");
        writeln!(std::io::stderr(), "\n{line}").ok();
    }
    let is_whole = Need::all().into_iter().all(Need::is_there);
    assert_eq!(summary.is_none(), is_whole);
}

#[test]
fn every_need_has_a_name_of_its_own_and_a_remedy() {
    let mut names: Vec<String> = Need::all().into_iter().map(Need::name).collect();
    assert!(Need::all().into_iter().all(|need| !need.remedy().is_empty()));
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count);
}

/// A test that looks for its files by itself would be passed over without a place in the line.
#[test]
fn what_may_be_absent_is_looked_for_by_the_kit_alone() {
    // Joined from halves, so that this file passes its own test.
    let marks = [["\"skip", "ped: "].concat(), ["\"KTD_", "GOLDEN"].concat()];
    for source in sources() {
        if source.path.starts_with("tests/kit/") || source.path.contains("/benches/") {
            continue;
        }
        if ["masking/tests/ui.rs", "agents/unmasked/tests/ui.rs"].contains(&source.path.as_str()) {
            assert!(
                source.text.contains(&format!("{COMPILER:?}")),
                "the kit knows another compiler"
            );
            continue;
        }
        for mark in &marks {
            assert!(
                !source.text.contains(mark),
                "{}: ask `ktd_kit::Need`",
                source.path
            );
        }
    }
}
