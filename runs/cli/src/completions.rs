//! `ktd completions` and `ktd man`: what a shell and a system's manual need of the command line.

use crate::help_topic::{TOPICS, title};
use crate::output::Console;
use crate::{Cli, CliError};
use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};

const COMPLETION_EXAMPLES: &str = "\
Examples:
  source <(ktd completions bash)                         # in ~/.bashrc
  ktd completions zsh > ~/.zfunc/_ktd                    # fpath+=~/.zfunc
  ktd completions fish > ~/.config/fish/completions/ktd.fish";

/// Print what lets a shell complete commands and options.
#[derive(Debug, Clone, Args)]
#[command(after_help = COMPLETION_EXAMPLES)]
pub(super) struct CompletionsArgs {
    /// The shell.
    shell: Shell,
}

/// Prints the script.
///
/// # Errors
/// [`CliError`] when it cannot be printed.
pub(super) fn completions(args: &CompletionsArgs, console: Console) -> Result<(), CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut with_topics(Cli::command()), "ktd", &mut script);
    let script = String::from_utf8_lossy(&script);
    console.unbroken().result(
        &script,
        &CompletionScript {
            shell: args.shell.to_string(),
            script: &script,
        },
    )
}

/// The program whose command `help` knows the commands and the documents.
fn with_topics(program: Command) -> Command {
    let commands = program.get_subcommands().map(named);
    let is_command = |topic: &str| program.find_subcommand(topic).is_some();
    let topics = TOPICS.into_iter().filter(|(topic, _)| !is_command(topic));
    let topics = topics.map(|(topic, text)| Command::new(topic).about(title(text)));
    let list = Command::new("topics").about("The list of documents");
    let help = Command::new("help").about("Show the help of a command, or a document");
    let help = help.subcommands(commands.chain([list]).chain(topics));
    program
        .disable_help_subcommand(true)
        .subcommand(help.disable_help_subcommand(true))
}

/// Names of a command and of those below it, without options.
fn named(command: &Command) -> Command {
    let about = command.get_about().cloned().unwrap_or_default();
    let own = Command::new(command.get_name().to_owned()).about(about);
    own.disable_help_subcommand(true)
        .subcommands(command.get_subcommands().map(named))
}

const MAN_EXAMPLES: &str = "\
Examples:
  ktd man --out ~/.local/share/man/man1                  # then: man ktd, man ktd-run";

/// Write manual pages, one a command.
#[derive(Debug, Clone, Args)]
#[command(after_help = MAN_EXAMPLES)]
pub(super) struct ManArgs {
    /// The folder to write to; it is made where there is none.
    #[arg(long)]
    out: PathBuf,
}

/// Writes the pages.
///
/// # Errors
/// [`CliError`] when the folder cannot be made or a page not be written.
pub(super) fn man(args: &ManArgs, console: Console) -> Result<(), CliError> {
    let mut pages = Vec::new();
    collect(&Cli::command(), "ktd", &mut pages).map_err(|error| CliError::invalid(error.to_string()))?;
    ktd_io::whole_file::create_directory(&args.out)?;
    for (name, page) in &pages {
        ktd_io::whole_file::write_whole(&args.out.join(name), page)?;
    }
    let text = format!("{}: {} pages\n", args.out.display(), pages.len());
    let document = ManualPages {
        folder: &args.out,
        pages: pages.len(),
    };
    console.result(&text, &document)
}

/// A script for a shell.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct CompletionScript<'s> {
    shell: String,
    script: &'s str,
}

/// Pages that were written.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct ManualPages<'m> {
    folder: &'m Path,
    /// How many.
    pages: usize,
}

/// A page whose indented lines, which are examples, are not filled.
fn unfilled_examples(page: &str) -> String {
    let mut text = String::new();
    let mut is_example = false;
    for line in page.lines() {
        if line.starts_with("  ") != is_example {
            is_example = !is_example;
            text.push_str(if is_example { ".nf\n" } else { ".fi\n" });
        }
        text.push_str(line);
        text.push('\n');
    }
    text + if is_example { ".fi\n" } else { "" }
}

/// The page of a command and of those below it.
fn collect(command: &Command, path: &str, pages: &mut Vec<(String, Vec<u8>)>) -> std::io::Result<()> {
    let mut page = Vec::new();
    let file = path.replace(' ', "-");
    let named = command.clone().name(file.clone()).bin_name(path.to_owned());
    clap_mangen::Man::new(named).render(&mut page)?;
    pages.push((
        format!("{file}.1"),
        unfilled_examples(&String::from_utf8_lossy(&page)).into_bytes(),
    ));
    for below in command.get_subcommands() {
        collect(below, &format!("{path} {}", below.get_name()), pages)?;
    }
    Ok(())
}
