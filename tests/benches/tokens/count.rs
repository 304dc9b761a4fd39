//! Requests and replies as a vendor's tokenizer and prompt cache see them.

use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use tiktoken_rs::{CoreBPE, o200k_base};

/// A cache reads whole blocks of so many tokens.
const BLOCK_TOKENS: usize = 128;
/// It reads nothing shorter than this.
const SHORTEST_TOKENS: usize = 1024;
/// Stands for the marks between messages, which no text contains.
const MARK: u32 = u32::MAX;

/// Turns texts into tokens, each text once.
pub(crate) struct Counter {
    tokenizer: CoreBPE,
    known: BTreeMap<String, Vec<u32>>,
}

impl Counter {
    pub(crate) fn new() -> Result<Self, Box<dyn Error>> {
        Ok(Self {
            tokenizer: o200k_base()?,
            known: BTreeMap::new(),
        })
    }

    /// A request's tokens in the order vendors render it: tools, system, messages.
    ///
    /// Tools and calls are counted as the JSON they are sent as, and each message with three marks around it.
    pub(crate) fn prompt(&mut self, request: &Value) -> Vec<u32> {
        let mut tokens = Vec::new();
        for tool in list(request.get("tools")) {
            self.push(&tool.to_string(), &mut tokens);
        }
        for message in list(request.get("messages")) {
            tokens.push(MARK);
            self.push(text(message, "/role"), &mut tokens);
            tokens.push(MARK);
            self.push_content(message, &mut tokens);
            tokens.push(MARK);
        }
        tokens
    }

    /// How many tokens a reply generated.
    pub(crate) fn completion(&mut self, reply: &Value) -> u64 {
        let mut tokens = Vec::new();
        if let Some(message) = reply.pointer("/choices/0/message") {
            self.push_content(message, &mut tokens);
        }
        length(&tokens)
    }

    fn push_content(&mut self, message: &Value, tokens: &mut Vec<u32>) {
        self.push(text(message, "/content"), tokens);
        for call in list(message.get("tool_calls")) {
            tokens.push(MARK);
            self.push(text(call, "/function/name"), tokens);
            tokens.push(MARK);
            self.push(text(call, "/function/arguments"), tokens);
        }
    }

    fn push(&mut self, text: &str, tokens: &mut Vec<u32>) {
        if let Some(known) = self.known.get(text) {
            tokens.extend(known);
            return;
        }
        let new = self.tokenizer.encode_ordinary(text);
        tokens.extend(&new);
        self.known.insert(text.to_owned(), new);
    }
}

/// The prefixes of all requests so far, as a prompt cache that forgets nothing.
#[derive(Default)]
pub(crate) struct Cache {
    prefixes: BTreeSet<[u8; 32]>,
}

impl Cache {
    /// How many tokens of a prompt an earlier one began with, in whole blocks; the prompt is then kept too.
    pub(crate) fn read_and_keep(&mut self, prompt: &[u32]) -> u64 {
        let (mut readable, mut so_far) = (0, [0; 32]);
        for (place, block) in prompt.chunks_exact(BLOCK_TOKENS).enumerate() {
            let mut hasher = Sha256::new();
            hasher.update(so_far);
            for token in block {
                hasher.update(token.to_le_bytes());
            }
            so_far = hasher.finalize().into();
            if !self.prefixes.insert(so_far) {
                readable = (place + 1) * BLOCK_TOKENS;
            }
        }
        if readable < SHORTEST_TOKENS {
            return 0;
        }
        u64::try_from(readable).unwrap_or(u64::MAX)
    }
}

/// How many tokens.
pub(crate) fn length(tokens: &[u32]) -> u64 {
    u64::try_from(tokens.len()).unwrap_or(u64::MAX)
}

/// The text at a JSON pointer, empty where there is none.
fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
