//! The highest scores as an account at the exchange of the simulation: lots, limits, T+1 and fees.

use ktd_env::exchange::{Account, Order, Quantity, Rules, Side, TargetWeight, TradingDay, step};
use ktd_env::{AmountTooLarge, DayIndex, Fen, Market, NameId};

/// The share of the account that is invested, as by built-in agents: what is left pays the fees.
const INVESTED_MILLIONTHS: u32 = 950_000;

/// The weight of one name that no rule refuses here.
const WHOLE_BILLIONTHS: u64 = 1_000_000_000;

/// An account that holds the names with the highest scores: at each open it sells what is no longer among them and buys what
/// is new, in equal weights, and leaves alone what it keeps.
#[derive(Debug, Clone)]
pub struct ExchangeHolding {
    rules: Rules,
    top: usize,
    share: TargetWeight,
}

/// The scores of one close, by which the next open trades; a name without one is not bought.
#[derive(Debug, Clone, PartialEq)]
pub struct CloseScores {
    /// The session of the close.
    pub as_of: DayIndex,
    /// Finite scores.
    pub scores: Vec<(NameId, f64)>,
}

/// What an account came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExchangePath {
    /// The return of each trading day, from close to close, and from the cash at the beginning.
    pub returns: Vec<f64>,
    /// Orders that traded.
    pub fills: usize,
    /// Orders that the exchange rejected.
    pub rejected: usize,
}

impl ExchangeHolding {
    /// An account of `cash` that holds `top` names, under the simulation's own rules but that one name may have any weight; none
    /// where `top` is 0 or so large that a name has no weight.
    #[must_use]
    pub fn new(top: usize, cash: Fen) -> Option<Self> {
        let count = u32::try_from(top).ok()?;
        let share = TargetWeight::from_millionths(INVESTED_MILLIONTHS.checked_div(count)?)?;
        let rules = Rules {
            initial_cash: cash,
            max_positions: count,
            max_single_weight_billionths: WHOLE_BILLIONTHS,
            ..Rules::default()
        };
        Some(Self { rules, top, share })
    }

    /// Trades some scores, each at the open of the session after its own.
    ///
    /// # Errors
    /// [`AmountTooLarge`] for an account that cannot be counted.
    pub fn path(&self, market: &Market, closes: &[CloseScores]) -> Result<ExchangePath, AmountTooLarge> {
        let mut account = Account::with_cash(self.rules.initial_cash);
        let mut path = ExchangePath::default();
        for close in closes {
            let day = market.day_at(close.as_of.index() + 1);
            let Some(day) = day.and_then(|day| TradingDay::new(market, day)) else {
                continue;
            };
            let orders = self.orders(&account, &close.scores);
            let before = account.nav.to_yuan();
            let (after, report) = step(&self.rules, account, &orders, &day)?;
            account = after;
            path.returns.push(account.nav.to_yuan() / before - 1.0);
            path.fills += report.filled_count();
            path.rejected += report.rejected_count();
        }
        Ok(path)
    }

    /// Sells, and then buys; nothing where there is no score.
    fn orders(&self, account: &Account, scores: &[(NameId, f64)]) -> Vec<Order> {
        let mut ranked = scores.to_vec();
        ranked.sort_by(|(a, x), (b, y)| y.total_cmp(x).then_with(|| a.cmp(b)));
        ranked.truncate(self.top);
        let wanted: Vec<NameId> = ranked.into_iter().map(|(name, _)| name).collect();
        let Some(nothing) = TargetWeight::from_millionths(0).filter(|_| !wanted.is_empty()) else {
            return Vec::new();
        };
        let order = |name: NameId, side: Side, target: TargetWeight| Order {
            name: Some(name),
            side,
            quantity: Quantity::TargetWeight(target),
        };
        let held: Vec<NameId> = account.holdings.iter().map(|held| held.name).collect();
        let sells = held.iter().filter(|name| !wanted.contains(name));
        let sells = sells.map(|name| order(*name, Side::Sell, nothing));
        let buys = wanted.iter().filter(|name| !held.contains(name));
        sells
            .chain(buys.map(|name| order(*name, Side::Buy, self.share)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_env::synth::{SynthConfig, generate};

    fn market() -> Market {
        generate(&SynthConfig {
            seed: 3,
            names: 30,
            days: 90,
        })
        .unwrap()
    }

    /// Scores of the sessions from 40 to 80 by what a name and a session say.
    fn closes(market: &Market, score: impl Fn(NameId, usize) -> Option<f64>) -> Vec<CloseScores> {
        let of = |session: usize| {
            let as_of = market.day_at(session)?;
            let date = market.date(as_of)?;
            let names = market.names().filter(|(name, _)| market.is_member(*name, date));
            let scores = names.filter_map(|(name, _)| Some((name, score(name, session)?)));
            Some(CloseScores {
                as_of,
                scores: scores.collect(),
            })
        };
        (40..80).filter_map(of).collect()
    }

    fn next_gain(market: &Market, name: NameId, session: usize) -> Option<f64> {
        let open = |session: usize| {
            let bar = market.bar(name, market.day_at(session)?)?;
            Some(bar.adjusted(bar.open.filter(|_| bar.trades_at_open())?))
        };
        Some(open(session + 2)? / open(session + 1)? - 1.0)
    }

    fn gain(path: &ExchangePath) -> f64 {
        path.returns.iter().map(|earned| 1.0 + earned).product::<f64>() - 1.0
    }

    #[test]
    fn foresight_earns_its_opposite_loses_and_a_day_late_it_is_gone() {
        let market = market();
        let holding = ExchangeHolding::new(5, Fen(100_000_000)).unwrap();
        let of = |sign: f64, late: usize| {
            let scores = closes(&market, |name, session| {
                Some(sign * next_gain(&market, name, session - late)?)
            });
            gain(&holding.path(&market, &scores).unwrap())
        };
        let on_time = of(1.0, 0);
        assert!(0.3 < on_time, "{on_time}");
        assert!(of(-1.0, 0) < -0.2);
        assert!(of(1.0, 1) < 0.2 * on_time);
    }

    #[test]
    fn a_constant_order_trades_once_and_the_account_follows_what_it_holds() {
        let market = market();
        let holding = ExchangeHolding::new(5, Fen(100_000_000)).unwrap();
        let scores = closes(&market, |name, _| {
            let place = market.names().position(|(known, _)| known == name)?;
            u32::try_from(place).ok().map(f64::from)
        });
        let path = holding.path(&market, &scores).unwrap();
        assert_eq!(path.returns.len(), 40);
        let least = 5;
        assert!(least <= path.fills && path.fills < 20, "{}", path.fills);
        // the first day pays fees, and every later one moves with five stocks
        assert!(path.returns.iter().all(|earned| earned.abs() < 0.1));
        let nothing = holding.path(&market, &closes(&market, |_, _| None)).unwrap();
        assert!(nothing.returns.iter().all(|earned| earned.abs() < f64::EPSILON) && nothing.fills == 0);
    }

    #[test]
    fn a_weight_must_be_left_for_each_name() {
        assert!(ExchangeHolding::new(0, Fen(1)).is_none());
        assert!(ExchangeHolding::new(20, Fen(1)).is_some());
    }
}
