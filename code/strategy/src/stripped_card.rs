//! A card without what nobody asked for.

use crate::card::CARD_BYTES_MAX;
use crate::strict_json::StrictJson;
use serde_json::{Map, Value};

/// Members of a card that a document asks for, in the order in which they are shown.
const CARD_MEMBERS: [&str; 6] = [
    "strategy_id",
    "entry_function",
    "core_logic",
    "parameters",
    "constraints",
    "output_specification",
];

/// A card with the members that are asked for alone, where it is an object of strict JSON.
#[must_use]
pub fn stripped_card(card: &str) -> String {
    let is_card = card.len() <= CARD_BYTES_MAX && StrictJson::parse(card).is_ok();
    let parsed: Option<Map<String, Value>> = serde_json::from_str(card).ok().filter(|_| is_card);
    let Some(members) = parsed else {
        return card.to_owned();
    };
    let lines: Vec<String> = CARD_MEMBERS
        .iter()
        .filter_map(|name| Some(format!("  \"{name}\": {}", members.get(*name)?)))
        .collect();
    format!("{{\n{}\n}}", lines.join(",\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_card_is_shown_as_it_is() {
        for card in ["no card", "[1]", "{\"a\": 1, \"a\": 2}"] {
            assert_eq!(stripped_card(card), card);
        }
    }
}
