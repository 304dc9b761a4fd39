//! Where programs of this user keep what may be deleted at any time.

use std::path::PathBuf;

/// The program's folder for what may be deleted at any time: `KTD_CACHE` if that is set, nowhere if it is empty, else `ktd` in
/// `XDG_CACHE_HOME` or `~/.cache`.
#[must_use]
pub fn cache_folder() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let is_set = |folder: &PathBuf| !folder.as_os_str().is_empty();
    let cache = folder("KTD_CACHE").or_else(|| {
        let of_user = folder("XDG_CACHE_HOME").filter(is_set);
        let of_user = of_user.or_else(|| Some(folder("HOME").filter(is_set)?.join(".cache")));
        Some(of_user?.join("ktd"))
    });
    cache.filter(is_set)
}
