//! The inputs of a board: every bundle opened once, scored, and closed.

use super::benchmark::Benchmarks;
use super::episode_account::{EpisodeAccount, ledger_books};
use super::fitted::FittedModel;
use super::identity;
use super::notes::mixed_programs;
use super::options::{BoardOptions, ProgressCallback};
use super::protocol::common;
use super::reading::KeptReadings;
use super::record::Protocol;
use super::score::ScoredEpisode;
use super::trials::{Trial, Trials, is_control};
use super::unfinished::unfinished;
use crate::BoardError;
use ktd_attribution::account::attribute;
use ktd_bundle::BundlePaths;
use ktd_bundle::bundle_ref::BundleRef;
use ktd_bundle::bundle_set::BundleSet;
use ktd_bundle::canary::CanaryRecord;
use ktd_bundle::finished_episode::OpenedBundle;
use ktd_bundle::header::Header;
use ktd_bundle::summary_file::read_summary;
use ktd_data::market_source::market_of;
use ktd_env::{DayIndex, Market};
use ktd_io::parallel::in_parallel;
use ktd_io::sha256::sha256_hex;
use ktd_view::draw::{counted, joined, plural};
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
    /// Scores of the episodes that are shown.
    pub(super) scores: Vec<ScoredEpisode>,
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

/// What one bundle adds to a board.
enum Reading {
    /// A row's score, and the trial that it is, where it is one.
    Shown(Box<ScoredEpisode>, Option<Trial>),
    /// A trial that is not shown.
    Trial(Trial),
    /// Nothing: its agent is a control.
    Control,
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
    dated.extend(siblings(&beside, &protocol, &market, &mut notes));
    let fitted = FittedModel::of(&market, &options.settings, range(&dated).ok_or_else(nothing)?)?;
    protocol.freeze(&fitted.model.config().styles);
    let benchmarks = Benchmarks::of(&market);
    let readings = in_parallel(&dated, options.threads, |dated| {
        tick();
        read(dated, &market, (&fitted, &benchmarks), options.kept.as_ref())
    });
    let (mut scores, mut trials) = (Vec::new(), Trials::default());
    for (reading, dated) in readings.into_iter().zip(&dated) {
        match reading {
            Ok(Reading::Shown(score, trial)) => {
                if let Some(trial) = trial {
                    trials.add(&dated.days, trial);
                }
                let beside = early.iter().find(|early| early.is_beside(&score.bundle));
                scores.push(ScoredEpisode {
                    ended_early: beside.map(|early| early.what.clone()),
                    ..*score
                });
            }
            Ok(Reading::Trial(trial)) => trials.add(&dated.days, trial),
            Ok(Reading::Control) => {}
            Err(error) if dated.is_shown => return Err(error),
            Err(_) => notes.push(uncounted(&dated.opened.bundle)),
        }
    }
    Ok(BoardInputs {
        market,
        fitted,
        benchmarks,
        protocol,
        first,
        scores,
        trials,
        notes,
        unfinished: unfinished(findings),
    })
}

/// The note of a damaged neighbour. What is wrong in its private part may name a day that a mask hides, and a board may be given
/// away: where it is wrong is told to its owner alone.
fn uncounted(bundle: &BundleRef) -> String {
    let root = bundle.root.display();
    format!(
        "not counted as a trial: {root}: no account follows from its record (`ktd verify {root}` says why)"
    )
}

/// An episode that ended before its window did: its agent was withdrawn, or stopped. It has no score, and its agent no rank
/// on the track: who is dropped where it goes badly would else be ranked by the rest.
struct EarlyEnd {
    bundle: BundleRef,
    what: String,
}

impl EarlyEnd {
    fn of(bundle: &BundleRef) -> Option<Self> {
        Some(Self {
            what: ended_early(bundle)?,
            bundle: bundle.clone(),
        })
    }

    /// Whether an episode is one of the same agent on the same track.
    fn is_beside(&self, other: &BundleRef) -> bool {
        let track = |bundle: &BundleRef| {
            let (window, mask) = (bundle.header.window.id.clone(), bundle.header.mask.clone());
            (
                window,
                bundle.header.mode,
                mask.level,
                mask.numeric,
                mask.instruction,
            )
        };
        self.bundle.row == other.row && track(&self.bundle) == track(other)
    }

    /// That episodes which are not named are no trials.
    fn note_of_siblings(early: &[Self]) -> Option<String> {
        let count = early.len();
        (0 < count).then(|| {
            format!("episodes beside these that ended before their window did and so are no trials: {count}")
        })
    }

    /// A note an agent and way to end: sixty episodes that ended alike are said once, with their windows and seeds.
    fn notes(early: &[Self]) -> Vec<String> {
        let mut alike: BTreeMap<(&str, &str), Vec<&Header>> = BTreeMap::new();
        for end in early {
            alike
                .entry((&end.bundle.row, &end.what))
                .or_default()
                .push(&end.bundle.header);
        }
        let note = |((agent, what), headers): ((&str, &str), Vec<&Header>)| {
            let windows: BTreeSet<String> = headers.iter().map(|header| header.window.id.clone()).collect();
            let seeds: BTreeSet<u64> = headers.iter().map(|header| header.seed).collect();
            let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
            format!(
                "{agent} on {}, {} {}, {}: {what}; no score, no trial, and the money counts in `ktd status`",
                joined(&windows.into_iter().collect::<Vec<_>>()),
                plural(seeds.len(), "seed"),
                joined(&seeds),
                counted(headers.len(), "episode")
            )
        };
        alike.into_iter().map(note).collect()
    }
}

/// Takes the episodes out that ended before their window did.
fn apart_early<T>(episodes: Vec<T>, bundle: impl Fn(&T) -> &BundleRef) -> (Vec<T>, Vec<EarlyEnd>) {
    let (mut whole, mut early) = (Vec::with_capacity(episodes.len()), Vec::new());
    for episode in episodes {
        match EarlyEnd::of(bundle(&episode)) {
            None => whole.push(episode),
            Some(end) => early.push(end),
        }
    }
    (whole, early)
}

/// How an episode ended before its window did. What is damaged is read as whole, where the damage is named.
fn ended_early(bundle: &BundleRef) -> Option<String> {
    let summary = read_summary(&BundlePaths::new(&bundle.root)).ok()?;
    (!summary.is_whole()).then(|| summary.told_early(bundle.header.window.steps))
}

/// The score of a bundle that is shown. Of another one the ledger alone is read, which is a small part of it: a trial's
/// selection hangs on nothing else.
fn read(
    Dated {
        opened,
        is_shown,
        is_verified,
        ..
    }: &Dated,
    market: &Market,
    (fitted, benchmarks): (&FittedModel, &Benchmarks),
    kept: Option<&KeptReadings>,
) -> Result<Reading, BoardError> {
    let model = &fitted.model;
    if *is_shown {
        let account = EpisodeAccount::read(opened.clone(), market, (kept, *is_verified))?;
        let score = ScoredEpisode::of(account, market, model, benchmarks)?;
        let is_trial = !is_control(&score.bundle);
        let trial = is_trial.then(|| Trial::of(&score.books, &score.attribution, model));
        return Ok(Reading::Shown(Box::new(score), trial));
    }
    if is_control(&opened.bundle) {
        return Ok(Reading::Control);
    }
    let books = ledger_books(opened, market)?;
    let attribution =
        attribute(&books, model.config().styles.len(), |day| model.day(day)).map_err(|error| {
            let root = opened.bundle.root.display();
            BoardError::input(format!("{root}: {error}"), error.hint())
        })?;
    Ok(Reading::Trial(Trial::of(&books, &attribution, model)))
}

/// Draws those that are read again and compared with what was kept of them.
fn draw_verified(dated: &mut [Dated], options: &BoardOptions) {
    let mut shown: Vec<_> = dated.iter_mut().filter(|dated| dated.is_shown).collect();
    shown.sort_by_cached_key(|dated| {
        let root = dated.opened.bundle.root.display();
        sha256_hex(format!("{}\n{root}", options.draws.seed).as_bytes())
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
