//! Real names of what a bundle's mask hides, for the owner of its key.

use crate::open_bundle::OpenBundle;
use std::collections::BTreeMap;

/// What the masked names and days of a bundle really are, for the owner of its key: alias to code.
#[must_use]
pub fn real_names(bundle: &OpenBundle, text: &str) -> BTreeMap<String, String> {
    let input = bundle.input();
    let Some(mask) = crate::mask_of(&input) else {
        return BTreeMap::new();
    };
    let words = text.split(|character: char| !character.is_ascii_alphanumeric() && character != '_');
    words
        .filter_map(|word| {
            let name = mask.resolve(word).ok()?;
            let info = bundle.shared.market.name(name)?;
            let company = info
                .company_names
                .first()
                .map(|name| format!(" {name}"))
                .unwrap_or_default();
            Some((word.to_owned(), format!("{}{company}", info.ticker.reveal())))
        })
        .collect()
}
