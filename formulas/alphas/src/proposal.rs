//! Formulas that a model proposes: which of them are new formulas, and what is wrong with the others.

use ktd_expressions::{CheckedFormula, FormulaFault, FormulaRole, check_formula};
use std::collections::BTreeSet;

/// Why a proposed formula is not tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProposalFault {
    /// It is no formula, or one that reads what it may not.
    Formula(FormulaFault),
    /// A formula of the same canonical form was tried or stands before it.
    Duplicate,
    /// More were proposed than asked for.
    BeyondAsked,
}

impl ProposalFault {
    /// The stable code.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Formula(fault) => fault.code(),
            Self::Duplicate => "duplicate",
            Self::BeyondAsked => "beyond_asked",
        }
    }
}

/// Checks proposed texts in their order against the fields there are and the canonical forms that are known. No text may
/// name an instrument. After `asked` of them the rest is not read.
#[must_use]
pub fn screen_proposals<F: AsRef<str>>(
    texts: &[&str],
    known: &BTreeSet<String>,
    fields: &[F],
    asked: usize,
) -> Vec<Result<CheckedFormula, ProposalFault>> {
    let mut new: BTreeSet<String> = BTreeSet::new();
    let texts = texts.iter().enumerate();
    let screened = texts.map(|(place, text)| {
        if asked <= place {
            return Err(ProposalFault::BeyondAsked);
        }
        let checked = check_formula(text, fields, FormulaRole::MaskedAlpha);
        let checked = checked.map_err(|error| ProposalFault::Formula(error.fault))?;
        if known.contains(checked.canonical()) || !new.insert(checked.canonical().to_owned()) {
            return Err(ProposalFault::Duplicate);
        }
        Ok(checked)
    });
    screened.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(texts: &[&str], known: &[&str], asked: usize) -> Vec<Result<String, &'static str>> {
        let known = known.iter().map(|text| (*text).to_owned()).collect();
        screen_proposals(texts, &known, &["close", "open"], asked)
            .into_iter()
            .map(|screened| {
                screened
                    .map(|checked| checked.canonical().to_owned())
                    .map_err(ProposalFault::code)
            })
            .collect()
    }

    #[test]
    fn each_formula_is_new_or_says_why_not() {
        let found = codes(
            &[
                "$open/$close",
                "$open / $close",
                "Ref($close,-1)/$close",
                "Mask($close,'SH600000')",
                "$close/$open",
                "Mean($volume,5)",
                "$close-$open",
            ],
            &["Div($close,$open)"],
            6,
        );
        let expected = [
            Ok("Div($open,$close)".to_owned()),
            Err("duplicate"),
            Err("look_ahead"),
            Err("names_a_code"),
            Err("duplicate"),
            Err("unknown_field"),
            Err("beyond_asked"),
        ];
        assert_eq!(found, expected);
    }
}
