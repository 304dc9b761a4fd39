//! The market of the tests.

use ktd_env::Market;
use ktd_env::synth::{SynthConfig, generate};

/// A synthetic market with listings, delistings, special treatment and a review of the index after the first as-of days.
pub(crate) fn small_market() -> Market {
    let config = SynthConfig {
        seed: 6,
        names: 60,
        days: 420,
    };
    generate(&config).unwrap()
}
