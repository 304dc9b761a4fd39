//! What decides a probe set and what its attackers learn, besides the panel and the key.

use super::config::{CertifyConfig, check_nonce};
use super::kind_counts::KindCounts;
use super::sizes::Sizes;
use crate::CertifyError;
use ktd_env::{KeyedStream, Market};
use ktd_experiment::panel_windows::resolve_window;
use ktd_experiment::recorded_rules::RecordedRules;
use ktd_experiment::step_config::SessionConfig;
use ktd_experiment::window_config::WindowConfig;
use ktd_masking::{Level, MaskKey, MaskSettings, Numeric};
use ktd_probes::{Aid, ProbeKind, ProbePlan, ProbePlanError, SamplingDesign, Stretch};
use ktd_tools::ToolLimits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Plan of a probe set with every default written out, as `set.json` and the certificate have it.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetPlan {
    /// Name of the set.
    pub name: String,
    /// What is hidden.
    pub level: Level,
    /// How numbers are shown.
    pub numeric: Numeric,
    /// Decides every draw.
    pub seed: u64,
    /// A word of an auditor's that decides every draw with the seed, where one was given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub nonce: Option<String>,
    /// Probes of each kind.
    pub probes: KindCounts,
    /// Steps that the kinds `days` and `linked` show.
    pub days: usize,
    /// Steps of an episode.
    pub episode_steps: usize,
    /// Where episodes lie: first trading day, by its place in the calendar, and the day after the last.
    pub stretches: Vec<Stretch>,
    /// Where the episodes lie that the combination learns from.
    pub training_stretches: Vec<Stretch>,
    /// The windows of the file that the panel covers: half of the episodes of asking agents begin where these do, each is as long
    /// as one of them, and attackers know them. Without any, episodes begin anywhere, as drawn windows do.
    pub windows: Vec<Stretch>,
    /// Stocks whose codes are given away in a probe of the kind `asked_known`: its probes take these numbers in turn.
    pub given_away: Vec<usize>,
    /// Probes of each kind that the combination learns from.
    pub training: usize,
    /// Probes of each control.
    pub control_probes: usize,
    /// Trading days within which the day of a joint recovery lies.
    pub joint_days: usize,
    /// Limits of the tools.
    pub tools: ToolLimits,
    /// The exchange's rules.
    pub rules: RecordedRules,
    /// Limits of the sessions that the certificate is for.
    pub session: SessionConfig,
}

impl SetPlan {
    /// The plan of a file on a panel.
    ///
    /// # Errors
    /// [`CertifyError::Input`] for a window outside the panel, and a panel too short for the episodes.
    pub fn of(config: &CertifyConfig, market: &Market) -> Result<Self, CertifyError> {
        let mask = config.mask;
        let (stretches, training) = stretches(config, market)?;
        let rules = config.rules.rules()?;
        let plan = Self {
            name: config.name.clone(),
            level: mask.level,
            numeric: mask.numeric,
            seed: config.seed,
            nonce: config.nonce.clone(),
            probes: config.probes,
            days: config.days,
            episode_steps: config.episode_steps,
            stretches,
            training_stretches: training,
            windows: file_windows(config, market),
            given_away: config.given_away.clone(),
            training: config.training(),
            control_probes: config.control_probes(),
            joint_days: config.joint_days,
            tools: config.tools,
            rules: RecordedRules::of(&rules),
            session: config.session,
        };
        plan.check()?;
        Ok(plan)
    }

    /// Whether the plan can be carried out on a panel that is long enough.
    ///
    /// # Errors
    /// [`CertifyError::Input`] for sizes beyond reason, and episodes that fit no stretch.
    pub fn check(&self) -> Result<(), CertifyError> {
        let sizes = Sizes {
            probes: self.probes,
            training: self.training,
            control_probes: self.control_probes,
            given_away: &self.given_away,
            days: self.days,
            episode_steps: self.episode_steps,
            joint_days: self.joint_days,
            stretches: self.stretches.len(),
        };
        sizes.check()?;
        self.nonce.as_deref().map_or(Ok(()), check_nonce)?;
        let mask = self.mask();
        for stretches in [&self.stretches, &self.training_stretches] {
            let check = self.draws(mask, MaskKey::from_bytes([0; 32]), self.seed, stretches);
            check.check().map_err(unfit)?;
        }
        Ok(())
    }

    /// The mask under probe.
    #[must_use]
    pub const fn mask(&self) -> MaskSettings {
        MaskSettings {
            level: self.level,
            numeric: self.numeric,
        }
    }

    /// Probes under a mask and a key, drawn for a purpose: the set under test, or a control.
    #[must_use]
    pub fn probing(&self, mask: MaskSettings, key: MaskKey, purpose: &str) -> ProbePlan {
        self.draws(mask, key, self.seed_for(purpose), &self.stretches)
    }

    /// What the combination learns from, under the same mask: other days, other draws, other keys.
    #[must_use]
    pub fn training(&self, mask: MaskSettings, key: &MaskKey, purpose: &str) -> ProbePlan {
        let purpose = format!("training for {purpose}");
        let key = key.derive(&purpose);
        // Lessons are of other days than the published windows.
        ProbePlan {
            windows: Vec::new(),
            ..self.draws(mask, key, self.seed_for(&purpose), &self.training_stretches)
        }
    }

    /// A seed of its own for each purpose.
    #[must_use]
    pub fn seed_for(&self, purpose: &str) -> u64 {
        let drawn = |purpose: &str| KeyedStream::for_purpose(self.seed, purpose).next_u64();
        self.nonce.as_ref().map_or_else(
            || drawn(purpose),
            |nonce| drawn(&format!("{purpose} with {nonce}")),
        )
    }

    fn draws(&self, mask: MaskSettings, key: MaskKey, seed: u64, stretches: &[Stretch]) -> ProbePlan {
        ProbePlan {
            seed,
            mask,
            key,
            days: self.days,
            episode_steps: self.episode_steps,
            aid: Aid::None,
            stretches: stretches.to_vec(),
            windows: self.windows.clone(),
            given_away: self.given_away.clone(),
        }
    }

    /// How its probes are drawn on a panel of so many days: attackers know it.
    #[must_use]
    pub fn design(&self, days: usize) -> SamplingDesign {
        // No key is needed to know it.
        let key = MaskKey::from_bytes([0; 32]);
        self.draws(self.mask(), key, self.seed, &self.stretches)
            .design(days)
    }

    /// Windows that there are, probed or not: those of the file, else every stretch of the panel.
    #[must_use]
    pub fn window_population(&self) -> usize {
        let probed = self.stretches.len();
        if self.windows.is_empty() {
            probed + self.training_stretches.len()
        } else {
            probed
        }
    }

    /// Probes of a kind that the combination learns from: whole episodes of an asking agent take long, and teach much.
    #[must_use]
    pub fn training_of(&self, kind: ProbeKind) -> usize {
        const ASKED_MOST: usize = 30;
        if kind.is_asked() {
            self.training.min(ASKED_MOST)
        } else {
            self.training
        }
    }

    /// Steps of the longest episode of an asking agent.
    #[must_use]
    pub fn longest_asked(&self) -> usize {
        let longest = self.windows.iter().map(ExactSizeIterator::len).max();
        longest.unwrap_or(self.episode_steps)
    }
}

/// The windows of the file that a panel covers with the history that factors need, each once. Presets are none of them: their days are
/// public, and no mask hides what is known without it.
fn file_windows(config: &CertifyConfig, market: &Market) -> Vec<Stretch> {
    let places = |window: &WindowConfig| {
        let days = resolve_window(window, market).ok()?.days;
        let (first, last) = (days.first()?.index(), days.last()?.index());
        (ProbePlan::HISTORY_DAYS <= first).then_some(first..last + 1)
    };
    let mut found: Vec<Stretch> = Vec::new();
    for window in config.windows.iter().filter_map(places) {
        if !found.contains(&window) {
            found.push(window);
        }
    }
    found
}

fn unfit(error: ProbePlanError) -> CertifyError {
    CertifyError::input(error.to_string(), error.hint())
}

/// Where probes lie and where training does; no day is in both.
fn stretches(config: &CertifyConfig, market: &Market) -> Result<(Vec<Stretch>, Vec<Stretch>), CertifyError> {
    if config.windows.is_empty() {
        return ProbePlan::spread(market, config.stretches, config.episode_steps).map_err(unfit);
    }
    let mut windows = Vec::new();
    for window in &config.windows {
        let days = resolve_window(window, market)?.days;
        let (first, last) = (days.first(), days.last());
        windows.extend(
            first
                .zip(last)
                .map(|(first, last)| first.index()..last.index() + 1),
        );
    }
    let training = between(&windows, market.calendar().len(), config.episode_steps);
    if training.is_empty() {
        return Err(CertifyError::input(
            format!(
                "the windows leave no {} trading days in a row to train on",
                config.episode_steps + 1
            ),
            "choose fewer or shorter windows, or import a longer panel",
        ));
    }
    Ok((windows, training))
}

/// The days between windows, after the history that factors need, wherever an episode and its as-of day fit.
fn between(windows: &[Stretch], days: usize, episode_steps: usize) -> Vec<Stretch> {
    let mut sorted: Vec<&Stretch> = windows.iter().collect();
    sorted.sort_by_key(|window| (window.start, window.end));
    let mut free = Vec::new();
    let mut from = ProbePlan::HISTORY_DAYS;
    for window in sorted {
        free.push(from..window.start.max(from));
        from = from.max(window.end);
    }
    free.push(from..days.max(from));
    free.retain(|days| episode_steps < days.len());
    free
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_env::synth::{SynthConfig, generate};

    #[test]
    fn training_lies_between_the_windows() {
        let windows = [400..420, 405..430, 440..460];
        assert_eq!(between(&windows, 500, 10), [260..400, 460..500]);
        assert_eq!(between(&windows, 500, 9), [260..400, 430..440, 460..500]);
    }

    #[test]
    fn a_short_panel_and_an_unfit_probe_are_refused() {
        let market = generate(&SynthConfig {
            seed: 1,
            names: 20,
            days: 400,
        })
        .unwrap();
        for (text, part) in [
            (
                "stretches = 10",
                "are needed for 10 stretches of episodes of 20 steps",
            ),
            (
                "stretches = 2\ndays = 21",
                "a probe of 21 days does not fit an episode of 20 steps",
            ),
            (
                "windows = [{ id = \"a\", last_days = 10 }]",
                "holds no episode of 20 steps",
            ),
            (
                "windows = [{ id = \"a\", last_days = 139 }]",
                "no 21 trading days in a row to train on",
            ),
        ] {
            let config = CertifyConfig::parse(&format!("name = \"x\"\n{text}")).unwrap();
            let error = SetPlan::of(&config, &market).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
