//! What a strategy sees of all index members on a day, read from the tool's own answers, and how far that keeps the order of
//! the exact numbers.

use super::strategy::FactorStrategy;
use crate::CertifyError;
use crate::probe_inputs::ProbeInputs;
use ktd_env::exchange::Account;
use ktd_env::factors::Factor;
use ktd_env::{DayIndex, NameId};
use ktd_masking::{EpisodeFrame, Level, Mask, MaskSettings, Numeric};
use ktd_probes::Stretch;
use ktd_stats::spearman;
use ktd_tools::{Tool, ToolContext};
use serde_json::{Value, json};

/// Steps of an episode on which signals are compared: all phases of the refresh of frozen numbers.
const STEPS: [usize; 4] = [1, 6, 11, 16];
/// Steps of the episodes.
const EPISODE_STEPS: usize = 20;
/// Episodes a stretch.
const EPISODES: usize = 5;

/// A day on which signals are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignalDays {
    /// Place of the episode's first trading day.
    first: usize,
    /// 1-based step.
    step: usize,
}

/// Days spread evenly over the stretches.
#[must_use]
pub fn signal_days(stretches: &[Stretch]) -> Vec<SignalDays> {
    let firsts = stretches.iter().flat_map(|stretch| {
        let room = stretch.len().saturating_sub(EPISODE_STEPS);
        let starts = (0..EPISODES).map(move |place| stretch.start + place * room / EPISODES);
        starts.take(if stretch.len() < EPISODE_STEPS {
            0
        } else {
            EPISODES
        })
    });
    let of_episode = |first| STEPS.map(|step| SignalDays { first, step });
    firsts.flat_map(of_episode).collect()
}

impl SignalDays {
    /// The rank correlation of each strategy's signals under `numeric` with those of exact numbers, in the order of
    /// [`FactorStrategy::ALL`]; `None` where a signal does not vary.
    ///
    /// # Errors
    /// [`CertifyError::Input`] for a day outside the panel.
    pub fn correlations(
        self,
        inputs: &ProbeInputs,
        numeric: Numeric,
    ) -> Result<[Option<f64>; FactorStrategy::ALL.len()], CertifyError> {
        let (exact, seen) = (
            self.signals(inputs, Numeric::Exact)?,
            self.signals(inputs, numeric)?,
        );
        let mut correlations = [None; FactorStrategy::ALL.len()];
        for ((correlation, exact), seen) in correlations.iter_mut().zip(&exact).zip(&seen) {
            *correlation = spearman(exact, seen)
                .map_err(|error| CertifyError::input(error.to_string(), error.hint()))?;
        }
        Ok(correlations)
    }

    /// The score of each index member, strategy by strategy, members in the order of the panel.
    fn signals(self, inputs: &ProbeInputs, numeric: Numeric) -> Result<Vec<Vec<f64>>, CertifyError> {
        let outside = || {
            CertifyError::input(
                "a day of the stretches lies outside the panel",
                "choose other stretches",
            )
        };
        let market = &inputs.source.market;
        let window: Vec<DayIndex> = (self.first..self.first + EPISODE_STEPS)
            .filter_map(|place| market.day_at(place))
            .collect();
        let settings = MaskSettings {
            level: Level::Blinded,
            numeric,
        };
        let frame = EpisodeFrame {
            market,
            window: &window,
            initial_cash: inputs.rules.initial_cash,
        };
        let key = inputs.key.derive(&format!("signals {}", self.first));
        let mask = Mask::new(settings, &key, &frame).ok_or_else(outside)?;
        let day = market.day_at(self.first + self.step - 2).ok_or_else(outside)?;
        let as_of = market.as_of(day).with_factors(&inputs.factors);
        let context = ToolContext {
            as_of: &as_of,
            account: &Account::with_cash(inputs.rules.initial_cash),
            mask: &mask,
            rules: &inputs.rules,
            limits: &inputs.limits,
            last_step: None,
            step: self.step,
            steps_total: EPISODE_STEPS,
        };
        let members: Vec<NameId> = as_of.members().collect();
        let mut scores = vec![Vec::with_capacity(members.len()); FactorStrategy::ALL.len()];
        for row in compared(inputs, &context, &members) {
            for (scores, strategy) in scores.iter_mut().zip(FactorStrategy::ALL) {
                let tilts = strategy.tilts().iter();
                let score: f64 = tilts.map(|(factor, sign)| sign * row.of(*factor)).sum();
                scores.push(score + 0.0);
            }
        }
        Ok(scores)
    }
}

/// What is shown of one member's factors.
struct Shown(Vec<(Factor, f64)>);

impl Shown {
    /// A factor's standing in whichever form it is shown; what is missing counts as a middling one.
    fn of(&self, factor: Factor) -> f64 {
        let known = self.0.iter().find(|(of, _)| *of == factor);
        known.map_or(0.0, |(_, value)| *value)
    }
}

/// Asks for the strategies' factors of all members, as many at a time as one call takes.
fn compared(inputs: &ProbeInputs, context: &ToolContext<'_>, members: &[NameId]) -> Vec<Shown> {
    let factors: Vec<Factor> = FactorStrategy::ALL
        .iter()
        .flat_map(|strategy| strategy.tilts())
        .map(|tilt| tilt.0)
        .collect();
    let mut dimensions: Vec<&str> = factors.iter().map(|factor| factor.name()).collect();
    dimensions.sort_unstable();
    dimensions.dedup();
    let most = usize::try_from(inputs.limits.max_compare)
        .unwrap_or(usize::MAX)
        .max(2);
    let mut shown = Vec::with_capacity(members.len());
    for chunk in members.chunks(most) {
        let mut ids: Vec<String> = chunk
            .iter()
            .map(|name| context.mask.asset(*name).to_inline())
            .collect();
        // A comparison takes two names at least: the first of all stands beside a last one.
        let alone = members.first().filter(|_| chunk.len() == 1);
        ids.extend(alone.map(|name| context.mask.asset(*name).to_inline()));
        let arguments = json!({ "stock_ids": ids, "dimensions": dimensions }).to_string();
        let answer = inputs
            .toolbox
            .call(context, Tool::CompareCandidates.name(), &arguments);
        let answer: Value = serde_json::from_str(&answer.payload.to_json()).unwrap_or_default();
        let (columns, rows) = (
            answer.get("columns"),
            answer.get("rows").and_then(Value::as_array),
        );
        let columns: Vec<&str> = columns
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let rows = rows.map_or(&[][..], Vec::as_slice);
        // A member that nothing is told of still has its place.
        shown.extend(
            chunk
                .iter()
                .enumerate()
                .map(|(place, _)| read(&columns, rows.get(place), &factors)),
        );
    }
    shown
}

/// The suffixes of a factor's standing: z-score, percentile, band.
const FORMS: [&str; 3] = ["_z", "_pct", "_band"];

fn read(columns: &[&str], row: Option<&Value>, factors: &[Factor]) -> Shown {
    let cell = |factor: &Factor| {
        FORMS.iter().find_map(|form| {
            let wanted = format!("{}{form}", factor.name());
            let place = columns.iter().position(|column| **column == wanted)?;
            let value = row?.get(place)?.as_f64()?;
            // The middle of percentiles is 50, that of scores and bands is 0.
            Some((*factor, if *form == "_pct" { value - 50.0 } else { value }))
        })
    };
    Shown(factors.iter().filter_map(cell).collect())
}
