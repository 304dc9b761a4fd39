//! Formulas of files and of models, and what models submit about formulas.

use super::{assert_explained, split_choice};
use ktd_alphas::screen_proposals;
use ktd_expressions::{FormulaRole, MAX_LABEL_ROWS, check_formula};
use ktd_formula_study::judge::read_scores;
use ktd_formula_study::mine::read_proposals;
use ktd_masking::Payload;
use std::collections::BTreeSet;

/// Formulas that a judge is asked about.
const JUDGED: usize = 3;

/// A text as a formula of each role: its canonical form is itself again, its reach keeps the role, and what a model is shown
/// is made of the closed vocabulary alone.
pub(crate) fn formula(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let fields = Payload::formula_fields();
    for role in [FormulaRole::Alpha, FormulaRole::MaskedAlpha, FormulaRole::Label] {
        match check_formula(&text, fields, role) {
            Err(error) => {
                assert_explained(&error.expected);
                assert!(error.at <= text.len(), "a place within the text");
            }
            Ok(checked) => {
                let most = if role == FormulaRole::Label {
                    MAX_LABEL_ROWS
                } else {
                    0
                };
                assert!(
                    checked.reach().forward <= most,
                    "no later day than its role may read"
                );
                match Payload::formula(checked.formula()) {
                    Ok(shown) => assert_closed(&shown.to_inline()),
                    Err(fault) => {
                        assert_eq!(fault.code(), "names_a_code");
                        assert!(role != FormulaRole::MaskedAlpha, "a masked formula can be shown");
                        continue;
                    }
                }
                let again =
                    check_formula(checked.canonical(), fields, role).expect("a canonical form is a formula");
                assert_eq!(
                    checked.canonical(),
                    again.canonical(),
                    "a canonical form is its own"
                );
            }
        }
    }
}

/// What is shown holds no quote, no blank and no letter beyond ASCII.
fn assert_closed(shown: &str) {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "$(),.+-".contains(letter);
    assert!(shown.chars().all(is_plain), "shown text is closed: {shown}");
}

/// The arguments of a judge's answer, or of a search's.
pub(crate) fn formula_answers(input: &[u8]) {
    let (choice, bytes) = split_choice(input);
    let text = String::from_utf8_lossy(bytes);
    if choice % 2 == 0 {
        match read_scores(&text, JUDGED) {
            Ok(scores) => {
                assert_eq!(scores.len(), JUDGED);
                assert!(scores.iter().all(|score| (0.0..=100.0).contains(&score.score)));
            }
            Err((code, _)) => assert_explained(&code),
        }
        return;
    }
    match read_proposals(&text) {
        Ok(proposals) => {
            let texts: Vec<&str> = proposals.iter().map(|one| one.expression.as_str()).collect();
            let screened = screen_proposals(&texts, &BTreeSet::new(), Payload::formula_fields(), JUDGED);
            assert_eq!(screened.len(), texts.len());
            let mut known = BTreeSet::new();
            for checked in screened.into_iter().flatten() {
                assert!(known.insert(checked.canonical().to_owned()), "each formula once");
                assert!(
                    Payload::formula(checked.formula()).is_ok(),
                    "and each can be shown"
                );
            }
        }
        Err(code) => assert_explained(&code),
    }
}
