//! A seeded, fictitious A-share market: the program's embedded default.
//!
//! Every code, company, price and date of it is invented. Codes come from ranges that the exchanges have not given
//! to companies (SH604, SZ004, SZ3025-3029, SH6892-6899), companies are two rare syllables and a trade, and the index
//! [`INDEX_CODE`] does not exist. Boards are mixed about 62 % MAIN, 26 % `ChiNext` and 12 % STAR over ten sectors.
//!
//! What it resembles (tested as stylised facts, bounds in the tests): daily returns with fat tails, no memory, and
//! volatility that clusters; a common factor with a mean pairwise correlation about 0.25; negative overnight and
//! positive intraday means, as on a T+1 market; volume that persists and follows |return|; whole fen, the exact
//! limits of each board, boards of one price, halts with and without rows, ex-dates, listings, delistings, ST names
//! and semiannual index reviews. Three of the nine factors carry a small premium: momentum +4 % a year for one
//! standard deviation, own risk −3 %, illiquidity +4 %. Against the noise of one window that is little: a single
//! episode need not show it.
//!
//! What it does not resemble: there are no fundamentals, no news text, no reaction of prices to orders.
//!
//! Knows: market, exchange rules, keyed chance. Never knows: files, clocks, real companies.

mod calendar;
mod draws;
mod events;
#[cfg(test)]
mod facts;
mod index;
mod names;
#[cfg(test)]
mod panel_facts;
mod prices;
mod returns;
mod traits;

use crate::day::DateSpan;
use crate::decimal::Decimal;
use crate::exchange::Rules;
use crate::market::{DataError, Market, MarketBuilder, PanelOptions, PriceBasis, RawBar, VolumeBasis};
use crate::seed::KeyedStream;
use calendar::Session;
use events::Life;
use names::Identity;
use prices::SynthBar;

/// The invented index's code. No index of the exchanges is called so; the real ones of Shanghai start with 000.
pub const INDEX_CODE: &str = "SH009999";

/// Most names of a synthetic market: what the unused code ranges hold at the boards' shares.
pub const MAX_NAMES: u32 = 1_500;

/// Most days of a synthetic market, about eight years.
pub const MAX_DAYS: u32 = 2_000;

/// Least days of a synthetic market: an as-of day and a day to trade on.
pub const MIN_DAYS: u32 = 2;

/// What to generate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SynthConfig {
    /// Decides everything; the same seed, names and days give the same bytes on every machine.
    pub seed: u64,
    /// Names, those listed or delisted on the way included; 1 to [`MAX_NAMES`].
    pub names: u32,
    /// Trading days from 2022-01-04; [`MIN_DAYS`] to [`MAX_DAYS`]. The longest factor needs 252 of them to start.
    pub days: u32,
}

impl Default for SynthConfig {
    /// The market of the demonstration: 300 names over 800 days, 548 of them after the factors' start.
    fn default() -> Self {
        Self {
            seed: 19,
            names: 300,
            days: 800,
        }
    }
}

/// Why a synthetic market cannot be generated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SynthError {
    /// A number of names out of range.
    #[error("a synthetic market of {names} names cannot be generated: 1 to {MAX_NAMES} are possible")]
    Names {
        /// The names asked for.
        names: u32,
    },
    /// A number of days out of range.
    #[error("a synthetic market of {days} days cannot be generated: {MIN_DAYS} to {MAX_DAYS} are possible")]
    Days {
        /// The days asked for.
        days: u32,
    },
    /// The generated rows were refused: a defect of the generator, not of the configuration.
    #[error("the generated rows make no panel: {source}")]
    Panel {
        /// What the panel found.
        #[from]
        source: DataError,
    },
}

impl SynthError {
    /// How to fix it.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Names { .. } => {
                "set `names` to 300, the default, or to another number within the range; the attribution needs some 30 or more"
            }
            Self::Days { .. } => {
                "set `days` to 800, the default, or to another number within the range; the factors need 252 before the first window"
            }
            Self::Panel { .. } => "report this with the configuration; another seed may work meanwhile",
        }
    }
}

/// Generates the market of a configuration.
///
/// Prices are on basis raw with cumulative factors (1 at listing), volumes in shares, turnover in CNY, on a declared
/// calendar, with sectors, listing dates, ST dates, index membership and one index.
///
/// # Errors
/// [`SynthError`] when names or days are out of range.
pub fn generate(config: &SynthConfig) -> Result<Market, SynthError> {
    if !(1..=MAX_NAMES).contains(&config.names) {
        return Err(SynthError::Names { names: config.names });
    }
    if !(MIN_DAYS..=MAX_DAYS).contains(&config.days) {
        return Err(SynthError::Days { days: config.days });
    }
    let size = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    let seed = config.seed;
    let sessions = calendar::sessions(size(config.days));
    let identities = names::identities(seed, size(config.names));
    let lives = events::lives(seed, &identities, &sessions);
    let traits = traits::traits(seed, &identities, &lives);
    let moves = returns::simulate(seed, &traits, sessions.len());
    let rules = Rules::default();
    let mut stream = KeyedStream::for_purpose(seed, "synth prices");
    let paths: Vec<Vec<SynthBar>> = identities
        .iter()
        .zip(&traits)
        .zip(&lives)
        .zip(&moves)
        .map(|(((identity, traits), life), moves)| {
            prices::path(&mut stream, &rules, (identity, traits, life), (&sessions, moves))
        })
        .collect();
    let market = assemble(config, &sessions, &identities, &lives, &paths)?;
    Ok(market)
}

fn assemble(
    config: &SynthConfig,
    sessions: &[Session],
    identities: &[Identity],
    lives: &[Life],
    paths: &[Vec<SynthBar>],
) -> Result<Market, DataError> {
    let mut builder = MarketBuilder::new(PanelOptions {
        basis: PriceBasis::Raw,
        volume: VolumeBasis::Real,
        has_factors: true,
        has_amounts: true,
        calendar: Some(sessions.iter().map(|session| session.date).collect()),
    });
    let values: Vec<index::Values> = paths
        .iter()
        .map(|bars| index::values(bars, sessions.len()))
        .collect();
    let stretches = index::memberships(lives, &values, sessions);
    let span = |stretch| index::span(sessions, stretch);
    let facts = identities.iter().zip(lives).zip(paths).zip(&stretches);
    for (((identity, life), bars), stretches) in facts {
        add_rows(&mut builder, identity, sessions, bars)?;
        let members = stretches.iter().filter_map(|stretch| span(*stretch)).collect();
        declare(&mut builder, identity, life, life.st.and_then(span), members);
        if let Some(last) = sessions.get(life.last_day) {
            builder.declare_last_row(identity.ticker, last.date);
        }
    }
    builder.add_index(INDEX_CODE, index::levels(&stretches, &values, sessions));
    builder.add_note(format!(
        "synthetic market of seed {}: every code, company, price and date is invented",
        config.seed
    ));
    builder.build().map(|(market, _)| market)
}

fn declare(
    builder: &mut MarketBuilder,
    identity: &Identity,
    life: &Life,
    st: Option<DateSpan>,
    members: Vec<DateSpan>,
) {
    builder.add_company_name(identity.ticker, &identity.chinese_name);
    builder.add_company_name(identity.ticker, &identity.english_name);
    if let Some(sector) = names::SECTORS.get(identity.sector) {
        builder.set_sector(identity.ticker, sector.label);
    }
    builder.set_listed(identity.ticker, life.listed);
    if let Some(span) = st {
        builder.add_st(identity.ticker, span);
    }
    for span in members {
        builder.add_member(identity.ticker, span);
    }
}

fn add_rows(
    builder: &mut MarketBuilder,
    identity: &Identity,
    sessions: &[Session],
    bars: &[SynthBar],
) -> Result<(), DataError> {
    const FEN_PLACES: u8 = 2;
    const FACTOR_PLACES: u8 = 6;
    let price = |fen: i64| u64::try_from(fen).ok().and_then(|fen| decimal(fen, FEN_PLACES));
    for (bar, number) in bars.iter().zip(1_u64..) {
        let Some(session) = sessions.get(bar.day) else {
            continue;
        };
        let row = RawBar {
            open: price(bar.open_fen),
            high: price(bar.high_fen),
            low: price(bar.low_fen),
            close: price(bar.close_fen),
            volume: u64::try_from(bar.volume)
                .ok()
                .and_then(|shares| decimal(shares, 0)),
            amount_cny: Some(bar.amount_cny),
            factor: decimal(bar.factor_millionths, FACTOR_PLACES),
            change_percent: None,
            suspended: bar.volume == 0,
        };
        builder.add_row("synthetic", number, identity.ticker, session.date, &row)?;
    }
    Ok(())
}

/// `units / 10^places` without trailing zeros, as equal decimals must be equal.
fn decimal(mut units: u64, mut places: u8) -> Option<Decimal> {
    while places > 0 && units.is_multiple_of(10) {
        units /= 10;
        places -= 1;
    }
    Decimal::from_stored(units, places)
}
