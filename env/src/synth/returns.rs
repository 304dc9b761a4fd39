//! Latent returns: market, sectors, styles and each name's own part, before prices, limits and halts.
//!
//! | part | daily sd | dynamics |
//! |---|---|---|
//! | market | 1.15 % | asymmetric GARCH(1,1) with Student-t(6) shocks |
//! | sector | 0.6 % | scaled by the market's volatility |
//! | style | 0.2 % for one standard deviation of exposure | a small constant premium |
//! | own | median 1.65 % | log-volatility AR(1), Student-t(4) shocks, rare news jumps overnight |

use super::draws::{exponential, standardised, student_four, student_six};
use super::names::SECTORS;
use super::traits::Traits;
use crate::seed::KeyedStream;

/// One name's latent day.
#[derive(Debug, Clone, Copy)]
pub(super) struct Move {
    /// Log-return from the previous close to the open.
    pub(super) overnight: f64,
    /// Log-return from the open to the close.
    pub(super) intraday: f64,
    /// Standard deviation of the session's log-return, as it stood before the draw.
    pub(super) intraday_sd: f64,
    /// Log of volume over its ordinary level.
    pub(super) activity: f64,
}

/// Annual premium of one standard deviation of 12-1 momentum.
const MOMENTUM_PREMIUM: f64 = 0.04;
/// Annual premium of one standard deviation of own risk: negative, the low-volatility effect.
const RISK_PREMIUM: f64 = -0.03;
/// Annual premium of one standard deviation of illiquidity.
const ILLIQUIDITY_PREMIUM: f64 = 0.04;
const MARKET_PREMIUM: f64 = 0.06;
const DAYS_PER_YEAR: f64 = 252.0;

const MARKET_SD: f64 = 0.0115;
const SECTOR_SD: f64 = 0.006;
const STYLE_SD: f64 = 0.002;
/// Share of the variance of the market and of each name's own part that falls between close and open.
const OVERNIGHT_SHARE: f64 = 0.2;

const GARCH_SHOCK: f64 = 0.05;
/// Further weight of a negative shock.
const GARCH_FALL: f64 = 0.06;
const GARCH_MEMORY: f64 = 0.90;
const GARCH_CEILING: f64 = 9.0;

const HEAT_MEMORY: f64 = 0.95;
const HEAT_SD: f64 = 0.35;
const CROWD_MEMORY: f64 = 0.96;
const CROWD_SD: f64 = 0.48;

const NEWS_PROBABILITY: f64 = 0.005;
const NEWS_GOOD_SHARE: f64 = 0.6;
const NEWS_LEAST: f64 = 0.03;
const NEWS_MEAN_EXCESS: f64 = 0.05;

/// 12-1 momentum: the return from 252 to 21 days back (docs/spec/factor-model.md#factors).
const MOMENTUM_FROM: usize = 252;
const MOMENTUM_UNTIL: usize = 21;
/// Days simulated before the panel's first, so that momentum and volatility have a past.
const BURN_IN_DAYS: usize = 260;
const SCORE_CEILING: f64 = 3.0;

/// Simulates `days` days; the outer list is by name, the inner by day.
pub(super) fn simulate(seed: u64, traits: &[Traits], days: usize) -> Vec<Vec<Move>> {
    let mut stream = KeyedStream::for_purpose(seed, "synth returns");
    let mut climate = Climate { variance: 1.0 };
    let mut states: Vec<NameState> = traits.iter().map(|_| NameState::start(&mut stream)).collect();
    let mut moves: Vec<Vec<Move>> = traits.iter().map(|_| Vec::with_capacity(days)).collect();
    for day in 0..BURN_IN_DAYS + days {
        let weather = climate.next(&mut stream);
        let momentum = momentum_scores(&states);
        let names = traits.iter().zip(&mut states).zip(momentum).zip(&mut moves);
        for (((traits, state), momentum_z), of_name) in names {
            let drawn = state.next(&mut stream, traits, &weather, momentum_z);
            let past = state.log_values.last().copied().unwrap_or(0.0);
            state.log_values.push(past + drawn.overnight + drawn.intraday);
            if day >= BURN_IN_DAYS {
                of_name.push(drawn);
            }
        }
    }
    moves
}

/// What all names share on one day.
struct Weather {
    overnight: f64,
    intraday: f64,
    /// Size of the market's shock in standard deviations.
    shock: f64,
    /// The market's variance over its long-run mean.
    variance: f64,
    sectors: [f64; SECTORS.len()],
    momentum: f64,
    risk: f64,
    illiquidity: f64,
}

struct Climate {
    variance: f64,
}

impl Climate {
    fn next(&mut self, stream: &mut KeyedStream) -> Weather {
        let variance = self.variance;
        let sd_scale = variance.sqrt();
        let (early, late) = (student_six(stream), student_six(stream));
        let shock = OVERNIGHT_SHARE.sqrt() * early + (1.0 - OVERNIGHT_SHARE).sqrt() * late;
        let fall = if shock < 0.0 { GARCH_FALL } else { 0.0 };
        let constant = 1.0 - GARCH_SHOCK - GARCH_FALL / 2.0 - GARCH_MEMORY;
        self.variance =
            (constant + variance * ((GARCH_SHOCK + fall) * shock * shock + GARCH_MEMORY)).min(GARCH_CEILING);
        let mut sectors = [0.0; SECTORS.len()];
        for sector in &mut sectors {
            *sector = SECTOR_SD * sd_scale * student_six(stream);
        }
        let mut style = |premium: f64| premium / DAYS_PER_YEAR + STYLE_SD * stream.normal();
        Weather {
            overnight: MARKET_SD * sd_scale * OVERNIGHT_SHARE.sqrt() * early,
            intraday: MARKET_SD * sd_scale * (1.0 - OVERNIGHT_SHARE).sqrt() * late,
            shock: shock.abs(),
            variance,
            sectors,
            momentum: style(MOMENTUM_PREMIUM),
            risk: style(RISK_PREMIUM),
            illiquidity: style(ILLIQUIDITY_PREMIUM),
        }
    }
}

struct NameState {
    /// Log of own volatility over its ordinary level.
    heat: f64,
    /// Log of attention: volume that no price move explains.
    crowd: f64,
    /// Cumulative log-returns, one for each day past.
    log_values: Vec<f64>,
}

impl NameState {
    fn start(stream: &mut KeyedStream) -> Self {
        Self {
            heat: HEAT_SD * stream.normal(),
            crowd: CROWD_SD * stream.normal(),
            log_values: Vec::new(),
        }
    }

    fn next(
        &mut self,
        stream: &mut KeyedStream,
        traits: &Traits,
        weather: &Weather,
        momentum_z: f64,
    ) -> Move {
        let innovation = |memory: f64, sd: f64| sd * (1.0 - memory * memory).sqrt();
        self.heat = HEAT_MEMORY * self.heat + innovation(HEAT_MEMORY, HEAT_SD) * stream.normal();
        self.crowd = CROWD_MEMORY * self.crowd + innovation(CROWD_MEMORY, CROWD_SD) * stream.normal();
        let news = self.news(stream);
        // Own volatility follows the market's, half as strongly; the last term keeps its mean square at own_sd.
        let own_sd =
            traits.own_sd * weather.variance.sqrt().sqrt() * libm::exp(self.heat - HEAT_SD * HEAT_SD);
        let (early, late) = (student_four(stream), student_four(stream));
        let sector = weather.sectors.get(traits.sector).copied().unwrap_or(0.0);
        let styles = weather.momentum * momentum_z
            + weather.risk * traits.risk_z
            + weather.illiquidity * traits.illiquidity_z;
        let late_share = (1.0 - OVERNIGHT_SHARE).sqrt();
        let market_sd = traits.beta * MARKET_SD;
        let session_variance = (market_sd * market_sd * (1.0 - OVERNIGHT_SHARE) + SECTOR_SD * SECTOR_SD)
            * weather.variance
            + own_sd * own_sd * (1.0 - OVERNIGHT_SHARE);
        let own_shock = OVERNIGHT_SHARE.sqrt() * early + late_share * late;
        Move {
            overnight: traits.overnight_mean
                + traits.beta * weather.overnight
                + own_sd * OVERNIGHT_SHARE.sqrt() * early
                + news,
            intraday: traits.beta * weather.intraday + sector + styles + own_sd * late_share * late
                - traits.overnight_mean
                + drift(traits),
            intraday_sd: session_variance.sqrt(),
            activity: self.crowd
                + 0.6 * self.heat
                + 0.36 * (own_shock.abs().min(6.0) - 0.75)
                + 0.18 * (weather.shock.min(6.0) - 0.75)
                + 0.1 * (weather.variance - 1.0).min(3.0)
                + 4.0 * news.abs().min(0.2)
                + 0.15 * stream.normal(),
        }
    }

    /// A jump overnight on rare days; the days after it are livelier.
    fn news(&mut self, stream: &mut KeyedStream) -> f64 {
        if stream.uniform() >= NEWS_PROBABILITY {
            return 0.0;
        }
        self.heat += 0.6;
        let size = NEWS_LEAST + NEWS_MEAN_EXCESS * exponential(stream);
        if stream.uniform() < NEWS_GOOD_SHARE {
            size
        } else {
            -size
        }
    }
}

/// The premium of the market, less half the variance (the mean of a log-return) and the mean of the news.
fn drift(traits: &Traits) -> f64 {
    let market_sd = traits.beta * MARKET_SD;
    let variance = market_sd * market_sd + SECTOR_SD * SECTOR_SD + traits.own_sd * traits.own_sd;
    let news = NEWS_PROBABILITY * (2.0 * NEWS_GOOD_SHARE - 1.0) * (NEWS_LEAST + NEWS_MEAN_EXCESS);
    traits.beta * MARKET_PREMIUM / DAYS_PER_YEAR - variance / 2.0 - news
}

/// Standardised 12-1 momentum of every name, within ±3; all 0 while the past is too short.
fn momentum_scores(states: &[NameState]) -> Vec<f64> {
    let past_return = |state: &NameState| {
        let at = |back: usize| {
            let place = state.log_values.len().checked_sub(back)?;
            state.log_values.get(place).copied()
        };
        Some(at(MOMENTUM_UNTIL)? - at(MOMENTUM_FROM)?)
    };
    let returns: Option<Vec<f64>> = states.iter().map(past_return).collect();
    let Some(returns) = returns else {
        return vec![0.0; states.len()];
    };
    standardised(&returns)
        .into_iter()
        .map(|score| score.clamp(-SCORE_CEILING, SCORE_CEILING))
        .collect()
}
