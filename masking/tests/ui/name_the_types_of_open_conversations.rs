//! What carries text from outside a mask has no name where an episode is made.
use ktd_unmasked::OpenPrompt;

fn main() {
    let _ = OpenPrompt::new();
}
