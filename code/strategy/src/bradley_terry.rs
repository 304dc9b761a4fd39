//! Strengths after Bradley and Terry (1952): the chance that one model is judged better than another is its share of both
//! strengths.

use crate::indicators::count;

/// Rounds of the fixed point, at most.
const ITERATIONS_MAX: usize = 10_000;
/// Relative change of strengths at which the fixed point is reached.
const PRECISION: f64 = 1e-13;

/// Games of every pair of models: how many each won and how many were played, with one virtual drawn game a pair.
#[derive(Debug, Clone)]
pub(crate) struct PairedGames {
    models: usize,
    /// By model, then by opponent.
    won: Vec<f64>,
    played: Vec<f64>,
}

impl PairedGames {
    /// Only the virtual games. Nobody plays against itself.
    pub(crate) fn new(models: usize) -> Self {
        let of = |between: f64| -> Vec<f64> {
            let places = (0..models).flat_map(|first| (0..models).map(move |second| first == second));
            places
                .map(|is_same| if is_same { 0.0 } else { between })
                .collect()
        };
        Self {
            models,
            won: of(0.5),
            played: of(1.0),
        }
    }

    /// A game that the first won by a share: 1, 0, or a half.
    pub(crate) fn add(&mut self, first: usize, second: usize, won: f64) {
        for (model, other, won) in [(first, second, won), (second, first, 1.0 - won)] {
            let place = model * self.models + other;
            if let (Some(wins), Some(played)) = (self.won.get_mut(place), self.played.get_mut(place)) {
                *wins += won;
                *played += 1.0;
            }
        }
    }

    /// The strengths, of geometric mean 1.
    pub(crate) fn strengths(&self) -> Vec<f64> {
        let mut strengths = vec![1.0; self.models];
        for _ in 0..ITERATIONS_MAX {
            let next = self.next(&strengths);
            let changes = next
                .iter()
                .zip(&strengths)
                .map(|(next, now)| (next / now - 1.0).abs());
            let change = changes.fold(0.0, f64::max);
            strengths = next;
            if change < PRECISION {
                break;
            }
        }
        strengths
    }

    /// The variance that each model's log strength has by the number of its games alone, the virtual ones among them, if each were
    /// decided by itself: exact where all pairs weigh the same.
    pub(crate) fn log_variances(&self, strengths: &[f64]) -> Vec<f64> {
        let others = (count(self.models) - 1.0) / count(self.models);
        let rows = self.played.chunks_exact(self.models.max(1)).zip(strengths);
        rows.map(|(played, own)| {
            let information = played.iter().zip(strengths).map(|(played, other)| {
                let both = own + other;
                played * own * other / (both * both)
            });
            others * others / information.sum::<f64>()
        })
        .collect()
    }

    /// One round of the fixed point: wins over games weighted by the strength of both sides, scaled to geometric mean 1.
    fn next(&self, strengths: &[f64]) -> Vec<f64> {
        let size = self.models.max(1);
        let rows = self.won.chunks_exact(size).zip(self.played.chunks_exact(size));
        let raw: Vec<f64> = rows
            .zip(strengths)
            .map(|((won, played), own)| {
                let wins: f64 = won.iter().sum();
                let weights = played.iter().zip(strengths);
                let weight: f64 = weights.map(|(played, other)| played / (own + other)).sum();
                if weight > 0.0 { wins / weight } else { 1.0 }
            })
            .collect();
        let logs: Vec<f64> = raw.iter().map(|strength| libm::log(*strength)).collect();
        let scale = crate::indicators::mean(&logs).map_or(1.0, libm::exp);
        raw.into_iter().map(|strength| strength / scale).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_wins_three_of_four_games_has_the_strength_of_its_share() {
        let mut games = PairedGames::new(2);
        for won in [1.0, 1.0, 0.0] {
            games.add(0, 1, won);
        }
        // With the virtual draw: 2.5 of 4.
        let strengths = games.strengths();
        assert!((strengths[0] / (strengths[0] + strengths[1]) - 0.625).abs() < 1e-9);
        assert!((strengths[0] * strengths[1] - 1.0).abs() < 1e-12);
        // Of a share of 0.625 by four games the log odds vary by 1 / (4 * 0.625 * 0.375), each log strength by a quarter of that.
        let variances = games.log_variances(&strengths);
        assert!((variances[0] - 0.25 / (4.0 * 0.625 * 0.375)).abs() < 1e-9);
        assert!(PairedGames::new(0).strengths().is_empty());
        assert_eq!(PairedGames::new(1).strengths(), [1.0]);
    }
}
