//! What a reader of a board must know.

use super::record::{Cohort, LeaderboardRow, Track};
use super::track_key::TrackKey;
use super::trials::LEAST_DECISIONS;
use ktd_attribution::account::FEW_DECISIONS;
use ktd_bundle::bundle_ref::BundleRef;
use ktd_experiment::mask_arm::MaskInstruction;
use ktd_experiment::provider::ForceLevel;
use ktd_masking::Numeric;
use ktd_record::program_record::ProgramRecord;
use ktd_stats::{Sample, kendall_tau};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// How many rows a note names before it counts the rest.
const NAMED: usize = 3;
/// The fewest agents of which a rank correlation is told.
const LEAST_CORRELATED: usize = 3;

/// Of one ranking; `benchmark` says why it has no excess return.
pub(super) fn track_notes(
    (leaders, survivors): (&[LeaderboardRow], Option<String>),
    benchmark: Option<&String>,
    instruction: Option<MaskInstruction>,
) -> Vec<String> {
    let mut notes: Vec<String> = benchmark
        .map(|reason| format!("no excess return and no IR: {reason}"))
        .into_iter()
        .collect();
    notes.extend(instruction.map(|own| {
        format!(
            "a prompt-only control and no mask: the data are bright, and the prompts explain identifiers as {} does",
            own.level().label()
        )
    }));
    notes.extend(survivors);
    let forces: BTreeSet<ForceLevel> = leaders
        .iter()
        .filter(|leader| leader.cohort == Cohort::Model)
        .filter_map(|leader| leader.force)
        .collect();
    if 1 < forces.len() {
        notes.push("agents were forced differently: their parse failures do not compare".to_owned());
    }
    notes.extend(
        leaders
            .iter()
            .filter(|leader| 1 < leader.served_models.len())
            .map(|leader| {
                let models = leader.served_models.join(", ");
                format!("{} was answered by more than one model: {models}", leader.agent)
            }),
    );
    notes.extend(leaders.iter().filter_map(|leader| {
        let mixed = &leader.comparability.as_ref()?.mixed;
        let settings = mixed.join(", ");
        (!mixed.is_empty()).then(|| format!("{} is mixed: its runs differ in {settings}", leader.agent))
    }));
    let few: Vec<String> = leaders
        .iter()
        .filter_map(|leader| Some((leader, leader.selection.as_ref()?.independent_decisions)))
        .filter(|(_, decisions)| *decisions < FEW_DECISIONS)
        .map(|(leader, decisions)| format!("{} {decisions:.0}", leader.agent))
        .collect();
    if !few.is_empty() {
        notes.push(format!(
            "fewer than {FEW_DECISIONS:.0} independent decisions, so that t, DSR and intervals, which count days, say more \
             than was decided: {}",
            few.join(", ")
        ));
    }
    let untested: Vec<&str> = leaders
        .iter()
        .filter(|leader| leader.selection.is_some() && leader.rank_interval.is_none())
        .map(|leader| leader.agent.as_str())
        .collect();
    if !untested.is_empty() {
        notes.push(format!(
            "traded on fewer than {LEAST_DECISIONS:.0} days or made fewer than {LEAST_DECISIONS:.0} independent decisions, from \
             which nothing is concluded, so that intervals of ranks leave their places open and they are in no group and no test: {}",
            untested.join(", ")
        ));
    }
    let lost = |leader: &&LeaderboardRow| leader.faults.coverage.is_some_and(|coverage| coverage < 0.99);
    notes.extend(leaders.iter().filter(lost).map(|leader| {
        format!(
            "{} lost more than 1 % of its steps to the infrastructure: its row is incomplete",
            leader.agent
        )
    }));
    notes
}

/// Which agents' episodes each program made, where it is not one program: a difference of rows may be one of programs.
pub(super) fn mixed_programs<'b>(
    made: impl Iterator<Item = (&'b str, Option<&'b ProgramRecord>)>,
) -> Option<String> {
    let mut programs: BTreeMap<Option<&ProgramRecord>, BTreeSet<&str>> = BTreeMap::new();
    for (agent, program) in made {
        programs.entry(program).or_default().insert(agent);
    }
    if programs.len() < 2 {
        return None;
    }
    let made_by = programs.iter().map(|(program, agents)| {
        let agents: Vec<&str> = agents.iter().copied().collect();
        let program = program.map_or_else(|| "a program it does not name".to_owned(), ToString::to_string);
        format!("{} ({program})", agents.join(", "))
    });
    let made_by: Vec<String> = made_by.collect();
    Some(format!(
        "mixed programs, so that a difference of rows may be the program's: {}",
        made_by.join("; ")
    ))
}

/// Windows that share days: they are not independent.
pub(super) fn overlaps(tracks: &[Track]) -> Vec<String> {
    let mut windows: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
    for track in tracks {
        if let (Some(first), Some(last)) = (track.dates.first(), track.dates.last()) {
            windows.insert(&track.window, (first, last));
        }
    }
    let pairs = windows.iter().flat_map(|(own, (first, last))| {
        windows
            .iter()
            .filter(move |(other, (start, end))| own < *other && start <= last && first <= end)
            .map(move |(other, _)| format!("{own} and {other}"))
    });
    let pairs: Vec<String> = pairs.collect();
    if pairs.is_empty() {
        return Vec::new();
    }
    vec![format!(
        "windows that share days are not independent: {}",
        pairs.join(", ")
    )]
}

/// Whether ranks at bands carry over to exact numbers: what the agents say that have both, by window and mode.
pub(super) fn carried_over(tracks: &[Track]) -> Vec<String> {
    let is_banded = |track: &&Track| matches!(track.numeric, Numeric::Banded | Numeric::BandedFive);
    let mut notes: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for banded in tracks.iter().filter(is_banded) {
        let found = notes.entry(banded.numeric.label()).or_default();
        let is_exact = |track: &&Track| {
            let is_same = (&track.window, track.mode) == (&banded.window, banded.mode);
            is_same && track.numeric == Numeric::Exact && track.instruction.is_none()
        };
        for exact in tracks.iter().filter(is_exact) {
            found.extend(rank_correlation(banded, exact));
        }
    }
    let said = |(rung, found): (&str, Vec<String>)| {
        let found = if found.is_empty() {
            "no three agents here have both".to_owned()
        } else {
            format!("of those that have both, Kendall's tau is {}", found.join(", "))
        };
        format!("ranks at {rung} need not carry over to exact numbers: {found}")
    };
    notes.into_iter().map(said).collect()
}

/// Kendall's tau of the selections of the agents that both tracks rank, and of which tracks.
fn rank_correlation(banded: &Track, exact: &Track) -> Option<String> {
    let selection = |track: &Track| -> BTreeMap<String, f64> {
        let ranked = track.leaders.iter().filter(|leader| leader.alpha_rank.is_some());
        let each = ranked.filter_map(|leader| Some((leader.agent.clone(), leader.selection.as_ref()?.a_day)));
        each.collect()
    };
    let (bands, numbers) = (selection(banded), selection(exact));
    let both: (Vec<f64>, Vec<f64>) = bands
        .iter()
        .filter_map(|(agent, bands)| Some((*bands, *numbers.get(agent)?)))
        .unzip();
    if both.0.len() < LEAST_CORRELATED {
        return None;
    }
    let (bands, numbers) = (
        Sample::new("bands", &both.0).ok()?,
        Sample::new("numbers", &both.1).ok()?,
    );
    let tau = kendall_tau(&bands, &numbers).ok()?.ok()?;
    Some(format!(
        "{tau:.2} over {} agents on {} {} ({} and {})",
        both.0.len(),
        banded.window,
        banded.mode.label(),
        banded.level_label(),
        exact.level_label()
    ))
}

/// Rows that lack a seed which their agent has on another ranking: their medians and memory gaps are of fewer.
pub(super) fn missing_seeds(tracks: &[Track]) -> Option<String> {
    let rows = || {
        tracks
            .iter()
            .flat_map(|track| track.leaders.iter().map(move |leader| (track, leader)))
    };
    let mut seeds: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    for (_, leader) in rows() {
        seeds.entry(&leader.agent).or_default().extend(&leader.seeds);
    }
    let lacking: Vec<String> = rows()
        .filter(|(_, leader)| leader.cohort != Cohort::Reference)
        .filter_map(|(track, leader)| {
            let known = seeds.get(leader.agent.as_str())?.len();
            let place = format!(
                "{} {}/{} {}",
                track.window,
                track.level_label(),
                track.numeric.label(),
                track.mode.label()
            );
            let own = leader.seeds.len();
            (own < known).then(|| format!("{} on {place} ({own} of {known})", leader.agent))
        })
        .collect();
    (!lacking.is_empty()).then(|| {
        format!(
            "rows without all seeds that their agent has elsewhere: {}",
            listed(&lacking)
        )
    })
}

/// The first names, and how many more there are.
pub(super) fn listed(names: &[String]) -> String {
    let shown = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => shown,
        rest => format!("{shown} and {rest} more"),
    }
}

/// Agents whose episodes lie beside those of others of the same experiment, track and seed under another mask key: one experiment has one
/// for these, so that the best of several runs may stand there.
pub(super) fn other_keys<'b>(shown: impl Iterator<Item = &'b BundleRef>) -> Option<String> {
    type Beside<'b> = (Option<&'b Path>, &'b str, TrackKey, u64);
    let mut keys: BTreeMap<Beside<'b>, BTreeMap<&str, BTreeSet<&str>>> = BTreeMap::new();
    for bundle in shown {
        let header = &bundle.header;
        let beside = (
            bundle.root.parent(),
            header.experiment.as_str(),
            TrackKey::of(bundle, header.window.steps),
            header.seed,
        );
        let agents = keys.entry(beside).or_default();
        agents
            .entry(&header.mask.commitment)
            .or_default()
            .insert(&bundle.row);
    }
    let several = keys.into_iter().filter(|(_, agents)| 1 < agents.len());
    let named = several.map(|((_, _, track, seed), agents)| {
        // Most were made together.
        let few = agents.values().min_by_key(|agents| agents.len());
        let few: Vec<&str> = few.into_iter().flatten().copied().collect();
        format!("{} on {track}, seed {seed}", few.join(", "))
    });
    let named: Vec<String> = named.collect();
    (!named.is_empty()).then(|| {
        format!(
            "not made in one run with the episodes beside them, for their mask keys are others, so that the best of several runs may stand \
             there (`ktd verify` of the folder says more): {}",
            listed(&named)
        )
    })
}

/// What was named and is not shown, because the board was asked for less: whoever leaves out may have chosen.
pub(super) fn not_shown(named: &[(&BundleRef, bool)]) -> Option<String> {
    let missing = |of: &dyn Fn(&BundleRef) -> String| -> Vec<String> {
        let all: BTreeSet<String> = named.iter().map(|(bundle, _)| of(bundle)).collect();
        let shown = named.iter().filter(|(_, is_shown)| *is_shown);
        let shown: BTreeSet<String> = shown.map(|(bundle, _)| of(bundle)).collect();
        all.difference(&shown).cloned().collect()
    };
    let kinds = [
        ("windows", missing(&|bundle| bundle.header.window.id.clone())),
        ("agents", missing(&|bundle| bundle.row.clone())),
        ("modes", missing(&|bundle| bundle.header.mode.label().to_owned())),
        (
            "masks",
            missing(&|bundle| bundle.header.mask.arm().label().to_owned()),
        ),
    ];
    let kinds = kinds.iter().filter(|(_, names)| !names.is_empty());
    let kinds: Vec<String> = kinds
        .map(|(kind, names)| format!("{kind} {}", listed(names)))
        .collect();
    (!kinds.is_empty()).then(|| {
        format!(
            "on disk and not shown, as the board was asked; what competes counts as a trial all the same: {}",
            kinds.join("; ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_board_of_several_programs_names_them_by_row() {
        let program = |digit: &str| ProgramRecord {
            source_sha256: digit.repeat(64),
            commit: None,
        };
        let (one, other) = (program("a"), program("b"));
        let both = [("gpt", Some(&one)), ("hold", Some(&one))];
        assert_eq!(mixed_programs(both.into_iter()), None);
        let mixed = [("gpt", Some(&one)), ("hold", Some(&other)), ("random", None)];
        assert_eq!(
            mixed_programs(mixed.into_iter()).as_deref(),
            Some(
                "mixed programs, so that a difference of rows may be the program's: random (a program it does not name); \
                 gpt (sources aaaaaaaaaaaa); hold (sources bbbbbbbbbbbb)"
            )
        );
    }
}
