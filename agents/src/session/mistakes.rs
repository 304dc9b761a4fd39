//! The mistakes of a conversation by their codes.

use super::tally::Tally;
use crate::model_fault::ModelFault;

/// A model's mistakes in one conversation, in the order they were made.
#[derive(Debug, Clone, Default)]
pub struct Mistakes {
    codes: Vec<String>,
    counted: Tally,
}

impl Mistakes {
    /// Notes what a conversation counted since the last time; `detail` says more of a submission that was refused.
    pub fn count(&mut self, tally: &Tally, detail: Option<&'static str>) {
        for (fault, count) in &tally.faults {
            let code = match (fault, detail) {
                (ModelFault::Rejected | ModelFault::ArgumentsMalformed, Some(detail)) => detail,
                _ => fault.code(),
            };
            let new = count.saturating_sub(self.counted.count(*fault));
            self.codes.extend((0..new).map(|_| code.to_owned()));
        }
        self.counted = tally.clone();
    }

    /// The code of the last mistake.
    #[must_use]
    pub fn last(&self) -> Option<&str> {
        self.codes.last().map(String::as_str)
    }

    /// The codes of all of them.
    #[must_use]
    pub fn into_codes(self) -> Vec<String> {
        self.codes
    }
}

#[cfg(test)]
mod tests {
    use super::{Mistakes, Tally};
    use crate::model_fault::ModelFault;

    #[test]
    fn each_mistake_is_noted_once_and_a_refused_submission_says_why() {
        let (mut mistakes, mut tally) = (Mistakes::default(), Tally::default());
        assert_eq!(mistakes.last(), None);
        tally.blame(ModelFault::NoCall);
        mistakes.count(&tally, None);
        mistakes.count(&tally, None);
        tally.blame(ModelFault::Rejected);
        mistakes.count(&tally, Some("too_many_stocks"));
        assert_eq!(mistakes.last(), Some("too_many_stocks"));
        assert_eq!(
            mistakes.into_codes(),
            [ModelFault::NoCall.code(), "too_many_stocks"]
        );
    }
}
