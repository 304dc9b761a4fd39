//! The account that trades alphas.

use crate::FormulaStudyError;
use serde::{Deserialize, Serialize};

/// Names that an account may hold.
const MOST_HELD: usize = 300;

/// CNY that an account must have.
const LEAST_CASH: u32 = 100_000;

/// The account that trades an alpha through the simulation's exchange.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct StudyExchange {
    /// Names that it holds.
    #[serde(default = "twenty")]
    pub top: usize,
    /// Its cash, CNY.
    #[serde(default = "one_million")]
    pub cash: u32,
    /// The splits on which it trades.
    #[serde(default = "test_alone")]
    pub splits: Vec<String>,
}

impl StudyExchange {
    /// Whether it trades on a split.
    pub(crate) fn trades_on(&self, split: &str) -> bool {
        self.splits.iter().any(|named| named == split)
    }

    pub(crate) fn check(&self) -> Result<(), FormulaStudyError> {
        let invalid = |what: &str, hint: &str| Err(FormulaStudyError::input(what, hint));
        if !(1..=MOST_HELD).contains(&self.top) {
            return invalid("exchange.top is out of range", "give 1 to 300 names; 20 is usual");
        }
        if self.cash < LEAST_CASH {
            return invalid(
                "exchange.cash buys no lot of most names",
                "give 100000 or more; 1000000 is usual",
            );
        }
        match self
            .splits
            .iter()
            .find(|split| !["train", "valid", "test"].contains(&split.as_str()))
        {
            Some(split) => Err(FormulaStudyError::input(
                format_args!("exchange.splits names {split:?}"),
                "name some of \"train\", \"valid\" and \"test\"",
            )),
            None if self.splits.is_empty() => {
                invalid("exchange.splits is empty", "name a split, or remove `exchange`")
            }
            None => Ok(()),
        }
    }
}

const fn twenty() -> usize {
    20
}

const fn one_million() -> u32 {
    1_000_000
}

fn test_alone() -> Vec<String> {
    vec!["test".to_owned()]
}
