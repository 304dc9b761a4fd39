//! Signals with a known leak, planted on a panel: what an audit finds of them is its power.

use crate::later_correlation::centred_ranks;
use crate::panel::{BarField, BarGrid};
use ktd_stats::SplitMix64;
use ktd_stats::moments::{count, mean};
use schemars::JsonSchema;
use serde::Serialize;

/// How the future comes into a signal.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    JsonSchema,
    strum::IntoStaticStr,
    strum::VariantNames,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "snake_case")]
pub enum LeakKind {
    /// The return of the next sessions is mixed into noise, by share.
    Label,
    /// A share of rows holds that return instead of noise.
    Rows,
    /// A clean return is divided by a spread, which to a share is that of the next sessions.
    Scale,
    /// Weights of three clean returns are fitted to the past, and to a share to the next sessions.
    Fit,
    /// A share of rows holds the value that is published sessions later.
    Revision,
}

impl LeakKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [Self::Label, Self::Rows, Self::Scale, Self::Fit, Self::Revision];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A leak to plant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlantedLeak {
    /// How it comes in.
    pub kind: LeakKind,
    /// Sessions that it reads ahead.
    pub sessions: usize,
    /// Its strength, from 0 to 1.
    pub share: f64,
}

/// Sessions of the trailing returns that clean values are made of.
const TRAILING: [usize; 3] = [1, 5, 20];

impl PlantedLeak {
    /// Scores known at the close of their session, a cell for each name of the first session, then of the second; NaN where prices
    /// are missing. The seed draws noise, how slowly it moves, rows, and whether returns run from the close or from the next open.
    #[must_use]
    pub fn scores(&self, bars: &BarGrid, seed: u64) -> Vec<f64> {
        let mut stream = SplitMix64::new(seed);
        let mut planting = Planting {
            leak: *self,
            from_open: stream.uniform() < 0.5,
            persistence: 0.95 * stream.uniform(),
            noise: vec![0.0; bars.names()],
            bars,
            stream,
        };
        (0..bars.sessions())
            .flat_map(|session| planting.row(session))
            .collect()
    }
}

/// A leak that is being planted on a panel, session by session.
struct Planting<'a> {
    leak: PlantedLeak,
    from_open: bool,
    persistence: f64,
    noise: Vec<f64>,
    bars: &'a BarGrid,
    stream: SplitMix64,
}

impl Planting<'_> {
    fn row(&mut self, session: usize) -> Vec<f64> {
        let PlantedLeak {
            kind,
            sessions,
            share,
        } = self.leak;
        match kind {
            LeakKind::Label => {
                let label = centred_ranks(&self.label(session));
                let noise = centred_ranks(&self.next_noise());
                let pairs = noise.iter().zip(&label);
                pairs
                    .map(|(noise, label)| (1.0 - share) * noise + share * label)
                    .collect()
            }
            LeakKind::Rows => {
                let label = centred_ranks(&self.label(session));
                let noise = centred_ranks(&self.next_noise());
                self.chosen(&noise, &label)
            }
            LeakKind::Revision => {
                let trailing = |session| self.all(|name| self.trailing(session, 20, name));
                let (now, later) = (trailing(session), trailing(session + sessions));
                self.chosen(&now, &later)
            }
            LeakKind::Scale => self.all(|name| {
                let past = session
                    .checked_sub(sessions)
                    .map_or(f64::NAN, |from| self.spread(from, name));
                let scale = libm::pow(past, 1.0 - share) * libm::pow(self.spread(session, name), share);
                self.trailing(session, 20, name) / scale
            }),
            LeakKind::Fit => self.fitted(session),
        }
    }

    fn all(&self, value: impl Fn(usize) -> f64) -> Vec<f64> {
        (0..self.bars.names()).map(value).collect()
    }

    /// The second value in a share of rows, the first in the others.
    fn chosen(&mut self, first: &[f64], second: &[f64]) -> Vec<f64> {
        let pairs = first.iter().zip(second);
        let choice = pairs.map(|(first, second)| {
            if self.stream.uniform() < self.leak.share {
                *second
            } else {
                *first
            }
        });
        choice.collect()
    }

    fn next_noise(&mut self) -> Vec<f64> {
        let kept = self.persistence;
        let fresh = (1.0 - kept * kept).sqrt();
        for noise in &mut self.noise {
            *noise = kept * *noise + fresh * self.stream.normal();
        }
        self.noise.clone()
    }

    /// The return of the sessions after a session.
    fn label(&self, session: usize) -> Vec<f64> {
        let ahead = self.leak.sessions;
        let (field, from) = if self.from_open {
            (BarField::Open, session + 1)
        } else {
            (BarField::Close, session)
        };
        let price = |session, name| self.bars.value(field, session, name);
        self.all(|name| price(from + ahead, name) / price(from, name) - 1.0)
    }

    /// The return of the sessions up to a session.
    fn trailing(&self, session: usize, sessions: usize, name: usize) -> f64 {
        let close = |session| self.bars.value(BarField::Close, session, name);
        session
            .checked_sub(sessions)
            .map_or(f64::NAN, |from| close(session) / close(from) - 1.0)
    }

    /// The root mean square range of the leak's sessions after a session.
    fn spread(&self, from: usize, name: usize) -> f64 {
        let squares: Vec<f64> = (from + 1..=from + self.leak.sessions)
            .map(|session| {
                let value = |field| self.bars.value(field, session, name);
                let range = value(BarField::High) / value(BarField::Low) - 1.0;
                range * range
            })
            .collect();
        mean(&squares).unwrap_or(f64::NAN).sqrt()
    }

    /// Trailing returns, weighted by how they went with the return before and with the one to come.
    fn fitted(&self, session: usize) -> Vec<f64> {
        let ranks =
            |session, sessions| centred_ranks(&self.all(|name| self.trailing(session, sessions, name)));
        let share = self.leak.share;
        let future = centred_ranks(&self.label(session));
        // A label from the next open ends an open later.
        let ended = session.checked_sub(self.leak.sessions + 1);
        let past = ended.map(|ended| (ended, centred_ranks(&self.label(ended))));
        let mut scores = vec![0.0; self.bars.names()];
        for sessions in TRAILING {
            let own = ranks(session, sessions);
            let before = past
                .as_ref()
                .map_or(0.0, |(ended, past)| mean_product(&ranks(*ended, sessions), past));
            let weight = (1.0 - share) * before + share * mean_product(&own, &future);
            for (score, own) in scores.iter_mut().zip(own) {
                *score += weight * own;
            }
        }
        scores
    }
}

fn mean_product(left: &[f64], right: &[f64]) -> f64 {
    let products: Vec<f64> = left
        .iter()
        .zip(right)
        .map(|(left, right)| left * right)
        .filter(|product| product.is_finite())
        .collect();
    products.iter().sum::<f64>() / count(products.len().max(1))
}
