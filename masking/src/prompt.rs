//! Text for a model: template pieces and payloads, never a `String`.

use crate::Payload;

/// A message in the harness's voice: compiled-in text with payloads in its slots.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Prompt {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq)]
enum Piece {
    Text(&'static str),
    Payload(Payload),
}

impl Prompt {
    /// An empty message.
    #[must_use]
    pub const fn new() -> Self {
        Self { pieces: Vec::new() }
    }

    /// Appends template text.
    #[must_use]
    pub fn text(mut self, text: &'static str) -> Self {
        self.pieces.push(Piece::Text(text));
        self
    }

    /// Appends a payload: labels and shown text bare, structures as compact JSON.
    #[must_use]
    pub fn payload(mut self, payload: Payload) -> Self {
        self.pieces.push(Piece::Payload(payload));
        self
    }

    /// Appends another message, on a line of its own.
    #[must_use]
    pub fn append(mut self, other: Self) -> Self {
        if !self.pieces.is_empty() {
            self.pieces.push(Piece::Text("\n"));
        }
        self.pieces.extend(other.pieces);
        self
    }

    /// The text as the model sees it.
    #[must_use]
    pub fn render(&self) -> String {
        self.pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => (*text).to_owned(),
                Piece::Payload(payload) => payload.to_inline(),
            })
            .collect()
    }
}

impl From<Prompt> for Payload {
    /// A message as the answer to a tool call: template text and payloads, nothing else.
    fn from(prompt: Prompt) -> Self {
        Self::shown(prompt.render())
    }
}

impl From<Payload> for Prompt {
    fn from(payload: Payload) -> Self {
        Self::new().payload(payload)
    }
}
