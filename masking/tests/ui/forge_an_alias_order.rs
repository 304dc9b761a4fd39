//! The order of a list comes from the mask: neither it nor a name is made from a number.
fn main() {
    let _ = ktd_masking::MaskedOrder(1);
    let _ = ktd_env::NameId(1);
    let _ = ktd_masking::Rank(600_519);
    let _ = ktd_masking::Count(600_519);
}
