//! Bubblewrap on this machine.

use crate::error::BoxError;
use crate::search::programs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The oldest version that can keep a box from making user namespaces of its own.
const OLDEST: [u32; 3] = [0, 8, 0];
const INSTALL: &str = "install it: apt-get install bubblewrap (Debian, Ubuntu), dnf install bubblewrap (Fedora), \
                       pacman -S bubblewrap (Arch); where namespaces are blocked, --isolation landlock";
/// What a machine that blocks namespaces needs.
pub(crate) const NAMESPACES_HINT: &str = "allow user namespaces: sysctl kernel.unprivileged_userns_clone=1, or \
    kernel.apparmor_restrict_unprivileged_userns=0 (or the distribution's profile for bwrap); in a container, ask for \
    --isolation landlock, or let its owner decide on --security-opt seccomp=unconfined";

/// An installed bubblewrap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bubblewrap {
    /// Where it is.
    pub path: PathBuf,
    /// Its version.
    pub version: String,
}

impl Bubblewrap {
    /// The first on the path.
    ///
    /// # Errors
    /// Where it is absent or too old, or the machine is laid out in another way than the box.
    pub fn find() -> Result<Self, BoxError> {
        if !cfg!(target_os = "linux") {
            return Err(BoxError::input(
                "the box needs Linux: namespaces and filters of system calls are its kernel's",
                "run it on a Linux machine, or in a virtual one",
            ));
        }
        let path = programs("bwrap").into_iter().next();
        let path =
            path.ok_or_else(|| BoxError::input("bubblewrap is missing: no bwrap on the path", INSTALL))?;
        check_layout(Path::new("/"))?;
        let output = Command::new(&path).arg("--version").stdin(Stdio::null()).output();
        let output = output.map_err(BoxError::io("start", &path))?;
        let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        let version = checked_version(&said)
            .map_err(|what| BoxError::input(format!("{}: {what}", path.display()), INSTALL))?;
        Ok(Self { path, version })
    }
}

/// The version in what bubblewrap prints of itself, where it is new enough.
fn checked_version(printed: &str) -> Result<String, String> {
    let version = printed.strip_prefix("bubblewrap ").unwrap_or_default();
    let parts: Option<Vec<u32>> = version.split('.').map(|part| part.parse().ok()).collect();
    match parts {
        Some(parts) if parts.len() == 3 && OLDEST.as_slice() <= parts.as_slice() => Ok(version.to_owned()),
        Some(parts) if parts.len() == 3 => Err(format!(
            "bubblewrap {version} is too old, at least 0.8.0 is needed"
        )),
        _ => Err(format!("it is no bubblewrap: its version is {printed:?}")),
    }
}

/// The box has `/usr`, and links into it: a machine whose programs lie elsewhere cannot be shown in it.
fn check_layout(root: &Path) -> Result<(), BoxError> {
    let is_usual = ["usr/bin", "usr/lib"]
        .iter()
        .all(|folder| root.join(folder).is_dir())
        && ["bin", "lib"]
            .iter()
            .all(|link| std::fs::symlink_metadata(root.join(link)).is_ok_and(|found| found.is_symlink()));
    if is_usual {
        return Ok(());
    }
    Err(BoxError::input(
        "this system has no /usr with /bin and /lib as links into it",
        "use a distribution that has, or --isolation landlock",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_and_foreign_versions_are_refused() {
        assert_eq!(checked_version("bubblewrap 0.8.0").unwrap(), "0.8.0");
        assert_eq!(checked_version("bubblewrap 0.11.2").unwrap(), "0.11.2");
        assert!(
            checked_version("bubblewrap 0.7.99")
                .unwrap_err()
                .contains("too old")
        );
        assert!(
            checked_version("bubblewrap 0.8")
                .unwrap_err()
                .contains("no bubblewrap")
        );
        assert!(
            checked_version("busybox 1.0.0")
                .unwrap_err()
                .contains("no bubblewrap")
        );
        assert!(checked_version("").is_err());
    }

    #[test]
    fn a_machine_without_the_usual_folders_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let fault = check_layout(root.path()).unwrap_err();
        assert!(fault.to_string().contains("/usr"), "{fault}");
        for folder in ["usr/bin", "usr/lib"] {
            std::fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        for link in ["bin", "lib"] {
            std::os::unix::fs::symlink(format!("usr/{link}"), root.path().join(link)).unwrap();
        }
        assert!(check_layout(root.path()).is_ok());
    }
}
