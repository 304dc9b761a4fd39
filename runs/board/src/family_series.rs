//! What each ranked agent selected under every member of the family of settings.

use super::family::{Change, MEMBERS};
use super::fitted::FittedModel;
use super::score::ScoredEpisode;
use crate::BoardError;
use ktd_attribution::SelectionSeries;
use ktd_attribution::account::{Attribution, WeightBasis, attribute};
use ktd_attribution::model::FactorModel;
use std::ops::Range;

/// Selections of one track's ranked agents under one member, in the order of the agents.
pub(super) struct MemberSeries {
    /// What the member changes.
    pub(super) label: &'static str,
    /// One an agent.
    pub(super) agents: Vec<SelectionSeries>,
}

/// Each of a track's ranked agents' scores.
pub(super) type RankedScores<'s> = Vec<Vec<&'s ScoredEpisode>>;

/// The selections of every track under every member that differs from the default: one list a track.
///
/// # Errors
/// [`BoardError::Input`] when a member cannot be fitted.
pub(super) fn selections(
    fitted: &FittedModel,
    tracks: &[RankedScores<'_>],
    days: Range<usize>,
) -> Result<Vec<Vec<MemberSeries>>, BoardError> {
    let mut all: Vec<Vec<MemberSeries>> = tracks.iter().map(|_| Vec::new()).collect();
    let default = fitted.model.config();
    for (label, change) in MEMBERS {
        let (config, basis) = change.of(default);
        let is_within = change == Change::WithinSectors;
        let is_default = config == *default && basis == WeightBasis::HEADLINE;
        if is_default && !is_within {
            continue;
        }
        let refitted;
        let model = if config == *default {
            &fitted.model
        } else {
            refitted = fitted.refit(&config, days.clone())?;
            &refitted
        };
        for (members, agents) in all.iter_mut().zip(tracks) {
            members.push(MemberSeries {
                label,
                agents: agents
                    .iter()
                    .map(|scores| series(scores, model, (basis, is_within)))
                    .collect(),
            });
        }
    }
    Ok(all)
}

fn series(
    scores: &[&ScoredEpisode],
    model: &FactorModel,
    (basis, is_within): (WeightBasis, bool),
) -> SelectionSeries {
    let styles = model.config().style_count();
    let splits: Vec<Attribution> = scores
        .iter()
        .filter_map(|score| attribute(&score.books, styles, |day| model.day(day)).ok())
        .collect();
    let splits: Vec<&Attribution> = splits.iter().collect();
    if is_within {
        SelectionSeries::within_sectors(&splits, basis)
    } else {
        SelectionSeries::on(&splits, basis)
    }
}
