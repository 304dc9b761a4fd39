//! What probes, attackers and a certificate come to, as a report.

use super::attacker_record::attackers_of;
use super::certificate::rule;
use super::certificate_lines::{RefusalDetail, headline, summary_lines};
use super::config::CertifyConfig;
use super::set_record::SetRecord;
use super::signed::SignedCertificate;
use super::units::CertificateFound;
use crate::CertifyError;
use ktd_probes::judge::{
    ControlRate, DetectableShare, PassOdds, RateInterval, RateStatus, RecoveryRate, UnansweredCount,
    probes_needed,
};
use ktd_probes::{Measure, ProbeKind};
use ktd_study::{DataRows, Report, Section, Shown, StudyError};
use ktd_view::draw::{Align, TableCell, TableData, short_hash, wrapped};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A line of the verdict in a terminal.
const LINE_WIDTH: usize = 96;

/// What a study of probes came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MaskReport {
    /// The probes, as `set.json` has them.
    #[schemars(with = "Value")]
    pub set: SetRecord,
    /// SHA-256 of `commitment.json`, where anything was committed to.
    pub committed: Option<String>,
    /// What was recovered, as a certificate has it.
    #[schemars(with = "Vec<Value>")]
    pub figures: Vec<RecoveryRate>,
    /// Probes without an answer.
    #[schemars(with = "Vec<Value>")]
    pub unanswered: Vec<UnansweredCount>,
    /// How likely a mask that gives away exactly what is allowed would have passed, where anything was certified.
    #[schemars(with = "Option<Value>")]
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pass_odds: Option<PassOdds>,
    /// What a certificate sees with 95 %, where anything was certified.
    #[schemars(with = "Vec<Value>")]
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub detectable: Vec<DetectableShare>,
    /// `certificate.json`, where anything was certified.
    #[schemars(with = "Option<Value>")]
    pub certificate: Option<SignedCertificate>,
}

impl MaskReport {
    pub(crate) fn of(
        keys: &CertifyConfig,
        found: impl Iterator<Item = CertificateFound>,
    ) -> Result<Self, StudyError> {
        let (mut set, mut committed, mut certificate) = (None, None, None);
        let (mut counts, mut unanswered) = (Vec::new(), Vec::new());
        for found in found {
            match found {
                CertificateFound::Set(found) => set = Some(*found),
                CertificateFound::Committed { sha256 } => committed = Some(sha256),
                CertificateFound::Certified(found) => certificate = Some(*found),
                CertificateFound::Counted {
                    control: None,
                    recovered,
                    unanswered: left,
                } => {
                    counts.extend(recovered);
                    unanswered.extend(left);
                }
                CertificateFound::Counted { .. } => {}
            }
        }
        let set = set.ok_or_else(|| {
            StudyError::difference(
                "the study has no record of its probes",
                "run the study again: it continues",
            )
        })?;
        let rule = rule(&set, keys.criteria(), &attackers_of(keys));
        let odds = certificate
            .as_ref()
            .map(|signed: &SignedCertificate| signed.certificate.pass_odds());
        let seen = certificate.as_ref().map(|signed| signed.certificate.detectable());
        let figures: Result<_, _> = counts.iter().map(|count| rule.rate(count)).collect();
        Ok(Self {
            figures: figures.map_err(CertifyError::from)?,
            set,
            committed,
            unanswered,
            pass_odds: odds.transpose()?.flatten(),
            detectable: seen.transpose()?.unwrap_or_default(),
            certificate,
        })
    }
}

/// The report of a study of probes.
pub(crate) fn mask_report(keys: &CertifyConfig, summary: &MaskReport) -> Report {
    let signed = summary.certificate.as_ref();
    let certificate = signed.map(|signed| &signed.certificate);
    let mut follows = Section::new("What follows");
    if let Some(certificate) = certificate {
        let odds = summary.pass_odds.as_ref();
        let seen = (odds, summary.detectable.as_slice());
        let lines = summary_lines(certificate, seen, RefusalDetail::Summary).split_off(1);
        // A table of a terminal cuts what is too wide for it, and each of these lines counts.
        let short = lines.iter().flat_map(|line| wrapped(line, LINE_WIDTH));
        follows = follows
            .table("said", lines_table("", short), Shown::Terminal)
            .table("verdict", lines_table("", lines.into_iter()), Shown::Page);
        if !certificate.refusals.is_empty() {
            let reasons = certificate.refusals.iter().map(ToString::to_string);
            follows = follows.table("refusals", lines_table("Every reason", reasons), Shown::Folded);
        }
    }
    let mut recovered = Section::new("What was recovered");
    for kind in ProbeKind::ALL {
        if let Some(table) = kind_table(kind, summary) {
            recovered = recovered.table(kind.label(), table, Shown::Excerpt);
        }
    }
    let mut controls = Section::new("Controls");
    if let Some(certificate) = certificate {
        controls = controls.table(
            "controls",
            control_table(&certificate.controls),
            Shown::Everywhere,
        );
    }
    let not_covered = certificate
        .into_iter()
        .flat_map(|certificate| &certificate.not_covered);
    Report {
        title: keys.name.clone(),
        verdict: verdict(summary),
        notes: not_covered
            .map(|line| format!("not covered: {line}"))
            .chain(too_few(keys, summary))
            .chain(
                summary
                    .set
                    .data
                    .limitations
                    .iter()
                    .map(|line| format!("of the panel: {line}")),
            )
            .collect(),
        sections: vec![follows, recovered, controls],
        rows: vec![figure_rows(summary)],
        footer: signed.map_or_else(String::new, |signed| {
            format!("signed by {}", signed.signature.fingerprint)
        }),
        ..Report::default()
    }
}

/// What cannot pass with so few probes, however little is recovered, and how many it takes.
fn too_few(keys: &CertifyConfig, summary: &MaskReport) -> Vec<String> {
    let rule = rule(&summary.set, keys.criteria(), &attackers_of(keys));
    let of_kind = |kind: ProbeKind| {
        let own = summary
            .figures
            .iter()
            .filter(|figure| figure.kind == kind && figure.threshold.is_some());
        let needed = own.filter_map(|figure| {
            let needed = probes_needed(&rule, figure).ok()?;
            Some((needed.unwrap_or(u64::MAX), figure))
        });
        let (needed, figure) = needed.max_by_key(|(needed, _)| *needed)?;
        (figure.asked < needed).then(|| {
            format!(
                "{} {} probes cannot show that {} stays within its threshold, whatever is recovered: it takes {needed} even where nothing is",
                figure.asked,
                kind.label(),
                figure.measure.label()
            )
        })
    };
    ProbeKind::ALL.into_iter().filter_map(of_kind).collect()
}

fn verdict(summary: &MaskReport) -> String {
    if let Some(signed) = &summary.certificate {
        return headline(&signed.certificate);
    }
    let (set, probes) = (&summary.set, summary.set.counts.values().sum::<usize>());
    let attackers: std::collections::BTreeSet<&str> = summary
        .unanswered
        .iter()
        .map(|count| count.attacker.as_str())
        .collect();
    let what = format!(
        "{probes} probes, {} on panel {}",
        set.described(),
        short_hash(&set.data.panel_blake3)
    );
    match (&summary.committed, attackers.len()) {
        (Some(sha256), 0) => format!("{what}: committed to in commitment.json ({sha256}), nobody was asked"),
        (_, attackers) => format!("{what}: put to {attackers} attackers, nothing is certified"),
    }
}

fn lines_table(title: &str, lines: impl Iterator<Item = String>) -> TableData {
    let rows = lines.map(|line| vec![TableCell::Text(line)]);
    TableData::new(title, [("it says", Align::Left)]).with_rows(rows)
}

/// What each attacker recovered of a kind in percent, with its interval, beside chance.
fn kind_table(kind: ProbeKind, summary: &MaskReport) -> Option<TableData> {
    let figures: Vec<&RecoveryRate> = summary
        .figures
        .iter()
        .filter(|figure| figure.kind == kind)
        .collect();
    let unanswered: Vec<&UnansweredCount> = summary
        .unanswered
        .iter()
        .filter(|count| count.kind == kind)
        .collect();
    let last = unanswered.last()?;
    let is_asked = |measure: &Measure| figures.iter().any(|figure| figure.measure == *measure);
    let measures: Vec<Measure> = Measure::ALL.into_iter().filter(is_asked).collect();
    let mut columns = vec![("attacker", Align::Left), ("unanswered", Align::Right)];
    columns.extend(measures.iter().map(|measure| (measure.label(), Align::Left)));
    let of = |attacker: &str, show: fn(&RecoveryRate) -> String| -> Vec<TableCell> {
        let own = |measure: &Measure| {
            let mut own = figures.iter();
            own.find(|figure| figure.attacker == attacker && figure.measure == *measure)
        };
        let cell = |measure| own(measure).map_or(TableCell::Empty, |figure| TableCell::Text(show(figure)));
        measures.iter().map(cell).collect()
    };
    let mut rows: Vec<Vec<TableCell>> = Vec::new();
    for count in &unanswered {
        let left = usize::try_from(count.unanswered).unwrap_or(usize::MAX);
        let head = [TableCell::Text(count.attacker.clone()), TableCell::Count(left)];
        rows.push(
            head.into_iter()
                .chain(of(&count.attacker, share_with_interval))
                .collect(),
        );
    }
    let head = [TableCell::Text("(best blind guess)".to_owned()), TableCell::Empty];
    let chance = of(&last.attacker, |figure| percent(figure.chance));
    rows.push(head.into_iter().chain(chance).collect());
    let title = format!(
        "{}: {} probes, shares in percent with their intervals",
        kind.label(),
        last.probes
    );
    Some(TableData::new(title, columns).with_rows(rows))
}

/// `12.3 [10.1, 14.9]`, and `!` where the bound is above the threshold, `=` where the mask shows it.
fn share_with_interval(figure: &RecoveryRate) -> String {
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

fn control_table(controls: &[ControlRate]) -> TableData {
    let columns = [
        ("control", Align::Left),
        ("attacker", Align::Left),
        ("recovers", Align::Left),
        ("share", Align::Right),
        ("at least", Align::Right),
        ("needs more than", Align::Right),
        ("", Align::Left),
    ];
    let rows = controls.iter().map(|control| {
        let fired = if control.fired { "fired" } else { "BLIND" };
        vec![
            TableCell::Text(control.control.label().to_owned()),
            TableCell::Text(control.attacker.clone()),
            TableCell::Text(control.measure.label().to_owned()),
            TableCell::Percent(control.share),
            TableCell::Percent(control.lower),
            TableCell::Percent(control.chance + control.need),
            TableCell::Text(fired.to_owned()),
        ]
    });
    TableData::new("Whether each attacker succeeds where it should", columns).with_rows(rows)
}

/// Every figure, a row a kind, attacker and measure.
fn figure_rows(summary: &MaskReport) -> DataRows {
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
    let row = |figure: &RecoveryRate| {
        let mut counts = summary.unanswered.iter();
        let own = counts.find(|count| count.kind == figure.kind && count.attacker == figure.attacker);
        vec![
            json!(figure.kind.label()),
            json!(figure.attacker),
            json!(figure.measure.label()),
            json!(figure.asked),
            json!(own.map_or(0, |count| count.unanswered)),
            json!(figure.hits),
            json!(figure.share),
            json!(figure.chance),
            json!(figure.interval.lower),
            json!(figure.interval.upper),
            json!(figure.simultaneous.lower),
            json!(figure.simultaneous.upper),
            json!(figure.threshold),
            json!(figure.status.label()),
        ]
    };
    DataRows {
        id: "figures".to_owned(),
        heads: heads.map(str::to_owned).to_vec(),
        rows: summary.figures.iter().map(row).collect(),
    }
}
