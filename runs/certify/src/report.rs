//! What probes, attackers and a certificate come to, as a report.

use super::attack_tables::{CountedAttacks, is_too_much};
use super::attacker_record::attackers_of;
use super::certificate::rule;
use super::certificate_lines::headline;
use super::certificate_sections::certificate_sections;
use super::config::CertifyConfig;
use super::set_record::SetRecord;
use super::signed::SignedCertificate;
use super::units::CertificateFound;
use crate::CertifyError;
use ktd_probes::ProbeKind;
use ktd_probes::judge::{DetectableShare, PassOdds, RecoveryRate, UnansweredCount, probes_needed};
use ktd_study::{DataRows, Report, RowCells, Section, Shown, StudyError};
use ktd_view::draw::{FIGURES_STYLE, short_hash};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

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
                CertificateFound::Learned { .. }
                | CertificateFound::Answered { .. }
                | CertificateFound::Counted { .. } => {}
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
    let sections = signed.map_or_else(
        || {
            let attacks = CountedAttacks {
                figures: &summary.figures,
                unanswered: &summary.unanswered,
            };
            vec![attacks.add_to(Section::new("What was recovered"), Shown::Everywhere)]
        },
        |signed| {
            let odds = summary.pass_odds.as_ref();
            certificate_sections(signed, (odds, &summary.detectable))
        },
    );
    let limitations = summary.set.data.limitations.iter();
    // Without a certificate they stand in the verdict.
    let few_certified = signed.map_or_else(Vec::new, |_| too_few(keys, summary));
    Report {
        title: keys.name.clone(),
        verdict: verdict(keys, summary),
        notes: few_certified
            .into_iter()
            .chain(limitations.map(|line| format!("of the panel: {line}")))
            .collect(),
        sections,
        rows: vec![figure_rows(summary)],
        styles: vec![FIGURES_STYLE],
        footer: signed.map_or_else(String::new, |signed| {
            format!("signed by {}", signed.signature.fingerprint)
        }),
        ..Report::default()
    }
}

/// Of which kinds there are not enough probes to pass, and how many it takes.
fn too_few(keys: &CertifyConfig, summary: &MaskReport) -> Vec<String> {
    let rule = rule(&summary.set, keys.criteria(), &attackers_of(keys));
    let of_kind = |kind: ProbeKind| {
        let own = summary.figures.iter();
        let own =
            own.filter(|figure| figure.kind == kind && figure.threshold.is_some() && !is_too_much(figure));
        let needed = own.filter_map(|figure| {
            let needed = probes_needed(&rule, figure).ok()?;
            Some((needed.unwrap_or(u64::MAX), figure))
        });
        let (needed, figure) = needed.max_by_key(|(needed, _)| *needed)?;
        (figure.asked < needed).then(|| {
            format!(
                "{} {} probes are not enough for a verdict on {}: it takes {needed} where no more than chance is recovered",
                figure.asked,
                kind.label(),
                figure.measure.label()
            )
        })
    };
    ProbeKind::ALL.into_iter().filter_map(of_kind).collect()
}

fn verdict(keys: &CertifyConfig, summary: &MaskReport) -> String {
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
        (_, attackers) => {
            let put = format!("{what}: put to {attackers} attackers, nothing is certified");
            let few = too_few(keys, summary);
            let attacks = CountedAttacks {
                figures: &summary.figures,
                unanswered: &summary.unanswered,
            };
            let said = attacks.too_much().into_iter().chain([put]).chain(few);
            said.collect::<Vec<_>>().join("; ")
        }
    }
}

/// Every figure, a row a kind, attacker and measure.
fn figure_rows(summary: &MaskReport) -> DataRows {
    let columns = [
        ("kind", RowCells::Text),
        ("attacker", RowCells::Text),
        ("measure", RowCells::Text),
        ("asked", RowCells::Whole),
        ("unanswered", RowCells::Whole),
        ("hits", RowCells::Whole),
        ("share", RowCells::Number),
        ("chance", RowCells::Number),
        ("low", RowCells::Number),
        ("high", RowCells::Number),
        ("simultaneous_low", RowCells::Number),
        ("simultaneous_high", RowCells::Number),
        ("threshold", RowCells::Number),
        ("status", RowCells::Text),
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
        columns: columns.map(|(head, cells)| (head.to_owned(), cells)).to_vec(),
        rows: summary.figures.iter().map(row).collect(),
    }
}
