//! What the system lets one process have.

/// Files and sockets that one running episode may hold at once: logs, exchanges, lock, and its connection.
const OPEN_FILES_A_CELL: u64 = 8;
/// Files that the program holds besides.
const OPEN_FILES_BESIDES: u64 = 64;

/// Raises the number of open files to what the system allows without asking; returns the number, where it is known.
#[must_use]
pub fn raise_open_files() -> Option<u64> {
    rlimit::increase_nofile_limit(u64::MAX).ok()
}

/// How many open files a run needs at most, when it may not have them.
#[must_use]
pub fn missing_open_files(parallel_cells: usize) -> Option<(u64, u64)> {
    let cells = u64::try_from(parallel_cells).unwrap_or(u64::MAX);
    let needed = cells
        .saturating_mul(OPEN_FILES_A_CELL)
        .saturating_add(OPEN_FILES_BESIDES);
    let allowed = raise_open_files()?;
    (allowed < needed).then_some((needed, allowed))
}
