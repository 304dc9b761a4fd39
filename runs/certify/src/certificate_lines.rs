//! What a certificate says, in lines.

use super::certificate::Certificate;
use ktd_probes::judge::{
    CertificateVerdict, ClassBound, ClassVerdict, DetectableShare, PassOdds, summary_of_refusals,
};
use ktd_probes::{AttackerClass, ProbeKind};
use std::collections::BTreeMap;

/// How much is printed of why a certificate is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalDetail {
    /// One line an attacker, with the thresholds that would pass.
    Summary,
    /// Every reason.
    Every,
}

/// The verdict of a certificate and of what it is.
pub(crate) fn headline(certificate: &Certificate) -> String {
    let (verdict, set) = (certificate.verdict, &certificate.set);
    let own = if verdict == CertificateVerdict::Certified && certificate.settings().are_own() {
        " under its own thresholds"
    } else {
        ""
    };
    format!(
        "{}{own}: {} on panel {} against {} attackers",
        verdict.label(),
        set.described(),
        set.data.panel_blake3,
        certificate.attackers.len()
    )
}

/// What a certificate says, in lines: the verdict and of what, why it is refused, who drew, how often, by what it was judged and
/// what passes so, and what was put.
#[must_use]
pub fn summary_lines(
    certificate: &Certificate,
    (odds, detectable): (Option<&PassOdds>, &[DetectableShare]),
    detail: RefusalDetail,
) -> Vec<String> {
    let mut lines = vec![headline(certificate)];
    lines.extend(certificate.classes.iter().map(|class| format!("against {class}")));
    lines.extend(certificate.known.iter().map(|known| format!("with {known}")));
    lines.extend(of_windows(certificate));
    lines.extend(reasons(certificate, detail));
    lines.extend(certificate.models.iter().map(|model| format!("asked {model}")));
    if !certificate.models.is_empty() {
        lines.push(MODELS_ALONE.to_owned());
    }
    let terms = terms(certificate, odds).into_iter().chain(sees(detectable));
    lines.extend(terms.map(|(what, says)| format!("{what}: {says}")));
    let counts = certificate.set.by_kind().into_iter();
    let counts: Vec<String> = counts
        .map(|(kind, count)| format!("{count} {}", kind.label()))
        .collect();
    lines.push(format!("probes: {}", counts.join(", ")));
    lines.push(format!("controls: {}", of_controls(certificate)));
    let open = certificate.not_covered.iter();
    lines.extend(open.map(|what| format!("not covered: {what}")));
    lines
}

/// What a verdict on language models does not say.
pub(crate) const MODELS_ALONE: &str =
    "a verdict against models holds for these models as they answered then, and for no other";

/// Who drew the probes and how often, whose thresholds decide, and what passes under them.
pub(crate) fn terms(certificate: &Certificate, odds: Option<&PassOdds>) -> Vec<(&'static str, String)> {
    let draw = match certificate.set.deciding_nonce() {
        Some(nonce) => {
            format!("decided by the nonce {nonce:?}, as its signer says: `ktd verify --nonce` checks it")
        }
        None => "drawn by its signer: no auditor's nonce decided it".to_owned(),
    };
    let settings = certificate.settings();
    let whose = if settings.are_own() {
        "its signer's own: they ask less than the program's, or something else"
    } else {
        "the program's, or tighter ones"
    };
    let mut terms = vec![
        ("draw", draw),
        ("attempts", certificate.attempts.to_string()),
        ("thresholds", settings.to_string()),
        ("whose thresholds", whose.to_owned()),
    ];
    terms.extend(odds.map(|odds| ("odds", odds.to_string())));
    terms
}

/// Reasons of a refusal that a terminal is told before it is referred to the rest.
const REASONS_SHOWN: usize = 3;

/// What decides a verdict, in few lines: of each class the bound that is nearest to its threshold, the controls, the reasons
/// that weigh most, and the terms.
pub(crate) fn deciding_lines(certificate: &Certificate, odds: Option<&PassOdds>) -> Vec<String> {
    let of_class = |class: &ClassVerdict| {
        let mut nearest = class.clone();
        let beyond = |bound: &ClassBound| bound.excess - bound.threshold;
        nearest
            .bounds
            .sort_by(|left, right| beyond(right).total_cmp(&beyond(left)));
        nearest.bounds.truncate(1);
        format!("against {nearest}")
    };
    let mut lines: Vec<String> = certificate.classes.iter().map(of_class).collect();
    lines.push(format!("controls: {}", of_controls(certificate)));
    // The head, then a line a reason.
    let mut reasons = reasons(certificate, RefusalDetail::Summary);
    let left = reasons.len().saturating_sub(1 + REASONS_SHOWN);
    if 0 < left {
        reasons.truncate(1 + REASONS_SHOWN);
        reasons.push(format!("  and {left} more lines of that kind"));
    }
    lines.extend(reasons);
    if !certificate.models.is_empty() {
        lines.push(MODELS_ALONE.to_owned());
    }
    let terms = terms(certificate, odds).into_iter();
    lines.extend(terms.map(|(what, says)| format!("{what}: {says}")));
    lines
}

/// How many of the attacks that must succeed did.
pub(crate) fn of_controls(certificate: &Certificate) -> String {
    let controls = &certificate.controls;
    let fired = controls.iter().filter(|control| control.fired).count();
    format!(
        "{fired} of {} attacks on masks with a known weakness recover what they must",
        controls.len()
    )
}

/// What the verdict says of each class of windows, and whose days were found.
pub(crate) fn of_windows(certificate: &Certificate) -> Vec<String> {
    let of_class = |wanted: AttackerClass| {
        let mut classes = certificate.classes.iter();
        let found = classes.find(|class| class.class == wanted);
        found.map_or("not judged", |class| class.verdict.label())
    };
    let mut lines = vec![
        format!(
            "windows that are drawn: {} against the database",
            of_class(AttackerClass::Database)
        ),
        format!(
            "windows that are public (presets, `long`, dates of a file): the day is known, whatever the mask; of the stock: {}",
            of_class(AttackerClass::DatabaseAndDay)
        ),
    ];
    let is_own = |kind| AttackerClass::of_database(kind) == AttackerClass::Database;
    let judged = certificate
        .windows
        .iter()
        .filter(|rate| rate.threshold.is_some() && is_own(rate.count.kind));
    let worst = judged.max_by(|left, right| left.most.total_cmp(&right.most));
    lines.extend(worst.map(|rate| {
        format!(
            "windows probed: {} of {}; the days of at most {:.1} % of all are known to one attacker ({} on {}), where {:.1} % may be",
            rate.count.probed,
            rate.population,
            rate.most * 100.0,
            rate.count.attacker,
            rate.count.kind.label(),
            rate.threshold.unwrap_or(0.0) * 100.0
        )
    }));
    lines.extend(
        ProbeKind::ALL
            .into_iter()
            .filter_map(|kind| found_windows(certificate, kind)),
    );
    lines
}

/// The windows that attackers found with probes of a kind, each with how many did.
fn found_windows(certificate: &Certificate, kind: ProbeKind) -> Option<String> {
    let mut attackers: BTreeMap<usize, usize> = BTreeMap::new();
    let own = certificate.windows.iter().filter(|rate| rate.count.kind == kind);
    for place in own.flat_map(|rate| &rate.count.found) {
        *attackers.entry(*place).or_default() += 1;
    }
    let found: Vec<String> = attackers
        .iter()
        .map(|(place, count)| format!("number {} by {count}", place + 1))
        .collect();
    (!found.is_empty()).then(|| format!("windows found with {} probes: {}", kind.label(), found.join(", ")))
}

/// A line a class: what it recovers at least that is refused with 95 %.
pub(crate) fn sees(detectable: &[DetectableShare]) -> Vec<(&'static str, String)> {
    let of_class = |class: AttackerClass| {
        let own = detectable.iter().filter(|seen| seen.class == class);
        let shares: Vec<String> = own
            .map(|seen| match seen.share {
                share if 1.0 <= share => format!("{} at no share", seen.measure.label()),
                share if 0.0 < share => format!("{} {:.1} %", seen.measure.label(), share * 100.0),
                _ => format!("{} whatever it is", seen.measure.label()),
            })
            .collect();
        (!shares.is_empty()).then(|| {
            let who = format!("{} who recover {}", class.label(), shares.join(", "));
            ("refused with 95 %", who)
        })
    };
    AttackerClass::ALL.into_iter().filter_map(of_class).collect()
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
