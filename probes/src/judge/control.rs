//! Positive controls: sets on which each attacker must succeed. A blind attacker proves nothing.

use super::count::RecoveryCount;
use super::rate::{share, wilson_interval};
use super::thresholds::shows;
use crate::{Aid, Measure, ProbeKind};
use ktd_masking::{FactorScale, Level, MaskSettings, Numeric};
use ktd_stats::StatsError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Positive control: a set of probes with a known weakness.
#[derive(strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "kebab-case")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ControlSet {
    /// Single days with true prices and volumes.
    ExactDay,
    /// Single days with true prices, volumes and dates, of stocks that stood at a price limit or did not trade within the
    /// days that the bars span: such days name a stock once the day is known.
    DatedDay,
    /// Single days whose aliases are in the order of the codes.
    SortedAliases,
    /// Single days under a key that is a small number.
    SmallKey,
    /// Pairs of episodes with true prices and volumes.
    ExactLinked,
    /// Whole episodes with true prices and volumes.
    ExactEpisode,
    /// Single days with true prices and volumes, beside a stock that is given away.
    ExactAnchored,
    /// Episodes of an asking agent in bands under ids that no period renews.
    AskedKeptIds,
    /// The same, with the day given away: the groups that a stock was in name it.
    AskedDatedKeptIds,
    /// Episodes of an asking agent in bands whose roster is as large as the index.
    AskedAllMembers,
    /// Episodes of an asking agent with true prices and volumes, whose plans are held against its account.
    AskedExact,
    /// Single days with every code and date shown, for language models.
    BrightDay,
}

/// Recovery that a sound attacker must show on a control.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExpectedRecovery {
    /// Where it must succeed.
    pub control: ControlSet,
    /// At what.
    pub measure: Measure,
    /// How far above chance the lower end of its interval must lie.
    pub need: f64,
}

/// What each attacker must show, where its control is put. The needs are far below what a sound attacker reaches with 200
/// probes and far above what a broken one does: half where the numbers name the stock, a tenth where they only narrow it
/// down, a fifth for limit days, of which a market has many at once. Of bands `price-level` reads none and
/// `volume-level` one, which names nobody.
pub const EXPECTED_RECOVERIES: [(&str, ExpectedRecovery); 21] = [
    ("price-level", expect(ControlSet::ExactDay, Measure::Top5, 0.5)),
    ("volume-level", expect(ControlSet::ExactDay, Measure::Top5, 0.5)),
    ("return-path", expect(ControlSet::ExactDay, Measure::Top5, 0.5)),
    (
        "volatility-profile",
        expect(ControlSet::ExactDay, Measure::Top5, 0.1),
    ),
    ("combination", expect(ControlSet::ExactDay, Measure::Top5, 0.5)),
    ("index-path", expect(ControlSet::ExactDay, Measure::Date20, 0.5)),
    (
        "cross-section",
        expect(ControlSet::ExactDay, Measure::Date20, 0.1),
    ),
    ("limit-pattern", expect(ControlSet::DatedDay, Measure::Top5, 0.2)),
    (
        "labels-and-order",
        expect(ControlSet::SortedAliases, Measure::Top5, 0.1),
    ),
    (
        "labels-and-order",
        expect(ControlSet::SmallKey, Measure::Top5, 0.5),
    ),
    ("combination", expect(ControlSet::ExactLinked, Measure::Same, 0.3)),
    (
        "combination",
        expect(ControlSet::ExactEpisode, Measure::Joint, 0.5),
    ),
    (
        "combination",
        expect(ControlSet::ExactAnchored, Measure::Date20, 0.5),
    ),
    (
        "index-path",
        expect(ControlSet::ExactAnchored, Measure::Date20, 0.5),
    ),
    (
        "roster-path",
        expect(ControlSet::AskedKeptIds, Measure::Date20, 0.1),
    ),
    (
        "combination",
        expect(ControlSet::AskedDatedKeptIds, Measure::Top5, 0.1),
    ),
    (
        "roster-path",
        expect(ControlSet::AskedDatedKeptIds, Measure::Top5, 0.1),
    ),
    (
        "known-day",
        expect(ControlSet::AskedDatedKeptIds, Measure::Top5, 0.1),
    ),
    (
        "given-away",
        expect(ControlSet::AskedDatedKeptIds, Measure::Top5, 0.1),
    ),
    (
        "census",
        expect(ControlSet::AskedAllMembers, Measure::Date20, 0.02),
    ),
    (
        "weight-oracle",
        expect(ControlSet::AskedExact, Measure::Top5, 0.3),
    ),
];

/// What every language model must show: that it reads what stands there, in the form that is asked for.
pub const EXPECTED_OF_LANGUAGE: ExpectedRecovery = expect(ControlSet::BrightDay, Measure::Top1, 0.5);

const fn expect(control: ControlSet, measure: Measure, need: f64) -> ExpectedRecovery {
    ExpectedRecovery {
        control,
        measure,
        need,
    }
}

impl ControlSet {
    /// Every control that the attackers of the database are put to, in the order of tables.
    pub const ALL: [Self; 11] = [
        Self::ExactDay,
        Self::DatedDay,
        Self::SortedAliases,
        Self::SmallKey,
        Self::ExactLinked,
        Self::ExactEpisode,
        Self::ExactAnchored,
        Self::AskedKeptIds,
        Self::AskedDatedKeptIds,
        Self::AskedAllMembers,
        Self::AskedExact,
    ];

    /// Those that a certificate of numbers shown in this way needs; `has_asked` says whether agents that ask are among its
    /// probes.
    pub fn of(numeric: Numeric, has_asked: bool) -> impl Iterator<Item = Self> {
        Self::ALL
            .into_iter()
            .filter(move |control| control.is_needed(numeric, has_asked))
    }

    /// Whether a certificate of numbers shown in this way needs it: bands only where bands are certified, asking agents only
    /// where some are.
    #[must_use]
    pub fn is_needed(self, numeric: Numeric, has_asked: bool) -> bool {
        let is_of_bands = matches!(
            self,
            Self::AskedKeptIds | Self::AskedDatedKeptIds | Self::AskedAllMembers
        );
        (!is_of_bands || numeric.scale() == FactorScale::Bands) && (has_asked || !self.kind().is_asked())
    }

    /// The name in files and tables.
    #[must_use]
    pub fn label(self) -> &'static str {
        self.into()
    }

    /// The kind of its probes.
    #[must_use]
    pub const fn kind(self) -> ProbeKind {
        match self {
            Self::ExactDay | Self::DatedDay | Self::SortedAliases | Self::SmallKey | Self::BrightDay => {
                ProbeKind::Day
            }
            Self::ExactLinked => ProbeKind::Linked,
            Self::ExactEpisode => ProbeKind::Episode,
            Self::ExactAnchored => ProbeKind::Anchored,
            Self::AskedKeptIds | Self::AskedAllMembers | Self::AskedExact => ProbeKind::Asked,
            Self::AskedDatedKeptIds => ProbeKind::AskedDated,
        }
    }

    /// How many probes it has, of so many a control: fewer of those that show many steps, which take long, and leave little
    /// to doubt.
    #[must_use]
    pub const fn probes(self, control_probes: usize) -> usize {
        let part = match self {
            Self::ExactDay
            | Self::DatedDay
            | Self::SortedAliases
            | Self::SmallKey
            | Self::ExactAnchored
            | Self::BrightDay => 1,
            Self::ExactLinked | Self::AskedAllMembers | Self::AskedDatedKeptIds => 2,
            Self::ExactEpisode | Self::AskedKeptIds | Self::AskedExact => 4,
        };
        control_probes.div_ceil(part)
    }

    /// What it hides.
    #[must_use]
    pub const fn mask(self) -> MaskSettings {
        let (level, numeric) = match self {
            Self::ExactDay
            | Self::SortedAliases
            | Self::SmallKey
            | Self::ExactLinked
            | Self::ExactEpisode
            | Self::ExactAnchored
            | Self::AskedExact => (Level::Blinded, Numeric::Exact),
            Self::AskedKeptIds | Self::AskedDatedKeptIds | Self::AskedAllMembers => {
                (Level::Blinded, Numeric::Banded)
            }
            Self::DatedDay => (Level::StockBlind, Numeric::Exact),
            Self::BrightDay => (Level::Bright, Numeric::Exact),
        };
        MaskSettings { level, numeric }
    }

    /// What helps the attackers.
    #[must_use]
    pub const fn aid(self) -> Aid {
        match self {
            Self::AskedKeptIds | Self::AskedDatedKeptIds => Aid::IdsKept,
            Self::AskedAllMembers => Aid::AllMembers,
            Self::DatedDay => Aid::LimitDays,
            Self::ExactDay
            | Self::SortedAliases
            | Self::SmallKey
            | Self::ExactLinked
            | Self::ExactEpisode
            | Self::ExactAnchored
            | Self::AskedExact
            | Self::BrightDay => Aid::None,
        }
    }
}

/// Recovery rate of an attacker on a control.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControlRate {
    /// The attacker.
    pub attacker: String,
    /// The control.
    pub control: ControlSet,
    /// What was asked.
    pub measure: Measure,
    /// Probes that were asked it.
    pub asked: u64,
    /// Probes of which it was recovered.
    pub hits: u64,
    /// `hits / asked`.
    pub share: f64,
    /// The share that is recovered without looking; 0 where the answer stands in the open.
    pub chance: f64,
    /// Lower end of the share's Wilson interval.
    pub lower: f64,
    /// How far above chance it must lie.
    pub need: f64,
    /// Whether it does.
    pub fired: bool,
}

impl ControlRate {
    /// The rate of a count, against what is expected.
    ///
    /// # Errors
    /// [`StatsError`] for more hits than probes.
    pub fn of(
        expected: &ExpectedRecovery,
        count: &RecoveryCount,
        confidence: f64,
    ) -> Result<Self, StatsError> {
        let lower = wilson_interval(count.hits, count.asked, confidence, 1)?.lower;
        // Where the answer stands in the open, reading is what is tried, and no guess is to be beaten.
        let is_shown = shows(expected.control.mask(), expected.measure);
        let chance = if is_shown { 0.0 } else { count.chance };
        Ok(Self {
            attacker: count.attacker.clone(),
            control: expected.control,
            measure: expected.measure,
            asked: count.asked,
            hits: count.hits,
            share: share(count.hits, count.asked),
            chance,
            lower,
            need: expected.need,
            fired: chance + expected.need < lower,
        })
    }
}
