//! Texts of a force check, which asks an endpoint for a call. They are part of no episode, so they are no part of [`crate::hash`].

use crate::NoSlots;
use crate::template::Template;
use ktd_masking::Prompt;

static SYSTEM: Template = Template::new("FORCE_CHECK_SYSTEM", include_str!("../force_check/system.md"));
static QUESTION: Template = Template::new("FORCE_CHECK_QUESTION", include_str!("../force_check/question.md"));
static BY_CALL: Template = Template::new("FORCE_CHECK_BY_CALL", include_str!("../force_check/by_call.md"));
static AS_OBJECT: Template = Template::new(
    "FORCE_CHECK_AS_OBJECT",
    include_str!("../force_check/as_object.md"),
);

/// Form of answer that a force check asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForceCheckAnswer {
    /// Tools are not mentioned and words would do, so that a call shows that the endpoint made the model call.
    Unstated,
    /// By a call of `submit_action`.
    Call,
    /// As one JSON object.
    Object,
}

/// System message of a force check.
#[must_use]
pub fn force_check_system() -> Prompt {
    SYSTEM.append(Prompt::new(), &NoSlots {})
}

/// Question of a force check: which of two numbers is larger.
#[must_use]
pub fn force_check_question(answer: ForceCheckAnswer) -> Prompt {
    let template = match answer {
        ForceCheckAnswer::Unstated => &QUESTION,
        ForceCheckAnswer::Call => &BY_CALL,
        ForceCheckAnswer::Object => &AS_OBJECT,
    };
    template.append(Prompt::new(), &NoSlots {})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_question_speaks_of_the_tool() {
        let text = |answer| force_check_question(answer).render();
        assert!(text(ForceCheckAnswer::Call).contains("`submit_action`"));
        assert!(text(ForceCheckAnswer::Object).contains("JSON"));
        let unsaid = text(ForceCheckAnswer::Unstated);
        assert!(!unsaid.contains("submit") && !unsaid.contains("JSON") && !unsaid.contains("call"));
        assert!(!force_check_system().render().is_empty());
    }
}
