//! What goes to the terminal and to files.

use crate::CliError;
use crate::printed_document::PrintedDocument;
use ktd_study::{Audited, ReportOf};
use ktd_view::draw::{display_width, visible, wrapped_whole};
use ktd_view::table::Layout;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// Columns of a table where standard output is no terminal.
const WIDTH: usize = 100;

/// The width that `COLUMNS` asks for.
pub(crate) fn declared_width() -> Option<usize> {
    let columns = std::env::var("COLUMNS").ok()?.parse().ok();
    columns.filter(|columns| 0 < *columns)
}

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
    /// How tables are laid out: as wide as the terminal, or where there is none as `COLUMNS` says, or 100 columns; in colour on a
    /// terminal alone, unless `NO_COLOR` is set.
    pub(crate) fn layout(self) -> Layout<'static> {
        let is_terminal = io::stdout().is_terminal();
        let width = || {
            let size = console::Term::stdout().size_checked();
            let of_terminal = size.filter(|_| is_terminal).map(|(_, columns)| columns.into());
            of_terminal.or_else(declared_width).unwrap_or(WIDTH)
        };
        let is_plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Layout {
            width: (!self.wide).then(width),
            is_coloured: is_terminal && !self.json && !is_plain,
            flag: "--wide",
        }
    }

    /// The same without a break in any line: for what is pasted as it is, such as a script or code.
    pub(crate) const fn unbroken(self) -> Self {
        Self { wide: true, ..self }
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
        Self::say(&self.fitted(text))
    }

    /// Prints the report of a study, whose document has the schema of its kind.
    pub(crate) fn report(self, text: &str, shown: &ReportOf) -> Result<(), CliError> {
        if self.json {
            json_line(&shown.summary)
        } else {
            Self::say(&self.fitted(text))
        }
    }

    /// Prints the outcome of an audit, which has its schema with it.
    pub(crate) fn audited(self, text: &str, audited: &Audited) -> Result<(), CliError> {
        if self.json {
            json_line(&audited.document)
        } else {
            Self::say(&self.fitted(text))
        }
    }

    /// The text in lines that fit a terminal, unless it is to be wide.
    fn fitted(self, text: &str) -> String {
        match self.layout().width {
            Some(width) if io::stdout().is_terminal() || declared_width().is_some() => {
                lines_fitting(text, width)
            }
            _ => text.to_owned(),
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

    /// Prints a long text: on a terminal through the pager that `PAGER` names, or `less`, where it can be started.
    ///
    /// # Errors
    /// [`CliError`] when standard output cannot be written; a pager that was left early is no error.
    pub(crate) fn paged(text: &str) -> Result<(), CliError> {
        let named = std::env::var("PAGER").unwrap_or_default();
        let mut words = named.split_whitespace();
        let mut pager = Command::new(words.next().unwrap_or("less"));
        pager.args(words).stdin(Stdio::piped());
        if std::env::var_os("LESS").is_none() {
            pager.env("LESS", "FRX");
        }
        let started = io::stdout().is_terminal().then(|| pager.spawn());
        let Some(Ok(mut child)) = started else {
            return print(&mut io::stdout().lock(), text);
        };
        // Whoever leaves the pager before the end has read enough.
        let written = child
            .stdin
            .take()
            .map_or(Ok(()), |mut stream| print(&mut stream, text));
        child.wait().map_err(CliError::io(
            "wait for the pager of",
            Path::new("standard output"),
        ))?;
        written
    }

    /// Whether results and failures are read on one screen, so that what one says the other need not.
    pub(crate) fn is_on_screen(self) -> bool {
        !self.json && io::stdout().is_terminal() && io::stderr().is_terminal()
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
        print(&mut io::stderr().lock(), &on_standard_error(line)).ok();
    }

    /// Prints a failure on standard error, as JSON where asked for.
    pub(crate) fn failure(self, failure: &CliError) {
        let document = if self.json {
            format!("{:#}\n", serde_json::json!(failure.document()))
        } else {
            on_standard_error(&failure.to_string())
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

/// Text in lines that fit standard error where that is a terminal, else those that `COLUMNS` asks for; nothing in it commands a
/// terminal.
fn on_standard_error(text: &str) -> String {
    let size = console::Term::stderr().size_checked();
    let size = size.filter(|_| io::stderr().is_terminal());
    let width = size
        .map(|(_, columns)| usize::from(columns))
        .or_else(declared_width);
    let text = visible_lines(text);
    width.map_or_else(|| format!("{text}\n"), |width| lines_fitting(&text, width))
}

fn lines_fitting(text: &str, width: usize) -> String {
    text.lines().map(|line| fitting(line, width) + "\n").collect()
}

fn json_line(value: &serde_json::Value) -> Result<(), CliError> {
    print(&mut io::stdout().lock(), &format!("{value:#}\n"))
}

/// A line in lines that fit, those after the first as far in as the text after its label. Words, such as paths, stay whole; so do lines
/// of tables, of JSON, in colour and those that name a command to be typed.
fn fitting(line: &str, width: usize) -> String {
    let body = line.trim_start();
    let indent = line.len() - body.len();
    let is_json = body.starts_with(['{', '}', '[', ']', '"']);
    let is_command = body.starts_with("ktd ") || body.contains(": ktd ");
    let gap = body.find("  ").unwrap_or(0);
    let (label, rest) = body.split_at_checked(gap).unwrap_or(("", body));
    let text = rest.trim_start();
    let is_row = text.contains("  ");
    if display_width(line) <= width || is_json || is_command || is_row || line.contains('\u{1b}') {
        return line.to_owned();
    }
    let head = format!(
        "{}{label}{}",
        " ".repeat(indent),
        " ".repeat(rest.len() - text.len())
    );
    let longest = text.split(' ').map(display_width).max().unwrap_or(0);
    let own = display_width(&head);
    let fits = !label.is_empty() && own + longest <= width && own <= width / 2;
    let (hang, first) = match (label.is_empty(), fits) {
        (true, _) => (indent, head),
        (false, true) => (own, head),
        // What is too long to stand beside its label stands below it.
        (false, false) => (
            indent + 2,
            format!("{}\n{}", head.trim_end(), " ".repeat(indent + 2)),
        ),
    };
    let lines = wrapped_whole(text, width.saturating_sub(hang).max(1));
    first + &lines.join(&format!("\n{}", " ".repeat(hang)))
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
    fn a_line_fits_beside_its_label_and_what_is_pasted_stays_whole() {
        assert_eq!(
            fitting("ok       python: one two three", 24),
            "ok       python: one two\n         three"
        );
        assert_eq!(fitting("  note: one two three", 14), "  note: one\n  two three");
        assert_eq!(
            fitting("content hash  abcdefghijklmnop", 20),
            "content hash\n  abcdefghijklmnop"
        );
        assert_eq!(
            fitting("ok  written to /results/a-long-name/board now", 16),
            "ok\n  written to\n  /results/a-long-name/board\n  now"
        );
        for whole in [
            "a     1     2     3     4",
            "  {\"a\": \"one two three\"}",
            "to go on: ktd run file.toml",
            "\u{1b}[1mone two three four\u{1b}[0m",
        ] {
            assert_eq!(fitting(whole, 12), whole);
        }
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
