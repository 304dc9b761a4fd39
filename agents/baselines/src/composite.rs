//! Holds the names that several factors speak for.

use crate::order::rebalance;
use crate::seen::Seen;
use crate::{ChatModel, answer};

/// Rebalances at every step into the ten names with the best sum of four scores, equally weighted: high `MOM_12_1` and
/// `HIGH_52W`, low `RV_60` and `CV_VOL`. It reads z-scores, percentiles or bands, whichever it is shown; without any it
/// holds.
#[derive(Debug, Clone, Copy)]
pub struct Composite;

/// Each factor with the sign of its attractive end.
const TILTS: [(&str, f64); 4] = [
    ("MOM_12_1", 1.0),
    ("HIGH_52W", 1.0),
    ("RV_60", -1.0),
    ("CV_VOL", -1.0),
];
const SCREEN: &str = r#"{"factors":[{"factor":"MOM_12_1","direction":"high"},{"factor":"HIGH_52W","direction":"high"},{"factor":"RV_60","direction":"low"},{"factor":"CV_VOL","direction":"low"}],"top_k":10}"#;
const NAME_COUNT: usize = 10;

impl ChatModel for Composite {
    fn reply(&self, request: &[u8]) -> Vec<u8> {
        let seen = Seen::read(request);
        if !seen.must_submit() {
            return answer::ask_once(&seen, SCREEN);
        }
        let wanted = best(&seen);
        match seen.allowed() {
            Some(allowed) if !wanted.is_empty() => {
                let orders = rebalance(&seen, allowed, &wanted, "Rank by four factors together.");
                answer::submit(&seen, orders, "Holding strong and steady names near their highs.")
            }
            Some(_) | None => answer::hold(&seen, "Without factor scores there is no view."),
        }
    }
}

/// The names with the best scores, equal ones in the order shown. A score that is not shown counts as a middling one.
fn best(seen: &Seen) -> Vec<String> {
    let table = seen.candidates();
    let mut names: Vec<(String, f64)> = table.texts("stock_id").into_iter().map(|id| (id, 0.0)).collect();
    let mut is_told = false;
    for (factor, sign) in TILTS {
        let scores = table.scores(factor);
        is_told |= !scores.is_empty();
        for (id, sum) in &mut names {
            let score = scores.iter().find(|(of, _)| of == id);
            *sum += score.map_or(0.0, |(_, score)| sign * score);
        }
    }
    if !is_told {
        return Vec::new();
    }
    // The sort is stable, and adding zero turns -0.0 into 0.0, which `total_cmp` would tell apart.
    names.sort_by(|(_, x), (_, y)| (y + 0.0).total_cmp(&(x + 0.0)));
    names.truncate(NAME_COUNT);
    names.into_iter().map(|(id, _)| id).collect()
}
