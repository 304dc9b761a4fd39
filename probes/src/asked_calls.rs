//! What an asking agent asks: a budget of calls a step, spent on every way that the tools have.

use ktd_env::factors::Factor;
use ktd_masking::PERIOD_DAYS;
use ktd_tools::{Tool, ToolLimits};

/// Calls of one step, as episodes allow.
const BUDGET: usize = 20;
/// Calls of `compare_candidates` in one step, so that some are left for other questions.
const COMPARED_A_STEP: usize = 12;
/// Ids that one `risk_check` counts.
pub(crate) const COUNTED_A_CALL: usize = 200;
/// Steps at which the target is planned at many weights, before anything is held.
pub(crate) const STEPS_UNTRADED: usize = 3;
/// First steps of a period in which an asker compares every id.
pub(crate) const STEPS_TO_LIST: usize = 3;

/// Whether every stock of a period is compared: of four periods in a row, so that ids could be linked from one to the next, and
/// then not of four, which keeps exhibits short.
pub(crate) const fn is_listed(period: usize) -> bool {
    period % 8 < 4
}

/// Stocks known by their codes that are looked at in one step, so that calls are left for other questions.
const KNOWN_A_STEP: usize = 3;
/// Weights of those plans, in percent.
const WEIGHTS: [usize; 5] = [1, 2, 3, 5, 7];

/// What an asking agent knows when it plans the calls of a step.
#[derive(Debug, Clone)]
pub(crate) struct AskedStep<'a> {
    pub(crate) limits: &'a ToolLimits,
    /// 1-based.
    pub(crate) step: usize,
    pub(crate) target: &'a str,
    /// Ids whose codes it was given.
    pub(crate) known: &'a [String],
    /// Ids of the period, in their order. Screens with bounds list them, and where ids count up, trying them does.
    pub(crate) ids: &'a [String],
    /// Ids that may name nobody.
    pub(crate) tried: &'a [String],
}

impl AskedStep<'_> {
    /// The calls of the step, at most as many as there is budget.
    pub(crate) fn calls(&self) -> Vec<(Tool, String)> {
        let (period, within) = ((self.step - 1) / PERIOD_DAYS, (self.step - 1) % PERIOD_DAYS);
        let is_listed = is_listed(period);
        let mut calls = vec![
            (Tool::GetMarketContext, "{}".to_owned()),
            self.snapshot(self.target),
        ];
        if within == 0 {
            calls.push((Tool::PortfolioState, "{}".to_owned()));
        }
        let known = self.known.chunks(KNOWN_A_STEP).nth(self.step - 1);
        calls.extend(known.into_iter().flatten().map(|id| self.snapshot(id)));
        calls.extend(self.plans(within));
        if is_listed {
            calls.extend(self.comparisons(within));
        }
        if let (true, Some(later)) = (is_listed, within.checked_sub(STEPS_TO_LIST)) {
            // Two factors a period, so that all are screened within the first periods.
            let place = (period * (PERIOD_DAYS - STEPS_TO_LIST) + later) % Factor::ALL.len();
            calls.extend(
                Factor::ALL
                    .get(place)
                    .into_iter()
                    .flat_map(|factor| self.screens(*factor)),
            );
        }
        calls.truncate(BUDGET);
        calls
    }

    fn snapshot(&self, id: &str) -> (Tool, String) {
        let lookback = 10.min(self.limits.max_lookback);
        let arguments = format!(r#"{{"stock_id":"{id}","lookback":{lookback}}}"#);
        (Tool::GetStockSnapshot, arguments)
    }

    /// Every id of the period, as many a call as one takes.
    fn comparisons(&self, within: usize) -> Vec<(Tool, String)> {
        let most = usize::try_from(self.limits.max_compare).unwrap_or(2).max(2);
        let factors = if self.step <= PERIOD_DAYS {
            Factor::ALL.len()
        } else {
            2
        };
        let names = Factor::ALL.iter().take(factors).map(|factor| factor.name());
        let dimensions: Vec<&str> = names.collect();
        let call = |ids: &[String]| {
            let arguments = format!(
                r#"{{"stock_ids":["{}"],"dimensions":["{}"]}}"#,
                ids.join("\",\""),
                dimensions.join("\",\"")
            );
            (Tool::CompareCandidates, arguments)
        };
        self.ids
            .chunks(most)
            .skip(within * COMPARED_A_STEP)
            .take(COMPARED_A_STEP)
            .filter(|ids| 1 < ids.len())
            .map(call)
            .collect()
    }

    /// The highest and the lowest of a factor, and those between two bounds.
    fn screens(&self, factor: Factor) -> Vec<(Tool, String)> {
        let (name, most) = (factor.name(), self.limits.max_candidates);
        let one = |rest: &str| {
            let arguments = format!(r#"{{"factors":[{{"factor":"{name}",{rest}}}],"top_k":{most}}}"#);
            (Tool::ScreenCandidates, arguments)
        };
        let bounded = format!(
            r#"{{"factors":[{{"factor":"{name}","direction":"high"}}],"top_k":{most},"bounds":[{{"factor":"{name}","min":-0.5,"max":0.5}}]}}"#
        );
        vec![
            one(r#""direction":"high""#),
            one(r#""direction":"low","weight":0.5"#),
            (Tool::ScreenCandidates, bounded),
        ]
    }

    /// Plans of many weights: of the target alone before anything is held, of some names together, and of ids that may
    /// name nobody.
    fn plans(&self, within: usize) -> Vec<(Tool, String)> {
        let plan = |targets: Vec<(&str, usize)>| {
            let targets: Vec<String> = targets
                .into_iter()
                .map(|(id, percent)| {
                    format!(
                        r#"{{"stock_id":"{id}","target_weight":{}.{:02}}}"#,
                        percent / 100,
                        percent % 100
                    )
                })
                .collect();
            (
                Tool::RiskCheck,
                format!(r#"{{"targets":[{}]}}"#, targets.join(",")),
            )
        };
        let mut plans = Vec::new();
        if self.step <= STEPS_UNTRADED {
            plans.extend(WEIGHTS.map(|percent| plan(vec![(self.target, percent + 2 * (self.step - 1))])));
        }
        let some = self
            .ids
            .iter()
            .skip(7 * self.step % self.ids.len().max(1))
            .take(8);
        let some: Vec<(&str, usize)> = some
            .enumerate()
            .map(|(place, id)| (id.as_str(), 1 + (place * self.step) % 19))
            .collect();
        plans.extend((!some.is_empty()).then(|| plan(some)));
        if within == 0 {
            let counted = self.tried.chunks(COUNTED_A_CALL);
            plans.extend(counted.map(|ids| plan(ids.iter().map(|id| (id.as_str(), 1)).collect())));
        }
        plans
    }

    /// The orders of the step as a submission; `None` at a step that holds. `holds_target` says whether the target is bought.
    pub(crate) fn submission(&self, holds_target: bool) -> Option<String> {
        let order = |id: &str, side: &str, percent: usize| {
            format!(
                r#"{{"stock_id":"{id}","side":"{side}","target_weight":0.{percent:02},"confidence":0.5,"reason":"a question to the market"}}"#
            )
        };
        let others = |count: usize| {
            self.ids
                .iter()
                .skip(11 * self.step % self.ids.len().max(1))
                .take(count)
        };
        let orders: Vec<String> = if self.step == STEPS_UNTRADED + 1 {
            let target = holds_target.then(|| order(self.target, "BUY", 4));
            let sized = others(7).enumerate();
            let bought = sized.map(|(place, id)| order(id, "BUY", 1 + 3 * place));
            let nobody = self.tried.last().map(|id| order(id, "BUY", 1));
            target.into_iter().chain(bought).chain(nobody).collect()
        } else if self.step % 10 == 5 {
            // A sale of what is not held, and a purchase of one name more.
            let (sold, bought) = (others(1), others(2).skip(1));
            sold.map(|id| order(id, "SELL", 0))
                .chain(bought.map(|id| order(id, "BUY", 2)))
                .collect()
        } else {
            Vec::new()
        };
        let orders = (!orders.is_empty()).then_some(orders)?;
        Some(format!(
            r#"{{"orders":[{}],"overall_reason":"to see what is answered"}}"#,
            orders.join(",")
        ))
    }
}
