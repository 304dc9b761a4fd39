//! Words in what was shown, thought, called and answered in an episode.

use crate::ViewerError;
use crate::episode::Episode;
use crate::step::{ReadReply, StepExchange};

/// Hits that are listed.
pub(crate) const HITS_MAX: usize = 300;
/// Characters on each side of a hit.
const CONTEXT: usize = 90;

/// A place where the words stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchHit {
    /// 1-based step.
    pub step: usize,
    /// Where in the step.
    pub place: String,
    /// What stands before, the words as they stand there, and what follows.
    pub context: [String; 3],
}

/// What is found in an episode, in order; `exchanges` gives those of a step. At most `HITS_MAX`.
///
/// # Errors
/// Those of `exchanges`.
pub fn search(
    episode: &Episode,
    words: &str,
    exchanges: impl Fn(usize) -> Result<Vec<StepExchange>, ViewerError>,
) -> Result<Vec<SearchHit>, ViewerError> {
    let mut hits = Vec::new();
    for step in &episode.steps {
        let number = step.record.step;
        let mut look = |place: &str, text: &str| {
            if hits.len() < HITS_MAX
                && let Some(context) = found(text, words)
            {
                hits.push(SearchHit {
                    step: number,
                    place: place.to_owned(),
                    context,
                });
            }
        };
        look(
            "overall reason",
            step.record.overall_reason.as_deref().unwrap_or_default(),
        );
        for order in &step.record.orders {
            look(
                "order",
                &format!("{} {}: {}", order.side, order.stock_id, order.reason),
            );
        }
        for exchange in exchanges(number)? {
            for (role, text) in exchange.messages.iter().filter(|(role, _)| role != "system") {
                look(role, text);
            }
            match &exchange.reply {
                ReadReply::Turn { thought, text, .. } => {
                    look("thought", thought.as_deref().unwrap_or_default());
                    look("text", text.as_deref().unwrap_or_default());
                }
                ReadReply::Fault(what) => look("fault", what),
            }
            for call in &exchange.calls {
                look(&format!("call of {}", call.name), &call.arguments);
                look(
                    &format!("answer of {}", call.name),
                    call.answer.as_deref().unwrap_or_default(),
                );
            }
        }
        if HITS_MAX <= hits.len() {
            break;
        }
    }
    Ok(hits)
}

/// The first place of words in a text, whatever their case, with what stands round them.
fn found(text: &str, words: &str) -> Option<[String; 3]> {
    let (low, wanted) = (text.to_lowercase(), words.to_lowercase());
    let start = low.find(&wanted).filter(|_| !wanted.is_empty())?;
    // Few letters change their length with their case; where one does, the context is that of the lower case.
    let text = if low.len() == text.len() && text.is_char_boundary(start) {
        text
    } else {
        &low
    };
    let end = start + wanted.len();
    let before: String = text.get(..start)?.chars().rev().take(CONTEXT).collect();
    Some([
        before.chars().rev().collect(),
        text.get(start..end)?.to_owned(),
        text.get(end..)?.chars().take(CONTEXT).collect(),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_any_case_and_script() {
        assert_eq!(
            found("Buy ASSET_1 now", "asset_1").unwrap(),
            ["Buy ", "ASSET_1", " now"]
        );
        assert_eq!(found("看好股票", "股").unwrap(), ["看好", "股", "票"]);
        assert_eq!(found("İstanbul x", "x").unwrap()[1], "x");
        assert_eq!(found("a", ""), None);
        assert_eq!(found("a", "b"), None);
    }
}
