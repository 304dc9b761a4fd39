//! Why a certificate is refused, in few lines: one an attacker, and the thresholds that would pass.

use super::decimals::nine_decimals;
use super::verdict::Refusal;
use crate::{Measure, ProbeKind};
use std::collections::BTreeMap;

/// Rates of one attacker that are above their thresholds.
struct Broken<'r> {
    attacker: &'r str,
    rates: usize,
    worst: Excess,
}

/// Rate that is above its threshold.
#[derive(Clone, Copy)]
struct Excess {
    kind: ProbeKind,
    measure: Measure,
    bound: f64,
    above_chance: f64,
    threshold: f64,
}

impl Excess {
    fn beyond_threshold(&self) -> f64 {
        self.above_chance - self.threshold
    }
}

/// Summary of refusals: for each attacker how many rates are above their thresholds and which is worst, the thresholds
/// under which all of these would pass, and every other reason with how often it occurs.
#[must_use]
pub fn summary_of_refusals(refusals: &[Refusal]) -> Vec<String> {
    let (mut broken, mut passing) = (Vec::<Broken<'_>>::new(), BTreeMap::<Measure, f64>::new());
    let mut others: BTreeMap<String, usize> = BTreeMap::new();
    for refusal in refusals {
        match refusal {
            Refusal::AboveThreshold {
                kind,
                attacker,
                measure,
                bound,
                chance,
                threshold,
                share: _,
            } => {
                let excess = Excess {
                    kind: *kind,
                    measure: *measure,
                    bound: *bound,
                    above_chance: nine_decimals(bound - chance),
                    threshold: *threshold,
                };
                add(&mut broken, attacker, excess);
                let passing = passing.entry(*measure).or_default();
                *passing = passing.max(excess.above_chance);
            }
            Refusal::WindowsAboveThreshold { .. }
            | Refusal::Unanswered { .. }
            | Refusal::BlindAttacker { .. }
            | Refusal::BaselineOff { .. } => *others.entry(reason(refusal)).or_default() += 1,
        }
    }
    broken.sort_by(|left, right| {
        let beyond = |broken: &Broken<'_>| broken.worst.beyond_threshold();
        beyond(right).total_cmp(&beyond(left))
    });
    let mut lines: Vec<String> = broken.iter().map(line).collect();
    if !passing.is_empty() {
        let passing = passing.iter().map(|(measure, excess)| {
            // Rounded up, so that what is printed passes.
            let least = (excess * 1_000.0).ceil() / 1_000.0;
            format!("{} {least}", measure.label())
        });
        let passing: Vec<String> = passing.collect();
        lines.push(format!(
            "thresholds under which these would pass: {}",
            passing.join(", ")
        ));
    }
    lines.extend(others.into_iter().map(|(what, times)| match times {
        1 => what,
        _ => format!("{what}, in {times} cases"),
    }));
    lines
}

/// A reason that is no excess of a rate.
fn reason(refusal: &Refusal) -> String {
    match refusal {
        Refusal::WindowsAboveThreshold {
            attacker,
            probed,
            found,
            bound,
            ..
        } => format!(
            "{attacker} finds the days of {found} of {probed} windows, and may know up to {:.1} % of all",
            bound * 100.0
        ),
        Refusal::Unanswered { attacker, .. } => format!("{attacker} left too many probes without an answer"),
        Refusal::BlindAttacker { attacker, .. } => {
            format!("{attacker} did not recover what a control gives away")
        }
        Refusal::BaselineOff { .. } | Refusal::AboveThreshold { .. } => {
            "random is off its exact expectation".to_owned()
        }
    }
}

fn add<'r>(broken: &mut Vec<Broken<'r>>, attacker: &'r str, excess: Excess) {
    let Some(known) = broken.iter_mut().find(|known| known.attacker == attacker) else {
        broken.push(Broken {
            attacker,
            rates: 1,
            worst: excess,
        });
        return;
    };
    known.rates += 1;
    if known.worst.beyond_threshold() < excess.beyond_threshold() {
        known.worst = excess;
    }
}

fn line(broken: &Broken<'_>) -> String {
    let Broken {
        attacker,
        rates,
        worst,
    } = broken;
    let percent = |share: f64| format!("{:.2} %", share * 100.0);
    let rates = match rates {
        1 => "1 rate".to_owned(),
        _ => format!("{rates} rates"),
    };
    format!(
        "{attacker}: {rates} above threshold; worst {} of {} probes, up to {}: {} above chance, allowed are {}",
        worst.measure.label(),
        worst.kind.label(),
        percent(worst.bound),
        percent(worst.above_chance),
        percent(worst.threshold)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::ControlSet;

    fn above(attacker: &str, measure: Measure, bound: f64, threshold: f64) -> Refusal {
        Refusal::AboveThreshold {
            kind: ProbeKind::Day,
            attacker: attacker.to_owned(),
            measure,
            share: bound - 0.02,
            bound,
            chance: 0.01,
            threshold,
        }
    }

    #[test]
    fn an_attacker_has_one_line_and_what_is_printed_would_pass() {
        let blind = Refusal::BlindAttacker {
            attacker: "index-path".to_owned(),
            control: ControlSet::ExactDay,
            measure: Measure::Date20,
            share: 0.1,
            bound: 0.05,
            chance: 0.02,
            need: 0.5,
        };
        let refusals = [
            above("price-level", Measure::Top1, 0.0712, 0.03),
            above("combination", Measure::Top1, 0.2111, 0.03),
            above("combination", Measure::Top5, 0.2611, 0.05),
            blind.clone(),
            blind,
        ];
        assert_eq!(
            summary_of_refusals(&refusals),
            [
                "combination: 2 rates above threshold; worst top5 of day probes, up to 26.11 %: 25.11 % above chance, allowed are 5.00 %",
                "price-level: 1 rate above threshold; worst top1 of day probes, up to 7.12 %: 6.12 % above chance, allowed are 3.00 %",
                "thresholds under which these would pass: top1 0.202, top5 0.252",
                "index-path did not recover what a control gives away, in 2 cases",
            ]
        );
        assert!(summary_of_refusals(&[]).is_empty());
    }
}
