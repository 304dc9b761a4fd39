//! Options of every command of `ktd box`.

use crate::output::Console;
use clap::{Args, ValueEnum};
use ktd_boxed::{BoxSetup, NOBODY};
use ktd_sandbox::{Isolation, PackageSet};
use std::path::PathBuf;

/// How boxes are to be.
#[derive(Debug, Args)]
pub(super) struct BoxArgs {
    /// What stands between a program and the machine; none is ever taken in place of another.
    #[arg(
        long,
        value_enum,
        default_value = "bwrap",
        conflicts_with = "unsafe_no_sandbox"
    )]
    isolation: IsolationArg,
    /// No isolation at all: every row is marked unsafe, and nothing is ranked.
    #[arg(long)]
    unsafe_no_sandbox: bool,
    /// The folder of the Python environment [default: that of the set].
    #[arg(long, value_name = "DIR")]
    env: Option<PathBuf>,
    /// The set of packages.
    #[arg(long, value_enum, default_value = "pandas2")]
    set: SetArg,
    /// The user number of a box that root asks for.
    #[arg(long, value_name = "UID", default_value_t = NOBODY)]
    user: u32,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum IsolationArg {
    /// Namespaces, a read-only root, Landlock and filters of system calls.
    Bwrap,
    /// Landlock and filters of system calls, where namespaces are blocked.
    Landlock,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum SetArg {
    /// With the last pandas 2.
    Pandas2,
    /// With pandas 3.
    Pandas3,
}

impl SetArg {
    pub(super) const fn set(self) -> PackageSet {
        match self {
            Self::Pandas2 => PackageSet::Pandas2,
            Self::Pandas3 => PackageSet::Pandas3,
        }
    }
}

impl BoxArgs {
    pub(super) fn setup(&self) -> BoxSetup {
        let isolation = match self.isolation {
            _ if self.unsafe_no_sandbox => Isolation::None,
            IsolationArg::Bwrap => Isolation::Bwrap,
            IsolationArg::Landlock => Isolation::Landlock,
        };
        if isolation == Isolation::None {
            Console::warning(
                "unsafe: no sandbox; the program may do whatever you may do, and no result counts",
            );
        }
        BoxSetup {
            isolation,
            set: self.set.set(),
            environment: self.env.clone(),
            user: self.user,
            ..BoxSetup::default()
        }
    }
}
