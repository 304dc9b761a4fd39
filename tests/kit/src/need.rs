//! What a test needs that a machine may lack. A test asks here before it is passed over, so that one line can say what
//! was.

use crate::golden::{OUTSIDE_SETS, golden_root};
use crate::workspace_root;
use ktd_boxed::{BoxSetup, PythonEnvironment, environment_folder};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The compiler whose words the compile-fail cases hold. They are tested in `masking`, which cannot ask here: what tests
/// compilation builds all that it depends on.
pub const COMPILER: &str = "rustc 1.95.";

/// Something that lies outside the repository, or that not every build and system has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// A golden set beside the repository, by the name of its folder.
    Golden(&'static str),
    /// Real panels beside the repository.
    RealPanels,
    /// A clone that git knows.
    GitClone,
    /// Crash points, which are compiled into builds with debug assertions alone.
    CrashPoints,
    /// A device on which nothing can be written.
    FullDevice,
    /// The compiler of the compile-fail cases.
    Compiler,
    /// A small model that somebody serves on loopback, and says so.
    LocalModel,
    /// Bubblewrap, on a machine that lets it make namespaces.
    Boxes,
    /// The Python environment of boxes.
    BoxEnvironment,
}

impl Need {
    /// Everything that a test may ask for.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let others = [
            Self::RealPanels,
            Self::GitClone,
            Self::CrashPoints,
            Self::FullDevice,
            Self::Compiler,
            Self::LocalModel,
            Self::Boxes,
            Self::BoxEnvironment,
        ];
        OUTSIDE_SETS.into_iter().map(Self::Golden).chain(others).collect()
    }

    /// Whether it is there. The reader of a test that was passed over finds it in the test's output.
    #[must_use]
    pub fn is_met(self) -> bool {
        let is_met = self.is_there();
        if !is_met {
            println!("skipped: {} ({})", self.name(), self.remedy());
        }
        is_met
    }

    /// Whether it is there, without a word.
    #[must_use]
    pub fn is_there(self) -> bool {
        match self {
            Self::Golden(set) => {
                assert!(
                    OUTSIDE_SETS.contains(&set),
                    "{set}: give it a place in OUTSIDE_SETS"
                );
                golden_root().join(set).is_dir()
            }
            Self::RealPanels => data_root().join("cn_csi300_window_2023_2026.parquet").is_file(),
            Self::GitClone => Command::new("git")
                .args(["rev-parse", "--is-inside-work-tree"])
                .current_dir(workspace_root())
                .output()
                .is_ok_and(|output| output.status.success()),
            Self::CrashPoints => ktd_io::crash_points::ARE_BUILT,
            Self::FullDevice => Path::new("/dev/full").exists(),
            Self::Compiler => Command::new(option_env!("RUSTC").unwrap_or("rustc"))
                .arg("--version")
                .output()
                .is_ok_and(|output| output.stdout.starts_with(COMPILER.as_bytes())),
            Self::LocalModel => std::env::var_os("KTD_LOCAL_MODEL").is_some(),
            Self::Boxes => Command::new("bwrap")
                .args([
                    "--unshare-user",
                    "--unshare-all",
                    "--disable-userns",
                    "--ro-bind",
                    "/",
                    "/",
                    "true",
                ])
                .output()
                .is_ok_and(|output| output.status.success()),
            Self::BoxEnvironment => box_environment().is_some(),
        }
    }

    /// What it is called in a summary.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Golden(set) => format!("golden/{set}"),
            Self::RealPanels => "real panels".to_owned(),
            Self::GitClone => "rules of committed files".to_owned(),
            Self::CrashPoints => "crash points".to_owned(),
            Self::FullDevice => "a full device".to_owned(),
            Self::Compiler => "compile-fail cases".to_owned(),
            Self::LocalModel => "a model on loopback".to_owned(),
            Self::Boxes => "boxes".to_owned(),
            Self::BoxEnvironment => "the Python of boxes".to_owned(),
        }
    }

    /// How a machine gets it.
    #[must_use]
    pub const fn remedy(self) -> &'static str {
        match self {
            Self::Golden(_) => {
                "lay the golden sets at ../shared/golden or set KTD_GOLDEN (the small cases of tests/golden ran)"
            }
            Self::RealPanels => "lay the panels at ../shared/data or set KTD_DATA",
            Self::GitClone => "run the tests in a clone made by git",
            Self::CrashPoints => "run the tests without --release",
            Self::FullDevice => "run the tests on Linux",
            Self::Compiler => "use Rust 1.95",
            Self::Boxes => "install bubblewrap 0.8 or newer and allow user namespaces",
            Self::BoxEnvironment => "python environment is not set up: run ktd box setup",
            Self::LocalModel => "serve the model of local_attacker.toml and set KTD_LOCAL_MODEL=1",
        }
    }
}

/// One line that sums up what a run of all tests passes over on this machine; `None` where that is nothing.
#[must_use]
pub fn summary() -> Option<String> {
    let missing: Vec<Need> = Need::all().into_iter().filter(|need| !need.is_there()).collect();
    let names: Vec<String> = missing.iter().map(|need| need.name()).collect();
    let mut remedies: Vec<&str> = missing.iter().map(|need| need.remedy()).collect();
    remedies.dedup();
    (!missing.is_empty()).then(|| format!("skipped: {}; {}", names.join(", "), remedies.join("; ")))
}

/// The folder of the Python environment of boxes, where it is set up.
#[must_use]
pub fn box_environment() -> Option<PathBuf> {
    let setup = BoxSetup::default();
    let folder = environment_folder(setup.set);
    let opened = PythonEnvironment::open(&folder, setup.set, setup.box_user());
    opened.ok().map(|environment| environment.folder)
}

/// The folder of real panels, there or not: `KTD_DATA`, by default `../shared/data`.
#[must_use]
pub fn data_root() -> PathBuf {
    root_of("KTD_DATA", "../shared/data")
}

/// The folder that a variable names. A relative one counts from the workspace's root, wherever the test runs.
pub(crate) fn root_of(variable: &str, default: &str) -> PathBuf {
    let named = std::env::var_os(variable).unwrap_or_else(|| default.into());
    // Joining keeps an absolute path as it is.
    workspace_root().join(named)
}

/// Whether foreign Python can be run in a box here; what is missing is noted as passed over.
#[must_use]
pub fn has_boxes() -> bool {
    Need::Boxes.is_met() && Need::BoxEnvironment.is_met()
}
