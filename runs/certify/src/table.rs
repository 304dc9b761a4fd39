//! Scores for people: a table a kind, and one long CSV.

use super::certificate::Certificate;
use crate::CertifyError;
use ktd_probes::judge::{
    CertificateVerdict, RateInterval, RateStatus, RecoveryRate, UnansweredCount, summary_of_refusals,
};
use ktd_probes::{Measure, ProbeKind};
use ktd_view::draw::{Align, Table};
use std::fmt::Write;

/// The scores of every kind: what each attacker recovered in percent, with its interval, beside chance.
#[must_use]
pub fn text(figures: &[RecoveryRate], unanswered: &[UnansweredCount]) -> String {
    ProbeKind::ALL
        .into_iter()
        .filter_map(|kind| of_kind(kind, figures, unanswered))
        .collect()
}

fn of_kind(kind: ProbeKind, figures: &[RecoveryRate], unanswered: &[UnansweredCount]) -> Option<String> {
    let figures: Vec<&RecoveryRate> = figures.iter().filter(|figure| figure.kind == kind).collect();
    let unanswered: Vec<&UnansweredCount> = unanswered.iter().filter(|count| count.kind == kind).collect();
    let probes = unanswered.first()?.probes;
    let is_asked = |measure: &Measure| figures.iter().any(|figure| figure.measure == *measure);
    let measures: Vec<Measure> = Measure::ALL.into_iter().filter(is_asked).collect();
    let mut columns = vec![("attacker", Align::Left), ("unanswered", Align::Right)];
    columns.extend(measures.iter().map(|measure| (measure.label(), Align::Left)));
    let mut table = Table::new(&columns);
    let find = |attacker: &str, measure: Measure| {
        figures
            .iter()
            .find(|figure| figure.attacker == attacker && figure.measure == measure)
    };
    for count in &unanswered {
        let cell = |measure: &Measure| {
            find(&count.attacker, *measure).map_or_else(String::new, |figure| cell(figure))
        };
        let head = [count.attacker.clone(), count.unanswered.to_string()];
        table.row(head.into_iter().chain(measures.iter().map(cell)));
    }
    let last = unanswered.last()?;
    let chance = |measure: &Measure| {
        find(&last.attacker, *measure).map_or_else(String::new, |figure| percent(figure.chance))
    };
    let head = ["(best blind guess)".to_owned(), String::new()];
    table.row(head.into_iter().chain(measures.iter().map(chance)));
    Some(format!(
        "{}: {probes} probes, shares in percent with their intervals\n{}\n",
        kind.label(),
        table.render()
    ))
}

/// `12.3 [10.1, 14.9]`, and `!` where the bound is above the threshold, `=` where the mask shows it.
fn cell(figure: &RecoveryRate) -> String {
    let mark = match figure.status {
        RateStatus::Broken => " !",
        RateStatus::Shown => " =",
        RateStatus::Holds | RateStatus::Reported => "",
    };
    let RateInterval { lower, upper } = figure.interval;
    format!(
        "{} [{}, {}]{mark}",
        percent(figure.share),
        percent(lower),
        percent(upper)
    )
}

fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

/// How much is printed of why a certificate is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalDetail {
    /// One line an attacker, with the thresholds that would pass.
    Summary,
    /// Every reason.
    Every,
}

/// What a certificate says, in lines: the verdict and of what, why it is refused, by what it was judged, and what was put.
#[must_use]
pub fn summary(certificate: &Certificate, detail: RefusalDetail) -> Vec<String> {
    let (set, settings) = (&certificate.set, certificate.settings());
    let own = if certificate.verdict == CertificateVerdict::Certified && settings.are_own() {
        " under its own thresholds"
    } else {
        ""
    };
    let mut lines = vec![format!(
        "{}{own}: {} on panel {} against {} attackers",
        certificate.verdict.label(),
        set.described(),
        set.data.panel_blake3,
        certificate.attackers.len()
    )];
    lines.extend(certificate.classes.iter().map(|class| format!("against {class}")));
    lines.extend(certificate.known.iter().map(|known| format!("with {known}")));
    lines.extend(reasons(certificate, detail));
    lines.extend(certificate.models.iter().map(|model| format!("asked {model}")));
    if !certificate.models.is_empty() {
        lines.push(
            "a verdict against models holds for these models as they answered then, and for no other"
                .to_owned(),
        );
    }
    lines.push(format!("attempts: {}", certificate.attempts));
    lines.push(format!("thresholds: {settings}"));
    let counts = set.by_kind().into_iter();
    let counts: Vec<String> = counts
        .map(|(kind, count)| format!("{count} {}", kind.label()))
        .collect();
    lines.push(format!("probes: {}", counts.join(", ")));
    lines
}

fn reasons(certificate: &Certificate, detail: RefusalDetail) -> Vec<String> {
    let refusals = &certificate.refusals;
    match detail {
        RefusalDetail::Every => refusals
            .iter()
            .map(|refusal| format!("because {refusal}"))
            .collect(),
        RefusalDetail::Summary if refusals.is_empty() => Vec::new(),
        RefusalDetail::Summary => {
            let count = match refusals.len() {
                1 => "1 reason".to_owned(),
                count => format!("{count} reasons"),
            };
            let mut lines = vec![format!("for {count} (--reasons prints each):")];
            lines.extend(
                summary_of_refusals(refusals)
                    .into_iter()
                    .map(|line| format!("  {line}")),
            );
            lines
        }
    }
}

/// The verdict, what it rests on, and why it is refused, before the scores.
#[must_use]
pub fn certificate_text(certificate: &Certificate, detail: RefusalDetail) -> String {
    let mut text = summary(certificate, detail).join("\n  ");
    text.push('\n');
    text.push('\n');
    text.push_str(&self::text(&certificate.figures, &certificate.unanswered));
    let mut controls = Table::new(&[
        ("control", Align::Left),
        ("attacker", Align::Left),
        ("recovers", Align::Left),
        ("share", Align::Right),
        ("at least", Align::Right),
        ("needs", Align::Right),
        ("", Align::Left),
    ]);
    for control in &certificate.controls {
        controls.row([
            control.control.label().to_owned(),
            control.attacker.clone(),
            control.measure.label().to_owned(),
            percent(control.share),
            percent(control.lower),
            format!("> {}", percent(control.chance + control.need)),
            if control.fired { "fired" } else { "BLIND" }.to_owned(),
        ]);
    }
    text.push_str(&controls.render());
    for line in &certificate.not_covered {
        writeln!(text, "not covered: {line}").ok();
    }
    text
}

/// Every figure as CSV, a row a kind, attacker and measure; numbers unrounded.
///
/// # Errors
/// [`CertifyError::Input`] when it cannot be written, which memory alone could cause.
pub fn csv(figures: &[RecoveryRate], counted: &[UnansweredCount]) -> Result<String, CertifyError> {
    let failed =
        |error: String| CertifyError::input(format!("cannot write CSV: {error}"), "report this defect");
    let mut writer = csv::Writer::from_writer(Vec::new());
    let heads = [
        "kind",
        "attacker",
        "measure",
        "asked",
        "unanswered",
        "hits",
        "share",
        "chance",
        "low",
        "high",
        "simultaneous_low",
        "simultaneous_high",
        "threshold",
        "status",
    ];
    writer
        .write_record(heads)
        .map_err(|error| failed(error.to_string()))?;
    for figure in figures {
        let unanswered = counted
            .iter()
            .find(|count| count.kind == figure.kind && count.attacker == figure.attacker)
            .map_or(0, |count| count.unanswered);
        let cells = [
            figure.kind.label().to_owned(),
            figure.attacker.clone(),
            figure.measure.label().to_owned(),
            figure.asked.to_string(),
            unanswered.to_string(),
            figure.hits.to_string(),
            figure.share.to_string(),
            figure.chance.to_string(),
            figure.interval.lower.to_string(),
            figure.interval.upper.to_string(),
            figure.simultaneous.lower.to_string(),
            figure.simultaneous.upper.to_string(),
            figure
                .threshold
                .map(|value| value.to_string())
                .unwrap_or_default(),
            figure.status.label().to_owned(),
        ];
        writer
            .write_record(cells)
            .map_err(|error| failed(error.to_string()))?;
    }
    let bytes = writer.into_inner().map_err(|error| failed(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| failed(error.to_string()))
}
