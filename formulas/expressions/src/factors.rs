//! The nine style factors as formulas.

/// A formula of a named set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedFormula {
    /// The name in its set.
    pub name: String,
    /// The text, as its source writes it.
    pub text: String,
}

impl NamedFormula {
    pub(crate) fn new(name: &str, text: &str) -> Self {
        Self {
            name: name.to_owned(),
            text: text.to_owned(),
        }
    }
}

/// The nine style factors of the factor model, raw: before they are standardised over names.
///
/// All nine can be written as formulas, less one rule: the fewest valid days of a window, below which the factor model
/// has no value and a formula has one from the second or third cell on. `EMA(x,1)` is the last present cell.
#[must_use]
pub fn style_factors() -> Vec<NamedFormula> {
    [
        ("MOM_12_1", "Ref(EMA($close,1),21)/Ref(EMA($close,1),252)-1"),
        ("RV_60", "Std($close/Ref($close,1)-1,60)*252**0.5"),
        (
            "ILLIQ",
            "Log(100000000*Mean(Abs($close/Ref($close,1)-1)/$amount,20))",
        ),
        ("REV_ON", "Mean(Log($open/Ref($close,1)),20)"),
        ("MOM_ID", "Mean(Log($close/$open),20)"),
        ("SKEW", "-Skew($close/Ref($close,1)-1,60)"),
        ("CORR_PV", "Corr($close/Ref($close,1)-1,Log($volume),20)"),
        ("HIGH_52W", "EMA($close,1)/Max($high,252)"),
        ("CV_VOL", "Std($amount,60)/Mean($amount,60)"),
    ]
    .into_iter()
    .map(|(name, text)| NamedFormula::new(name, text))
    .collect()
}
