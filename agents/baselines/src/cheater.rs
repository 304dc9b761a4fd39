//! Knows the future of real stocks: what a mask must make worthless.

use crate::foresight::Foresight;
use crate::identifier::{is_code, is_date};
use crate::order::{rebalance, stake_of_foresight};
use crate::recognise::answer_probe;
use crate::seen::Seen;
use crate::{ChatModel, answer};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// Buys the names it remembers to rise most and sells the others. It needs a real code *and* a real date in what it
/// is shown: with an alias for either, it has nothing to go on and holds. Asked which stock and which day a probe shows,
/// it says what stands there openly, and under a mask that it recognises nothing.
#[derive(Clone)]
pub struct Cheater {
    memory: Arc<dyn Foresight>,
}

/// How many names it bets on.
const NAME_COUNT: usize = 5;

impl Cheater {
    /// A cheater with this memory.
    #[must_use]
    pub const fn new(memory: Arc<dyn Foresight>) -> Self {
        Self { memory }
    }

    /// The codes it remembers to rise, best first, equal ones in the order of their names.
    fn best(&self, codes: &BTreeSet<String>, date: &str) -> Vec<String> {
        let remembered = |code: &String| Some((code.clone(), self.memory.next_return(code, date)?));
        let mut ranked: Vec<(String, f64)> = codes.iter().filter_map(remembered).collect();
        ranked.retain(|(_, gain)| 0.0 < *gain);
        ranked.sort_by(|(a, x), (b, y)| y.total_cmp(x).then_with(|| a.cmp(b)));
        ranked.truncate(NAME_COUNT);
        ranked.into_iter().map(|(code, _)| code).collect()
    }
}

impl fmt::Debug for Cheater {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Cheater").finish_non_exhaustive()
    }
}

impl ChatModel for Cheater {
    fn reply(&self, request: &[u8]) -> Vec<u8> {
        let seen = Seen::read(request);
        if let Some(answer) = answer_probe(&seen, self.memory.as_ref()) {
            return answer;
        }
        if !seen.must_submit() {
            return answer::screen_once(&seen, "high", 30);
        }
        // Standing instructions are left out: an example in them is no leak.
        let texts: Vec<&str> = seen.state_texts().chain(seen.texts_of("tool")).collect();
        let codes: BTreeSet<String> = texts
            .iter()
            .flat_map(|text| words(text))
            .filter(|word| is_code(word))
            .map(str::to_owned)
            .collect();
        let date = seen
            .day()
            .filter(|day| is_date(day))
            .map(str::to_owned)
            .or_else(|| latest_date(&texts));
        match (date, seen.allowed()) {
            (Some(date), Some(allowed))
                if codes
                    .iter()
                    .any(|code| self.memory.next_return(code, &date).is_some()) =>
            {
                let orders = rebalance(
                    &seen,
                    stake_of_foresight(seen.step().unwrap_or(1), allowed),
                    &self.best(&codes, &date),
                    "I remember what happened next.",
                );
                answer::submit(&seen, orders, "Trading on what I remember.")
            }
            _ => answer::hold(&seen, "I recognise neither the stocks nor the day."),
        }
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_')
}

fn latest_date(texts: &[&str]) -> Option<String> {
    texts
        .iter()
        .flat_map(|text| words(text))
        .filter(|word| is_date(word))
        .max()
        .map(str::to_owned)
}
