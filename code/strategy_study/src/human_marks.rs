//! Marks that people gave ranked versions, from a file.

use crate::error::StrategyError;
use ktd_io::text_file::{TextFile, at_row};
use ktd_strategy_code::SubmissionRows;
use std::collections::BTreeSet;
use std::path::Path;

/// The highest mark; the lowest is 1.
const MARK_MAX: u8 = 10;
/// The most rows of marks that a file may have.
const ROWS_MAX: usize = 100_000;
/// Columns that a file must have, in lower case; `seed` may be left out.
const COLUMNS: [&str; 5] = ["rater", "model", "strategy", "d1", "d2"];

/// Marks of one person for one submission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HumanMark {
    pub(crate) rater: String,
    pub(crate) model: String,
    pub(crate) strategy: String,
    pub(crate) seed: u64,
    /// D1 and D2; at least one of them.
    pub(crate) marks: [Option<u8>; 2],
}

/// Marks of people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HumanMarks(pub(crate) Vec<HumanMark>);

/// Where a file has its columns.
struct MarkColumns {
    places: [usize; 5],
    seed: Option<usize>,
}

impl MarkColumns {
    fn of(name: &str, header: &[String]) -> Result<Self, StrategyError> {
        let place = |column: &str| header.iter().position(|known| known == column);
        let places: Option<Vec<usize>> = COLUMNS.iter().map(|column| place(column)).collect();
        let places = places.and_then(|places| places.try_into().ok()).ok_or_else(|| {
            StrategyError::input(
                format_args!("{name}: a column is missing"),
                "write the columns rater, model, strategy, seed, D1, D2",
            )
        })?;
        Ok(Self {
            places,
            seed: place("seed"),
        })
    }

    /// The marks of a row; else what is wrong with it.
    fn row<'c>(
        &self,
        cell: impl Fn(usize) -> &'c str,
        known: &[&SubmissionRows],
    ) -> Result<HumanMark, String> {
        let [rater, model, strategy, first, second] = self.places.map(|place| cell(place).trim());
        if rater.is_empty() {
            return Err("the rater is missing".to_owned());
        }
        let marks = [mark("D1", first)?, mark("D2", second)?];
        if marks == [None, None] {
            return Err("it has no mark".to_owned());
        }
        let seed = match self.seed.map(|place| cell(place).trim()) {
            None | Some("") => None,
            Some(text) => Some(
                text.parse::<u64>()
                    .map_err(|_| format!("the seed is {text:?}, which is no whole number"))?,
            ),
        };
        let mut own = known.iter().filter(|rows| {
            (rows.model.as_str(), rows.strategy.as_str()) == (model, strategy)
                && seed.is_none_or(|seed| rows.seed == seed)
        });
        let found = own
            .next()
            .ok_or_else(|| format!("the results hold no submission of {model:?} for {strategy:?}"))?;
        if own.next().is_some() {
            return Err("the model has several submissions of the strategy: the seed is missing".to_owned());
        }
        if found.ranked.is_none() {
            return Err("the submission has no ranked version to be marked".to_owned());
        }
        Ok(HumanMark {
            rater: rater.to_owned(),
            model: model.to_owned(),
            strategy: strategy.to_owned(),
            seed: found.seed,
            marks,
        })
    }
}

impl HumanMarks {
    /// The marks of a file for ranked versions of these submissions.
    ///
    /// # Errors
    /// [`StrategyError`] for a column that is missing, a file without a mark, and with the row of a mark that is no whole number
    /// from 1 to 10, of a submission that is unknown, and of one that its rater marked before.
    pub(crate) fn read(path: &Path, known: &[&SubmissionRows]) -> Result<Self, StrategyError> {
        let mut file = TextFile::open(path, b',')?;
        let name = file.name();
        let header: Option<Vec<String>> = file
            .next_row()?
            .map(|(_, header)| header.iter().map(|head| head.trim().to_lowercase()).collect());
        let columns = MarkColumns::of(&name, &header.unwrap_or_default())?;
        let mut marks: Vec<HumanMark> = Vec::new();
        let mut before = BTreeSet::new();
        while let Some((row, record)) = file.next_row()? {
            if marks.len() == ROWS_MAX {
                let problem = format!("the file has more than {ROWS_MAX} marks; remove rows");
                return Err(at_row(&name, row, problem).into());
            }
            let read = columns.row(|place| record.get(place).unwrap_or_default(), known);
            let own = read.map_err(|what| at_row(&name, row, what))?;
            let key = (
                own.rater.clone(),
                own.model.clone(),
                own.strategy.clone(),
                own.seed,
            );
            if !before.insert(key) {
                return Err(at_row(&name, row, "its rater marked the submission in a row before").into());
            }
            marks.push(own);
        }
        if marks.is_empty() {
            return Err(StrategyError::input(
                format_args!("{name}: it has no mark"),
                "write a row a rater and submission below the names of the columns",
            ));
        }
        Ok(Self(marks))
    }
}

fn mark(name: &str, text: &str) -> Result<Option<u8>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let mark = text.parse().ok().filter(|mark| (1..=MARK_MAX).contains(mark));
    mark.map(Some)
        .ok_or_else(|| format!("{name} is {text:?}; it is a whole number from 1 to {MARK_MAX}, or empty"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_io::whole_file::write_whole;
    use tempfile::TempDir;

    fn rows(model: &str, seed: u64, ranked: Option<usize>) -> SubmissionRows {
        SubmissionRows {
            without_reference: false,
            contract: ktd_strategy_code::StrategyContract::Run,
            model: model.to_owned(),
            strategy: "S01".to_owned(),
            seed,
            ranked,
            versions: Vec::new(),
        }
    }

    fn read(text: &str) -> Result<HumanMarks, StrategyError> {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("marks.csv");
        write_whole(&path, text.as_bytes()).unwrap();
        let known = [
            rows("a", 1, Some(0)),
            rows("b", 1, Some(0)),
            rows("b", 2, Some(1)),
            rows("c", 1, None),
        ];
        HumanMarks::read(&path, &known.iter().collect::<Vec<_>>())
    }

    #[test]
    fn marks_are_read_by_column_and_one_may_be_missing() {
        let found = read("rater,strategy,model,D2,D1,seed\nann,S01,a,7,,\nann,S01,b,3,10,2\n").unwrap();
        assert_eq!(found.0.len(), 2);
        assert_eq!((found.0[0].seed, found.0[0].marks), (1, [None, Some(7)]));
        assert_eq!((found.0[1].seed, found.0[1].marks), (2, [Some(10), Some(3)]));
    }

    #[test]
    fn a_bad_row_is_named() {
        let head = "rater,model,strategy,seed,D1,D2\nann,a,S01,1,5,5\n";
        for (row, word) in [
            (
                "bob,a,S01,1,11,5",
                "D1 is \"11\"; it is a whole number from 1 to 10",
            ),
            ("bob,a,S01,1,5,7.5", "D2 is \"7.5\""),
            ("bob,a,S01,1,0,5", "D1 is \"0\""),
            ("bob,a,S01,1,,", "it has no mark"),
            (",a,S01,1,5,5", "the rater is missing"),
            ("bob,a,S02,1,5,5", "no submission of \"a\" for \"S02\""),
            ("bob,a,S01,3,5,5", "no submission of \"a\""),
            ("bob,a,S01,one,5,5", "the seed is \"one\""),
            ("bob,b,S01,,5,5", "the seed is missing"),
            ("bob,c,S01,1,5,5", "no ranked version"),
            ("ann,a,S01,1,6,6", "marked the submission in a row before"),
        ] {
            let error = read(&format!("{head}{row}\n")).unwrap_err().to_string();
            assert!(error.contains(word) && error.contains("row 3"), "{row}: {error}");
        }
        let many: Vec<String> = (0..=ROWS_MAX)
            .map(|rater| format!("r{rater},a,S01,1,5,5\n"))
            .collect();
        let many = format!("rater,model,strategy,seed,D1,D2\n{}", many.concat());
        let error = read(&many).unwrap_err().to_string();
        assert!(
            error.contains("more than 100000 marks") && error.contains("row 100002"),
            "{error}"
        );
        let short = read("rater,model,D1,D2\n").unwrap_err().to_string();
        assert!(short.contains("a column is missing"), "{short}");
        let empty = read("rater,model,strategy,D1,D2\n").unwrap_err().to_string();
        assert!(empty.contains("it has no mark"), "{empty}");
    }
}
