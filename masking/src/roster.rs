//! The stocks that `banded` shows in one period, and all that it shows of them.

use crate::cross_section_rank::{RankedValues, score};
use crate::groups::Groups;
use crate::key::MaskKey;
use crate::masked_number::MaskedNumber;
use crate::numeric::Numeric;
use crate::payload::Payload;
use ktd_env::factors::Factor;
use ktd_env::{AsOf, NameId};
use std::sync::Arc;

/// Trading days of a period, a trading week. At the first step of each, all stocks are shown anew, under ids that were never
/// shown before: groups of today tell more of tomorrow than those of a month ago, and an attacker who knows no stock and no day
/// learns as little from many short periods as from few long ones.
pub const PERIOD_DAYS: usize = 5;

/// A stock as it is shown in a period: an id, and the group that its bands are those of.
///
/// It keeps both for as long as an account has it, so that an id is shown one row of bands and never another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownStock {
    id: Arc<str>,
    name: NameId,
    group: usize,
}

impl ShownStock {
    /// Its id, as text.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The name behind it, for the exchange and for controls.
    #[must_use]
    pub const fn name(&self) -> NameId {
        self.name
    }

    /// Its group, 0-based.
    #[must_use]
    pub const fn group(&self) -> usize {
        self.group
    }

    /// Its id as a model sees it.
    #[must_use]
    pub fn payload(&self) -> Payload {
        Payload::shown(self.id.as_ref().to_owned())
    }
}

/// The stocks of one period in the order of their ids. How many there are, and how many of each group, is the same in every
/// period of every episode on a panel.
#[derive(Debug, Clone)]
pub struct Roster {
    /// 0-based.
    period: usize,
    stocks: Vec<ShownStock>,
    groups: &'static Groups,
}

impl Roster {
    /// Which period it is of, 0-based.
    #[must_use]
    pub const fn period(&self) -> usize {
        self.period
    }

    /// Its stocks.
    #[must_use]
    pub fn stocks(&self) -> &[ShownStock] {
        &self.stocks
    }

    /// The stock of an id, which must be spelt exactly as it was shown.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<&ShownStock> {
        self.stocks.iter().find(|stock| stock.id() == id)
    }

    /// The band of a stock in a factor.
    #[must_use]
    pub fn band(&self, stock: &ShownStock, factor: Factor) -> MaskedNumber {
        MaskedNumber::gridded(f64::from(self.groups.band(stock.group, factor)))
    }
}

/// What a roster is made from beside the market.
#[derive(Clone)]
pub(crate) struct RosterRule {
    pub(crate) key: MaskKey,
    pub(crate) groups: &'static Groups,
    /// Stocks shown of each group: as many as there are on the panel's thinnest day.
    pub(crate) per_group: usize,
    /// A planted weakness: one id a stock for the whole episode.
    pub(crate) keeps_ids: bool,
    /// A planted weakness: as many stocks as the day has members.
    pub(crate) shows_all: bool,
}

impl RosterRule {
    /// The roster of a period, taken on the day of `view`; `id` says how a place or a name is shown.
    pub(crate) fn roster(
        &self,
        period: usize,
        view: &AsOf<'_>,
        id: impl Fn(NameId, usize) -> String,
    ) -> Roster {
        let mut by_group: Vec<Vec<NameId>> = vec![Vec::new(); self.groups.count()];
        for (name, group) in grouped(view, self.groups) {
            if let Some(members) = by_group.get_mut(group) {
                members.push(name);
            }
        }
        let seed = u64::try_from(period).unwrap_or(u64::MAX);
        let mut stream = self.key.stream(seed, "roster");
        let mut drawn: Vec<(NameId, usize)> = Vec::new();
        for (group, mut members) in by_group.into_iter().enumerate() {
            stream.shuffle(&mut members);
            let count = if self.shows_all {
                members.len()
            } else {
                self.per_group
            };
            drawn.extend(members.into_iter().take(count).map(|name| (name, group)));
        }
        // A stream of its own: which place has which group hangs on the key alone, whatever the day's members are. So the
        // answers to an agent are the same bytes on every day of every market.
        self.key.stream(seed, "roster ids").shuffle(&mut drawn);
        let first = period * drawn.len();
        let stocks = drawn
            .into_iter()
            .enumerate()
            .map(|(place, (name, group))| ShownStock {
                id: id(name, first + place).into(),
                name,
                group,
            });
        Roster {
            period,
            stocks: stocks.collect(),
            groups: self.groups,
        }
    }
}

/// The index members of a day with the group that each shows under a rung of bands; none under any other rung. Anybody who
/// has the prices can say so: it is the method, and no secret.
#[must_use]
pub fn style_groups(numeric: Numeric, view: &AsOf<'_>) -> Vec<(NameId, usize)> {
    Groups::of(numeric).map_or_else(Vec::new, |groups| grouped(view, groups))
}

/// The group that shows this band in a factor.
#[must_use]
pub fn group_of_band(numeric: Numeric, factor: Factor, band: f64) -> Option<usize> {
    let groups = Groups::of(numeric)?;
    (0..groups.count()).find(|group| (f64::from(groups.band(*group, factor)) - band).abs() < 0.5)
}

fn grouped(view: &AsOf<'_>, groups: &Groups) -> Vec<(NameId, usize)> {
    let members: Vec<NameId> = view.members().collect();
    let sections = Factor::ALL.map(|factor| RankedValues::of(&members, |name| view.factor(name, factor)));
    let standing = |name: NameId| {
        std::array::from_fn(|place| {
            let value = Factor::ALL
                .get(place)
                .and_then(|factor| view.factor(name, *factor));
            let standing = value.and_then(|value| sections.get(place)?.rank(value, true));
            // A missing value speaks for no group.
            standing.map_or(0.0, |standing| score(standing.share()))
        })
    };
    let standings: Vec<_> = members.iter().map(|name| standing(*name)).collect();
    let chosen = groups.assign(&standings);
    members.into_iter().zip(chosen).collect()
}
