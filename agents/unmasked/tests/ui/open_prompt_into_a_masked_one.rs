//! Masked text may become open; open text becomes neither a prompt nor a payload.
use ktd_masking::{Payload, Prompt};
use ktd_unmasked::{OpenPayload, OpenPrompt};

fn main() {
    let open_prompt = OpenPrompt::new().outside("SH600519");
    let _ = Prompt::from(open_prompt);
    let _ = Payload::from(OpenPayload::outside("SH600519"));
}
