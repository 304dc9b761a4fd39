//! `--gate-secret`: what the gates on look-ahead of programs draw from.

use crate::CliError;
use clap::Args;
use ktd_study::StudySecret;

/// What a gate draws from.
#[derive(Debug, Args)]
pub(super) struct GateSecretArgs {
    /// The secret of the gate on look-ahead, 64 hexadecimal digits, as `secret.json` of a study has it
    /// [default: drawn].
    #[arg(long, value_name = "HEX")]
    gate_secret: Option<String>,
}

impl GateSecretArgs {
    /// The secret that is named, or a new one.
    pub(super) fn secret(&self) -> Result<StudySecret, CliError> {
        let Some(text) = &self.gate_secret else {
            return Ok(StudySecret::drawn()?);
        };
        StudySecret::parse(text).ok_or_else(|| {
            CliError::input(
                "`--gate-secret` is no secret",
                "give 64 hexadecimal digits, or leave it out: one is drawn",
            )
        })
    }
}
