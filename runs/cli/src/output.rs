//! What goes to the terminal and to files.

use crate::CliError;
use std::io::{self, Write};
use std::path::Path;

/// How a command speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Console {
    /// One JSON document on standard output instead of text.
    pub json: bool,
    /// No progress and no tables; results and errors only.
    pub quiet: bool,
}

impl Console {
    /// Prints the result: `text` for people, `value` for programs.
    ///
    /// # Errors
    /// [`CliError`] when standard output cannot be written; a closed pipe is no error.
    pub(crate) fn result(self, text: &str, value: &serde_json::Value) -> Result<(), CliError> {
        let document = if self.json {
            format!("{value:#}\n")
        } else if text.ends_with('\n') || text.is_empty() {
            text.to_owned()
        } else {
            format!("{text}\n")
        };
        print(&mut io::stdout().lock(), &document)
    }

    /// Prints a line on standard error while a command goes on, unless it is to be quiet.
    pub(crate) fn note(self, line: &str) {
        if !self.quiet {
            // Nothing is left to tell anyone when standard error is gone.
            print(&mut io::stderr().lock(), &format!("{line}\n")).ok();
        }
    }

    /// Prints a failure on standard error, as JSON where asked for.
    pub(crate) fn failure(self, failure: &CliError) {
        let document = if self.json {
            format!("{:#}\n", failure.to_json())
        } else {
            format!("{failure}\n")
        };
        // Nothing is left to tell anyone when standard error is gone.
        print(&mut io::stderr().lock(), &document).ok();
    }
}

fn print(stream: &mut impl Write, document: &str) -> Result<(), CliError> {
    match stream
        .write_all(document.as_bytes())
        .and_then(|()| stream.flush())
    {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(CliError::io("write to", Path::new("standard output"))(error))
        }
        _ => Ok(()),
    }
}
