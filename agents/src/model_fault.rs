//! The mistakes of a model.

/// A mistake of the model. Never an infrastructure fault, never a voluntary hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ModelFault {
    /// A tool refused its arguments, or there is no such tool.
    BadToolCall,
    /// The submission turn called nothing.
    NoCall,
    /// The submission turn called a tool that there is not.
    UnknownTool,
    /// The submission turn called another tool.
    WrongTool,
    /// The submission turn called more than one tool: which one is meant is not guessed.
    MultipleCalls,
    /// The turn called more often than a reply may; the calls beyond were dropped.
    TooManyCalls,
    /// The submission's arguments are no JSON object.
    ArgumentsMalformed,
    /// The submission's arguments are beyond the limits on bytes, depth and values, and were not parsed.
    ArgumentsTooLarge,
    /// The submission's arguments were refused by the schema or a constraint.
    Rejected,
    /// The output budget ran out before the turn was complete.
    Truncated,
    /// The model or its provider's filter declined.
    Refusal,
    /// The call was printed as text instead of made, under a level where that is the model's own doing.
    CallInText,
    /// The provider answered several times with nothing at all.
    NoAnswer,
}

impl ModelFault {
    /// The stable name used in records and feedback.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::BadToolCall => "bad_tool_call",
            Self::NoCall => "no_tool_call",
            Self::UnknownTool => "unknown_tool",
            Self::WrongTool => "wrong_tool",
            Self::MultipleCalls => "multiple_submissions",
            Self::TooManyCalls => "too_many_calls",
            Self::ArgumentsMalformed => "arguments_malformed",
            Self::ArgumentsTooLarge => "arguments_too_large",
            Self::Rejected => "rejected",
            Self::Truncated => "truncated",
            Self::Refusal => "refusal",
            Self::CallInText => "call_in_content",
            Self::NoAnswer => "no_answer",
        }
    }
}
