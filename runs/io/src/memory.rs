//! What the process holds in memory.

/// Megabytes of memory that the process has now, where the system says so (Linux).
#[must_use]
pub fn resident_megabytes() -> Option<u64> {
    const PAGES_A_MEGABYTE: u64 = 256;
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
    Some(pages / PAGES_A_MEGABYTE)
}
