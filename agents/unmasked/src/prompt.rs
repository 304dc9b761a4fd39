//! A message with text from outside any mask.

use ktd_masking::{Payload, Prompt};

/// A message of the harness: text that is compiled in, and text from outside any mask.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OpenPrompt(String);

impl OpenPrompt {
    /// An empty message.
    #[must_use]
    pub const fn new() -> Self {
        Self(String::new())
    }

    /// Appends template text.
    #[must_use]
    pub fn text(self, text: &'static str) -> Self {
        self.outside(text)
    }

    /// Appends text from outside any mask, as it is.
    #[must_use]
    pub fn outside(mut self, text: &str) -> Self {
        self.0.push_str(text);
        self
    }

    /// Appends template text with its `{{slots}}` filled by text from outside any mask. What is filled in is not looked at
    /// again, so a slot that a text names stays text; a slot without a text, and an unclosed `{{`, stay as they are.
    #[must_use]
    pub fn filled(mut self, template: &'static str, slots: &[(&str, &str)]) -> Self {
        let mut rest = template.strip_suffix('\n').unwrap_or(template);
        while let Some((before, (name, after))) = rest
            .split_once("{{")
            .and_then(|(before, opened)| Some((before, opened.split_once("}}")?)))
        {
            self.0.push_str(before);
            match slots.iter().find(|(slot, _)| *slot == name.trim()) {
                Some((_, text)) => self.0.push_str(text),
                None => self.0.extend(["{{", name, "}}"]),
            }
            rest = after;
        }
        self.0.push_str(rest);
        self
    }

    /// The text as the model sees it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Payload> for OpenPrompt {
    fn from(payload: Payload) -> Self {
        Prompt::from(payload).into()
    }
}

impl From<Prompt> for OpenPrompt {
    /// A message of template text and masked payloads, which says nothing that an open one could not.
    fn from(prompt: Prompt) -> Self {
        Self(prompt.render())
    }
}
