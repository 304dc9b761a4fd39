//! An episode's score: its metrics, and where its return came from.

use super::benchmark::Benchmarks;
use super::episode_account::{DividendTax, EpisodeAccount};
use super::metric::BoardMetric;
use super::order_tally::OrderTally;
use crate::BoardError;
use ktd_attribution::account::{Attribution, DayBook, Part, WeightBasis, attribute};
use ktd_attribution::metric::{
    Forecast, Forecasts, NavPath, ToolValidity, WeightPath, ece, excess_return, hhi_invested,
    information_ratio, max_drawdown, sharpe_ratio, total_return, weight_change,
};
use ktd_attribution::model::FactorModel;
use ktd_bundle::bundle_ref::BundleRef;
use ktd_bundle::sent_settings::SentSettings;
use ktd_bundle::summary::{Metric, Summary};
use ktd_env::{DayIndex, Market};
use std::collections::{BTreeMap, BTreeSet};

/// What an episode earned, and from what.
#[derive(Debug, Clone)]
pub struct ScoredEpisode {
    /// What it is, and where.
    pub bundle: BundleRef,
    /// Its summary.
    pub summary: Summary,
    /// Its trading days.
    pub days: Vec<DayIndex>,
    /// Its metrics.
    pub metrics: BTreeMap<BoardMetric, Metric>,
    /// Its account, day by day.
    pub books: Vec<DayBook>,
    /// Its returns, split.
    pub attribution: Attribution,
    /// Net asset values at the closes over the initial cash.
    pub nav: Vec<f64>,
    /// Settings of generation as its requests name them.
    pub sent: SentSettings,
    /// What became of its orders.
    pub orders: OrderTally,
    /// Calls of the tool that submits during research.
    pub early_submissions: usize,
    /// Names of the models that answered, as the provider says.
    pub served_models: BTreeSet<String>,
    /// Stated confidences beside what happened, success signed by the side.
    pub forecasts: Vec<Forecast>,
}

impl ScoredEpisode {
    /// The score of an episode under a factor model.
    ///
    /// # Errors
    /// [`BoardError`] when its account cannot be split, naming the bundle.
    pub fn of(
        account: EpisodeAccount,
        market: &Market,
        model: &FactorModel,
        benchmarks: &Benchmarks,
    ) -> Result<Self, BoardError> {
        let refused = |what: String, hint: &str| {
            BoardError::input(format!("{}: {what}", account.bundle.root.display()), hint)
        };
        let attribution = attribute(&account.books, model.config().styles.len(), |day| model.day(day))
            .map_err(|error| refused(dated(&error.to_string(), market, &account.days), error.hint()))?;
        if let Some(gauge) = does_not_close(&attribution) {
            let root = account.bundle.root.display();
            let what = format!(
                "its account does not add up: a day's return is {gauge:.0e} from the sum of its parts, which no rounding reaches"
            );
            let hint = format!(
                "the record was changed: `ktd verify {root}` says where; take the folder from whoever made it"
            );
            return Err(refused(what, &hint));
        }
        let path = NavPath::new(account.initial_cny, &account.nav_cny)
            .map_err(|error| refused(error.to_string(), error.hint()))?;
        let forecasts: Vec<Forecast> = account
            .forecasts
            .iter()
            .map(|forecast| Forecast {
                step: forecast.step,
                confidence: forecast.confidence,
                success: forecast.came_true(),
            })
            .collect();
        let mut metrics = recorded(&account.summary).ok_or_else(|| {
            let what = "it has no private/summary.json, which holds the account's metrics".to_owned();
            refused(what, "run the experiment again, or leave the bundle out")
        })?;
        metrics.extend(beside_benchmarks(&path, benchmarks, &account.days));
        metrics.extend(of_weights(&account));
        let other_fees = Metric::of(Ok(account.other_fees_cny / account.initial_cny));
        metrics.insert(BoardMetric::FeeDragOtherSchedule, other_fees);
        let (key, tax_cny) = match account.dividend_tax {
            DividendTax::Paid(cny) => (BoardMetric::DividendTax, cny),
            DividendTax::AtMost(cny) => (BoardMetric::DividendTaxAtMost, cny),
        };
        metrics.insert(key, Metric::of(Ok(tax_cny / account.initial_cny)));
        metrics.extend(of_calibration(&account, &forecasts));
        Ok(Self {
            nav: relative(&path),
            sent: account.sent,
            orders: account.orders,
            early_submissions: account.early_submissions,
            served_models: account.served_models,
            summary: account.summary,
            days: account.days,
            books: account.books,
            bundle: account.bundle,
            metrics,
            attribution,
            forecasts,
        })
    }
}

impl ScoredEpisode {
    /// Whether the account ever held a position.
    #[must_use]
    pub fn held_anything(&self) -> bool {
        let mut held = self.books.iter().flat_map(|book| &book.held);
        held.any(|held| 0.0 < held.before_cny || 0.0 < held.after_cny)
    }

    /// Whether any of its returns could be split: none is where the factor model can be fitted on no day, for want of names.
    #[must_use]
    pub fn is_split(&self) -> bool {
        let parts = self.attribution.parts(WeightBasis::HEADLINE);
        parts.daily(Part::Common).any(|common| 0.0 < common.abs())
    }
}

/// How far a day's return is from the sum of its parts, where that is more than rounding.
fn does_not_close(attribution: &Attribution) -> Option<f64> {
    const ROUNDING: f64 = 1e-9;
    let gauges = WeightBasis::ALL.map(|basis| attribution.gauge(basis));
    gauges.into_iter().find(|gauge| ROUNDING < *gauge)
}

/// The metrics of a portfolio that is no episode: a reference, or a file of the user's own.
///
/// # Errors
/// [`BoardError`] when a net asset value is not above 0.
pub(super) fn portfolio_metrics(
    path: &NavPath<'_>,
    benchmarks: &Benchmarks,
    days: &[DayIndex],
) -> BTreeMap<BoardMetric, Metric> {
    let own = [
        (BoardMetric::TotalReturn, Metric::of(total_return(path))),
        (BoardMetric::SharpeRatio, Metric::of(sharpe_ratio(path))),
        (BoardMetric::MaxDrawdown, Metric::of(max_drawdown(path))),
    ];
    let mut metrics = BTreeMap::from(own);
    metrics.extend(beside_benchmarks(path, benchmarks, days));
    metrics
}

/// Net asset values over the initial cash.
pub(super) fn relative(path: &NavPath<'_>) -> Vec<f64> {
    path.closes().iter().map(|close| close / path.initial()).collect()
}

/// What the summary holds, by name; `None` where it has no account.
fn recorded(summary: &Summary) -> Option<BTreeMap<BoardMetric, Metric>> {
    let (metrics, account) = (&summary.metrics, summary.account.as_ref()?);
    let all = [
        (BoardMetric::TotalReturn, &account.total_return),
        (BoardMetric::SharpeRatio, &account.sharpe_ratio),
        (BoardMetric::MaxDrawdown, &account.max_drawdown),
        (BoardMetric::Turnover, &account.turnover),
        (BoardMetric::Hhi, &account.hhi),
        (BoardMetric::CashRatio, &account.cash_ratio),
        (BoardMetric::Abstention, &metrics.abstention),
        (BoardMetric::ParseFailure, &metrics.parse_failure),
        (BoardMetric::ParseFailureStrict, &metrics.parse_failure_strict),
        (BoardMetric::RuleBreach, &metrics.rule_breach),
        (BoardMetric::FeeDrag, &account.fee_drag),
    ];
    let named = all.into_iter();
    Some(named.map(|(name, metric)| (name, metric.clone())).collect())
}

/// The metrics against the benchmark of total return.
pub(super) const AGAINST_TOTAL_RETURN: [BoardMetric; 2] =
    [BoardMetric::ExcessReturn, BoardMetric::InformationRatio];

/// The same against the price index.
pub(super) const AGAINST_PRICE_INDEX: [BoardMetric; 2] = [
    BoardMetric::ExcessReturnPriceIndex,
    BoardMetric::InformationRatioPriceIndex,
];

fn beside_benchmarks(
    path: &NavPath<'_>,
    benchmarks: &Benchmarks,
    days: &[DayIndex],
) -> impl Iterator<Item = (BoardMetric, Metric)> + use<> {
    let total_return = beside(path, benchmarks.total_return.over(days));
    let price_index = beside(path, benchmarks.price_index_over(days));
    let keyed = AGAINST_TOTAL_RETURN.into_iter().zip(total_return);
    keyed.chain(AGAINST_PRICE_INDEX.into_iter().zip(price_index))
}

/// Excess return and information ratio.
fn beside(path: &NavPath<'_>, benchmark: Result<Vec<f64>, String>) -> [Metric; 2] {
    let figures = benchmark.and_then(|returns| {
        let benchmark = path.benchmark(&returns).map_err(|error| error.to_string())?;
        Ok((
            Metric::of(excess_return(&benchmark)),
            Metric::of(information_ratio(&benchmark)),
        ))
    });
    let (excess, ratio) =
        figures.unwrap_or_else(|reason| (Metric::missing(reason.clone()), Metric::missing(reason)));
    [excess, ratio]
}

/// Metrics of the weights at the closes.
fn of_weights(account: &EpisodeAccount) -> [(BoardMetric, Metric); 2] {
    let (invested, change) = WeightPath::new(&account.weights).map_or_else(
        |error| {
            (
                Metric::missing(error.to_string()),
                Metric::missing(error.to_string()),
            )
        },
        |weights| {
            (
                Metric::of(hhi_invested(&weights)),
                Metric::of(weight_change(&weights)),
            )
        },
    );
    [
        (BoardMetric::HhiInvested, invested),
        (BoardMetric::WeightChange, change),
    ]
}

fn of_calibration(account: &EpisodeAccount, forecasts: &[Forecast]) -> [(BoardMetric, Metric); 3] {
    let of = |forecasts: &[Forecast]| match Forecasts::new(forecasts) {
        Ok(forecasts) => Metric::of(ece(&forecasts)),
        Err(error) => Metric::missing(error.to_string()),
    };
    let buys: Vec<Forecast> = account
        .forecasts
        .iter()
        .zip(forecasts)
        .filter(|(own, _)| own.is_buy)
        .map(|(_, forecast)| *forecast)
        .collect();
    let counters = &account.summary.counters;
    let small = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let tools = ToolValidity {
        answered: small(counters.tool_calls_ok),
        refused: small(counters.tool_calls_refused.values().sum()),
    };
    [
        (BoardMetric::Ece, of(forecasts)),
        (BoardMetric::EceBuys, of(&buys)),
        (BoardMetric::ToolValidity, Metric::of(tools.rate())),
    ]
}

/// An error's text, with the date beside the place of a day.
fn dated(text: &str, market: &Market, days: &[DayIndex]) -> String {
    let day = days.iter().find(|day| {
        text.starts_with(&format!("day {} ", day.index()))
            || text.starts_with(&format!("day {}:", day.index()))
    });
    match day.and_then(|day| market.date(*day)) {
        Some(date) => format!("{} ({text})", date.reveal()),
        None => text.to_owned(),
    }
}
