//! Holds, always: the floor every other agent is compared with.

use crate::seen::Seen;
use crate::{ChatModel, answer};

/// Submits an empty list of orders at every step.
#[derive(Debug, Clone, Copy)]
pub struct Hold;

impl ChatModel for Hold {
    fn reply(&self, request: &[u8]) -> Vec<u8> {
        let seen = Seen::read(request);
        if seen.must_submit() {
            answer::hold(&seen, "Holding cash and positions as they are.")
        } else {
            answer::say(&seen, "There is nothing I need to look up.")
        }
    }
}
