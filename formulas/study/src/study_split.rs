//! The splits of a study as sessions of its panel.

use crate::keys::StudySplits;
use ktd_env::TradeDate;
use ktd_study::StudyError;
use std::ops::Range;

/// Fewest sessions of a split.
const FEWEST_DAYS: usize = 60;

/// Sessions after a signal's day that its label needs.
const LABEL_DAYS: usize = 2;

/// A split of a study.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SplitSpan {
    /// Which.
    pub(crate) name: &'static str,
    /// Its sessions.
    pub(crate) sessions: Range<usize>,
}

impl SplitSpan {
    /// The days of the split in tables that begin with a session.
    pub(crate) fn days(&self, first: usize) -> Vec<usize> {
        self.sessions.clone().map(|session| session - first).collect()
    }

    /// Those whose label ends within the split.
    pub(crate) fn label_days(&self, first: usize) -> Vec<usize> {
        let mut days = self.days(first);
        days.truncate(days.len().saturating_sub(LABEL_DAYS));
        days
    }
}

/// The splits of a file, in the order train, valid, test.
pub(crate) fn split_spans(
    splits: &StudySplits,
    calendar: &[TradeDate],
) -> Result<Vec<SplitSpan>, StudyError> {
    let given = [
        ("train", &splits.train),
        ("valid", &splits.valid),
        ("test", &splits.test),
    ];
    let mut spans: Vec<SplitSpan> = Vec::new();
    for (name, days) in given {
        let Some([first, last]) = days else { continue };
        let sessions = sessions(name, (first, last), calendar)?;
        if let Some(before) = spans.last().filter(|before| sessions.start < before.sessions.end) {
            return Err(StudyError::input(
                format_args!("split {name} begins before split {} ends", before.name),
                "let train end before valid begins, and valid before test",
            ));
        }
        spans.push(SplitSpan { name, sessions });
    }
    if spans.is_empty() {
        return Err(StudyError::input(
            "there is no split",
            "write splits = { train = [\"2018-01-02\", \"2020-12-31\"] }, with valid and test beside it",
        ));
    }
    Ok(spans)
}

fn sessions(
    name: &str,
    (first, last): (&str, &str),
    calendar: &[TradeDate],
) -> Result<Range<usize>, StudyError> {
    let day = |text: &str| {
        TradeDate::parse(text).map_err(|error| {
            let what = format!("split {name}: {text:?}: {error}");
            StudyError::input(what, "write days as 2024-01-02")
        })
    };
    let (from, to) = (day(first)?, day(last)?);
    let (Some(start), Some(end)) = (calendar.first(), calendar.last()) else {
        return Err(StudyError::input(
            "the panel has no session",
            "import one with bars",
        ));
    };
    if from < *start || *end < to {
        return Err(StudyError::input(
            format_args!("split {name}, {first} to {last}, leaves the panel"),
            format_args!("the panel's sessions are {} to {}", start.reveal(), end.reveal()),
        ));
    }
    let sessions = calendar.partition_point(|day| *day < from)..calendar.partition_point(|day| *day <= to);
    if sessions.is_empty() {
        return Err(StudyError::input(
            format_args!("split {name}, {first} to {last}, has no session"),
            "write its first and its last day, in this order",
        ));
    }
    if sessions.len() < FEWEST_DAYS {
        return Err(StudyError::input(
            format_args!("split {name} has {} sessions", sessions.len()),
            format_args!("give it {FEWEST_DAYS} or more"),
        ));
    }
    Ok(sessions)
}

#[cfg(test)]
mod tests {
    use super::split_spans;
    use crate::keys::StudySplits;
    use ktd_env::TradeDate;

    #[test]
    fn each_invalid_split_is_named() {
        let calendar: Vec<TradeDate> = (0..400)
            .map(|day| TradeDate::from_days_since_epoch(18_262 + day).unwrap())
            .collect();
        let pair = |text: &str| {
            text.split_once('|')
                .map(|(first, last)| [first.to_owned(), last.to_owned()])
        };
        for (train, valid, test, part) in [
            ("", "", "", "there is no split"),
            (
                "2019-12-31|2020-06-30",
                "",
                "",
                "split train, 2019-12-31 to 2020-06-30, leaves the panel",
            ),
            ("", "2020-06-30|2022-01-01", "", "split valid"),
            (
                "",
                "",
                "2020-06-30|2020-03-01",
                "split test, 2020-06-30 to 2020-03-01, has no session",
            ),
            ("2020-01-01|2020-02-01", "", "", "split train has 32 sessions"),
            (
                "2020-01-01|2020-06-30",
                "2020-06-30|2020-12-01",
                "",
                "split valid begins before split train ends",
            ),
            ("2020-01-01|2020-06-31", "", "", "split train: \"2020-06-31\""),
        ] {
            let splits = StudySplits {
                train: pair(train),
                valid: pair(valid),
                test: pair(test),
            };
            let error = split_spans(&splits, &calendar).unwrap_err();
            assert!(error.to_string().contains(part), "{error}");
            assert!(!error.hint().is_empty());
        }
        let splits = StudySplits {
            train: pair("2020-01-01|2020-06-30"),
            test: pair("2020-07-01|2020-12-31"),
            ..StudySplits::default()
        };
        let spans = split_spans(&splits, &calendar).unwrap();
        assert_eq!(
            (spans[0].sessions.clone(), spans[1].sessions.clone()),
            (0..182, 182..366)
        );
        assert_eq!((spans[1].days(10)[0], spans[1].label_days(10).len()), (172, 182));
    }
}
