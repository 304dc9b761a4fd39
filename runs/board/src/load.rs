//! The inputs of a board: every bundle opened once, scored, and closed.

use super::benchmark::Benchmarks;
use super::by_agent::ScoredAgent;
use super::early_end::{EarlyEnd, apart_early};
use super::episode_account::ledger_books;
use super::fitted::FittedModel;
use super::identity;
use super::notes::{mixed_programs, not_shown, other_keys};
use super::options::{BoardOptions, ProgressCallback};
use super::protocol::common;
use super::record::Protocol;
use super::scoring::{AgentEpisodes, Scoring};
use super::setting::Settings;
use super::track_key::TrackKey;
use super::trials::{TrialScore, Trials, is_control};
use super::unfinished::Plans;
use crate::BoardError;
use ktd_attribution::SelectionSeries;
use ktd_attribution::account::attribute;
use ktd_attribution::model::FactorModel;
use ktd_bundle::bundle_ref::BundleRef;
use ktd_bundle::bundle_set::BundleSet;
use ktd_bundle::canary::CanaryRecord;
use ktd_bundle::finished_episode::OpenedBundle;
use ktd_data::market_source::market_of;
use ktd_env::{DayIndex, Market};
use ktd_io::parallel::in_parallel;
use ktd_io::sha256::sha256_hex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// All scores of one protocol on one panel.
pub(super) struct BoardInputs {
    /// The panel.
    pub(super) market: Arc<Market>,
    /// The factor model on it.
    pub(super) fitted: FittedModel,
    /// What its windows are measured against.
    pub(super) benchmarks: Benchmarks,
    /// The protocol that all share.
    pub(super) protocol: Protocol,
    /// The first of the named.
    pub(super) first: BundleRef,
    /// Settings beside the default.
    pub(super) settings: Settings,
    /// The agents of the episodes that are shown, track by track.
    pub(super) agents: Vec<ScoredAgent>,
    /// Trials of each window: every episode, shown or not.
    pub(super) trials: Trials,
    /// What was left out, and why.
    pub(super) notes: Vec<String>,
    /// Episodes that have not ended.
    pub(super) unfinished: usize,
}

/// A bundle with its trading days, and whether it is shown.
struct Dated {
    opened: OpenedBundle,
    days: Vec<DayIndex>,
    is_shown: bool,
    /// Whether it is read again and compared with what was kept of it.
    is_verified: bool,
}

/// Reads and scores all bundles. The factor model is fitted once, over the days of all.
///
/// # Errors
/// [`BoardError`] when protocols differ, when a row would be of two agents, and when a bundle that is shown is damaged; one
/// that is not is noted.
pub(super) fn load(
    findings: &BundleSet,
    options: &BoardOptions,
    tick: ProgressCallback<'_>,
) -> Result<BoardInputs, BoardError> {
    let text = options.settings.text();
    options.shown.check(&findings.named)?;
    let mut protocol = common(&findings.named, &text)?;
    let first = findings.named.first().ok_or_else(nothing)?.clone();
    let named = findings
        .named
        .iter()
        .map(|bundle| OpenedBundle::read(bundle.clone()));
    let named: Vec<OpenedBundle> = named.collect::<Result<_, _>>()?;
    let panel = named.iter().find_map(OpenedBundle::panel);
    let market = market_of(&first.header.data, panel.as_deref(), options.panel.as_deref())?.market;
    let mut notes = notes_of(findings);
    let (named, mut early) = apart_early(named, |opened| &opened.bundle);
    notes.extend(EarlyEnd::notes(&early));
    // One that is not named leaves its agent without a rank as well: else a part would be named.
    let (beside, of_siblings) =
        apart_early(findings.siblings.iter().collect(), |bundle: &&BundleRef| *bundle);
    notes.extend(EarlyEnd::note_of_siblings(&of_siblings));
    early.extend(of_siblings);
    let mut dated = dated(named, options, &market, &mut notes)?;
    draw_verified(&mut dated, options);
    let shown: Vec<_> = dated.iter().filter(|dated| dated.is_shown).collect();
    let shown: Vec<_> = shown
        .iter()
        .map(|dated| (&dated.opened.bundle, dated.days.as_slice()))
        .collect();
    identity::check(&shown)?;
    notes.extend(other_keys(shown.iter().map(|(bundle, _)| *bundle)));
    let named: Vec<(&BundleRef, bool)> = dated
        .iter()
        .map(|dated| (&dated.opened.bundle, dated.is_shown))
        .collect();
    notes.extend(not_shown(&named));
    let plans = Plans::of(findings);
    notes.extend(plans.unnamed(findings));
    dated.extend(siblings(&beside, &protocol, &market, &mut notes));
    let days = range(&dated).ok_or_else(nothing)?;
    let fitted = FittedModel::of(&market, &options.settings, days.clone())?;
    protocol.freeze(&fitted.model.config().styles);
    let benchmarks = Benchmarks::of(&market);
    let settings = Settings::beside(fitted.model.config());
    let grouped = grouped(&dated);
    let headline = grouped.first_key_value().ok_or_else(nothing_shown)?.0.0.clone();
    let scoring = Scoring {
        market: &market,
        fitted: &fitted,
        days,
        benchmarks: &benchmarks,
        settings: &settings,
        headline: &headline,
        draws: options.draws,
        kept: options.kept.as_ref(),
        threads: options.threads,
        tick,
    };
    let agents = scored(&grouped, &dated, &scoring, &early)?;
    let trials = trials(&agents, &grouped, &dated, &scoring, &mut notes);
    Ok(BoardInputs {
        market: Arc::clone(&market),
        fitted,
        benchmarks,
        protocol,
        first,
        settings,
        agents,
        trials,
        notes,
        unfinished: plans.unfinished(findings),
    })
}

/// The shown episodes of each agent on each track, by seed, as places.
type Grouped = BTreeMap<(TrackKey, String), Vec<usize>>;

fn grouped(dated: &[Dated]) -> Grouped {
    let mut grouped = Grouped::new();
    for (place, own) in dated.iter().enumerate().filter(|(_, dated)| dated.is_shown) {
        let bundle = &own.opened.bundle;
        let key = (TrackKey::of(bundle, own.days.len()), bundle.row.clone());
        grouped.entry(key).or_default().push(place);
    }
    let seed = |place: &usize| dated.get(*place).map(|dated| dated.opened.bundle.header.seed);
    for places in grouped.values_mut() {
        places.sort_by_key(seed);
    }
    grouped
}

/// The agents of the shown episodes, scored.
fn scored(
    grouped: &Grouped,
    dated: &[Dated],
    scoring: &Scoring<'_>,
    early: &[EarlyEnd],
) -> Result<Vec<ScoredAgent>, BoardError> {
    let own =
        |places: &[usize]| -> Vec<&Dated> { places.iter().filter_map(|place| dated.get(*place)).collect() };
    let episodes = grouped.iter().map(|((track, agent), places)| AgentEpisodes {
        agent,
        track,
        episodes: own(places).into_iter().map(|dated| &dated.opened).collect(),
        days: own(places).first().map_or(&[], |dated| dated.days.as_slice()),
        is_verified: own(places).iter().any(|dated| dated.is_verified),
    });
    let episodes: Vec<AgentEpisodes<'_>> = episodes.collect();
    let scores = scoring.scores(&episodes)?;
    let agent = |(episodes, score): (&AgentEpisodes<'_>, _)| {
        let bundles: Vec<BundleRef> = episodes
            .episodes
            .iter()
            .map(|opened| opened.bundle.clone())
            .collect();
        let beside = |early: &&EarlyEnd| bundles.first().is_some_and(|first| early.is_beside(first));
        ScoredAgent {
            ended_early: early.iter().find(beside).map(|early| early.what.clone()),
            days: episodes.days.to_vec(),
            bundles,
            score,
        }
    };
    Ok(episodes.iter().zip(scores).map(agent).collect())
}

/// The trials of all episodes, in their order: of those that are not shown the ledger alone is read.
fn trials(
    agents: &[ScoredAgent],
    grouped: &Grouped,
    dated: &[Dated],
    scoring: &Scoring<'_>,
    notes: &mut Vec<String>,
) -> Trials {
    let mut of_shown: BTreeMap<usize, (Vec<f64>, TrialScore)> = BTreeMap::new();
    for (agent, places) in agents.iter().zip(grouped.values()) {
        let score = &agent.score;
        let each = score.daily().iter().cloned().zip(score.trials.iter().copied());
        of_shown.extend(places.iter().copied().zip(each));
    }
    let others = in_parallel(dated, scoring.threads, |dated| {
        (!dated.is_shown).then(|| {
            (scoring.tick)();
            (!is_control(&dated.opened.bundle))
                .then(|| trial(&dated.opened, scoring.market, &scoring.fitted.model))
        })
    });
    let mut trials = Trials::default();
    for (place, (dated, other)) in dated.iter().zip(others).enumerate() {
        match other.flatten() {
            Some(Ok((daily, score))) => trials.add(&dated.days, daily, score),
            Some(Err(_)) => notes.push(uncounted(&dated.opened.bundle)),
            None => {
                if let Some((daily, score)) = of_shown.remove(&place) {
                    trials.add(&dated.days, daily, score);
                }
            }
        }
    }
    trials
}

/// The trial that an episode is which is not shown: its selection hangs on its ledger alone.
fn trial(
    opened: &OpenedBundle,
    market: &Market,
    model: &FactorModel,
) -> Result<(Vec<f64>, TrialScore), BoardError> {
    let books = ledger_books(opened, market)?;
    let attribution =
        attribute(&books, model.config().styles.len(), |day| model.day(day)).map_err(|error| {
            let root = opened.bundle.root.display();
            BoardError::input(format!("{root}: {error}"), error.hint())
        })?;
    let daily = SelectionSeries::of(&[&attribution]).seeds.into_iter().next();
    Ok((daily.unwrap_or_default(), TrialScore::of(&books, model)))
}

/// The note of a damaged neighbour. What is wrong in its private part may name a day that a mask hides, and a board may be given
/// away: where it is wrong is told to its owner alone.
fn uncounted(bundle: &BundleRef) -> String {
    let root = bundle.root.display();
    format!(
        "not counted as a trial: {root}: no account follows from its record (`ktd verify {root}` says why)"
    )
}

/// Draws those that are read again and compared with what was kept of them.
fn draw_verified(dated: &mut [Dated], options: &BoardOptions) {
    let mut shown: Vec<_> = dated.iter_mut().filter(|dated| dated.is_shown).collect();
    shown.sort_by_cached_key(|dated| {
        let root = dated.opened.bundle.root.display().to_string();
        sha256_hex(&[&options.verify_chance[..], root.as_bytes()].concat())
    });
    for dated in shown.into_iter().take(options.verify_sample) {
        dated.is_verified = true;
    }
}

/// From the first day of any bundle to the last of any, as places of the calendar.
fn range(dated: &[Dated]) -> Option<std::ops::Range<usize>> {
    let start = dated.iter().filter_map(|dated| dated.days.first()).min()?;
    let end = dated.iter().filter_map(|dated| dated.days.last()).max()?;
    Some(start.index()..end.index() + 1)
}

/// The named with their days; of each that has none a note.
fn dated(
    named: Vec<OpenedBundle>,
    options: &BoardOptions,
    market: &Market,
    notes: &mut Vec<String>,
) -> Result<Vec<Dated>, BoardError> {
    let mut dated = Vec::with_capacity(named.len());
    for opened in named {
        match opened.panel_days(market)? {
            Some(days) => dated.push(Dated {
                is_shown: options.shown.has(&opened.bundle),
                is_verified: false,
                opened,
                days,
            }),
            None => notes.push(format!(
                "{} is left out: it has no private part, which names its stocks and days",
                opened.bundle.root.display()
            )),
        }
    }
    Ok(dated)
}

/// Siblings that count as trials: all on the same data, whatever their prompts, tools and rules were, for who tries many
/// of these and shows one has tried as often. The note says how many do not count.
fn siblings(
    siblings: &[&BundleRef],
    protocol: &Protocol,
    market: &Market,
    notes: &mut Vec<String>,
) -> Vec<Dated> {
    let dated = |bundle: &BundleRef| {
        if bundle.header.data.panel_blake3 != protocol.data {
            return None;
        }
        let opened = OpenedBundle::read(bundle.clone()).ok()?;
        let days = opened.panel_days(market).ok()??;
        Some(Dated {
            opened,
            days,
            is_shown: false,
            is_verified: false,
        })
    };
    let trials: Vec<Dated> = siblings.iter().copied().filter_map(dated).collect();
    let left_out = siblings.len() - trials.len();
    if 0 < left_out {
        notes.push(format!(
            "finished episodes beside these that are of other data, or whose private part is missing or damaged, do \
             not count as trials: {left_out}"
        ));
    }
    trials
}

fn nothing_shown() -> BoardError {
    BoardError::input(
        "no finished episode is left to show",
        "name other windows, agents, modes or levels; a branch of an episode is not ranked",
    )
}

fn nothing() -> BoardError {
    BoardError::input(
        "there is no finished episode with a private part to rank",
        "run one with `ktd run`",
    )
}

/// What the canary steps beside the episodes found changed, agent by agent. None is published, so that what lies beside a
/// published episode is not its signer's.
fn changed_models(named: &[BundleRef]) -> BTreeSet<String> {
    let records = named
        .iter()
        .filter(|found| found.signer.fingerprint.is_none())
        .map(|found| CanaryRecord::beside(&found.root, &found.header.agent.id).map(|record| (found, record)));
    let notes = records.filter_map(|record| match record {
        Ok((found, Some(record))) if !record.changes.is_empty() => Some(format!(
            "{}: what answers may have changed during its run: {}",
            found.row,
            record.changes.join("; ")
        )),
        Ok(_) => None,
        Err(error) => Some(format!("a record of canary steps cannot be read: {error}")),
    });
    notes.collect()
}

fn notes_of(findings: &BundleSet) -> Vec<String> {
    let made = findings.named.iter().map(|found| {
        let header = &found.header;
        (found.row.as_str(), header.program.as_ref())
    });
    let mut notes: Vec<String> = mixed_programs(made).into_iter().collect();
    match findings.branches() {
        0 => {}
        count => notes.push(format!(
            "branches are not ranked, for their first steps are another episode's, and count as trials: {count}"
        )),
    }
    notes.extend(findings.kept_back.iter().cloned());
    let damaged = findings.damaged.iter();
    notes.extend(damaged.map(|error| format!("not counted as a trial: {error}")));
    notes.extend(changed_models(&findings.named));
    let limitations: BTreeSet<&String> = findings
        .named
        .iter()
        .flat_map(|found| &found.header.data.limitations)
        .collect();
    notes.extend(limitations.into_iter().cloned());
    notes
}
