//! A ranking of formulas by people.

use super::reading_pool::ReadingPool;
use ktd_formulas::{csv_lines, text_of};
use ktd_study::StudyError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::Path;

/// How people score a formula.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HumanScore {
    /// Its canonical form.
    pub(super) formula: String,
    pub(super) score: f64,
}

#[derive(Deserialize)]
struct HumanLine {
    id: String,
    score: f64,
}

const HINT: &str = "write lines as `a12,3`";

/// Reads a CSV file with the columns `id,score`. An id is that of an alpha, `POOL/ID` where several pools have it.
pub(super) fn read_human(
    path: &Path,
    bytes: Vec<u8>,
    pools: &[ReadingPool],
) -> Result<Vec<HumanScore>, StudyError> {
    let invalid = |what: String| StudyError::input(format_args!("{}: {what}", path.display()), HINT);
    let lines: Vec<HumanLine> = csv_lines(path, &text_of(path, bytes)?, (["id", "score"], HINT))?;
    let mut seen = BTreeSet::new();
    let mut ranking = Vec::new();
    for HumanLine { id, score } in lines {
        if !(score.is_finite() && 0.0 <= score) {
            return Err(invalid(format!(
                "the score of {id:?} is {score}, and must be 0 or more"
            )));
        }
        let formula = formula_of(&id, pools).map_err(invalid)?;
        if !seen.insert(formula.clone()) {
            return Err(invalid(format!(
                "{id:?} names a formula that has a score already"
            )));
        }
        ranking.push(HumanScore { formula, score });
    }
    Ok(ranking)
}

fn formula_of(id: &str, pools: &[ReadingPool]) -> Result<String, String> {
    let alphas = pools
        .iter()
        .flat_map(|pool| pool.alphas.iter().map(move |alpha| (&pool.id, alpha)));
    let named = alphas.filter(|(pool, alpha)| alpha.id == id || format!("{pool}/{}", alpha.id) == id);
    let formulas: BTreeSet<&String> = named.map(|(_, alpha)| &alpha.formula).collect();
    match formulas.len() {
        0 => Err(format!("{id:?} is no id of an alpha of these pools")),
        1 => Ok(formulas.into_iter().next().cloned().unwrap_or_default()),
        _ => Err(format!("{id:?} stands in several pools: write POOL/{id}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::reading_pool::ReadingAlpha;

    fn pool(id: &str, alphas: &[(&str, &str)]) -> ReadingPool {
        let alpha = |(id, formula): &(&str, &str)| ReadingAlpha {
            id: (*id).to_owned(),
            formula: (*formula).to_owned(),
        };
        ReadingPool {
            id: id.to_owned(),
            miners: Vec::new(),
            alphas: alphas.iter().map(alpha).collect(),
        }
    }

    #[test]
    fn a_ranking_names_alphas_of_the_pools() {
        let pools = [
            pool("p", &[("a", "$open"), ("b", "$close")]),
            pool("q", &[("a", "$high"), ("c", "$close")]),
        ];
        let read = |text: &str| read_human(Path::new("human.csv"), text.as_bytes().to_vec(), &pools);
        let ranking = read("\u{feff}id,score\r\np/a, 3\r\nb,0.5\r\n").unwrap();
        let read_back: Vec<(&str, f64)> = ranking
            .iter()
            .map(|score| (score.formula.as_str(), score.score))
            .collect();
        assert_eq!(read_back, [("$open", 3.0), ("$close", 0.5)]);
        for (text, part) in [
            ("id\na\n", "lacks a column `score`"),
            ("id,score\na,1\n", "several pools"),
            ("id,score\nz,1\n", "no id of an alpha"),
            ("id,score\nb,good\n", "invalid float"),
            ("id,score\nb,-1\n", "0 or more"),
            ("id,score\nb,1\nc,2\n", "has a score already"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
