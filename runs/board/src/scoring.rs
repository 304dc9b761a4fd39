//! Agents scored: what was kept of them, and the rest from their episodes, so many at a time that memory stays bounded.

use super::agent_score::AgentScore;
use super::benchmark::Benchmarks;
use super::episode_account::EpisodeAccount;
use super::fitted::FittedModel;
use super::kept_scores::KeptScores;
use super::options::ProgressCallback;
use super::record::Resampling;
use super::score::ScoredEpisode;
use super::setting::{Setting, Settings};
use super::track_key::TrackKey;
use crate::BoardError;
use ktd_attribution::SelectionSeries;
use ktd_attribution::account::{Attribution, attribute};
use ktd_attribution::model::FactorModel;
use ktd_bundle::finished_episode::OpenedBundle;
use ktd_env::{DayIndex, Market};
use ktd_io::parallel::in_parallel;
use std::ops::Range;

/// Days of episodes whose accounts are in memory at once, some kB each.
const MOST_DAYS: usize = 100_000;

/// The episodes of one agent on one track.
pub(super) struct AgentEpisodes<'e> {
    /// The agent's name.
    pub(super) agent: &'e str,
    /// The track.
    pub(super) track: &'e TrackKey,
    /// By seed; one at least.
    pub(super) episodes: Vec<&'e OpenedBundle>,
    /// The trading days of all.
    pub(super) days: &'e [DayIndex],
    /// Whether it is scored anew and compared with what was kept of it.
    pub(super) is_verified: bool,
}

/// How agents are scored.
pub(super) struct Scoring<'s> {
    /// The panel.
    pub(super) market: &'s Market,
    /// The factor model on it.
    pub(super) fitted: &'s FittedModel,
    /// Return days of all models, as places of the calendar.
    pub(super) days: Range<usize>,
    /// What windows are measured against.
    pub(super) benchmarks: &'s Benchmarks,
    /// Settings beside the default.
    pub(super) settings: &'s Settings,
    /// The track that the table of sensitivity is of.
    pub(super) headline: &'s TrackKey,
    /// How chance is drawn.
    pub(super) draws: Resampling,
    /// Where scores are kept.
    pub(super) kept: Option<&'s KeptScores>,
    /// Threads.
    pub(super) threads: usize,
    /// Told of each episode.
    pub(super) tick: ProgressCallback<'s>,
}

impl Scoring<'_> {
    /// The score of each agent, in their order.
    ///
    /// # Errors
    /// [`BoardError`] when an episode is damaged or cannot be split, a setting cannot be fitted, or what was kept of an agent that is
    /// verified says something else.
    pub(super) fn scores(&self, agents: &[AgentEpisodes<'_>]) -> Result<Vec<AgentScore>, BoardError> {
        let known = in_parallel(agents, self.threads, |agent| self.known(agent));
        let mut scores: Vec<Option<AgentScore>> = known.into_iter().collect();
        let missing: Vec<usize> = (0..agents.len())
            .filter(|place| scores.get(*place).is_some_and(Option::is_none))
            .collect();
        let days = |place: usize| {
            let agent = agents.get(place);
            agent.map_or(0, |agent| agent.days.len() * agent.episodes.len())
        };
        for wave in waves(&missing, days) {
            let own: Vec<&AgentEpisodes<'_>> = wave.iter().filter_map(|place| agents.get(*place)).collect();
            for (place, score) in wave.iter().zip(self.made(&own)?) {
                if let Some(slot) = scores.get_mut(*place) {
                    *slot = Some(score);
                }
            }
        }
        Ok(scores.into_iter().flatten().collect())
    }

    fn needed(&self, agent: &AgentEpisodes<'_>) -> &[Setting] {
        self.settings.needed(agent.track == self.headline)
    }

    /// What was kept of an agent, whose episodes' files are hashed again. What is damaged is read, so that the damage is named.
    fn known(&self, agent: &AgentEpisodes<'_>) -> Option<AgentScore> {
        let kept = self.kept.filter(|_| !agent.is_verified)?;
        let score = kept.get(&self.hangs_on(agent)?, self.needed(agent).len())?;
        agent.episodes.iter().for_each(|_| (self.tick)());
        Some(score)
    }

    /// All that the score of an agent hangs on, beside the program, which settles what is done with the model; `None` where an episode's files are not those that close it.
    fn hangs_on(&self, agent: &AgentEpisodes<'_>) -> Option<String> {
        let first = agent.episodes.first()?;
        let signer = serde_json::to_string(&first.bundle.signer).ok()?;
        let Resampling {
            replicates,
            seed,
            null_portfolios,
        } = self.draws;
        let days = [agent.days.first()?, agent.days.last()?].map(|day| day.index());
        let closed: Option<Vec<String>> = agent
            .episodes
            .iter()
            .map(|episode| Some(episode.closed().ok()?.0))
            .collect();
        Some(format!(
            "{}\n{}\n{signer}\n{replicates} {seed} {null_portfolios}\n{days:?}\n{}\n",
            self.fitted.sha256,
            agent.agent,
            closed?.join("\n")
        ))
    }

    /// The scores of some agents from their episodes.
    fn made(&self, agents: &[&AgentEpisodes<'_>]) -> Result<Vec<AgentScore>, BoardError> {
        let model = &self.fitted.model;
        let episodes: Vec<&OpenedBundle> = agents.iter().flat_map(|agent| &agent.episodes).copied().collect();
        let read = |episode: &&OpenedBundle| {
            (self.tick)();
            let account = EpisodeAccount::read((*episode).clone(), self.market)?;
            ScoredEpisode::of(account, self.market, model, self.benchmarks)
        };
        let mut read = in_parallel(&episodes, self.threads, read).into_iter();
        let mut accounts: Vec<Vec<ScoredEpisode>> = Vec::with_capacity(agents.len());
        for agent in agents {
            accounts.push(
                read.by_ref()
                    .take(agent.episodes.len())
                    .collect::<Result<_, _>>()?,
            );
        }
        let both: Vec<(&AgentEpisodes<'_>, Vec<ScoredEpisode>)> =
            agents.iter().copied().zip(accounts).collect();
        let mut scores = in_parallel(&both, self.threads, |(agent, scores)| {
            let scores: Vec<&ScoredEpisode> = scores.iter().collect();
            AgentScore::of(agent.agent, &scores, (model, self.market), self.draws)
        });
        self.add_settings(&both, &mut scores)?;
        for ((agent, _), score) in both.iter().zip(&scores) {
            let Some((kept, hangs_on)) = self.kept.and_then(|kept| Some((kept, self.hangs_on(agent)?)))
            else {
                continue;
            };
            if agent.is_verified {
                kept.compare(&hangs_on, score)?;
            }
            kept.keep(&hangs_on, score);
        }
        Ok(scores)
    }

    /// Adds to each score its selections under the settings that its track needs; one model beside the default is in memory at once.
    fn add_settings(
        &self,
        both: &[(&AgentEpisodes<'_>, Vec<ScoredEpisode>)],
        scores: &mut [AgentScore],
    ) -> Result<(), BoardError> {
        let default = self.fitted.model.config();
        for (place, setting) in self.settings.needed(true).iter().enumerate() {
            let needs = |agent: &AgentEpisodes<'_>| place < self.needed(agent).len();
            if !both.iter().any(|(agent, _)| needs(agent)) {
                continue;
            }
            let refitted;
            let model = if setting.config == *default {
                &self.fitted.model
            } else {
                refitted = self.fitted.refit(&setting.config, self.days.clone())?;
                &refitted
            };
            let made = in_parallel(both, self.threads, |(agent, episodes)| {
                needs(agent).then(|| series(episodes, model, setting))
            });
            for (score, series) in scores.iter_mut().zip(made) {
                if let Some(series) = series {
                    score.add_setting(series);
                }
            }
        }
        Ok(())
    }
}

/// Places in groups whose accounts may be in memory at once, one agent at least in each; `days` are those of an agent's episodes.
fn waves(places: &[usize], days: impl Fn(usize) -> usize) -> Vec<&[usize]> {
    let mut held = 0;
    let together = |before: &usize, after: &usize| {
        held += days(*before);
        let fits = held + days(*after) <= MOST_DAYS;
        if !fits {
            held = 0;
        }
        fits
    };
    places.chunk_by(together).collect()
}

fn series(episodes: &[ScoredEpisode], model: &FactorModel, setting: &Setting) -> SelectionSeries {
    let styles = model.config().style_count();
    let splits: Vec<Attribution> = episodes
        .iter()
        .filter_map(|episode| attribute(&episode.books, styles, |day| model.day(day)).ok())
        .collect();
    let splits: Vec<&Attribution> = splits.iter().collect();
    if setting.is_within {
        SelectionSeries::within_sectors(&splits, setting.basis)
    } else {
        SelectionSeries::on(&splits, setting.basis)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waves_hold_what_fits_and_every_agent_once() {
        let days = [60, 40, 1, 250, 99, 1, 1].map(|percent| percent * MOST_DAYS / 100);
        let places: Vec<usize> = (0..days.len()).collect();
        let waves = waves(&places, |place| days[place]);
        assert_eq!(waves, [&[0, 1][..], &[2], &[3], &[4, 5], &[6]]);
    }
}
