//! The commands of `ktd --help` in groups.

use clap::Command;
use ktd_view::draw::{display_width, wrapped};
use std::fmt::Write;

/// Groups and their commands, in the order of the help.
const GROUPS: [(&str, &[&str]); 8] = [
    (
        "Any study, by its file or folder",
        &[
            "demo", "run", "plan", "status", "report", "replay", "verify", "view", "diff", "publish",
        ],
    ),
    (
        "Episodes and boards",
        &[
            "leaderboard",
            "attribute",
            "reasons",
            "export",
            "windows",
            "simulate",
            "mcp",
            "baseline",
        ],
    ),
    ("Masks", &["certify", "probe", "curve"]),
    (
        "Formulas, leakage and code of models",
        &["alpha", "leak", "factor-code", "strategy-code", "box"],
    ),
    ("Data and models", &["data", "vendors", "doctor"]),
    ("How often we are wrong", &["sizes", "planting"]),
    ("Many machines", &["enqueue", "worker", "retry", "cancel"]),
    ("Help and shells", &["help", "completions", "man"]),
];

/// The longest name of a command, with the blanks around it.
const NAME_WIDTH: usize = 16;

/// The program's command line, whose help shows its commands in groups.
pub(super) fn grouped(command: Command, width: usize) -> Command {
    let groups = text(&command, width);
    // A template reads braces as its own.
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{}\nOptions:\n{{options}}{{after-help}}",
        groups.replace(['{', '}'], "")
    );
    with_fitting_examples(command, width).help_template(template)
}

/// The command and those below it with examples whose lines are not broken by the help.
fn with_fitting_examples(command: Command, width: usize) -> Command {
    let after = command.get_after_help().map(ToString::to_string);
    let command = match after {
        Some(after) => {
            let lines = after.lines().flat_map(|line| example(line, width));
            command.after_help(lines.collect::<Vec<_>>().join("\n"))
        }
        None => command,
    };
    command.mut_subcommands(|below| with_fitting_examples(below, width))
}

/// A line of examples that can be pasted: one that is too wide has its comment above it, and goes on after a backslash.
fn example(line: &str, width: usize) -> Vec<String> {
    const INDENT: &str = "  ";
    let is_wide = width < display_width(line) && line.starts_with(INDENT);
    if !is_wide {
        return vec![line.to_owned()];
    }
    let (command, comment) = line.split_once(" # ").unwrap_or((line, ""));
    let comment = wrapped(comment, width.saturating_sub(INDENT.len() + 2)).into_iter();
    let comment = comment.filter(|line| !line.is_empty());
    let mut lines: Vec<String> = comment.map(|line| format!("{INDENT}# {line}")).collect();
    let mut own = String::new();
    let room = width.saturating_sub(INDENT.len() + 2);
    for word in shell_words(command.trim()) {
        if !own.is_empty() && room < display_width(&own) + 1 + display_width(&word) {
            lines.push(format!("{INDENT}{own} \\"));
            INDENT.clone_into(&mut own);
        } else if !own.is_empty() {
            own.push(' ');
        }
        own.push_str(&word);
    }
    if !own.is_empty() {
        lines.push(format!("{INDENT}{own}"));
    }
    lines
}

/// Words of a command; what stands in quotation marks stays whole.
fn shell_words(command: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut is_quoted = false;
    for part in command.split(' ').filter(|part| !part.is_empty()) {
        match words.last_mut().filter(|_| is_quoted) {
            Some(word) => *word = format!("{word} {part}"),
            None => words.push(part.to_owned()),
        }
        is_quoted ^= part.matches(['\'', '"']).count() % 2 == 1;
    }
    words
}

fn text(command: &Command, width: usize) -> String {
    let mut text = String::new();
    for (group, names) in GROUPS {
        let mut lines = String::new();
        for name in names {
            let about = match command.find_subcommand(name) {
                Some(found) => found.get_about().map(ToString::to_string).unwrap_or_default(),
                None if *name == "help" => {
                    "Show the help of a command, or a document: `ktd help topics`".to_owned()
                }
                None => continue,
            };
            let about = about.trim_end_matches('.');
            for (place, line) in wrapped(about, width.saturating_sub(NAME_WIDTH))
                .iter()
                .enumerate()
            {
                let name = if place == 0 { name } else { "" };
                // Writing to a string cannot fail.
                writeln!(lines, "  {name:<indent$}{line}", indent = NAME_WIDTH - 2).ok();
            }
        }
        if !lines.is_empty() {
            write!(text, "\n{group}:\n{lines}").ok();
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use std::collections::BTreeSet;

    #[test]
    fn a_wide_example_goes_on_after_a_backslash_below_its_comment() {
        assert_eq!(
            example("  ktd run a.toml --out 'b c d' --jobs 4   # as many", 27),
            ["  # as many", "  ktd run a.toml --out \\", "    'b c d' --jobs 4"].map(str::to_owned)
        );
    }

    #[test]
    fn every_command_stands_in_one_group_and_no_line_is_wider_than_asked() {
        let command = crate::Cli::command();
        let shown: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| names.iter().copied())
            .collect();
        assert_eq!(shown.iter().collect::<BTreeSet<_>>().len(), shown.len());
        for own in command.get_subcommands().filter(|own| !own.is_hide_set()) {
            assert!(
                shown.contains(&own.get_name()),
                "{} is in no group",
                own.get_name()
            );
            assert!(own.get_name().len() + 3 <= NAME_WIDTH, "{}", own.get_name());
        }
        for line in text(&command, 80).lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}
