//! A model's reply: the card and the source in it.

use std::fmt;

/// What keeps a reply from being a submission: the model's own mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyProblem {
    /// No fenced block of JSON, where a card is needed.
    NoCard,
    /// No fenced block of Python.
    NoSource,
    /// A fence that is not closed.
    UnclosedFence,
}

impl ReplyProblem {
    /// The stable name used in records.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::NoCard => "no_card",
            Self::NoSource => "no_source",
            Self::UnclosedFence => "unclosed_fence",
        }
    }
}

impl fmt::Display for ReplyProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NoCard => "the reply has no fenced block of JSON with the card",
            Self::NoSource => "the reply has no fenced block of Python with the strategy",
            Self::UnclosedFence => "the reply ends inside a fenced block; close it with three backticks",
        })
    }
}

/// Card and source as a reply gives them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StrategyReply {
    /// Text of the last block of JSON; `None` where the reply has none.
    pub card: Option<String>,
    /// Text of the last block of Python.
    pub source: String,
}

impl StrategyReply {
    /// The last fenced block of each kind. Line ends become line feeds.
    ///
    /// # Errors
    /// [`ReplyProblem`] for a fence that is not closed, and without a block of Python.
    pub fn parse(reply: &str) -> Result<Self, ReplyProblem> {
        let reply = reply.replace("\r\n", "\n");
        let (mut card, mut source) = (None, None);
        let mut open: Option<(String, Vec<&str>)> = None;
        for line in reply.split('\n') {
            let fence = line.trim_start().strip_prefix("```");
            open = match (open, fence) {
                (None, None) => None,
                (None, Some(kind)) => Some((kind.trim().to_ascii_lowercase(), Vec::new())),
                (Some((kind, lines)), Some(rest)) if rest.trim().is_empty() => {
                    let text = lines.iter().flat_map(|line| [*line, "\n"]).collect();
                    match kind.as_str() {
                        "json" => card = Some(text),
                        "python" | "py" => source = Some(text),
                        _ => {}
                    }
                    None
                }
                (Some((kind, mut lines)), _) => {
                    lines.push(line);
                    Some((kind, lines))
                }
            };
        }
        if open.is_some() {
            return Err(ReplyProblem::UnclosedFence);
        }
        let source = source.ok_or(ReplyProblem::NoSource)?;
        Ok(Self { card, source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_block_of_each_kind_counts() {
        let reply = "First:\r\n```json\r\n{\"a\": 1}\r\n```\n```python\nold\n```\nBetter:\n```Python\nx = '''\n  a\n'''\n```\n";
        let parsed = StrategyReply::parse(reply).unwrap();
        assert_eq!(parsed.card.as_deref(), Some("{\"a\": 1}\n"));
        assert_eq!(parsed.source, "x = '''\n  a\n'''\n");
    }

    #[test]
    fn what_is_no_submission_is_named() {
        assert_eq!(
            StrategyReply::parse("class Strategy: pass"),
            Err(ReplyProblem::NoSource)
        );
        assert_eq!(
            StrategyReply::parse("```json\n{}\n```"),
            Err(ReplyProblem::NoSource)
        );
        assert_eq!(
            StrategyReply::parse("```python\nx = 1\n"),
            Err(ReplyProblem::UnclosedFence)
        );
        assert_eq!(
            StrategyReply::parse("```python\nx\n```").map(|reply| reply.card),
            Ok(None)
        );
    }
}
