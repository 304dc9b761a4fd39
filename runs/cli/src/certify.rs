//! `ktd certify CONFIG --key KEY`.

use super::probe::{SetArgs, ask, attack, judgement};
use super::run::runtime;
use super::signals::unless_told_to_end;
use crate::CliError;
use crate::output::Console;
use clap::Args;
use ktd_certify::certificate::Certificate;
use ktd_certify::session::{CertifyRun, compose, database_attackers};
use ktd_certify::signed::SignedCertificate;
use ktd_certify::signing::{PublicKey, SigningKey};
use ktd_certify::table;
use ktd_certify::verdict::{Refusal, Verdict};
use ktd_masking::Level;
use serde_json::json;
use std::path::{Path, PathBuf};

const EXAMPLE: &str = "\
Examples:
  ktd certify --new-key key.pem                    # once; `openssl genpkey -algorithm ed25519` makes the same
  ktd certify try.toml --key key.pem --out cert    # cert/certificate.json
  ktd verify --certificate cert/certificate.json --public-key key.pem.pub

Exit code 0 when the mask is certified, 1 when it is refused; the certificate is written either way.";

/// Probe a mask, try every attacker on positive controls, and sign what follows.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct CertifyArgs {
    #[command(flatten)]
    set: SetArgs,
    /// The Ed25519 key that signs, PKCS#8 as PEM.
    #[arg(long)]
    key: Option<PathBuf>,
    /// Write a new key to this file, its public part beside it with `.pub`, and do nothing else.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["key", "config", "out", "probes", "threads"])]
    new_key: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// [`CliError`] for bad input, and when the certificate is refused.
pub(super) fn run(args: &CertifyArgs, console: Console) -> Result<(), CliError> {
    if let Some(path) = &args.new_key {
        return new_key(path, console);
    }
    let run = args.set.run()?;
    let key = args.key.as_deref().ok_or_else(|| {
        CliError::input(
            "no key signs the certificate",
            "name one with --key, or make one with `ktd certify --new-key key.pem`",
        )
    })?;
    let key = SigningKey::read(key)?;
    check_level(&run)?;
    let record = attack(&run, true, console)?;
    ask(&run, &record, console)?;
    runtime()?.block_on(unless_told_to_end(run.ask_control(&|| {})))??;
    let attackers = [database_attackers(), run.language_attackers()].concat();
    let certificate = compose(&run.paths, judgement(&run), attackers)?;
    let signed = SignedCertificate::sign(certificate, &key)?;
    let path = run.paths.certificate();
    signed.write(&path)?;
    let text = format!(
        "{}\nsigned by {}: {}\n",
        table::certificate_text(&signed.certificate),
        signed.signature.fingerprint,
        path.display()
    );
    console.result(&text, &json!(signed))?;
    refused(&signed.certificate)
}

/// A mask that hides nothing has nothing to certify.
fn check_level(run: &CertifyRun) -> Result<(), CliError> {
    if run.config.mask.level == Level::Bright {
        return Err(CliError::input(
            "the level `bright` shows every stock and every day: there is nothing to certify",
            "certify stock-blind, date-blind or blinded; `ktd probe` counts what bright gives away",
        ));
    }
    Ok(())
}

fn refused(certificate: &Certificate) -> Result<(), CliError> {
    if certificate.verdict == Verdict::Certified {
        return Ok(());
    }
    let first = certificate.refusals.first().map(ToString::to_string);
    let others = match certificate.refusals.len().saturating_sub(1) {
        0 => String::new(),
        count => format!(", and for {count} other reasons"),
    };
    Err(CliError::difference(format_args!(
        "the certificate is refused: {}{others}",
        first.unwrap_or_default()
    ))
    .with_hint(hint(&certificate.refusals)))
}

/// How to mend what refuses: another mask helps where an attacker succeeds, and nowhere else. Another seed is never the way:
/// whoever tries seeds until one certifies has certified nothing.
fn hint(refusals: &[Refusal]) -> &'static str {
    let is_any = |of: fn(&Refusal) -> bool| refusals.iter().any(of);
    if is_any(|refusal| matches!(refusal, Refusal::AboveThreshold { .. })) {
        "put more probes if the share is small and its bound is not; else choose a mask that hides more, or thresholds \
         that you can defend"
    } else if is_any(|refusal| matches!(refusal, Refusal::BlindAttacker { .. })) {
        "use a panel with more days and names, or more `control_probes`: an attacker must succeed somewhere"
    } else if is_any(|refusal| matches!(refusal, Refusal::Unanswered { .. })) {
        "its file in answers/ gives a `reason` for each: mend what keeps it from answering, or ask another model; nobody \
         who was asked may be left out"
    } else {
        "`random` is off its exact expectation, which says nothing of the mask: few probes may do so by chance; put more, \
         and if it is so again report it as a defect"
    }
}

fn new_key(path: &Path, console: Console) -> Result<(), CliError> {
    let key = SigningKey::draw(path)?.public();
    let public = public_path(path);
    ktd_io::whole_file::write_whole(&public, key.to_pem().as_bytes())?;
    console.result(
        &describe(path, &public, &key),
        &json!({ "key": path, "public_key": public, "fingerprint": key.fingerprint() }),
    )
}

fn public_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".pub");
    PathBuf::from(name)
}

fn describe(path: &Path, public: &Path, key: &PublicKey) -> String {
    format!(
        "the key: {} (keep it to yourself)\nits public part: {}\nits fingerprint: {}\n",
        path.display(),
        public.display(),
        key.fingerprint()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_is_for_what_refuses() {
        let silent = Refusal::Unanswered {
            kind: "day".to_owned(),
            attacker: "a model".to_owned(),
            probes: 10,
            unanswered: 10,
        };
        let off = Refusal::BaselineOff {
            kind: "day".to_owned(),
            measure: "top1".to_owned(),
            chance: 0.1,
            interval: (0.2, 0.3),
            p_value: 1e-6,
        };
        let told = hint(&[silent.clone(), off.clone()]);
        assert!(told.contains("reason") && !told.contains("more probes"), "{told}");
        let told = hint(&[off]);
        assert!(!told.contains("seed") && told.contains("defect"), "{told}");
    }
}
