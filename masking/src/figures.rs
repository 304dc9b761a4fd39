//! The door for numbers: how much of a price, a return, a score or an amount a mask shows.

use crate::cross_section_rank::CrossSectionRank;
use crate::mask::Mask;
use crate::masked_number::MaskedNumber;
use crate::numeric::{FactorScale, Fineness, Numeric};
use crate::payload::Payload;
use crate::rounding::{FIFTIETH, Grain, HUNDREDTH, Rounding, TWENTIETH};
use ktd_env::exchange::TargetWeight;
use ktd_env::factors::{Factor, Technical};
use ktd_env::{AsOf, DaysBack, Fen, NameId, Shares};

/// Prices, volumes and factors.
impl Mask {
    /// Terms in which factors are shown.
    #[must_use]
    pub const fn scale(&self) -> FactorScale {
        self.settings.numeric.scale()
    }

    /// Whether a name's trading is shown: suspensions, closes at a price limit, special treatment, corporate actions.
    #[must_use]
    pub fn shows_trading(&self) -> bool {
        self.scale() != FactorScale::Bands
    }

    /// A price of a name, exact to the fen because orders are computed from it. `adjusted_yuan` is its total-return price
    /// (real price x factor).
    ///
    /// `exact` shows yuan in terms of the as-of day (so that the as-of close is the real close and no ex-date gap
    /// shows in bars); `rescaled` shows points with 100 at the last close on or before the episode's origin, or at
    /// the first close of a later listing; the rounded settings show those points on their grid. `null` where no prices
    /// are shown.
    #[must_use]
    pub fn price(&self, as_of: &AsOf<'_>, name: NameId, adjusted_yuan: f64) -> Payload {
        if self.settings.numeric == Numeric::Exact {
            let factor = as_of.last_bar(name).map_or(1.0, |(_, bar)| bar.factor_value);
            return Payload::number(adjusted_yuan / factor, 2);
        }
        self.points(
            self.origin_price(as_of, name)
                .map(|base| adjusted_yuan / base * 100.0),
        )
    }

    pub(crate) fn origin_price(&self, as_of: &AsOf<'_>, name: NameId) -> Option<f64> {
        let back = as_of.day().index().checked_sub(self.origin.index())?;
        let origin = as_of.past_day(DaysBack(u32::try_from(back).ok()?))?;
        let bar = as_of
            .last_bar_by(name, origin)
            .or_else(|| as_of.first_bar(name))?;
        Some(bar.adjusted_close())
    }

    fn points(&self, points: Option<f64>) -> Payload {
        let shown = points.and_then(|points| match self.settings.numeric.fineness() {
            Fineness::True => Some((points, 2)),
            Fineness::Rounded(rounding) => rounding.points(points),
            Fineness::Hidden => None,
        });
        shown.map_or_else(Payload::null, |(points, decimals)| {
            Payload::number(points, decimals)
        })
    }

    /// An index level.
    #[must_use]
    pub fn index_level(&self, as_of: &AsOf<'_>, points: f64) -> Payload {
        if self.settings.numeric == Numeric::Exact {
            return Payload::number(points, 2);
        }
        let back = as_of.day().index().checked_sub(self.origin.index());
        let base = back
            .and_then(|back| u32::try_from(back).ok())
            .and_then(|back| as_of.index_close(DaysBack(back)));
        self.points(base.map(|base| points / base * 100.0))
    }

    /// A volume of one day in shares, given the mean of the 20 days up to the as-of day: in thousands of shares with
    /// four significant digits, or as a multiple of that mean from `rescaled` on. No order is computed from it.
    #[must_use]
    pub fn volume(&self, shares: f64, mean_20d: f64) -> Payload {
        if self.settings.numeric == Numeric::Exact {
            return MaskedNumber::significant(shares / 1000.0).into();
        }
        if mean_20d <= 0.0 {
            return Payload::null();
        }
        self.shown(shares / mean_20d, MaskedNumber::share, |rounding| {
            rounding.multiple
        })
    }

    /// The raw value of a factor; `None` where it is hidden. From `rescaled` on the one factor with a unit (turnover in
    /// CNY) is; its z-score stays visible.
    #[must_use]
    pub fn factor(&self, factor: Factor, raw: f64) -> Option<MaskedNumber> {
        if !self.shows_raw(factor) {
            return None;
        }
        match self.settings.numeric.fineness() {
            Fineness::True => Some(MaskedNumber::significant(raw)),
            Fineness::Rounded(rounding) => Some(MaskedNumber::gridded(rounding.factor(factor, raw))),
            Fineness::Hidden => None,
        }
    }

    /// Whether the raw values of a factor may be shown, and so also be asked about.
    #[must_use]
    pub fn shows_raw(&self, factor: Factor) -> bool {
        match self.settings.numeric {
            Numeric::Exact => true,
            Numeric::Rescaled | Numeric::RoundedTenth | Numeric::RoundedHalf => factor != Factor::Illiq,
            Numeric::Ranked | Numeric::BandedFive | Numeric::Banded => false,
        }
    }

    /// A factor's z-score; `None` where factors are shown in other terms.
    #[must_use]
    pub fn score(&self, z: f64) -> Option<MaskedNumber> {
        self.number(z, MaskedNumber::score, |rounding| rounding.multiple)
    }

    /// A technical's value; `None` where technicals are hidden or shown as percentiles.
    #[must_use]
    pub fn technical(&self, technical: Technical, value: f64) -> Option<MaskedNumber> {
        match self.settings.numeric.fineness() {
            Fineness::True => Some(MaskedNumber::compact(value)),
            Fineness::Rounded(rounding) => Some(MaskedNumber::gridded(rounding.technical(technical, value))),
            Fineness::Hidden => None,
        }
    }

    /// A percentile among the index members, 0 the lowest and 100 the highest, with one decimal; `None` where factors are
    /// shown in other terms.
    #[must_use]
    pub fn percentile(&self, rank: CrossSectionRank) -> Option<MaskedNumber> {
        let tenths = u32::try_from(rank.percentile_tenths()).ok()?;
        (self.scale() == FactorScale::Percentiles).then(|| MaskedNumber::gridded(f64::from(tenths) / 10.0))
    }
}

/// Figures of the market as a whole.
impl Mask {
    /// A return, a drawdown, a volatility or a dispersion of the index, a board or a sector.
    #[must_use]
    pub fn market_rate(&self, value: Option<f64>) -> Payload {
        value.map_or_else(Payload::null, |value| {
            self.shown(value, MaskedNumber::fraction, |rounding| rounding.rate)
        })
    }

    /// A share of a group's names.
    #[must_use]
    pub fn market_share(&self, share: Option<f64>) -> Payload {
        share.map_or_else(Payload::null, |share| {
            self.shown(share, MaskedNumber::share, |rounding| rounding.share)
        })
    }

    /// How many names of the market there are of a kind; `None` where even that would tell the day.
    #[must_use]
    pub fn market_count(&self, count: usize) -> Option<Payload> {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        (self.scale() != FactorScale::Bands).then(|| Payload::integer(count))
    }

    /// The place of a board or a sector among its kind, 1 the highest, given how many stand higher; `null` where values are
    /// shown or nothing is.
    #[must_use]
    pub fn market_rank(&self, higher: Option<usize>) -> Payload {
        let rank = higher.and_then(|higher| i64::try_from(higher.saturating_add(1)).ok());
        rank.filter(|_| self.scale() == FactorScale::Percentiles)
            .map_or_else(Payload::null, Payload::integer)
    }

    /// Trading days since a name last traded; `null` for none, and where trading is not shown.
    #[must_use]
    pub fn stale_days(&self, days: usize) -> Payload {
        let days = i64::try_from(days).unwrap_or(i64::MAX);
        if 0 < days && self.shows_trading() {
            Payload::integer(days)
        } else {
            Payload::null()
        }
    }
}

/// Figures of the account, which tell prices as soon as something is held.
impl Mask {
    /// Money of the account, exact to the fen because orders are computed from it. From `rescaled` on it is rounded to some
    /// basis points of the initial cash, because a position is a whole number of lots and its exact value would tell the
    /// price. `null` where nothing of the market is shown but bands: NAV follows the market, and its path over an episode
    /// tells the days however it is rounded.
    #[must_use]
    pub fn money(&self, amount: Fen) -> Payload {
        if self.scale() == FactorScale::Bands {
            return Payload::null();
        }
        let shown = self.grain.map_or(amount, |grain| {
            let grains = (amount.0 + amount.0.signum() * grain.0 / 2) / grain.0;
            Fen(grains * grain.0)
        });
        Payload::number(shown.to_yuan(), 2)
    }

    /// A fee; `null` where it is far below the grain of money, so that nobody reads it as free.
    #[must_use]
    pub fn fee(&self, amount: Fen) -> Payload {
        match self.settings.numeric.fineness() {
            Fineness::True => self.money(amount),
            Fineness::Rounded(_) | Fineness::Hidden => Payload::null(),
        }
    }

    /// A portfolio weight (value over NAV), or what is made of weights (turnover, concentration), with four decimals: finer than an order needs, and too coarse to tell under
    /// `rescaled` what [`Mask::money`] hides. Coarser from the rounded settings on.
    #[must_use]
    pub fn weight(&self, weight: f64) -> Payload {
        let coarsest = match self.settings.numeric.scale() {
            FactorScale::Bands => FIFTIETH,
            FactorScale::Values | FactorScale::Percentiles => HUNDREDTH,
        };
        Payload::number(self.grained(weight, |rounding| rounding.weight, coarsest), 4)
    }

    /// Whether a target weight may be ordered or tried: where weights are rounded it has to lie on a grid of its own.
    ///
    /// The rules answer a target with the side of the current weight it lies on, and with whether it makes a lot. Targets of
    /// six decimals would so find out, digit by digit, what [`Mask::weight`] and [`Mask::price`] hide.
    #[must_use]
    pub const fn takes(&self, weight: TargetWeight) -> bool {
        weight
            .millionths()
            .is_multiple_of(self.settings.numeric.weight_step_millionths())
    }

    /// What target weights have to be multiples of; `null` where any weight may be ordered.
    #[must_use]
    pub fn weight_step(&self) -> Payload {
        match self.settings.numeric.weight_step_millionths() {
            1 => Payload::null(),
            step => Payload::number(f64::from(step) / 1e6, 6),
        }
    }

    /// The return of a holding on its cost; `null` where nothing of the market is shown but bands.
    #[must_use]
    pub fn unrealised_return(&self, value: f64) -> Payload {
        self.own_return(value, TWENTIETH)
    }

    /// The account's return of one day; `null` where nothing of the market is shown but bands.
    #[must_use]
    pub fn nav_return(&self, value: f64) -> Payload {
        self.own_return(value, HUNDREDTH)
    }

    fn own_return(&self, value: f64, coarsest: Grain) -> Payload {
        if self.scale() == FactorScale::Bands {
            return Payload::null();
        }
        Payload::number(self.grained(value, |rounding| rounding.rate, coarsest), 4)
    }

    /// A share count; `null` but under `exact`.
    #[must_use]
    pub fn shares(&self, shares: Shares) -> Payload {
        match self.settings.numeric {
            Numeric::Exact => Payload::integer(shares.0),
            Numeric::Rescaled
            | Numeric::RoundedTenth
            | Numeric::RoundedHalf
            | Numeric::Ranked
            | Numeric::BandedFive
            | Numeric::Banded => Payload::null(),
        }
    }

    /// On the grid of a rounded setting, on the coarsest where the market's own numbers are hidden.
    fn grained(&self, value: f64, grain: impl Fn(&Rounding) -> Grain, coarsest: Grain) -> f64 {
        match self.settings.numeric.fineness() {
            Fineness::True => value,
            Fineness::Rounded(rounding) => grain(rounding).nearest(value),
            Fineness::Hidden => coarsest.nearest(value),
        }
    }

    fn number(
        &self,
        value: f64,
        kind: impl Fn(f64) -> MaskedNumber,
        grain: impl Fn(&Rounding) -> Grain,
    ) -> Option<MaskedNumber> {
        match self.settings.numeric.fineness() {
            Fineness::True => Some(kind(value)),
            Fineness::Rounded(rounding) => Some(MaskedNumber::gridded(grain(rounding).nearest(value))),
            Fineness::Hidden => None,
        }
    }

    fn shown(
        &self,
        value: f64,
        kind: impl Fn(f64) -> MaskedNumber,
        grain: impl Fn(&Rounding) -> Grain,
    ) -> Payload {
        Payload::optional(self.number(value, kind, grain))
    }
}
