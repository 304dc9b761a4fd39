//! `ktd help TOPIC`: documents of the program, compiled in.

use crate::document::laid_out;
use crate::output::Console;
use crate::{Cli, CliError};
use clap::CommandFactory;
use ktd_experiment::nearest::did_you_mean;
use schemars::JsonSchema;
use serde::Serialize;

macro_rules! topics {
    ($($topic:literal $(in $file:literal)?),* $(,)?) => {
        [$(($topic, topics!(@text $topic $($file)?))),*]
    };
    (@text $topic:literal) => { include_str!(concat!("../../../docs/", $topic, ".md")) };
    (@text $topic:literal $file:literal) => { include_str!(concat!("../../../docs/", $file, ".md")) };
}

/// Names of documents and what they say.
pub(super) const TOPICS: [(&str, &str); 41] = topics![
    "alphas",
    "attribution",
    "baselines",
    "benchmarks",
    "between-labs",
    "claims",
    "data-card",
    "data-sources",
    "experiment-file",
    "factor-code",
    "for-auditors",
    "for-leaderboards",
    "for-replication",
    "formulas",
    "glossary",
    "language-attackers",
    "leaderboard",
    "leakage",
    "many-machines",
    "mask-certificate",
    "money",
    "own-agent",
    "paper",
    "peers",
    "protocol",
    "providers",
    "qlib-profile",
    "real-data",
    "reason-words" in "reasons",
    "sandbox",
    "strategy-code",
    "viewer",
    "spec-episode" in "spec/episode",
    "spec-exchange" in "spec/exchange",
    "spec-factor-model" in "spec/factor-model",
    "spec-leakage" in "spec/leakage",
    "spec-qlib" in "spec/qlib",
    "spec-record" in "spec/record",
    "spec-statistics" in "spec/statistics",
    "spec-study" in "spec/study",
    "spec-wires" in "spec/wires",
];

/// What `ktd help WORD` shows where the word names a document, or nothing that there is; `None` where clap shows the help of
/// a command.
pub(super) fn help_topic(arguments: &[String], console: Console) -> Option<Result<(), CliError>> {
    let words: Vec<&str> = arguments
        .iter()
        .map(String::as_str)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let ["help", word] = words.as_slice() else {
        return None;
    };
    if *word == "topics" {
        let lines = TOPICS.map(|(topic, text)| format!("{topic:<20}{}\n", title(text)));
        let topics = TOPICS.map(|(topic, _)| topic).to_vec();
        return Some(console.result(&lines.concat(), &Topics { topics }));
    }
    if let Some(failure) = unknown(word) {
        return Some(Err(failure));
    }
    let (topic, text) = TOPICS.iter().find(|(topic, _)| topic == word)?;
    if !console.json {
        return Some(Console::paged(&laid_out(
            text,
            console.layout().width.unwrap_or(usize::MAX),
        )));
    }
    Some(console.result(text, &Topic { topic, text }))
}

/// Names of documents.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Topics {
    topics: Vec<&'static str>,
}

/// A document.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Topic<'t> {
    topic: &'t str,
    /// What it says, in Markdown.
    text: &'t str,
}

/// The error about a word that names neither a document nor a command; `None` where it names a command.
fn unknown(word: &str) -> Option<CliError> {
    let program = Cli::command();
    let commands = program.get_subcommands().map(clap::Command::get_name);
    let mut known: Vec<&str> = commands.chain(["help", "topics"]).collect();
    known.extend(TOPICS.map(|(topic, _)| topic));
    (!known.contains(&word)).then(|| {
        let meant = did_you_mean(word, known.iter().copied());
        CliError::invalid(format_args!(
            "there is no command and no document {word:?}{meant}"
        ))
        .with_hint("`ktd --help` lists the commands, `ktd help topics` the documents")
    })
}

/// The first heading of a document.
pub(super) fn title(text: &str) -> &str {
    text.lines().next().unwrap_or_default().trim_start_matches("# ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_view::draw::display_width;

    #[test]
    fn no_line_of_a_document_is_wider_than_the_terminal_save_code() {
        for (topic, text) in TOPICS {
            for width in [80, 100, 140] {
                let shown = laid_out(text, width);
                let is_code = |line: &str| line.strip_prefix("    ").is_some_and(|code| text.contains(code));
                for line in shown.lines().filter(|line| !is_code(line)) {
                    assert!(display_width(line) <= width, "{topic} at {width}: {line}");
                }
                assert!(
                    !shown.contains("](") && !shown.contains("|---"),
                    "{topic} at {width}"
                );
            }
        }
    }

    #[test]
    fn a_misspelt_topic_or_command_gets_the_near_name() {
        let said = |word| unknown(word).unwrap().to_string();
        assert!(said("viewr").contains("did you mean `view"), "{}", said("viewr"));
        assert!(said("glosary").contains("`glossary`") && said("glosary").contains("ktd help topics"));
        assert!(unknown("run").is_none());
    }
}
