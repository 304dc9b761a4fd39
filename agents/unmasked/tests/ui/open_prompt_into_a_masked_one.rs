//! Masked text may become open; open text becomes neither a prompt nor a payload.
use ktd_masking::{Payload, Prompt};
use ktd_unmasked::OpenPrompt;

fn main() {
    let _ = Prompt::from(OpenPrompt::new().outside("SH600519"));
    let _ = Payload::from(OpenPrompt::new().outside("SH600519"));
}
