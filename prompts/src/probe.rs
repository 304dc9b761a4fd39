//! What is said when an endpoint is probed. It is said in no episode, so it is no part of [`crate::hash`].

use crate::NoSlots;
use crate::template::Template;
use ktd_masking::Prompt;

static SYSTEM: Template = Template::new("PROBE_SYSTEM", include_str!("../probe/system.md"));
static QUESTION: Template = Template::new("PROBE_QUESTION", include_str!("../probe/question.md"));
static BY_CALL: Template = Template::new("PROBE_BY_CALL", include_str!("../probe/by_call.md"));
static AS_OBJECT: Template = Template::new("PROBE_AS_OBJECT", include_str!("../probe/as_object.md"));

/// How a probe wants its question answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbeAnswer {
    /// Nothing is said about tools and words would do, so that a call shows that the endpoint made the model call.
    Unsaid,
    /// By a call of `submit_action`.
    Call,
    /// As one JSON object.
    Object,
}

/// The system message of a probe.
#[must_use]
pub fn probe_system() -> Prompt {
    SYSTEM.append(Prompt::new(), &NoSlots {})
}

/// The question of a probe: which of two numbers is larger.
#[must_use]
pub fn probe_question(answer: ProbeAnswer) -> Prompt {
    let template = match answer {
        ProbeAnswer::Unsaid => &QUESTION,
        ProbeAnswer::Call => &BY_CALL,
        ProbeAnswer::Object => &AS_OBJECT,
    };
    template.append(Prompt::new(), &NoSlots {})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_question_speaks_of_the_tool() {
        let text = |answer| probe_question(answer).render();
        assert!(text(ProbeAnswer::Call).contains("`submit_action`"));
        assert!(text(ProbeAnswer::Object).contains("JSON"));
        let unsaid = text(ProbeAnswer::Unsaid);
        assert!(!unsaid.contains("submit") && !unsaid.contains("JSON") && !unsaid.contains("call"));
        assert!(!probe_system().render().is_empty());
    }
}
