//! A ranking of formulas by people.

use super::reading::ReadingPool;
use crate::FormulaStudyError;
use ktd_io::whole_file::read_text;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::Path;

/// The most that a ranking may hold.
const FILE_LIMIT_BYTES: u64 = 1 << 24;

/// How people score a formula.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HumanScore {
    /// Its canonical form.
    pub(super) formula: String,
    pub(super) score: f64,
}

/// Reads a CSV file with the columns `id,score`. An id is that of an alpha, `POOL/ID` where several pools have it.
pub(super) fn read_human(path: &Path, pools: &[ReadingPool]) -> Result<Vec<HumanScore>, FormulaStudyError> {
    let text = read_text(path, FILE_LIMIT_BYTES)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let name = path.display();
    let invalid =
        |what: String| FormulaStudyError::input(format_args!("{name}: {what}"), "write lines as `a12,3`");
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let headers = reader
        .headers()
        .map_err(|error| invalid(error.to_string()))?
        .clone();
    let column = |head: &str| {
        let place = headers.iter().position(|known| known == head);
        place.ok_or_else(|| invalid(format!("the column `{head}` is missing")))
    };
    let (id, score) = (column("id")?, column("score")?);
    let mut seen = BTreeSet::new();
    let mut ranking = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| invalid(error.to_string()))?;
        let (id, text) = (record.get(id).unwrap_or(""), record.get(score).unwrap_or(""));
        let score: f64 = text
            .parse()
            .map_err(|_| invalid(format!("the score {text:?} of {id:?} is no number")))?;
        if !(score.is_finite() && 0.0 <= score) {
            return Err(invalid(format!(
                "the score of {id:?} is {text}, and must be 0 or more"
            )));
        }
        let formula = formula_of(id, pools).map_err(invalid)?;
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
    use crate::judge::reading::ReadingAlpha;

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
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("human.csv");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            read_human(&path, &pools)
        };
        let ranking = read("\u{feff}id,score\r\np/a, 3\r\nb,0.5\r\n").unwrap();
        let read_back: Vec<(&str, f64)> = ranking
            .iter()
            .map(|score| (score.formula.as_str(), score.score))
            .collect();
        assert_eq!(read_back, [("$open", 3.0), ("$close", 0.5)]);
        for (text, part) in [
            ("id\na\n", "`score` is missing"),
            ("id,score\na,1\n", "several pools"),
            ("id,score\nz,1\n", "no id of an alpha"),
            ("id,score\nb,good\n", "is no number"),
            ("id,score\nb,-1\n", "0 or more"),
            ("id,score\nb,1\nc,2\n", "has a score already"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
