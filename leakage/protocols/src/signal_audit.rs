//! The audit of a signal: it can accuse, and never acquit.

use crate::ladder::{LadderRung, fill_ladder};
use crate::later_correlation::{
    DayRanks, LaterCorrelation, ReturnRanks, SignalPart, SignalParts, future_pieces,
};
use crate::panel::{BarField, BarGrid};
use crate::profile::{PieceCorrelation, ReturnPiece, signal_profile};
use crate::signal::{KnownAt, SignalGrid};
use crate::switch::FillRule;
use schemars::JsonSchema;
use serde::Serialize;

/// When a later return is evidence (docs/spec/leakage.md#signals).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SuspicionRule {
    /// The least absolute mean correlation of a part of a signal with a later session.
    pub session_floor: f64,
    /// With a later night: nights have lasting premia, and pay for what the session before them was, which clean signals know.
    pub night_floor: f64,
    /// The least absolute mean correlation of what is new in a signal with a session or night that lies further off: a premium goes
    /// with the levels of a signal, and what is new foretells the next sessions, if any. A day far ahead, met exactly, is a label's end.
    pub news_floor: f64,
    /// The first session after the stamp that lies so far off.
    pub news_session: i64,
    /// The least that is worth a look, and accuses nobody: true alphas and premia reach it too.
    pub unusual_floor: f64,
    /// The least absolute t; a correlation of exactly 1 needs none.
    pub least_t: f64,
    /// Names that a day needs.
    pub min_names: usize,
    /// Days that a piece needs.
    pub min_days: usize,
}

impl SuspicionRule {
    /// Floors above what clean formulas reach on real markets (docs/leakage.md#the-audit-of-a-signal).
    pub const BENCHMARK: Self = Self {
        session_floor: 0.10,
        night_floor: 0.30,
        news_floor: 0.05,
        news_session: 3,
        unusual_floor: 0.05,
        least_t: 6.0,
        min_names: 10,
        min_days: 60,
    };

    /// Whether a correlation accuses.
    fn accuses(&self, found: &LaterCorrelation) -> bool {
        let is_far_news = found.part == SignalPart::News && self.news_session <= found.piece.sessions_after();
        let floor = if is_far_news {
            self.news_floor
        } else if found.piece.is_night() {
            self.night_floor
        } else {
            self.session_floor
        };
        floor <= found.ic.abs() && self.is_sure(found)
    }

    fn is_unusual(&self, found: &LaterCorrelation) -> bool {
        self.unusual_floor <= found.ic.abs() && self.is_sure(found)
    }

    fn is_sure(&self, found: &LaterCorrelation) -> bool {
        let is_far_out = 1.0 - 1e-9 < found.ic.abs() || found.t.is_some_and(|t| self.least_t <= t.abs());
        self.min_days <= found.days && is_far_out
    }
}

/// What the returns after a stamp say of a signal.
#[derive(Debug, Clone, Copy, PartialEq, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum SignalVerdict {
    /// It goes with a later return as no clean signal is known to.
    Suspect(LaterCorrelation),
    /// It goes with a later return as a leak does, and as a true alpha or a premium does: no more can be told of scores alone.
    Unusual(LaterCorrelation),
    /// Nothing that shows in returns.
    NothingSeen,
    /// Too few days or names for a verdict.
    TooLittle {
        /// The most days of a piece.
        days: usize,
        /// The fewest that do.
        need: usize,
    },
}

impl SignalVerdict {
    /// The verdict of all that was found; of several, the largest correlation.
    #[must_use]
    pub fn of(found: &[LaterCorrelation], rule: &SuspicionRule) -> Self {
        let largest = |is_evidence: &dyn Fn(&LaterCorrelation) -> bool| {
            let evidence = found.iter().filter(|found| is_evidence(found));
            evidence
                .max_by(|one, other| one.ic.abs().total_cmp(&other.ic.abs()))
                .copied()
        };
        let days = found.iter().map(|found| found.days).max().unwrap_or(0);
        let need = rule.min_days;
        if days < need {
            return Self::TooLittle { days, need };
        }
        largest(&|found| rule.accuses(found))
            .map(Self::Suspect)
            .or_else(|| largest(&|found| rule.is_unusual(found)).map(Self::Unusual))
            .unwrap_or(Self::NothingSeen)
    }

    /// Its name in tables and files.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.into()
    }

    /// What it rests on.
    #[must_use]
    pub const fn evidence(&self) -> Option<&LaterCorrelation> {
        match self {
            Self::Suspect(found) | Self::Unusual(found) => Some(found),
            Self::NothingSeen | Self::TooLittle { .. } => None,
        }
    }
}

/// The smallest share of a label that would be found in a signal.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeastLabel {
    /// Sessions of the label.
    pub sessions: usize,
    /// The smallest share of those tried that is found; `None` where not even the label itself is.
    pub share: Option<f64>,
}

/// The audit of one signal.
#[derive(Debug, Clone, PartialEq)]
pub struct SignalAudit {
    /// The verdict.
    pub verdict: SignalVerdict,
    /// What it would have missed: labels of smaller shares of the signal's own ranks.
    pub least_labels: Vec<LeastLabel>,
    /// The rank correlation with each piece around the stamp.
    pub profile: Vec<PieceCorrelation>,
    /// The best tenth filled at each price; no verdict.
    pub ladder: Vec<LadderRung>,
    /// The best tenth of the scores of the session before, at the price asked for; no verdict.
    pub delayed: LadderRung,
}

/// A panel ready for the audit of many signals.
#[derive(Debug, Clone, PartialEq)]
pub struct SignalAuditor<'a> {
    bars: &'a BarGrid,
    returns: ReturnRanks,
    rule: SuspicionRule,
}

impl<'a> SignalAuditor<'a> {
    /// The auditor of a panel.
    #[must_use]
    pub fn new(bars: &'a BarGrid, rule: SuspicionRule) -> Self {
        Self {
            returns: ReturnRanks::of(bars),
            bars,
            rule,
        }
    }

    /// How both parts of a signal go with every later piece, the first ahead.
    #[must_use]
    pub fn foresights(&self, signal: &SignalGrid, known_at: KnownAt) -> Vec<LaterCorrelation> {
        self.of_pieces(&SignalParts::of(signal), future_pieces(known_at))
    }

    fn of_pieces(
        &self,
        parts: &SignalParts,
        pieces: impl Iterator<Item = ReturnPiece>,
    ) -> Vec<LaterCorrelation> {
        let asked = pieces.flat_map(|piece| [SignalPart::Level, SignalPart::News].map(|part| (part, piece)));
        asked
            .filter_map(|asked| parts.foresight(&self.returns, asked, self.rule.min_names))
            .collect()
    }

    /// The verdict on a signal, and nothing beside it.
    #[must_use]
    pub fn verdict(&self, signal: &SignalGrid, known_at: KnownAt) -> SignalVerdict {
        SignalVerdict::of(&self.foresights(signal, known_at), &self.rule)
    }

    /// Audits a signal whose orders are filled at a price.
    #[must_use]
    pub fn audit(&self, signal: &SignalGrid, (known_at, fill): (KnownAt, FillRule)) -> SignalAudit {
        let min_names = self.rule.min_names;
        SignalAudit {
            verdict: self.verdict(signal, known_at),
            least_labels: LABEL_SESSIONS
                .map(|sessions| self.least_label(signal, known_at, sessions))
                .to_vec(),
            profile: signal_profile(self.bars, signal, known_at, min_names),
            ladder: FillRule::LADDER
                .map(|fill| fill_ladder(self.bars, signal, fill, min_names))
                .to_vec(),
            delayed: fill_ladder(self.bars, &signal.delayed(), fill, min_names),
        }
    }

    /// Mixes a label into the ranks of a signal, a larger share after a smaller one, until it is found. Only the first and the last
    /// session of the label are looked at: the whole audit finds no less.
    fn least_label(&self, signal: &SignalGrid, known_at: KnownAt, sessions: usize) -> LeastLabel {
        let own = SignalParts::of(signal);
        let ahead = i64::try_from(sessions).unwrap_or(i64::MAX);
        let (field, first) = match known_at {
            KnownAt::Open => (BarField::Open, 0),
            KnownAt::Close => (BarField::Close, 1),
        };
        let price = |session, name| self.bars.value(field, session, name);
        let rows: Vec<Vec<f64>> = (0..signal.sessions())
            .map(|session| {
                let names = 0..self.bars.names();
                names
                    .map(|name| price(session + sessions, name) / price(session, name))
                    .collect()
            })
            .collect();
        let label = DayRanks::of(rows.iter().map(Vec::as_slice));
        let is_found = |share: &f64| {
            let parts = SignalParts::of_ranks(own.level().blended(&label, *share));
            let ends = [first, first + ahead - 1].map(|session| ReturnPiece(2 * session));
            let found = self.of_pieces(&parts, ends.into_iter());
            found.iter().any(|found| self.rule.accuses(found))
        };
        let share = PLANTED_SHARES.into_iter().find(is_found);
        LeastLabel { sessions, share }
    }
}

/// Sessions of the labels whose least shares are stated.
const LABEL_SESSIONS: [usize; 4] = [1, 5, 20, 60];

/// Shares of leaks that are planted.
pub const PLANTED_SHARES: [f64; 5] = [0.05, 0.1, 0.2, 0.5, 1.0];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::tests::market;

    fn audit(bars: &BarGrid, known_at: KnownAt, score: &dyn Fn(usize, usize) -> f64) -> SignalAudit {
        let names = bars.names();
        let scores: Vec<f64> = (0..bars.sessions() * names)
            .map(|place| score(place / names, place % names))
            .collect();
        let signal = SignalGrid::new(bars, &scores).unwrap();
        SignalAuditor::new(bars, SuspicionRule::BENCHMARK).audit(&signal, (known_at, FillRule::NextOpen))
    }

    #[test]
    fn the_own_bar_is_a_leak_at_the_open_and_none_at_the_close() {
        let bars = market(200, 20, 5);
        let body = |session, name| {
            bars.value(BarField::Close, session, name) / bars.value(BarField::Open, session, name)
        };
        let close = audit(&bars, KnownAt::Close, &body);
        assert_eq!(close.verdict, SignalVerdict::NothingSeen);
        let open = audit(&bars, KnownAt::Open, &body);
        let SignalVerdict::Suspect(found) = open.verdict else {
            panic!("{:?}", open.verdict)
        };
        assert!(found.piece == ReturnPiece(0) && 1.0 - 1e-9 < found.ic);
        assert_eq!((open.ladder.len(), open.ladder[0].fill), (5, FillRule::SameOpen));
        assert!(5.0 < open.ladder[0].sharpe.unwrap() && open.delayed.sharpe.unwrap() < 5.0);
    }

    #[test]
    fn labels_of_one_to_sixty_sessions_are_seen_by_what_is_new_in_them_and_the_same_past_is_not() {
        let bars = market(300, 30, 8);
        let growth = |from: usize, to: usize, name| {
            bars.value(BarField::Close, to, name) / bars.value(BarField::Close, from, name)
        };
        for sessions in [1, 3, 10, 35, 60] {
            let label = |session: usize, name| growth(session, session + sessions, name);
            let SignalVerdict::Suspect(found) = audit(&bars, KnownAt::Close, &label).verdict else {
                panic!("{sessions}")
            };
            let last = i64::try_from(sessions).unwrap();
            assert!(
                found.piece.sessions_after() == last && 0.4 < found.ic,
                "{found:?}"
            );
            let past = |session: usize, name| {
                session
                    .checked_sub(sessions)
                    .map_or(f64::NAN, |from| growth(from, session, name))
            };
            let past = audit(&bars, KnownAt::Close, &past);
            assert_eq!(past.verdict, SignalVerdict::NothingSeen);
            let shares: Vec<f64> = past.least_labels.iter().filter_map(|label| label.share).collect();
            // Of two months the one day that is new is little.
            let most = [0.5, 0.5, 0.5, 1.0];
            assert!(
                shares.len() == 4 && shares.iter().zip(most).all(|(share, most)| *share <= most),
                "{past:?}"
            );
        }
    }

    /// Signals that know nothing too early, and the same with a later session in their window or beside what they were.
    #[test]
    fn a_session_too_early_in_a_clean_signal_is_seen() {
        let bars = market(300, 40, 8);
        let said =
            |known_at, score: &dyn Fn(usize, usize) -> f64| audit(&bars, known_at, score).verdict.name();
        let close = |session: usize, name| bars.value(BarField::Close, session, name);
        let growth = |to: usize, sessions, name| {
            to.checked_sub(sessions)
                .map_or(f64::NAN, |from| close(to, name) / close(from, name))
        };
        let average = |to: usize, name| {
            let closes = to.saturating_sub(9)..=to;
            ktd_stats::moments::mean(&closes.map(|session| close(session, name)).collect::<Vec<f64>>())
        };
        for (ahead, share, verdict) in [(0, 0.0, "nothing_seen"), (3, 0.2, "suspect")] {
            let over_average = |session, name| close(session, name) / average(session + ahead, name).unwrap();
            assert_eq!(said(KnownAt::Close, &over_average), verdict);
            let reversal = |session, name| share * growth(session + 1, 1, name) - growth(session, 1, name);
            assert_eq!(said(KnownAt::Close, &reversal), verdict);
        }
        let momentum = |session, name| growth(session, 20, name);
        assert_eq!(said(KnownAt::Close, &momentum), "nothing_seen");
        assert_eq!(said(KnownAt::Open, &momentum), "suspect");
        let a_day_early = |session, name| growth(session + 1, 20, name);
        assert_eq!(said(KnownAt::Close, &a_day_early), "suspect");
        let gap_ahead = |session, name| bars.value(BarField::Open, session + 1, name) / close(session, name);
        assert_eq!(said(KnownAt::Close, &gap_ahead), "suspect");
    }

    #[test]
    fn a_little_of_a_label_moves_no_weight_and_is_not_said_to_be_found() {
        let bars = market(300, 40, 8);
        let noise = |session: usize, name: usize| {
            libm::sin(12.9898 * ktd_stats::moments::count(session / 15 * 61 + name * 7))
        };
        let held = audit(&bars, KnownAt::Open, &|session, name| {
            if 0.8 < noise(session, name) { 1.0 } else { 0.0 }
        });
        assert_eq!(held.verdict, SignalVerdict::NothingSeen);
        for label in &held.least_labels {
            assert!(label.share.is_none_or(|share| 0.2 < share), "{label:?}");
        }
        assert_eq!(held.least_labels[0].share, Some(0.5));
    }

    #[test]
    fn a_little_foresight_of_a_session_is_unusual_and_no_leak() {
        let bars = market(1_500, 60, 6);
        let session = |session: usize, name| ReturnPiece(2).value(&bars, session, name);
        let noise = |session: usize, name: usize| {
            libm::sin(12.9898 * ktd_stats::moments::count(session * 61 + name * 7))
        };
        let of = |share: f64| {
            audit(&bars, KnownAt::Close, &|day, name| {
                share * session(day, name) + 0.02 * noise(day, name)
            })
        };
        assert_eq!(of(0.03).verdict.name(), "unusual");
        assert_eq!(of(0.4).verdict.name(), "suspect");
    }

    #[test]
    fn the_first_night_accuses_who_knows_it_and_not_who_foretells_a_little_of_it() {
        let bars = market(250, 20, 6);
        let night = |session: usize, name: usize| ReturnPiece(1).value(&bars, session, name);
        assert_eq!(audit(&bars, KnownAt::Close, &night).verdict.name(), "suspect");
        let little = audit(&bars, KnownAt::Close, &|session, name| {
            let noise = libm::sin(12.9898 * ktd_stats::moments::count(session * 31 + name * 7));
            0.3 * night(session, name) + 0.02 * noise
        });
        let first = little.profile.iter().find(|row| row.piece == ReturnPiece(1));
        assert!((0.06..0.30).contains(&first.unwrap().ic.unwrap()), "{first:?}");
        assert_ne!(little.verdict.name(), "suspect");
    }

    #[test]
    fn too_little_is_no_verdict() {
        let bars = market(50, 20, 6);
        let few_days = audit(&bars, KnownAt::Close, &|session, name| {
            FillRule::NextOpen.trade_return(&bars, session, name)
        });
        assert_eq!(few_days.verdict, SignalVerdict::TooLittle { days: 48, need: 60 });
        let few_names = audit(&market(200, 2, 6), KnownAt::Close, &|session, name| {
            f64::from(u32::try_from(session * 2 + name).unwrap())
        });
        assert_eq!(few_names.verdict, SignalVerdict::TooLittle { days: 0, need: 60 });
        let equal = audit(&market(200, 20, 6), KnownAt::Close, &|_, _| 1.0);
        assert_eq!(equal.verdict.name(), "too_little");
        assert_eq!(equal.ladder[2].days, 198);
    }
}
