//! The audit of a signal: it can accuse, and never acquit.

use crate::ladder::{LadderRung, fill_ladder};
use crate::panel::BarGrid;
use crate::profile::{FAR, NEAR, PieceCorrelation, ReturnPiece, signal_profile};
use crate::signal::{KnownAt, SignalGrid};
use crate::switch::FillRule;

/// When a piece of the future is evidence (docs/spec/leakage.md#signals).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SuspicionRule {
    /// The least absolute mean rank correlation.
    pub floor: f64,
    /// How many times the largest one among far pieces of its kind it must be.
    pub times: f64,
    /// The least absolute mean rank correlation of a session, near or far, that is evidence whatever the others are: a label of many
    /// sessions lies in all of them alike.
    pub session_floor: f64,
    /// The least absolute mean rank correlation of the first night that is evidence: nights pay for what the session before them
    /// was, which clean signals know.
    pub first_night_floor: f64,
    /// The least absolute t; a correlation of exactly 1 needs none.
    pub least_t: f64,
    /// Names that a day needs.
    pub min_names: usize,
    /// Days that a piece needs.
    pub min_days: usize,
}

impl SuspicionRule {
    /// Calibrated on ordinary and leaking signals of a real market.
    pub const BENCHMARK: Self = Self {
        floor: 0.06,
        times: 3.0,
        session_floor: 0.10,
        first_night_floor: 0.30,
        least_t: 6.0,
        min_names: 10,
        min_days: 60,
    };
}

/// What the returns around a stamp say of a signal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SignalVerdict {
    /// It goes with a piece of return that it cannot know.
    Suspect {
        /// The piece with the largest correlation.
        piece: ReturnPiece,
        /// Its mean rank correlation.
        ic: f64,
        /// Its t; `None` where it does not vary.
        t: Option<f64>,
        /// The largest absolute correlation among far pieces of its kind.
        largest_far: f64,
    },
    /// Nothing that shows in returns: centred volatilities and scales of the whole sample do not.
    NothingSeen,
    /// Too few days or names for a verdict.
    TooLittle {
        /// The most days of a near piece.
        days: usize,
        /// The fewest that do.
        need: usize,
    },
}

impl SignalVerdict {
    /// Its name in tables and files.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Suspect { .. } => "suspect",
            Self::NothingSeen => "nothing_seen",
            Self::TooLittle { .. } => "too_little",
        }
    }
}

/// The audit of one signal.
#[derive(Debug, Clone, PartialEq)]
pub struct SignalAudit {
    /// The verdict.
    pub verdict: SignalVerdict,
    /// The rank correlation with each piece around the stamp.
    pub profile: Vec<PieceCorrelation>,
    /// The best tenth filled at each price; no verdict.
    pub ladder: Vec<LadderRung>,
    /// The best tenth of the scores of the session before, at the price asked for; no verdict.
    pub delayed: LadderRung,
}

/// Audits a signal of a panel whose orders are filled at a price.
#[must_use]
pub fn audit_signal(
    bars: &BarGrid,
    signal: &SignalGrid,
    (known_at, fill): (KnownAt, FillRule),
    rule: &SuspicionRule,
) -> SignalAudit {
    let profile = signal_profile(bars, signal, known_at, rule.min_names);
    SignalAudit {
        verdict: judge_profile(&profile, known_at, rule),
        profile,
        ladder: FillRule::LADDER
            .iter()
            .map(|fill| fill_ladder(bars, signal, *fill, rule.min_names))
            .collect(),
        delayed: fill_ladder(bars, &signal.delayed(), fill, rule.min_names),
    }
}

/// The verdict of a profile: the suspect piece with the largest correlation, where there is one.
#[must_use]
pub fn judge_profile(profile: &[PieceCorrelation], known_at: KnownAt, rule: &SuspicionRule) -> SignalVerdict {
    let first = known_at.first_future_piece();
    let within = |from: i64, to: i64| {
        profile
            .iter()
            .filter(move |row| (from..to).contains(&row.piece.0))
    };
    let is_first_night = |row: &PieceCorrelation| row.piece.is_night() && row.piece.0 <= first + 1;
    let near = || within(first, first + NEAR);
    let is_enough = |row: &&PieceCorrelation| rule.min_days <= row.days;
    let largest_far = |kind: ReturnPiece| {
        let far = within(first + NEAR, first + NEAR + FAR).filter(is_enough);
        let of_kind = far.filter(|row| row.piece.is_night() == kind.is_night());
        of_kind.filter_map(|row| row.ic).map(f64::abs).reduce(f64::max)
    };
    let (mut worst, mut compared) = (None::<(f64, SignalVerdict)>, false);
    for row in within(first, first + NEAR + FAR).filter(is_enough) {
        let (Some(ic), Some(largest_far)) = (row.ic, largest_far(row.piece)) else {
            continue;
        };
        compared = true;
        let is_near = row.piece.0 < first + NEAR;
        let is_above_far = is_near && rule.floor.max(rule.times * largest_far) <= ic.abs();
        let is_large = if is_first_night(row) {
            is_above_far && rule.first_night_floor <= ic.abs()
        } else {
            is_above_far || (!row.piece.is_night() && rule.session_floor <= ic.abs())
        };
        let is_sure = 1.0 - 1e-9 < ic.abs() || row.t.is_some_and(|t| rule.least_t <= t.abs());
        if is_large && is_sure && worst.is_none_or(|(most, _)| most < ic.abs()) {
            let (piece, t) = (row.piece, row.t);
            let verdict = SignalVerdict::Suspect {
                piece,
                ic,
                t,
                largest_far,
            };
            worst = Some((ic.abs(), verdict));
        }
    }
    let days = near().map(|row| row.days).max().unwrap_or(0);
    let need = rule.min_days;
    match worst {
        Some((_, verdict)) => verdict,
        None if compared => SignalVerdict::NothingSeen,
        None => SignalVerdict::TooLittle { days, need },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::{BarField, tests::market};

    fn audit(bars: &BarGrid, known_at: KnownAt, score: &dyn Fn(usize, usize) -> f64) -> SignalAudit {
        let names = bars.names();
        let scores: Vec<f64> = (0..bars.sessions() * names)
            .map(|place| score(place / names, place % names))
            .collect();
        let signal = SignalGrid::new(bars, &scores).unwrap();
        audit_signal(
            bars,
            &signal,
            (known_at, FillRule::NextOpen),
            &SuspicionRule::BENCHMARK,
        )
    }

    #[test]
    fn the_own_bar_is_a_leak_at_the_open_and_none_at_the_close() {
        let bars = market(200, 20, 5);
        let body = |session, name| {
            bars.value(BarField::Close, session, name) / bars.value(BarField::Open, session, name)
        };
        assert_eq!(
            audit(&bars, KnownAt::Close, &body).verdict,
            SignalVerdict::NothingSeen
        );
        let open = audit(&bars, KnownAt::Open, &body);
        let SignalVerdict::Suspect { piece, ic, .. } = open.verdict else {
            panic!("{:?}", open.verdict)
        };
        assert!(piece == ReturnPiece(0) && 1.0 - 1e-9 < ic);
        assert_eq!((open.ladder.len(), open.ladder[0].fill), (5, FillRule::SameOpen));
        assert!(5.0 < open.ladder[0].sharpe.unwrap() && open.delayed.sharpe.unwrap() < 5.0);
    }

    #[test]
    fn tomorrows_return_in_a_score_is_seen_and_yesterdays_is_not() {
        let bars = market(250, 20, 6);
        let earned = |session, name| FillRule::NextOpen.trade_return(&bars, session, name);
        let leak = audit(&bars, KnownAt::Close, &earned);
        assert!(
            matches!(
                leak.verdict,
                SignalVerdict::Suspect {
                    piece: ReturnPiece(2 | 3),
                    ..
                }
            ),
            "{leak:?}"
        );
        let past = |session: usize, name| {
            let day = session.checked_sub(2);
            day.map_or(f64::NAN, |day| FillRule::SameOpen.trade_return(&bars, day, name))
        };
        assert_eq!(
            audit(&bars, KnownAt::Close, &past).verdict,
            SignalVerdict::NothingSeen
        );
    }

    #[test]
    fn a_label_of_many_sessions_is_seen_whatever_the_far_ones_are() {
        let bars = market(400, 30, 8);
        for sessions in [5, 10, 20] {
            let label = |session: usize, name| {
                let close = |at| bars.value(BarField::Close, at, name);
                if session + sessions < bars.sessions() {
                    close(session + sessions) / close(session)
                } else {
                    f64::NAN
                }
            };
            let found = audit(&bars, KnownAt::Close, &label);
            assert_eq!(found.verdict.name(), "suspect", "{sessions}: {found:?}");
        }
    }

    #[test]
    fn the_first_night_accuses_who_knows_it_and_not_who_foretells_a_little_of_it() {
        let bars = market(250, 20, 6);
        let night = |session: usize, name: usize| {
            if session + 1 < bars.sessions() {
                bars.value(BarField::Open, session + 1, name) / bars.value(BarField::Close, session, name)
                    - 1.0
            } else {
                f64::NAN
            }
        };
        let of_a_share = |share: f64| {
            let noise = |session: usize, name: usize| {
                libm::sin(12.9898 * ktd_stats::moments::count(session * 31 + name * 7)) * 0.02
            };
            audit(&bars, KnownAt::Close, &|session, name| {
                share * night(session, name) + noise(session, name)
            })
        };
        assert_eq!(audit(&bars, KnownAt::Close, &night).verdict.name(), "suspect");
        let little = of_a_share(0.3);
        let first = little
            .profile
            .iter()
            .find(|row| row.piece == ReturnPiece(1))
            .unwrap();
        assert!((0.06..0.30).contains(&first.ic.unwrap()), "{first:?}");
        assert_eq!(little.verdict, SignalVerdict::NothingSeen);
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
