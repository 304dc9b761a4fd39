//! Reading and scoring what was found.

use super::benchmark::Benchmark;
use super::collect::{BoardOptions, Tick};
use super::find::Findings;
use super::fitted::Fitted;
use super::played::{Found, Played};
use super::protocol::common;
use super::record::Protocol;
use super::score::Score;
use super::work::in_parallel;
use crate::bundle::open::market_of;
use crate::error::RunError;
use ktd_env::{DayIndex, Market};
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
/// [`RunError`] when protocols differ or a named bundle is damaged; one beside the named is noted.
pub(super) fn gather(
    findings: &Findings,
    options: &BoardOptions,
    tick: Tick<'_>,
) -> Result<Gathered, RunError> {
    let text = options.settings.text();
    let protocol = common(&findings.named, &text)?;
    let first = findings.named.first().ok_or_else(nothing)?.clone();
    let market = market_of(&first.header, first.panel().as_deref(), options.panel.as_deref())?.market;
    let mut notes = notes_of(findings);
    let mut readable: Vec<Dated> = Vec::new();
    for found in &findings.named {
        match found.panel_days(&market)? {
            Some(days) => readable.push((found.clone(), days)),
            None => notes.push(format!(
                "{} is left out: it has no private part, which names its stocks and days",
                found.root.display()
            )),
        }
    }
    let named = readable.len();
    readable.extend(findings.beside.iter().filter_map(|found| {
        let is_same = Protocol::of(found, &text).is_ok_and(|own| own == protocol);
        let days = found.panel_days(&market).ok()??;
        is_same.then(|| (found.clone(), days))
    }));
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
    for (place, result) in results.into_iter().enumerate() {
        match result {
            Ok(score) => scores.push((place < named, score)),
            Err(error) if place < named => return Err(error),
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

fn nothing() -> RunError {
    RunError::input(
        "there is no finished episode with a private part to rank",
        "run one with `ktd run`",
    )
}

fn notes_of(findings: &Findings) -> Vec<String> {
    let mut notes = Vec::new();
    if !findings.unfinished.is_empty() {
        notes.push(format!(
            "{} episodes have not ended and are left out; `ktd run` continues them",
            findings.unfinished.len()
        ));
    }
    let limitations: BTreeSet<&String> = findings
        .named
        .iter()
        .flat_map(|found| &found.header.data.limitations)
        .collect();
    notes.extend(limitations.into_iter().cloned());
    notes
}
