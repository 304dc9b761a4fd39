//! What is seen of all index members on a day, read from the tool's own answers, and how far that keeps the order of the exact
//! numbers: of each factor, of a forecast of returns, and of what strategies rank by.

use super::strategy::FactorWeights;
use crate::CertifyError;
use crate::probe_inputs::ProbeInputs;
use ktd_env::exchange::Account;
use ktd_env::factors::Factor;
use ktd_env::{DayIndex, NameId};
use ktd_masking::{EpisodeFrame, Level, Mask, MaskSettings, Numeric, Payload, ShownStock};
use ktd_probes::Stretch;
use ktd_stats::spearman;
use ktd_tools::banded::BandedState;
use ktd_tools::{StepView, Tool, ToolContext};
use serde_json::{Value, json};

/// Steps of an episode on which signals are compared: each day of a period of five, as of groups that are up to four days old.
const STEPS: [usize; 5] = [1, 5, 9, 13, 17];
/// Steps of the episodes.
const EPISODE_STEPS: usize = 20;
/// Episodes a stretch.
const EPISODES: usize = 5;

/// A day on which signals are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SignalDays {
    /// Place of the episode's first trading day.
    first: usize,
    /// 1-based step.
    step: usize,
}

/// Days spread evenly over the stretches.
#[must_use]
pub(super) fn signal_days(stretches: &[Stretch]) -> Vec<SignalDays> {
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
    /// The rank correlation of each score under `numeric` with that of exact numbers, in the order of the scores; `None`
    /// where a score does not vary.
    ///
    /// # Errors
    /// [`CertifyError::Input`] for a day outside the panel.
    pub(super) fn correlations(
        self,
        inputs: &ProbeInputs,
        numeric: Numeric,
        scores: &[FactorWeights],
    ) -> Result<Vec<Option<f64>>, CertifyError> {
        let names = self.names(inputs, numeric)?;
        let (exact, seen) = (
            self.shown(inputs, Numeric::Exact, &names)?,
            self.shown(inputs, numeric, &names)?,
        );
        let of_score = |weights: &FactorWeights| {
            let scored = |shown: &[ShownFactors]| -> Vec<f64> {
                shown.iter().map(|stock| stock.score(weights)).collect()
            };
            spearman(&scored(&exact), &scored(&seen))
                .map_err(|error| CertifyError::input(error.to_string(), error.hint()))
        };
        scores.iter().map(of_score).collect()
    }

    /// The members that are shown.
    fn names(self, inputs: &ProbeInputs, numeric: Numeric) -> Result<Vec<NameId>, CertifyError> {
        let (mask, day) = self.mask(inputs, numeric)?;
        let as_of = inputs.source.market.as_of(day).with_factors(&inputs.factors);
        Ok(mask.roster(&as_of).map_or_else(
            || as_of.members().collect(),
            |roster| roster.stocks().iter().map(ShownStock::name).collect(),
        ))
    }

    fn mask(self, inputs: &ProbeInputs, numeric: Numeric) -> Result<(Mask, DayIndex), CertifyError> {
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
        Ok((mask, day))
    }

    /// What is shown of each name.
    fn shown(
        self,
        inputs: &ProbeInputs,
        numeric: Numeric,
        names: &[NameId],
    ) -> Result<Vec<ShownFactors>, CertifyError> {
        let (mask, day) = self.mask(inputs, numeric)?;
        let as_of = inputs.source.market.as_of(day).with_factors(&inputs.factors);
        Ok(if let Some(banded) = BandedState::at(None, &mask, &as_of) {
            let ids: Vec<String> = names.iter().filter_map(|name| banded.id(*name)).collect();
            let shared = (&mask, &inputs.rules, &inputs.limits);
            let as_of_day = Payload::null();
            let context = banded.context(self.step, shared, (&as_of_day, None));
            compared(inputs, StepView::Roster(&context), &ids)
        } else {
            let context = ToolContext {
                as_of: &as_of,
                account: &Account::with_cash(inputs.rules.initial_cash),
                mask: &mask,
                rules: &inputs.rules,
                limits: &inputs.limits,
                last_step: None,
                step: self.step,
            };
            let ids: Vec<String> = names.iter().map(|name| mask.asset(*name).to_inline()).collect();
            compared(inputs, StepView::Market(&context), &ids)
        })
    }
}

/// What is shown of one member's factors, in the order of [`Factor::ALL`].
struct ShownFactors(FactorWeights);

impl ShownFactors {
    /// The weighted sum of the standings.
    fn score(&self, weights: &FactorWeights) -> f64 {
        let terms = self.0.iter().zip(weights);
        terms.map(|(value, weight)| value * weight).sum::<f64>() + 0.0
    }
}

/// Asks for all factors of all these ids, as many at a time as one call takes.
fn compared(inputs: &ProbeInputs, view: StepView<'_>, ids: &[String]) -> Vec<ShownFactors> {
    let mut dimensions = Factor::ALL.map(Factor::name);
    dimensions.sort_unstable();
    let most = usize::try_from(inputs.limits.max_compare)
        .unwrap_or(usize::MAX)
        .max(2);
    let mut shown = Vec::with_capacity(ids.len());
    for chunk in ids.chunks(most) {
        // A comparison takes two names at least: the first of all stands beside a last one.
        let alone = ids.first().filter(|_| chunk.len() == 1);
        let asked: Vec<&String> = chunk.iter().chain(alone).collect();
        let arguments = json!({ "stock_ids": asked, "dimensions": dimensions }).to_string();
        let answer = inputs
            .toolbox
            .call(view, Tool::CompareCandidates.name(), &arguments);
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
                .map(|(place, _)| read(&columns, rows.get(place))),
        );
    }
    shown
}

/// The suffixes of a factor's standing: z-score, percentile, band.
const FORMS: [&str; 3] = ["_z", "_pct", "_band"];

/// A member's standings in whichever form they are shown; what is missing counts as a middling one.
fn read(columns: &[&str], row: Option<&Value>) -> ShownFactors {
    let cell = |factor: Factor| {
        FORMS.iter().find_map(|form| {
            let wanted = format!("{}{form}", factor.name());
            let place = columns.iter().position(|column| **column == wanted)?;
            let value = row?.get(place)?.as_f64()?;
            // The middle of percentiles is 50, that of scores and bands is 0.
            Some(if *form == "_pct" { value - 50.0 } else { value })
        })
    };
    ShownFactors(Factor::ALL.map(|factor| cell(factor).unwrap_or(0.0)))
}
