//! What every certificate must hold before its bounds are looked at: a mask that is the one it names, every attacker,
//! every kind and measure, every control and every file.

use super::attacker_record::{Knowledge, database_attackers, expected_recoveries};
use super::certificate::Certificate;
use super::files;
use super::models_asked::ModelAsked;
use super::paths::CertifyPaths;
use super::set_record::{Origin, SetRecord, probe_set_sha256};
use crate::CertifyError;
use ktd_experiment::config::is_file_name;
use ktd_experiment::mask_hash::mask_hash;
use ktd_probes::judge::{ExpectedRecovery, RANDOM, RecoveryRate, UnansweredCount, WindowCount};
use ktd_probes::{Attackers, Measure, ProbeKind, given_away_of};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What a certificate lacks, or has beyond what its own plan and attackers imply; none where it is whole. No file is
/// needed.
///
/// # Errors
/// [`CertifyError::Input`] for a certificate of another program and sizes beyond reason.
pub(super) fn fault(certificate: &Certificate) -> Result<Option<&'static str>, CertifyError> {
    let set = &certificate.set;
    set.check_version()?;
    set.plan.check()?;
    // Another source may show something else under the same name; this one does not.
    if !is_named_mask(set) {
        set.check_source()?;
        return Ok(Some("its mask's hash or scheme is not that of the mask it names"));
    }
    let parts = [
        (has_all_probes(set), "its probes are not those of its plan"),
        (
            has_all_attackers(certificate),
            "it lacks attackers that every certificate has, or lists them as what they are not",
        ),
        (
            has_all_figures(certificate),
            "it lacks figures of kinds, attackers or measures that were asked, or has others",
        ),
        (
            has_all_windows(certificate),
            "it lacks windows of kinds or attackers that were asked for days, or has others than its plan",
        ),
        (
            has_all_known(certificate),
            "it lacks figures for a number of known stocks, or they do not add up to those of all",
        ),
        (
            has_all_controls(certificate),
            "it lacks controls that its attackers owe, or has others",
        ),
        (
            has_all_files(certificate),
            "it does not bind the files that its plan and attackers imply",
        ),
        (
            certificate.attempts.are_possible(certificate.verdict),
            "its attempts do not add up, or its own is not among them",
        ),
        (
            has_all_models(certificate),
            "it does not say of every language model whether it was asked and answered",
        ),
    ];
    Ok(parts
        .into_iter()
        .find(|(is_so, _)| !is_so)
        .map(|(_, fault)| fault))
}

fn is_named_mask(set: &SetRecord) -> bool {
    set.mask.scheme == ktd_masking::SCHEME && set.mask.hash == mask_hash(set.plan.mask())
}

/// Whether counts, and files with their one name, are those of the plan. Of given probes the files alone say how many.
fn has_all_probes(set: &SetRecord) -> bool {
    let kinds = set.by_kind();
    let planned = |kind: &ProbeKind| set.plan.probes.of(*kind);
    let paths = CertifyPaths::new(Path::new("")).probed();
    let files: BTreeSet<String> = kinds.keys().map(|kind| paths.probes(*kind)).collect();
    !kinds.is_empty()
        && kinds.len() == set.counts.len()
        && (set.probes == Origin::Given
            || ProbeKind::ALL
                .iter()
                .all(|kind| set.count(*kind) == planned(kind)))
        && files.iter().eq(set.files.keys())
        && set.probe_set_sha256 == probe_set_sha256(&set.files)
}

/// Whether the database's attackers stand there, exactly these, and after them language models of other names.
fn has_all_attackers(certificate: &Certificate) -> bool {
    let database = database_attackers();
    let Some((own, language)) = certificate.attackers.split_at_checked(database.len()) else {
        return false;
    };
    let names: BTreeSet<&str> = language.iter().map(|attacker| attacker.name.as_str()).collect();
    own == database
        && names.len() == language.len()
        && names
            .iter()
            .all(|name| is_file_name(name) && !Attackers::NAMES.contains(name))
        && language
            .iter()
            .all(|attacker| attacker.knows == Knowledge::Language)
}

/// Whether every attacker was asked every measure of every probe that was put.
fn has_all_figures<'c>(certificate: &'c Certificate) -> bool {
    let kinds = certificate.set.by_kind();
    let sectors = sectors(certificate);
    let (mut figures, mut unanswered) = (Vec::new(), Vec::new());
    for attacker in &certificate.attackers {
        let name = attacker.name.as_str();
        for (kind, probes) in &kinds {
            let probes = u64::try_from(*probes).unwrap_or(u64::MAX);
            unanswered.push((*kind, name, probes));
            for measure in measures(*kind) {
                let asked = if measure == Measure::Sector {
                    sectors.get(kind).copied()
                } else {
                    Some(probes)
                };
                let asked = asked.filter(|asked| (1..=probes).contains(asked));
                figures.extend(asked.map(|asked| (*kind, name, measure, asked)));
            }
        }
    }
    let asked = |rate: &'c RecoveryRate| (rate.kind, rate.attacker.as_str(), rate.measure, rate.asked);
    let put = |count: &'c UnansweredCount| (count.kind, count.attacker.as_str(), count.probes);
    certificate.figures.iter().map(asked).eq(figures)
        && certificate.unanswered.iter().map(put).eq(unanswered)
        && certificate.figures.iter().all(is_possible)
}

/// Whether every attacker and kind that asks for the day has its windows, each of them a stretch.
fn has_all_windows(certificate: &Certificate) -> bool {
    let stretches = certificate.set.plan.stretches.len();
    let dated = certificate
        .figures
        .iter()
        .filter(|figure| figure.measure == Measure::Date20);
    let has_windows = certificate.set.window_population().is_some();
    let owed = dated.filter(|figure| has_windows && !figure.kind.gives_day_away());
    let is_possible = |count: &WindowCount| {
        let probed = usize::try_from(count.probed).unwrap_or(usize::MAX);
        probed <= stretches
            && count.found.len() <= probed
            && count.found.is_sorted_by(|left, right| left < right)
            && count.found.last().is_none_or(|last| *last < stretches)
    };
    let given = certificate.windows.iter().map(|rate| &rate.count);
    owed.map(|figure| (figure.kind, &figure.attacker))
        .eq(given.clone().map(|count| (count.kind, &count.attacker)))
        && given.into_iter().all(is_possible)
}

/// Whether a figure could have been counted.
fn is_possible(figure: &RecoveryRate) -> bool {
    figure.hits <= figure.asked && (0.0..=1.0).contains(&figure.chance)
}

/// What is asked of a kind.
fn measures(kind: ProbeKind) -> impl Iterator<Item = Measure> {
    let is_linked = kind == ProbeKind::Linked;
    Measure::ALL
        .into_iter()
        .filter(move |measure| (*measure == Measure::Same) == is_linked)
}

/// Probes of each kind that were asked about the sector: those whose stock has one, which the panel alone knows.
fn sectors(certificate: &Certificate) -> BTreeMap<ProbeKind, u64> {
    let asked = certificate
        .figures
        .iter()
        .filter(|figure| figure.attacker == RANDOM && figure.measure == Measure::Sector);
    asked.map(|figure| (figure.kind, figure.asked)).collect()
}

/// Whether each number of known stocks has its figures, and together they are those of the kind.
fn has_all_known(certificate: &Certificate) -> bool {
    let set = &certificate.set;
    let probes = match set.probes {
        Origin::Made => set.count(ProbeKind::AskedKnown),
        Origin::Given => 0,
    };
    let stocks =
        (0..probes.min(set.plan.given_away.len())).map(|number| given_away_of(&set.plan.given_away, number));
    let pooled = certificate.figures.iter().filter(|figure| {
        figure.kind == ProbeKind::AskedKnown && Attackers::NAMES.contains(&figure.attacker.as_str())
    });
    let key = |figure: &RecoveryRate| (figure.kind, figure.attacker.clone(), figure.measure);
    let mut sums: BTreeMap<_, (u64, u64)> = BTreeMap::new();
    for figure in certificate.known.iter().flat_map(|known| &known.figures) {
        let (asked, hits) = sums.entry(key(figure)).or_default();
        (*asked, *hits) = (
            asked.saturating_add(figure.asked),
            hits.saturating_add(figure.hits),
        );
    }
    let expected: BTreeMap<_, (u64, u64)> = pooled
        .map(|figure| (key(figure), (figure.asked, figure.hits)))
        .collect();
    stocks.eq(certificate.known.iter().map(|known| known.given_away))
        && (probes == 0 || sums == expected)
        && certificate
            .known
            .iter()
            .all(|known| known.figures.iter().all(is_possible))
}

fn has_all_controls(certificate: &Certificate) -> bool {
    let plan = &certificate.set.plan;
    let probes = |expected: &ExpectedRecovery| {
        u64::try_from(expected.control.probes(plan.control_probes)).unwrap_or(u64::MAX)
    };
    let owed = expected_recoveries(&certificate.attackers, &certificate.set).into_iter();
    let owed =
        owed.map(|(attacker, expected)| (attacker, expected.control, expected.measure, probes(&expected)));
    let given = certificate.controls.iter();
    owed.eq(given.map(|control| {
        (
            control.attacker.as_str(),
            control.control,
            control.measure,
            control.asked,
        )
    }))
}

/// Whether every language model is there as it is listed, with as many answers as the counts say.
fn has_all_models(certificate: &Certificate) -> bool {
    let expected = ModelAsked::counted(&certificate.attackers, &certificate.unanswered);
    let given = certificate.models.iter().map(ModelAsked::without_record);
    expected.into_iter().eq(given)
}

fn has_all_files(certificate: &Certificate) -> bool {
    let Certificate {
        set,
        attackers,
        files,
        ..
    } = certificate;
    let gold = CertifyPaths::new(Path::new("")).probed().gold().to_owned();
    let bound = set.files.iter().chain([(&gold, &set.gold_sha256)]);
    files::names(set, attackers).iter().eq(files.keys())
        && bound
            .into_iter()
            .all(|(name, hash)| files.get(name) == Some(hash))
}
