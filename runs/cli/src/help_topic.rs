//! `ktd help TOPIC`: documents of the program, compiled in.

use crate::CliError;
use crate::output::Console;
use schemars::JsonSchema;
use serde::Serialize;

macro_rules! topics {
    ($($topic:literal),* $(,)?) => {
        [$(($topic, include_str!(concat!("../../../docs/", $topic, ".md")))),*]
    };
}

/// Names of documents and what they say.
const TOPICS: [(&str, &str); 22] = topics![
    "alphas",
    "attribution",
    "baselines",
    "data-card",
    "data-sources",
    "experiment-file",
    "factor-code",
    "for-auditors",
    "for-leaderboards",
    "for-replication",
    "formulas",
    "glossary",
    "leaderboard",
    "leakage",
    "many-machines",
    "mask-certificate",
    "money",
    "own-agent",
    "protocol",
    "providers",
    "sandbox",
    "strategy-code",
];

/// What `ktd help WORD` shows where the word names a document; `None` where clap shows the help of a command.
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
        let lines = TOPICS.map(|(topic, text)| format!("{topic:<18}{}\n", title(text)));
        let names = TOPICS.map(|(topic, _)| topic);
        return Some(console.result(
            &lines.concat(),
            &Topics {
                topics: names.to_vec(),
            },
        ));
    }
    let (topic, text) = TOPICS.iter().find(|(topic, _)| topic == word)?;
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

/// The first heading of a document.
fn title(text: &str) -> &str {
    text.lines().next().unwrap_or_default().trim_start_matches("# ")
}
