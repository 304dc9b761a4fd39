//! Landlock of this kernel.

use landlock::{AccessFs, LandlockStatus, Ruleset, RulesetAttr, RulesetCreated};

/// The version of Landlock in the kernel; 0 where it has none. Rules bind the thread that asks for them alone, so a thread
/// that ends asks.
#[must_use]
pub fn landlock_version() -> u32 {
    let ask = || {
        let made = Ruleset::default()
            .handle_access(AccessFs::MakeSock)
            .and_then(Ruleset::create);
        made.and_then(RulesetCreated::restrict_self).ok()
    };
    let status = std::thread::scope(|scope| scope.spawn(ask).join().ok().flatten());
    match status.map(|status| status.landlock) {
        Some(LandlockStatus::Available {
            effective_abi,
            kernel_abi,
        }) => kernel_abi
            .and_then(|version| u32::try_from(version).ok())
            .unwrap_or(effective_abi as u32),
        _ => 0,
    }
}
