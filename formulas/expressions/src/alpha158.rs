//! Alpha158: Qlib's set of 158 features, name by name and text by text.

use crate::factors::NamedFormula;

/// Which parts of Alpha158 are made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alpha158Options {
    /// The windows of the rolling groups.
    pub windows: Vec<u32>,
    /// The rolling groups to make; all where `None`.
    pub include: Option<Vec<String>>,
    /// The rolling groups to leave out.
    pub exclude: Vec<String>,
}

impl Default for Alpha158Options {
    fn default() -> Self {
        Self {
            windows: vec![5, 10, 20, 30, 60],
            include: None,
            exclude: Vec::new(),
        }
    }
}

/// Shapes of the bar of the day.
const BARS: [(&str, &str); 13] = [
    ("KMID", "($close-$open)/$open"),
    ("KLEN", "($high-$low)/$open"),
    ("KMID2", "($close-$open)/($high-$low+1e-12)"),
    ("KUP", "($high-Greater($open, $close))/$open"),
    ("KUP2", "($high-Greater($open, $close))/($high-$low+1e-12)"),
    ("KLOW", "(Less($open, $close)-$low)/$open"),
    ("KLOW2", "(Less($open, $close)-$low)/($high-$low+1e-12)"),
    ("KSFT", "(2*$close-$high-$low)/$open"),
    ("KSFT2", "(2*$close-$high-$low)/($high-$low+1e-12)"),
    ("OPEN0", "$open/$close"),
    ("HIGH0", "$high/$close"),
    ("LOW0", "$low/$close"),
    ("VWAP0", "$vwap/$close"),
];

/// The rolling groups; `{d}` is the window.
const GROUPS: [(&str, &str); 29] = [
    ("ROC", "Ref($close, {d})/$close"),
    ("MA", "Mean($close, {d})/$close"),
    ("STD", "Std($close, {d})/$close"),
    ("BETA", "Slope($close, {d})/$close"),
    ("RSQR", "Rsquare($close, {d})"),
    ("RESI", "Resi($close, {d})/$close"),
    ("MAX", "Max($high, {d})/$close"),
    ("MIN", "Min($low, {d})/$close"),
    ("QTLU", "Quantile($close, {d}, 0.8)/$close"),
    ("QTLD", "Quantile($close, {d}, 0.2)/$close"),
    ("RANK", "Rank($close, {d})"),
    (
        "RSV",
        "($close-Min($low, {d}))/(Max($high, {d})-Min($low, {d})+1e-12)",
    ),
    ("IMAX", "IdxMax($high, {d})/{d}"),
    ("IMIN", "IdxMin($low, {d})/{d}"),
    ("IMXD", "(IdxMax($high, {d})-IdxMin($low, {d}))/{d}"),
    ("CORR", "Corr($close, Log($volume+1), {d})"),
    (
        "CORD",
        "Corr($close/Ref($close,1), Log($volume/Ref($volume, 1)+1), {d})",
    ),
    ("CNTP", "Mean($close>Ref($close, 1), {d})"),
    ("CNTN", "Mean($close<Ref($close, 1), {d})"),
    (
        "CNTD",
        "Mean($close>Ref($close, 1), {d})-Mean($close<Ref($close, 1), {d})",
    ),
    (
        "SUMP",
        "Sum(Greater($close-Ref($close, 1), 0), {d})/(Sum(Abs($close-Ref($close, 1)), {d})+1e-12)",
    ),
    (
        "SUMN",
        "Sum(Greater(Ref($close, 1)-$close, 0), {d})/(Sum(Abs($close-Ref($close, 1)), {d})+1e-12)",
    ),
    (
        "SUMD",
        "(Sum(Greater($close-Ref($close, 1), 0), {d})-Sum(Greater(Ref($close, 1)-$close, 0), {d}))\
         /(Sum(Abs($close-Ref($close, 1)), {d})+1e-12)",
    ),
    ("VMA", "Mean($volume, {d})/($volume+1e-12)"),
    ("VSTD", "Std($volume, {d})/($volume+1e-12)"),
    (
        "WVMA",
        "Std(Abs($close/Ref($close, 1)-1)*$volume, {d})/(Mean(Abs($close/Ref($close, 1)-1)*$volume, {d})+1e-12)",
    ),
    (
        "VSUMP",
        "Sum(Greater($volume-Ref($volume, 1), 0), {d})/(Sum(Abs($volume-Ref($volume, 1)), {d})+1e-12)",
    ),
    (
        "VSUMN",
        "Sum(Greater(Ref($volume, 1)-$volume, 0), {d})/(Sum(Abs($volume-Ref($volume, 1)), {d})+1e-12)",
    ),
    (
        "VSUMD",
        "(Sum(Greater($volume-Ref($volume, 1), 0), {d})-Sum(Greater(Ref($volume, 1)-$volume, 0), {d}))\
         /(Sum(Abs($volume-Ref($volume, 1)), {d})+1e-12)",
    ),
];

/// The formulas of Alpha158, in Qlib's order.
#[must_use]
pub fn alpha158(options: &Alpha158Options) -> Vec<NamedFormula> {
    let mut formulas: Vec<NamedFormula> = BARS
        .iter()
        .map(|(name, text)| NamedFormula::new(name, text))
        .collect();
    for (group, text) in GROUPS {
        let is_included = options
            .include
            .as_ref()
            .is_none_or(|names| names.iter().any(|name| name == group));
        if !is_included || options.exclude.iter().any(|name| name == group) {
            continue;
        }
        for window in &options.windows {
            let text = text.replace("{d}", &window.to_string());
            formulas.push(NamedFormula::new(&format!("{group}{window}"), &text));
        }
    }
    formulas
}
