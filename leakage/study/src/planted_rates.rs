//! How often the audit of signals is right: signals with known leaks on many draws of a market.

use super::bars::{MarketBars, market_bars};
use super::config::LeakUniverse;
use crate::StudyError;
use ktd_env::synth::{SynthConfig, generate};
use ktd_io::parallel::in_parallel;
use ktd_leakage::{
    BarColumns, BarField, BarGrid, PLANTED_SIGNALS, PlantedAudit, PlantedKind, SignalVerdict, SuspicionRule,
    audit_planted, judge_profile,
};
use ktd_stats::SplitMix64;
use serde::Serialize;

/// Names and days of a synthetic draw.
const SYNTHETIC_NAMES: u32 = 60;
const SYNTHETIC_DAYS: u32 = 500;

/// Floors and multiples of a far piece that are compared; the rule of the audit is one of them.
const FLOORS: [f64; 4] = [0.04, 0.06, 0.08, 0.10];
const TIMES: [f64; 3] = [2.0, 3.0, 4.0];

/// Draws of which one planted signal was suspect.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlantedRate {
    /// The signal.
    pub signal: &'static str,
    /// `ordinary`, `leaking` or `invisible`.
    pub kind: &'static str,
    /// Draws with enough days and names for a verdict.
    pub draws: usize,
    /// Of them, those of which it was suspect.
    pub suspect: usize,
}

/// Verdicts of each kind under one rule, over all signals and draws.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RuleRate {
    /// The least absolute mean rank correlation.
    pub floor: f64,
    /// How many times the largest one among far pieces of its kind.
    pub times: f64,
    /// Whether it is the rule of the audit.
    pub is_own: bool,
    /// Suspect and judged signals that know nothing too early: false alarms.
    pub ordinary: (usize, usize),
    /// Those that leak a direction.
    pub leaking: (usize, usize),
    /// Those that leak what returns do not show.
    pub invisible: (usize, usize),
}

/// Rates of the audit of signals.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlantedRates {
    /// Signal by signal, under the rule of the audit.
    pub signals: Vec<PlantedRate>,
    /// Rule by rule.
    pub rules: Vec<RuleRate>,
}

/// Rates over so many draws: of a panel, random halves of its names; without one, synthetic markets by seed.
///
/// # Errors
/// [`StudyError`] when a draw has no market.
pub fn planted_rates(
    bars: Option<&MarketBars>,
    draws: u64,
    threads: usize,
) -> Result<PlantedRates, StudyError> {
    let seeds: Vec<u64> = (1..=draws).collect();
    let audits = in_parallel(&seeds, threads, |seed| {
        let grid = match bars {
            Some(bars) => half_of_names(&bars.bars, *seed),
            None => synthetic(*seed),
        }?;
        Ok(audit_planted(&grid, &SuspicionRule::BENCHMARK, *seed))
    });
    let audits: Vec<Vec<PlantedAudit>> = audits.into_iter().collect::<Result<_, StudyError>>()?;
    let audits: Vec<PlantedAudit> = audits.into_iter().flatten().collect();
    let signals = PLANTED_SIGNALS.iter().map(|signal| {
        let own = audits.iter().filter(|audit| audit.signal.name == signal.name);
        let verdicts: Vec<&SignalVerdict> = own
            .map(|audit| &audit.verdict)
            .filter(|verdict| is_judged(verdict))
            .collect();
        PlantedRate {
            signal: signal.name,
            kind: kind_name(signal.kind),
            draws: verdicts.len(),
            suspect: verdicts.iter().filter(|verdict| is_suspect(verdict)).count(),
        }
    });
    let rules = FLOORS
        .into_iter()
        .flat_map(|floor| TIMES.map(|times| (floor, times)));
    Ok(PlantedRates {
        signals: signals.collect(),
        rules: rules
            .map(|(floor, times)| rule_rate(&audits, floor, times))
            .collect(),
    })
}

const fn kind_name(kind: PlantedKind) -> &'static str {
    match kind {
        PlantedKind::Ordinary => "ordinary",
        PlantedKind::Leaking => "leaking",
        PlantedKind::Invisible => "invisible",
    }
}

const fn is_suspect(verdict: &SignalVerdict) -> bool {
    matches!(verdict, SignalVerdict::Suspect { .. })
}

const fn is_judged(verdict: &SignalVerdict) -> bool {
    !matches!(verdict, SignalVerdict::TooLittle { .. })
}

fn rule_rate(audits: &[PlantedAudit], floor: f64, times: f64) -> RuleRate {
    let own = SuspicionRule::BENCHMARK;
    let rule = SuspicionRule { floor, times, ..own };
    let of_kind = |kind: PlantedKind| {
        let verdicts = audits
            .iter()
            .filter(|audit| audit.signal.kind == kind)
            .map(|audit| judge_profile(&audit.profile, audit.signal.known_at, &rule))
            .filter(is_judged);
        verdicts.fold((0, 0), |(suspect, judged), verdict| {
            (suspect + usize::from(is_suspect(&verdict)), judged + 1)
        })
    };
    RuleRate {
        floor,
        times,
        is_own: rule == own,
        ordinary: of_kind(PlantedKind::Ordinary),
        leaking: of_kind(PlantedKind::Leaking),
        invisible: of_kind(PlantedKind::Invisible),
    }
}

fn synthetic(seed: u64) -> Result<BarGrid, StudyError> {
    let config = SynthConfig {
        seed,
        names: SYNTHETIC_NAMES,
        days: SYNTHETIC_DAYS,
    };
    let market = generate(&config).map_err(|error| StudyError::input(error.to_string(), error.hint()))?;
    Ok(market_bars(&market, LeakUniverse::All)?.bars)
}

/// A panel of half of the names, drawn by a seed.
fn half_of_names(bars: &BarGrid, seed: u64) -> Result<BarGrid, StudyError> {
    let mut stream = SplitMix64::new(seed);
    let mut drawn: Vec<(u64, usize)> = (0..bars.names()).map(|name| (stream.next_u64(), name)).collect();
    drawn.sort_unstable();
    let mut names: Vec<usize> = drawn.into_iter().map(|(_, name)| name).collect();
    names.truncate(bars.names().div_ceil(2));
    names.sort_unstable();
    let of = |field| -> Vec<f64> {
        let sessions = (0..bars.sessions()).map(|session| bars.row(field, session));
        sessions
            .flat_map(|row| names.iter().filter_map(|name| row.get(*name).copied()))
            .collect()
    };
    let [open, high, low, close, volume] = BarField::ALL.map(of);
    let columns = BarColumns {
        open: &open,
        high: &high,
        low: &low,
        close: &close,
        volume: &volume,
    };
    BarGrid::new(bars.months(), names.len(), &columns)
        .map_err(|error| StudyError::input(error.to_string(), "use a panel with trading days and names"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaks_are_seen_and_ordinary_signals_are_not_on_halves_of_a_panel() {
        let market = generate(&SynthConfig {
            seed: 5,
            names: 80,
            days: 420,
        })
        .unwrap();
        let bars = market_bars(&market, LeakUniverse::All).unwrap();
        let rates = planted_rates(Some(&bars), 2, 2).unwrap();
        assert_eq!(rates, planted_rates(Some(&bars), 2, 1).unwrap());
        let of = |kind: &str| {
            let own = rates.signals.iter().filter(|rate| rate.kind == kind);
            own.fold((0, 0), |sum, rate| (sum.0 + rate.suspect, sum.1 + rate.draws))
        };
        let own = rates.rules.iter().find(|rule| rule.is_own).unwrap();
        assert_eq!(of("ordinary"), own.ordinary);
        assert_eq!(of("leaking"), own.leaking);
        assert_eq!(own.ordinary, (0, 40));
        assert!(own.leaking.1 == 30 && 24 <= own.leaking.0, "{:?}", own.leaking);
        // A lower floor sees no less, and halves differ by seed.
        let lower = rates.rules.first().unwrap();
        assert!(own.leaking.0 <= lower.leaking.0 && own.ordinary.0 <= lower.ordinary.0);
        assert_ne!(
            half_of_names(&bars.bars, 1).unwrap(),
            half_of_names(&bars.bars, 2).unwrap()
        );
    }
}
