//! Masks that are broken on purpose, for attackers that must notice.

use crate::exhibit::ProbeText;
use crate::make::purpose;
use crate::plan::ProbePlan;
use ktd_env::{DayIndex, Fen, Market};
use ktd_masking::{EpisodeFrame, Mask};
use std::collections::BTreeMap;

/// Probes of a plan with every alias replaced by the place of its stock in the order of the codes, as a map without a
/// shuffle would have it. A probe whose exhibit cannot be made out stays as it is.
#[must_use]
pub fn sorted_aliases(market: &Market, plan: &ProbePlan, probes: &[ProbeText]) -> Vec<ProbeText> {
    let sorted = |probe: &ProbeText| {
        let purpose = purpose(probe.kind, probe.number);
        let exhibits = probe.exhibits.iter().enumerate();
        ProbeText {
            number: probe.number,
            kind: probe.kind,
            exhibits: exhibits
                .map(|(place, text)| {
                    let map = aliases(market, plan, &format!("{purpose} exhibit {place}"));
                    map.map_or_else(|| text.clone(), |map| renamed(text, &map))
                })
                .collect(),
        }
    };
    probes.iter().map(sorted).collect()
}

/// The alias of each stock under an exhibit's key, and the place of the stock in the order of the codes.
fn aliases(market: &Market, plan: &ProbePlan, exhibit: &str) -> Option<BTreeMap<String, usize>> {
    let days: [DayIndex; 1] = [market.day_at(ProbePlan::HISTORY_DAYS)?];
    let frame = EpisodeFrame {
        market,
        window: &days,
        initial_cash: Fen(0),
    };
    let mask = Mask::new(plan.mask, &plan.key.derive(exhibit), &frame)?;
    let names = market.names().map(|(name, _)| mask.asset(name).to_inline());
    Some(names.zip(1..).collect())
}

const ALIAS: &str = "asset_";
const DIGITS: usize = 4;

fn renamed(text: &str, places: &BTreeMap<String, usize>) -> String {
    let mut parts = text.split(ALIAS);
    let mut renamed = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let place = part
            .get(..DIGITS)
            .and_then(|digits| places.get(&format!("{ALIAS}{digits}")));
        match (place, part.get(DIGITS..)) {
            (Some(place), Some(rest)) => renamed.extend([ALIAS, &format!("{place:04}"), rest]),
            _ => renamed.extend([ALIAS, part]),
        }
    }
    renamed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_alone_are_renamed() {
        let places = BTreeMap::from([("asset_0007".to_owned(), 12), ("asset_0012".to_owned(), 7)]);
        assert_eq!(
            renamed(
                r#"{"a":"asset_0007","b":["asset_0012",7],"c":"asset_0001"}"#,
                &places
            ),
            r#"{"a":"asset_0012","b":["asset_0007",7],"c":"asset_0001"}"#
        );
    }
}
