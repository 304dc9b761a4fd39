//! An attacker's guess.

use ktd_env::{Board, DayIndex, NameId};

/// Guess of an attacker. Whatever it leaves empty counts as not recovered.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProbeAnswer {
    /// Its five best stocks, best first, each once.
    pub names: Vec<NameId>,
    /// Places among its guesses, from 0 and rising, that name no stock of the panel: a wrong guess is a wrong guess, and
    /// `names` stand at the other places, in their order.
    pub blanks: Vec<usize>,
    /// Its best day.
    pub day: Option<DayIndex>,
    /// Its best sector.
    pub sector: Option<u16>,
    /// Its best board.
    pub board: Option<Board>,
    /// Whether two exhibits show the same stock, where that was asked.
    pub is_same: Option<bool>,
    /// How sure it is, 0 to 1, where it says so.
    pub confidence: Option<f64>,
}

impl ProbeAnswer {
    /// Most stocks that count.
    pub const MOST_NAMES: usize = 5;

    /// An answer of these guesses alone, best first; `None` is one that names no stock of the panel.
    #[must_use]
    pub fn of_guesses(guesses: &[Option<NameId>]) -> Self {
        let places = guesses.iter().enumerate();
        Self {
            names: guesses.iter().copied().flatten().collect(),
            blanks: places
                .filter(|(_, guess)| guess.is_none())
                .map(|(place, _)| place)
                .collect(),
            ..Self::default()
        }
    }

    /// Its guesses, best first, with those that name no stock of the panel.
    #[must_use]
    pub fn guesses(&self) -> Vec<Option<NameId>> {
        let mut names = self.names.iter().copied();
        let count = self.names.len() + self.blanks.len();
        (0..count)
            .map(|place| {
                if self.blanks.contains(&place) {
                    None
                } else {
                    names.next()
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_env::synth::{SynthConfig, generate};

    #[test]
    fn a_guess_that_is_no_stock_keeps_its_place() {
        let config = SynthConfig {
            seed: 1,
            names: 5,
            days: 20,
        };
        let names: Vec<NameId> = generate(&config).unwrap().names().map(|(name, _)| name).collect();
        let guesses = [None, Some(names[3]), None, Some(names[1])];
        let answer = ProbeAnswer::of_guesses(&guesses);
        assert_eq!(
            (answer.names.len(), answer.blanks.as_slice()),
            (2, [0, 2].as_slice())
        );
        assert_eq!(answer.guesses(), guesses);
        let plain = ProbeAnswer {
            names: names.clone(),
            ..ProbeAnswer::default()
        };
        assert_eq!(plain.guesses().len(), names.len());
    }
}
