//! What a name is like: size, risk, liquidity and price at the start. Nothing here changes with the days.

use super::draws::{standardised, uniform_between, whole};
use super::events::{Life, Part};
use super::names::Identity;
use crate::seed::KeyedStream;
use crate::ticker::Board;

/// One name's constants.
#[derive(Debug, Clone)]
pub(super) struct Traits {
    /// Place in the list of sectors.
    pub(super) sector: usize,
    /// Loading on the market.
    pub(super) beta: f64,
    /// Daily standard deviation of the name's own part of the log-return.
    pub(super) own_sd: f64,
    /// Mean overnight log-return; the day's session gives it back.
    pub(super) overnight_mean: f64,
    /// Standardised level of the name's own risk.
    pub(super) risk_z: f64,
    /// Standardised illiquidity: low size and low turnover.
    pub(super) illiquidity_z: f64,
    /// Yuan a share at the start.
    pub(super) first_price_yuan: f64,
    /// Free-float shares at the start.
    pub(super) shares: i64,
    /// Ordinary share of the free float that changes hands a day.
    pub(super) turnover: f64,
    /// Cumulative adjustment factor at the start, millionths; 1,000,000 at listing.
    pub(super) factor_millionths: u64,
}

/// Median free-float value, CNY.
const MEDIAN_SIZE_CNY: f64 = 30.0e9;
const SIZE_LOG_SD: f64 = 1.0;
const MEDIAN_OWN_SD: f64 = 0.0165;
const MEDIAN_TURNOVER: f64 = 0.014;
const MEDIAN_PRICE_YUAN: f64 = 20.0;
const PRICE_LOG_SD: f64 = 0.85;
/// Overnight returns are negative in the mean on a T+1 market (Qiao and Dam, 2020); about -9 % a year here.
const OVERNIGHT_MEAN: f64 = -0.00035;
const OVERNIGHT_MEAN_SD: f64 = 0.0003;
/// The adjustment factor's growth with the years since listing, from dividends of the past.
const FACTOR_GROWTH_PER_YEAR: f64 = 0.04;

/// Draws the constants of all names.
pub(super) fn traits(seed: u64, identities: &[Identity], lives: &[Life]) -> Vec<Traits> {
    let mut stream = KeyedStream::for_purpose(seed, "synth traits");
    let mut traits: Vec<Traits> = identities
        .iter()
        .zip(lives)
        .map(|(identity, life)| one(&mut stream, identity, life))
        .collect();
    let log_risk: Vec<f64> = traits.iter().map(|of| libm::log(of.own_sd)).collect();
    let log_illiquidity: Vec<f64> = traits.iter().map(Traits::log_illiquidity).collect();
    let scores = standardised(&log_risk)
        .into_iter()
        .zip(standardised(&log_illiquidity));
    for (of, (risk_z, illiquidity_z)) in traits.iter_mut().zip(scores) {
        of.risk_z = risk_z;
        of.illiquidity_z = illiquidity_z;
    }
    traits
}

fn one(stream: &mut KeyedStream, identity: &Identity, life: &Life) -> Traits {
    let size = stream.normal();
    let is_growth_board = matches!(identity.board(), Board::ChiNext | Board::Star);
    let log_risk = 0.26 * stream.normal() - 0.05 * size + if is_growth_board { 0.15 } else { 0.0 };
    let log_turnover = 0.5 * stream.normal() - 0.25 * size;
    let ordinary_price = (MEDIAN_PRICE_YUAN * libm::exp(PRICE_LOG_SD * stream.normal())).clamp(2.2, 180.0);
    let first_price_yuan = match life.part {
        Part::Ordinary | Part::Newcomer => ordinary_price,
        Part::Doomed => uniform_between(stream, 1.8, 2.6),
        Part::Troubled => uniform_between(stream, 2.2, 6.0),
        Part::Penny => uniform_between(stream, 0.7, 0.95),
        Part::Lofty => uniform_between(stream, 450.0, 1500.0),
    };
    // Names in trouble are small.
    let size = match life.part {
        Part::Doomed | Part::Troubled | Part::Penny => -size.abs() - 0.5,
        Part::Ordinary | Part::Newcomer | Part::Lofty => size,
    };
    let size_cny = MEDIAN_SIZE_CNY * libm::exp(SIZE_LOG_SD * size);
    let growth = FACTOR_GROWTH_PER_YEAR * life.age_years * (0.4 + 1.2 * stream.uniform());
    Traits {
        sector: identity.sector,
        beta: (1.0 + 0.25 * stream.normal()).clamp(0.4, 1.7),
        own_sd: MEDIAN_OWN_SD * libm::exp(log_risk),
        overnight_mean: OVERNIGHT_MEAN + OVERNIGHT_MEAN_SD * stream.normal(),
        risk_z: 0.0,
        illiquidity_z: 0.0,
        first_price_yuan,
        shares: whole(size_cny / first_price_yuan / 10_000.0).max(1) * 10_000,
        turnover: MEDIAN_TURNOVER * libm::exp(log_turnover),
        factor_millionths: u64::try_from(whole(1.0e6 * libm::exp(growth))).unwrap_or(1_000_000),
    }
}

impl Traits {
    fn log_illiquidity(&self) -> f64 {
        let value_cny = super::draws::float(self.shares) * self.first_price_yuan * self.turnover;
        -libm::log(value_cny)
    }
}
