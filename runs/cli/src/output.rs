//! What goes to the terminal and to files.

use crate::CliError;
use crate::documents::PrintedDocument;
use ktd_study::{Audited, ReportOf};
use ktd_view::draw::visible;
use ktd_view::table::Layout;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

/// Columns of a table where standard output is no terminal.
const WIDTH: usize = 100;

/// How a command speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Console {
    /// One JSON document on standard output instead of text.
    pub json: bool,
    /// No progress and no tables; results and errors only.
    pub quiet: bool,
    /// All columns of every table, however narrow the terminal is.
    pub wide: bool,
}

impl Console {
    /// How tables are laid out: as wide as the terminal, or 100 columns where there is none; in colour on a terminal
    /// alone, unless `NO_COLOR` is set.
    pub(crate) fn layout(self) -> Layout<'static> {
        let is_terminal = io::stdout().is_terminal();
        let width = || {
            let size = console::Term::stdout().size_checked();
            size.filter(|_| is_terminal)
                .map_or(WIDTH, |(_, columns)| usize::from(columns))
        };
        let is_plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Layout {
            width: (!self.wide).then(width),
            is_coloured: is_terminal && !self.json && !is_plain,
            flag: "--wide",
        }
    }

    /// Prints the result: `text` for people, `document` for programs.
    ///
    /// # Errors
    /// [`CliError`] when standard output cannot be written; a closed pipe is no error.
    pub(crate) fn result(self, text: &str, document: &impl PrintedDocument) -> Result<(), CliError> {
        if self.json {
            let value = serde_json::to_value(document);
            return json_line(&value.map_err(CliError::invalid)?);
        }
        Self::say(text)
    }

    /// Prints the report of a study, whose document has the schema of its kind.
    pub(crate) fn report(self, text: &str, shown: &ReportOf) -> Result<(), CliError> {
        if self.json {
            json_line(&shown.summary)
        } else {
            Self::say(text)
        }
    }

    /// Prints the outcome of an audit, which has its schema with it.
    pub(crate) fn audited(self, text: &str, audited: &Audited) -> Result<(), CliError> {
        if self.json {
            json_line(&audited.document)
        } else {
            Self::say(text)
        }
    }

    /// Prints text for people.
    pub(crate) fn say(text: &str) -> Result<(), CliError> {
        let end = if text.ends_with('\n') || text.is_empty() {
            ""
        } else {
            "\n"
        };
        print(&mut io::stdout().lock(), &format!("{text}{end}"))
    }

    /// Prints a line on standard error while a command goes on, unless it is to be quiet.
    pub(crate) fn note(self, line: &str) {
        if !self.quiet {
            Self::warning(line);
        }
    }

    /// Prints a warning on standard error that a silent command would leave people without.
    pub(crate) fn warning(line: &str) {
        // Nothing is left to tell anyone when standard error is gone.
        print(&mut io::stderr().lock(), &format!("{}\n", visible_lines(line))).ok();
    }

    /// Prints a failure on standard error, as JSON where asked for.
    pub(crate) fn failure(self, failure: &CliError) {
        let document = if self.json {
            format!("{:#}\n", serde_json::json!(failure.document()))
        } else {
            format!("{}\n", visible_lines(&failure.to_string()))
        };
        // Nothing is left to tell anyone when standard error is gone.
        print(&mut io::stderr().lock(), &document).ok();
    }
}

/// Text whose lines may name what stands in foreign files: nothing in it commands a terminal.
pub(crate) fn visible_lines(text: &str) -> String {
    let lines: Vec<_> = text.split('\n').map(visible).collect();
    lines.join("\n")
}

fn json_line(value: &serde_json::Value) -> Result<(), CliError> {
    print(&mut io::stdout().lock(), &format!("{value:#}\n"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_foreign_name_in_a_message_commands_no_terminal() {
        assert_eq!(
            visible_lines("error: cell \u{1b}[2J\nhint: \u{202e}x"),
            "error: cell \\u{1b}[2J\nhint: \\u{202e}x"
        );
    }

    #[test]
    fn wide_has_no_limit() {
        let console = Console::default();
        // Under a test there is no terminal, or one of some width.
        assert!(console.layout().width.is_some());
        let wide = Console {
            wide: true,
            ..console
        };
        assert_eq!(wide.layout().width, None);
    }
}
