//! What an agent has come to so far, and whether it is stopped.

use ktd_bundle::event::{Event, StepOutcome};
use ktd_experiment::amount::Picodollars;
use ktd_experiment::price_table::TokenPricing;
use ktd_experiment::stop_rules::StopRules;

/// Steps before which an average says nothing.
const STEPS_OF_AN_AVERAGE: usize = 10;
/// The same of the share of decided steps.
const STEPS_OF_A_SHARE: usize = 40;

/// Counts of an episode that stop rules look at, folded from its events.
#[derive(Debug, Clone, Default)]
pub(crate) struct Played {
    steps: usize,
    decided: usize,
    fallbacks_in_a_row: usize,
    faults_in_a_row: usize,
    answers: usize,
    cost: Picodollars,
}

impl Played {
    /// Adds the next event of an agent whose tokens have this price.
    pub(crate) fn add<S>(&mut self, event: &Event<S>, basis: &TokenPricing) {
        match event {
            Event::Turn { usage, .. } => {
                self.answers += 1;
                let cost = basis.cost(usage).map(|priced| priced.amount);
                self.cost = self.cost.plus(cost.unwrap_or_default());
            }
            Event::ModelFault { .. } | Event::ToolCall { refused: Some(_), .. } => self.faults_in_a_row += 1,
            Event::ToolCall { refused: None, .. } => self.faults_in_a_row = 0,
            Event::Decision { outcome, .. } => {
                self.steps += 1;
                match outcome {
                    StepOutcome::Submitted | StepOutcome::Hold => {
                        self.decided += 1;
                        (self.fallbacks_in_a_row, self.faults_in_a_row) = (0, 0);
                    }
                    StepOutcome::Fallback => self.fallbacks_in_a_row += 1,
                    // Not the model's.
                    StepOutcome::Uncovered => self.steps -= 1,
                }
            }
            Event::EpisodeBegin { .. }
            | Event::StepBegin { .. }
            | Event::InfrastructureFault { .. }
            | Event::Fills { .. }
            | Event::StepEnd { .. }
            | Event::EpisodeEnd { .. } => {}
        }
    }

    /// Why it is stopped, in words that a record keeps; `None` where it goes on.
    #[expect(clippy::cast_precision_loss, reason = "steps and answers stay far below 2^53")]
    pub(crate) fn stops(&self, rules: &StopRules) -> Option<String> {
        let is_long = |count: usize, most: usize| 0 < most && most <= count;
        if is_long(self.fallbacks_in_a_row, rules.fallbacks_in_a_row) {
            return Some(format!(
                "{} steps in a row without a decision",
                self.fallbacks_in_a_row
            ));
        }
        if is_long(self.faults_in_a_row, rules.faults_in_a_row) {
            return Some(format!("{} mistakes in a row", self.faults_in_a_row));
        }
        if STEPS_OF_A_SHARE <= self.steps && (self.decided as f64) < rules.decided_share * self.steps as f64 {
            return Some(format!("{} of {} steps decided", self.decided, self.steps));
        }
        if self.steps < STEPS_OF_AN_AVERAGE {
            return None;
        }
        let answers = self.answers as f64 / self.steps as f64;
        if 0.0 < rules.answers_a_step && rules.answers_a_step < answers {
            return Some(format!("{answers:.1} answers a step"));
        }
        let steps = u64::try_from(self.steps).unwrap_or(u64::MAX);
        let is_dear = |most: &Picodollars| most.0 < self.cost.0 / steps;
        rules
            .dollars_a_step
            .filter(is_dear)
            .map(|_| format!("{} a step", Picodollars(self.cost.0 / steps)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decision(outcome: StepOutcome) -> Event<()> {
        Event::Decision {
            step: 1,
            outcome,
            orders: Vec::new(),
            overall_reason: None,
            is_repaired: false,
        }
    }

    fn fault() -> Event<()> {
        Event::ModelFault {
            step: 1,
            code: "no_call".to_owned(),
            detail: None,
        }
    }

    /// After how many of these events it is stopped, and why.
    fn stopped(rules: &StopRules, events: impl Iterator<Item = Event<()>>) -> Option<(usize, String)> {
        let mut played = Played::default();
        events.enumerate().find_map(|(place, event)| {
            played.add(&event, &TokenPricing::Free);
            Some((place + 1, played.stops(rules)?))
        })
    }

    #[test]
    fn rules_count_what_is_the_models_alone() {
        use StepOutcome::{Fallback, Hold, Uncovered};
        let rules = StopRules::default();
        let of = |outcomes: &[StepOutcome], times| {
            let outcomes = outcomes.repeat(times);
            stopped(&rules, outcomes.into_iter().map(decision))
        };
        assert_eq!(
            of(&[Fallback], 50),
            Some((20, "20 steps in a row without a decision".to_owned()))
        );
        assert_eq!(of(&[Uncovered], 99), None);
        assert_eq!(of(&[Fallback, Uncovered], 30).map(|(place, _)| place), Some(39));
        assert_eq!(of(&[Fallback, Hold], 99), None);
        let mut rare = vec![Fallback; 12];
        rare.push(Hold);
        assert_eq!(of(&rare, 9), Some((40, "3 of 40 steps decided".to_owned())));
        let off = StopRules {
            fallbacks_in_a_row: 0,
            decided_share: 0.0,
            ..rules
        };
        assert_eq!(
            stopped(&off, std::iter::repeat_with(|| decision(Fallback)).take(99)),
            None
        );
        assert_eq!(
            stopped(&rules, std::iter::repeat_with(fault).take(300)).map(|(place, _)| place),
            Some(200)
        );
    }
}
