//! What a cell that goes on at other prices had spent, at the old ones and at the new.

use crate::EpisodeError;
use ktd_bundle::BundlePaths;
use ktd_bundle::episode_tariff::tariff_of_header;
use ktd_bundle::open::read_header;
use ktd_experiment::price_table::TokenPricing;
use ktd_record::spending::Spending;

/// A sentence for whoever waits: a bundle that goes on at other prices than it began with. `None` where nothing was spent, or the
/// prices are the same.
///
/// # Errors
/// [`EpisodeError`] when its header or its exchanges cannot be read.
pub(super) fn revalued(paths: &BundlePaths, basis: &TokenPricing) -> Result<Option<String>, EpisodeError> {
    if !paths.header().exists() {
        return Ok(None);
    }
    let header = read_header(paths)?;
    if header.prices.as_ref() == basis.record() {
        return Ok(None);
    }
    let tariff = tariff_of_header(&header);
    let before = Spending::of(&paths.exchanges(), &tariff)?;
    if before.tokens.all() == 0 {
        return Ok(None);
    }
    let now = Spending::of(&paths.exchanges(), &tariff.at(basis.clone()))?;
    Ok(Some(format!(
        "{}: goes on at other prices; what it had spent, {}, counts {} now",
        header.cell,
        before.text(),
        now.text()
    )))
}
