//! What can be wrong with a file or an input, and how to fix it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// What an error means for the command that met it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorClass {
    /// The input or the machine has to be fixed.
    InvalidInput,
    /// A check ran well and found a difference.
    Difference,
    /// A budget is used up.
    Budget,
    /// The process was told to end before the work did: the same command goes on.
    Stopped,
}

/// An error that says how to fix it, and what it means for a command.
pub trait Explained: fmt::Display {
    /// How to fix it; empty where what it says is enough.
    fn how_to_fix(&self) -> String;

    /// What it means for a command.
    fn meaning(&self) -> ErrorClass;
}

/// [`Explained`] for errors that have `hint` and `class` of their own.
#[macro_export]
macro_rules! error_explained {
    ($error:ty) => {
        impl $crate::Explained for $error {
            fn how_to_fix(&self) -> String {
                self.hint()
            }

            fn meaning(&self) -> $crate::ErrorClass {
                self.class()
            }
        }
    };
}

crate::error_explained!(FileError);

/// A fault of a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// It could not be read or written.
    #[error("cannot {action} {}: {source}", .path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// Where.
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// It is a directory, a device, a pipe or a socket.
    #[error("{}: it is not a regular file", .path.display())]
    NotRegular {
        /// Where.
        path: PathBuf,
    },
    /// It is larger than such a file may be.
    #[error("{}: it holds more than {limit_bytes} bytes", .path.display())]
    TooLarge {
        /// Where.
        path: PathBuf,
        /// The most that is read.
        limit_bytes: u64,
    },
    /// A line of it, or all lines up to one, hold more than such a file's may.
    #[error("{}: line {line}: {what} {} MiB", .path.display(), .limit_bytes >> 20)]
    LineTooLarge {
        /// Where.
        path: PathBuf,
        /// The line at which the reading stopped, from 1.
        line: usize,
        /// Which of the two is too large.
        what: &'static str,
        /// The most that is read.
        limit_bytes: u64,
    },
    /// A file that a user names is larger than any such file.
    #[error("{}: more than {} MiB", .path.display(), .limit_bytes >> 20)]
    InputTooLarge {
        /// Where.
        path: PathBuf,
        /// The most that is read.
        limit_bytes: u64,
    },
    /// A file that a user names is not UTF-8 text.
    #[error("{}: byte {byte} is not UTF-8 text", .path.display())]
    NotText {
        /// Where.
        path: PathBuf,
        /// The first such byte, counted from 0.
        byte: usize,
    },
    /// Another process is writing it.
    #[error("{}: another process is writing it", .path.display())]
    Busy {
        /// What it holds.
        path: PathBuf,
    },
    /// It is the work of a program that was built from other sources.
    #[error("{}: made by another program ({maker}); this one is {this}", .path.display())]
    AnotherProgram {
        /// What names the program.
        path: PathBuf,
        /// The one that made it.
        maker: String,
        /// The one that runs.
        this: String,
    },
    /// A folder that is to be written whole holds something.
    #[error("{} is not empty", .path.display())]
    NotEmpty {
        /// Where.
        path: PathBuf,
    },
    /// A row of a table is invalid.
    #[error("{file}, row {row}: {what}")]
    Row {
        /// The file's name as the user gave it.
        file: String,
        /// Counted from 1.
        row: u64,
        /// What is wrong.
        what: String,
        /// How to fix it.
        hint: &'static str,
    },
    /// It does not hold what it must.
    #[error("{}: {what}", .path.display())]
    Damaged {
        /// Where.
        path: PathBuf,
        /// What is wrong, and where in the file.
        what: String,
    },
}

/// How to fix what the system says of a file that is to be written where there is no directory.
const NO_DIRECTORY: &str = "check the path; directories are not made on the way";

/// How the actions on a file begin that make it where it is missing.
const WRITES: [&str; 3] = ["write", "make", "open"];

/// How to fix what the system says of a file.
const SYSTEM_HINTS: [(io::ErrorKind, &str); 12] = [
    (io::ErrorKind::NotFound, "check the path"),
    (
        io::ErrorKind::PermissionDenied,
        "check the permissions of the file and its directory",
    ),
    (
        io::ErrorKind::StorageFull,
        "the disk is full: free some disk space and run the same command again; finished work is kept",
    ),
    (
        io::ErrorKind::QuotaExceeded,
        "the quota is used up: free some disk space and run the same command again; finished work is kept",
    ),
    (
        io::ErrorKind::FileTooLarge,
        "files may not grow so large here: raise the limit or write elsewhere, and run the same command again; finished work is kept",
    ),
    (
        io::ErrorKind::AlreadyExists,
        "choose another path, or pass --force where the command has it",
    ),
    (
        io::ErrorKind::ReadOnlyFilesystem,
        "the file system is read-only: write elsewhere",
    ),
    (
        io::ErrorKind::NotADirectory,
        "a file stands where a directory is needed: choose another path",
    ),
    (
        io::ErrorKind::IsADirectory,
        "this is a directory; name a file in it",
    ),
    (
        io::ErrorKind::UnexpectedEof,
        "the file is cut short: copy it again",
    ),
    (
        io::ErrorKind::Interrupted,
        "nothing of it was left: run the same command again",
    ),
    (io::ErrorKind::InvalidData, "the file is damaged: copy it again"),
];

impl FileError {
    /// A [`FileError::Io`] for `path`; `action` completes "cannot".
    pub fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }

    pub(crate) fn not_regular(path: &Path) -> Self {
        Self::NotRegular {
            path: path.to_owned(),
        }
    }

    /// A [`FileError::Damaged`].
    pub fn damaged(path: &Path, what: impl Into<String>) -> Self {
        Self::Damaged {
            path: path.to_owned(),
            what: what.into(),
        }
    }

    /// Whether nothing lies there.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    /// How to fix it.
    #[must_use]
    pub fn hint(&self) -> String {
        let hint = match self {
            Self::Io { action, .. }
                if self.is_missing() && WRITES.iter().any(|write| action.starts_with(write)) =>
            {
                NO_DIRECTORY
            }
            Self::Io { source, .. } => SYSTEM_HINTS
                .iter()
                .find(|(kind, _)| *kind == source.kind())
                .map_or(
                    "check that the path exists and may be read and written",
                    |(_, hint)| hint,
                ),
            Self::NotRegular { .. } => {
                "replace it with the file itself: links to devices, pipes and directories are not read"
            }
            Self::InputTooLarge { .. } => "check the path: no file of this kind is so large",
            Self::NotText { .. } => "check the path, or save the file as UTF-8 text",
            Self::TooLarge { .. } | Self::LineTooLarge { .. } => {
                "remove it or take it from its maker again: no such file grows so large"
            }
            Self::Row { hint, .. } => hint,
            Self::Busy { .. } => "wait until it ends, or stop it",
            Self::AnotherProgram { .. } => {
                "name another folder with --out, or continue with the program that made it: figures of two programs are not mixed"
            }
            Self::NotEmpty { .. } => "name a new folder, or remove what lies there",
            Self::Damaged { .. } => {
                "restore the file from a copy: what this program wrote must not be edited"
            }
        };
        hint.to_owned()
    }

    /// What it means for a command.
    #[must_use]
    pub const fn class(&self) -> ErrorClass {
        match self {
            Self::Io { .. }
            | Self::Row { .. }
            | Self::Busy { .. }
            | Self::AnotherProgram { .. }
            | Self::NotEmpty { .. }
            | Self::NotRegular { .. }
            | Self::InputTooLarge { .. }
            | Self::NotText { .. } => ErrorClass::InvalidInput,
            Self::TooLarge { .. } | Self::LineTooLarge { .. } | Self::Damaged { .. } => {
                ErrorClass::Difference
            }
        }
    }
}

/// An invalid input: what was wrong and where, and how to fix it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputError {
    what: String,
    hint: Option<String>,
}

impl InputError {
    /// An error without a hint. The message is lowercase, names the place, and has no full stop.
    #[must_use]
    pub fn new(what: impl fmt::Display) -> Self {
        Self {
            what: what.to_string(),
            hint: None,
        }
    }

    /// The same with a sentence on how to fix it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl fmt::Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }

    /// How to fix it, where it is known.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for InputError {}

impl Explained for InputError {
    fn how_to_fix(&self) -> String {
        self.hint().unwrap_or_default().to_owned()
    }

    fn meaning(&self) -> ErrorClass {
        ErrorClass::InvalidInput
    }
}

/// Constructors of an error enum that is made from a [`FileError`] and from an [`InputError`]: `io`, `damaged` and
/// `input`.
#[macro_export]
macro_rules! error_constructors {
    ($error:ty) => {
        impl $error {
            /// A fault of the system at a file; `action` completes "cannot".
            pub fn io(
                action: &'static str,
                path: &std::path::Path,
            ) -> impl FnOnce(std::io::Error) -> Self + use<> {
                let fault = $crate::FileError::io(action, path);
                move |source| Self::from(fault(source))
            }

            /// A file that does not hold what it must.
            pub fn damaged(path: &std::path::Path, what: impl Into<String>) -> Self {
                Self::from($crate::FileError::damaged(path, what))
            }

            /// An invalid input, and how to fix it.
            pub fn input(what: impl std::fmt::Display, hint: impl std::fmt::Display) -> Self {
                Self::from($crate::InputError::new(what).with_hint(hint))
            }

            /// The same with another sentence on how to fix it.
            #[must_use]
            pub fn with_hint(self, hint: impl std::fmt::Display) -> Self {
                let input = match self {
                    Self::Input(error) => error,
                    other => $crate::InputError::new(other),
                };
                Self::from(input.with_hint(hint))
            }

            /// An invalid input; what it is says enough to fix it.
            #[must_use]
            pub fn invalid(what: impl std::fmt::Display) -> Self {
                Self::from($crate::InputError::new(what))
            }
        }
    };
}

/// `hint` and `class` of an error enum with the variants of [`error_constructors`]: an invalid input and each error of a
/// crate below, named before the semicolon, explain themselves; of each other variant a hint and a class are given.
#[macro_export]
macro_rules! error_explanations {
    ($error:ident: $($below:ident),+ $(; $($own:pat => ($hint:expr, $class:expr)),+ $(,)?)?) => {
        $crate::error_explained!($error);

        impl $error {
            /// How to fix it.
            #[must_use]
            pub fn hint(&self) -> String {
                self.explanation().0
            }

            /// What it means for a command.
            #[must_use]
            pub fn class(&self) -> $crate::ErrorClass {
                self.explanation().1
            }

            fn explanation(&self) -> (String, $crate::ErrorClass) {
                match self {
                    Self::Input(error) => {
                        let hint = error.hint().unwrap_or_default();
                        (hint.to_owned(), $crate::ErrorClass::InvalidInput)
                    }
                    $(Self::$below(error) => (error.hint(), error.class()),)+
                    $($($own => (String::from($hint), $class),)+)?
                }
            }
        }
    };
}

/// The error enum of a crate at the edge: a fault of a file, an invalid input, and the errors of crates below, each as it is.
/// It has what [`error_constructors`] and [`error_explanations`] give.
#[macro_export]
macro_rules! edge_error {
    (
        $(#[$about:meta])*
        pub enum $error:ident {
            $($(#[$whence:meta])* $below:ident($source:ty),)*
        }
    ) => {
        $(#[$about])*
        #[derive(Debug, thiserror::Error)]
        #[non_exhaustive]
        pub enum $error {
            /// A file.
            #[error(transparent)]
            File(#[from] $crate::FileError),
            /// What was asked for: a path, an option, what a file says.
            #[error(transparent)]
            Input(#[from] $crate::InputError),
            $($(#[$whence])* #[error(transparent)] $below(#[from] $source),)*
        }

        $crate::error_constructors!($error);
        $crate::error_explanations!($error: File $(, $below)*);
    };
}
