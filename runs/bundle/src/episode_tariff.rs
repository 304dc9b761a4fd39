//! How the sends of an episode are charged: by its cell while it runs, by its header once it is recorded.

use crate::header::Header;
use ktd_experiment::branch::BranchRecord;
use ktd_experiment::cells::Cell;
use ktd_experiment::price_table::TokenPricing;
use ktd_record::tariff::Tariff;

/// The tariff of a cell that runs now.
#[must_use]
pub fn tariff_of_cell(cell: &Cell) -> Tariff {
    let tariff = Tariff::new(
        cell.provider.clone(),
        cell.basis.clone(),
        cell.agent.max_output_tokens(),
    );
    left_at(tariff, cell.branch.as_ref())
}

/// The tariff of a bundle, from its header alone.
#[must_use]
pub fn tariff_of_header(header: &Header) -> Tariff {
    let basis = TokenPricing::of(header.agent.is_ours(), header.prices.clone());
    let tariff = Tariff::new(
        (*header.provider).clone(),
        basis,
        header.agent.max_output_tokens(),
    );
    left_at(tariff, header.branch.as_ref())
}

/// What a branch copied was charged to the episode that it left.
fn left_at(tariff: Tariff, branch: Option<&BranchRecord>) -> Tariff {
    match branch {
        Some(branch) => tariff.copied_before(branch.first_own_request()),
        None => tariff,
    }
}
