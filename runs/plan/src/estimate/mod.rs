//! An estimate of an experiment's requests and costs before it runs: an expected value, a range, the assumptions.

mod traffic;

pub use traffic::{BRIEF, DAYS, Measured, THOROUGH, Traffic, measure, steps_measured};

use ktd_agents::Usage;
use ktd_experiment::amount::Picodollars;
use ktd_experiment::cells::Cell;
use ktd_experiment::config::{ExperimentConfig, SessionConfig};
use ktd_masking::Mode;
use schemars::JsonSchema;
use serde::Serialize;

/// What is asked and what it costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
pub struct EstimatedQuantity {
    /// Requests.
    pub calls: u64,
    /// Tokens of requests, those from a cache included.
    pub input_tokens: u64,
    /// Of them, those read from a cache.
    pub cached_tokens: u64,
    /// Tokens generated.
    pub output_tokens: u64,
    /// The cost; `null` where a price is not known.
    pub cost_picodollars: Option<Picodollars>,
}

impl EstimatedQuantity {
    /// Nothing.
    pub const NOTHING: Self = Self {
        calls: 0,
        input_tokens: 0,
        cached_tokens: 0,
        output_tokens: 0,
        cost_picodollars: Some(Picodollars::ZERO),
    };

    fn add(&mut self, other: &Self) {
        for (sum, part) in [
            (&mut self.calls, other.calls),
            (&mut self.input_tokens, other.input_tokens),
            (&mut self.cached_tokens, other.cached_tokens),
            (&mut self.output_tokens, other.output_tokens),
        ] {
            *sum = sum.saturating_add(part);
        }
        let costs = self.cost_picodollars.zip(other.cost_picodollars);
        self.cost_picodollars = costs.map(|(sum, part)| sum.plus(part));
    }
}

/// The expected value and the widest plausible range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Range {
    /// A model that looks once, says little and finds its cache.
    pub least: EstimatedQuantity,
    /// A model that looks at everything.
    pub expected: EstimatedQuantity,
    /// A model that uses up every tool call, every retry and every token it may, and finds no cache.
    pub most: EstimatedQuantity,
}

impl Range {
    pub(crate) const NOTHING: Self = Self {
        least: EstimatedQuantity::NOTHING,
        expected: EstimatedQuantity::NOTHING,
        most: EstimatedQuantity::NOTHING,
    };

    pub(crate) fn add(&mut self, other: &Self) {
        self.least.add(&other.least);
        self.expected.add(&other.expected);
        self.most.add(&other.most);
    }
}

/// What one agent will ask.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct AgentEstimate {
    /// The agent.
    pub agent: String,
    /// Its model.
    pub model: String,
    /// Its vendor.
    pub vendor: String,
    /// Its cells.
    pub cells: u64,
    /// Their steps.
    pub steps: u64,
    /// What it will ask and cost.
    pub range: Range,
}

/// What an experiment will ask.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Estimate {
    /// Agents that are asked over a network, in the experiment's order.
    pub agents: Vec<AgentEstimate>,
    /// All of them.
    pub all: Range,
    /// What it rests on.
    pub assumptions: Vec<String>,
}

/// Bytes of a request a token, in tenths: `o200k_base` on recorded requests of the built-in agents (docs/benchmarks.md,
/// "Tokens of a decision day"). Tables of numbers have the shortest tokens.
const fn tenths_of_bytes_per_token(mode: Mode) -> u64 {
    match mode {
        Mode::MemoryOnly => 36,
        Mode::FixedCandidate => 21,
        Mode::OpenResearch => 34,
    }
}

/// Tokens generated for a call: a bare tool call, and one with some words or reasoning.
const OUTPUT_TOKENS_LEAST: u64 = 60;
const OUTPUT_TOKENS_EXPECTED: u64 = 600;
/// The most, where `max_output_tokens` is not set.
const OUTPUT_TOKENS_UNSET: u64 = 4_000;
/// What a refused submission and its feedback add to the next request, in bytes.
const FEEDBACK_BYTES: u64 = 4_096;

/// How a traffic turns into tokens, in hundredths.
struct Assumed {
    /// Tokens of the tokenizer, of those that `o200k_base` has.
    tokens: u64,
    /// Bytes read from a cache, of those that can be.
    cached: u64,
    output_tokens_a_call: u64,
}

impl Estimate {
    /// The estimate for the cells of an experiment from measured traffic.
    #[must_use]
    pub fn of(config: &ExperimentConfig, cells: &[Cell], measured: &[Measured]) -> Self {
        let mut agents: Vec<AgentEstimate> = Vec::new();
        let mut all = Range::NOTHING;
        for cell in cells.iter().filter(|cell| !cell.agent.is_ours()) {
            let same = |one: &&Measured| (one.mode, one.arm) == (cell.mode, cell.arm());
            let Some(measured) = measured.iter().find(same) else {
                continue;
            };
            let range = range(cell, measured, config.session);
            all.add(&range);
            let known = agents.iter().position(|agent| agent.agent == cell.agent.id);
            let place = known.unwrap_or(agents.len());
            if known.is_none() {
                agents.push(AgentEstimate {
                    agent: cell.agent.id.clone(),
                    model: cell.agent.model_name().to_owned(),
                    vendor: cell.provider.dialect.id.clone(),
                    cells: 0,
                    steps: 0,
                    range: Range::NOTHING,
                });
            }
            if let Some(agent) = agents.get_mut(place) {
                agent.cells += 1;
                agent.steps += steps(cell);
                agent.range.add(&range);
            }
        }
        Self {
            agents,
            all,
            assumptions: assumptions(config.session),
        }
    }
}

fn steps(cell: &Cell) -> u64 {
    u64::try_from(cell.window.days.len()).unwrap_or(u64::MAX)
}

fn range(cell: &Cell, measured: &Measured, session: SessionConfig) -> Range {
    let output_tokens_max = cell
        .agent
        .max_output_tokens()
        .map_or(OUTPUT_TOKENS_UNSET, u64::from);
    let least = Assumed {
        tokens: 85,
        cached: 100,
        output_tokens_a_call: OUTPUT_TOKENS_LEAST.min(output_tokens_max),
    };
    let expected = Assumed {
        tokens: 100,
        cached: 80,
        output_tokens_a_call: OUTPUT_TOKENS_EXPECTED.min(output_tokens_max),
    };
    let most = Assumed {
        tokens: 160,
        cached: 0,
        output_tokens_a_call: output_tokens_max,
    };
    Range {
        least: quantity(cell, &measured.brief, &least),
        expected: quantity(cell, &measured.thorough, &expected),
        most: quantity(cell, &exhausted(cell.mode, &measured.thorough, session), &most),
    }
}

/// A step in which every tool call is spent one a turn and every submission but the last is refused.
fn exhausted(mode: Mode, traffic: &Traffic, session: SessionConfig) -> Traffic {
    let research = match mode {
        Mode::OpenResearch => u64::from(session.max_tool_calls) + 1,
        Mode::MemoryOnly | Mode::FixedCandidate => 0,
    };
    let submissions = u64::from(session.schema_retries) + 1;
    let calls = research + submissions;
    let grown = traffic.calls.saturating_sub(traffic.steps);
    let growth = traffic
        .growth_bytes
        .checked_div(grown)
        .unwrap_or(0)
        .max(FEEDBACK_BYTES);
    let first = traffic.first_bytes.checked_div(traffic.steps).unwrap_or(0);
    let bytes = calls * first + growth * (calls * (calls - 1) / 2);
    Traffic {
        steps: 1,
        calls,
        request_bytes: bytes,
        readable_bytes: 0,
        first_bytes: first,
        growth_bytes: growth * (calls - 1),
    }
}

fn quantity(cell: &Cell, traffic: &Traffic, assumed: &Assumed) -> EstimatedQuantity {
    let tokens_of = |bytes: u64| {
        scaled(
            bytes,
            10 * assumed.tokens,
            100 * tenths_of_bytes_per_token(cell.mode),
        )
    };
    let whole = |part: u64| scaled(part, steps(cell), traffic.steps);
    let calls = whole(traffic.calls);
    let input_tokens = whole(tokens_of(traffic.request_bytes));
    let cached_tokens = scaled(whole(tokens_of(traffic.readable_bytes)), assumed.cached, 100);
    let output_tokens = calls.saturating_mul(assumed.output_tokens_a_call);
    let mut quantity = EstimatedQuantity {
        calls,
        input_tokens,
        cached_tokens,
        output_tokens,
        cost_picodollars: None,
    };
    quantity.cost_picodollars = cost(cell, &quantity);
    quantity
}

/// As many calls as there are, each an average one: tiers by prompt length are met as it meets them.
fn cost(cell: &Cell, quantity: &EstimatedQuantity) -> Option<Picodollars> {
    // What asks no vendor is free, or paid by its owner: no cap of this experiment holds it.
    if cell.agent.model().is_none() {
        return Some(Picodollars::ZERO);
    }
    let a_call = |tokens: u64| scaled(tokens, 1, quantity.calls);
    let fresh = a_call(quantity.input_tokens.saturating_sub(quantity.cached_tokens));
    // Where a cache is written on demand, what is not read from it is written to it.
    let writes = cell.provider.dialect.cache.breakpoints;
    let usage = Usage {
        uncached_input: if writes { 0 } else { fresh },
        cache_write_5m: if writes { fresh } else { 0 },
        cache_read: a_call(quantity.cached_tokens),
        visible_output: a_call(quantity.output_tokens),
        ..Usage::NOTHING
    };
    let a_call = cell.basis.cost(&usage)?.amount;
    Some(Picodollars(a_call.0.saturating_mul(quantity.calls)))
}

/// `value x times / of`, rounded up; nothing when `of` is 0.
fn scaled(value: u64, times: u64, of: u64) -> u64 {
    let product = u128::from(value) * u128::from(times);
    product
        .checked_add(u128::from(of).saturating_sub(1))
        .and_then(|product| product.checked_div(u128::from(of)))
        .map_or(0, |scaled| u64::try_from(scaled).unwrap_or(u64::MAX))
}

fn assumptions(session: SessionConfig) -> Vec<String> {
    vec![
        format!(
            "requests are those of {BRIEF} (least) and {THOROUGH} (expected) on the first {DAYS} days of the first \
             window, in every mode and mask, in the form of the Chat Completions wire"
        ),
        format!(
            "most: {} tool calls one a turn, then {} submissions",
            session.max_tool_calls,
            session.schema_retries + 1
        ),
        "bytes a token as o200k_base has them on such requests: 3.6 in memory-only, 2.1 in fixed-candidate, 3.4 in \
         open-research; other tokenizers from 0.85 to 1.6 times as many tokens"
            .to_owned(),
        "read from a cache: what an earlier request of the same episode began with, all of it (least), 80 % of it \
         (expected), nothing (most)"
            .to_owned(),
        format!(
            "generated a call, assumed: {OUTPUT_TOKENS_LEAST} tokens (least), {OUTPUT_TOKENS_EXPECTED} (expected), \
             max_output_tokens or {OUTPUT_TOKENS_UNSET} (most); a model that reasons may be near the most"
        ),
        "requests that are sent again after a fault are not counted".to_owned(),
    ]
}

#[cfg(test)]
mod tests;
