//! Reading and scoring what was found.

use super::benchmark::Benchmark;
use super::collect::{BoardOptions, Tick};
use super::fitted::Fitted;
use super::identity;
use super::played::Played;
use super::protocol::common;
use super::record::Protocol;
use super::score::Score;
use crate::BoardError;
use ktd_bundle::bundle_ref::Found;
use ktd_bundle::bundle_set::Findings;
use ktd_data::market_source::market_of;
use ktd_env::{DayIndex, Market};
use ktd_io::parallel::in_parallel;
use std::collections::BTreeSet;
use std::sync::Arc;

/// All scores of one protocol on one panel.
pub(super) struct Gathered {
    /// The panel.
    pub(super) market: Arc<Market>,
    /// The factor model on it.
    pub(super) fitted: Fitted,
    /// Its index.
    pub(super) benchmark: Benchmark,
    /// The protocol that all share.
    pub(super) protocol: Protocol,
    /// The first of the named.
    pub(super) first: Found,
    /// Scores, and whether each was named.
    pub(super) scores: Vec<(bool, Score)>,
    /// What was left out, and why.
    pub(super) notes: Vec<String>,
}

type Dated = (Found, Vec<DayIndex>);

/// Reads and scores all that was found. The factor model is fitted once, over the days of all.
///
/// # Errors
/// [`BoardError`] when protocols differ, when a row would be of two agents, and when a bundle that is shown is damaged; one
/// that is not is noted.
pub(super) fn gather(
    findings: &Findings,
    options: &BoardOptions,
    tick: Tick<'_>,
) -> Result<Gathered, BoardError> {
    let text = options.settings.text();
    options.shown.check(&findings.named)?;
    let mut protocol = common(&findings.named, &text)?;
    let first = findings.named.first().ok_or_else(nothing)?.clone();
    let panel = findings.named.iter().find_map(Found::panel);
    let market = market_of(&first.header.data, panel.as_deref(), options.panel.as_deref())?.market;
    let mut notes = notes_of(findings);
    let (mut readable, left_out) = readable(&findings.named, &market)?;
    notes.extend(left_out);
    let shown: Vec<&Dated> = readable
        .iter()
        .filter(|(found, _)| options.shown.has(found))
        .collect();
    identity::check(&shown)?;
    let named = readable.len();
    let (trials, uncounted) = trials(&findings.beside, &protocol, &market);
    readable.extend(trials);
    notes.extend(uncounted);
    let start = readable
        .iter()
        .filter_map(|(_, days)| days.first())
        .min()
        .ok_or_else(nothing)?;
    let end = readable
        .iter()
        .filter_map(|(_, days)| days.last())
        .max()
        .ok_or_else(nothing)?;
    let fitted = Fitted::of(&market, &options.settings, start.index()..end.index() + 1)?;
    protocol.freeze(&fitted.model.config().styles);
    let benchmark = Benchmark::of(&market);
    let results = in_parallel(&readable, options.threads, |(found, _)| {
        tick();
        Score::of(
            Played::read(found.clone(), &market)?,
            &market,
            &fitted.model,
            &benchmark,
        )
    });
    let mut scores = Vec::with_capacity(results.len());
    for (place, (result, (found, _))) in results.into_iter().zip(&readable).enumerate() {
        match result {
            Ok(score) => scores.push((place < named, score)),
            Err(error) if place < named && options.shown.has(found) => return Err(error),
            Err(error) => notes.push(format!("not counted as a trial: {error}")),
        }
    }
    Ok(Gathered {
        market,
        fitted,
        benchmark,
        protocol,
        first,
        scores,
        notes,
    })
}

/// The named with their days, and a note of each that has none.
fn readable(named: &[Found], market: &Market) -> Result<(Vec<Dated>, Vec<String>), BoardError> {
    let (mut readable, mut notes) = (Vec::new(), Vec::new());
    for found in named {
        match found.panel_days(market)? {
            Some(days) => readable.push((found.clone(), days)),
            None => notes.push(format!(
                "{} is left out: it has no private part, which names its stocks and days",
                found.root.display()
            )),
        }
    }
    Ok((readable, notes))
}

/// Those beside the named that count as trials: all on the same data, whatever their prompts, tools and rules were, for
/// who tries many of these and shows one has tried as often. The note says how many do not count.
fn trials(beside: &[Found], protocol: &Protocol, market: &Market) -> (Vec<Dated>, Option<String>) {
    let dated = |found: &Found| {
        let is_same = found.header.data.panel_blake3 == protocol.data;
        let days = found.panel_days(market).ok()??;
        is_same.then(|| (found.clone(), days))
    };
    let trials: Vec<Dated> = beside.iter().filter_map(dated).collect();
    let note = match beside.len() - trials.len() {
        0 => None,
        count => Some(format!(
            "finished episodes beside these that are of other data, or whose private part is missing or damaged, do \
             not count as trials: {count}"
        )),
    };
    (trials, note)
}

fn nothing() -> BoardError {
    BoardError::input(
        "there is no finished episode with a private part to rank",
        "run one with `ktd run`",
    )
}

fn notes_of(findings: &Findings) -> Vec<String> {
    let mut notes: Vec<String> = findings.unfinished_note().into_iter().collect();
    match findings.branches() {
        0 => {}
        count => notes.push(format!(
            "branches are not ranked, for their first steps are another episode's, and count as trials: {count}"
        )),
    }
    let damaged = findings.damaged.iter();
    notes.extend(damaged.map(|error| format!("not counted as a trial: {error}")));
    let limitations: BTreeSet<&String> = findings
        .named
        .iter()
        .flat_map(|found| &found.header.data.limitations)
        .collect();
    notes.extend(limitations.into_iter().cloned());
    notes
}
