//! Scores for people: a table a kind, and one long CSV.

use super::certificate::Certificate;
use super::count::Silence;
use super::figure::{Figure, Standing};
use super::verdict::Verdict;
use crate::CertifyError;
use ktd_probes::{Measure, ProbeKind};
use ktd_view::table::{Align, Table};
use std::fmt::Write;

/// The scores of every kind: what each attacker recovered in percent, with its interval, beside chance.
#[must_use]
pub fn text(figures: &[Figure], silences: &[Silence]) -> String {
    let kinds = ProbeKind::ALL.into_iter().map(ProbeKind::label);
    kinds
        .filter_map(|kind| of_kind(kind, figures, silences))
        .collect()
}

fn of_kind(kind: &str, figures: &[Figure], silences: &[Silence]) -> Option<String> {
    let figures: Vec<&Figure> = figures.iter().filter(|figure| figure.kind == kind).collect();
    let silences: Vec<&Silence> = silences.iter().filter(|silence| silence.kind == kind).collect();
    let probes = silences.first()?.probes;
    let is_asked = |measure: &&'static str| figures.iter().any(|figure| figure.measure == **measure);
    let measures: Vec<&'static str> = Measure::ALL
        .map(Measure::label)
        .into_iter()
        .filter(is_asked)
        .collect();
    let mut columns = vec![("attacker", Align::Left), ("unanswered", Align::Right)];
    columns.extend(measures.iter().map(|measure| (*measure, Align::Left)));
    let mut table = Table::new(&columns);
    let find = |attacker: &str, measure: &str| {
        figures
            .iter()
            .find(|figure| figure.attacker == attacker && figure.measure == measure)
    };
    for silence in &silences {
        let cell =
            |measure: &&str| find(&silence.attacker, measure).map_or_else(String::new, |figure| cell(figure));
        let head = [silence.attacker.clone(), silence.unanswered.to_string()];
        table.row(head.into_iter().chain(measures.iter().map(cell)));
    }
    let last = silences.last()?;
    let chance = |measure: &&str| {
        find(&last.attacker, measure).map_or_else(String::new, |figure| percent(figure.chance))
    };
    let head = ["(best blind guess)".to_owned(), String::new()];
    table.row(head.into_iter().chain(measures.iter().map(chance)));
    Some(format!(
        "{kind}: {probes} probes, shares in percent with their intervals\n{}\n",
        table.render()
    ))
}

/// `12.3 [10.1, 14.9]`, and `!` where the bound is above the threshold, `=` where the mask shows it.
fn cell(figure: &Figure) -> String {
    let mark = match figure.standing {
        Standing::Broken => " !",
        Standing::Shown => " =",
        Standing::Holds | Standing::Reported => "",
    };
    let (low, high) = figure.interval;
    format!(
        "{} [{}, {}]{mark}",
        percent(figure.share),
        percent(low),
        percent(high)
    )
}

fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

/// What a certificate says, in lines: the verdict and of what, why it is refused, by what it was judged, and what was put.
#[must_use]
pub fn summary(certificate: &Certificate) -> Vec<String> {
    let (set, terms) = (&certificate.set, certificate.terms());
    let own = if certificate.verdict == Verdict::Certified && terms.are_its_own() {
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
    let refusals = certificate.refusals.iter();
    lines.extend(refusals.map(|refusal| format!("because {refusal}")));
    lines.push(format!("thresholds: {terms}"));
    let counts = set.by_kind().into_iter();
    let counts: Vec<String> = counts
        .map(|(kind, count)| format!("{count} {}", kind.label()))
        .collect();
    lines.push(format!("probes: {}", counts.join(", ")));
    lines
}

/// The verdict, what it rests on, and why it is refused, before the scores.
#[must_use]
pub fn certificate_text(certificate: &Certificate) -> String {
    let mut text = summary(certificate).join("\n  ");
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
            control.control.clone(),
            control.attacker.clone(),
            control.measure.clone(),
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
pub fn csv(figures: &[Figure], counted: &[Silence]) -> Result<String, CertifyError> {
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
        "standing",
    ];
    writer
        .write_record(heads)
        .map_err(|error| failed(error.to_string()))?;
    for figure in figures {
        let unanswered = counted
            .iter()
            .find(|silence| silence.kind == figure.kind && silence.attacker == figure.attacker)
            .map_or(0, |silence| silence.unanswered);
        let standing = match figure.standing {
            Standing::Holds => "holds",
            Standing::Broken => "broken",
            Standing::Shown => "shown",
            Standing::Reported => "reported",
        };
        let cells = [
            figure.kind.clone(),
            figure.attacker.clone(),
            figure.measure.clone(),
            figure.asked.to_string(),
            unanswered.to_string(),
            figure.hits.to_string(),
            figure.share.to_string(),
            figure.chance.to_string(),
            figure.interval.0.to_string(),
            figure.interval.1.to_string(),
            figure.simultaneous.0.to_string(),
            figure.simultaneous.1.to_string(),
            figure
                .threshold
                .map(|value| value.to_string())
                .unwrap_or_default(),
            standing.to_owned(),
        ];
        writer
            .write_record(cells)
            .map_err(|error| failed(error.to_string()))?;
    }
    let bytes = writer.into_inner().map_err(|error| failed(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| failed(error.to_string()))
}
