//! `ktd certify CONFIG --key KEY`.

use super::probe::SetArgs;
use super::study;
use crate::CliError;
use crate::output::Console;
use clap::Args;
use ktd_bundle::mask_key::draw_key_file;
use ktd_certify::CertificateStudy;
use ktd_certify::certificate::Certificate;
use ktd_certify::certificate_lines::RefusalDetail;
use ktd_certify::config::CertifyConfig;
use ktd_certify::plan_hash::plan_sha256;
use ktd_certify::report::MaskReport;
use ktd_certify::signed::SignedCertificate;
use ktd_io::whole_file::{Durability, IfExists, write_file};
use ktd_probes::judge::{CertificateVerdict, how_to_fix};
use ktd_record::signing::{PublicKey, SigningKey};
use schemars::JsonSchema;
use serde::Serialize;
use std::convert::Infallible;
use std::path::{Path, PathBuf};

const EXAMPLE: &str = "\
Examples:
  ktd certify --new-key key.pem                    # once; openssl makes the same kind
  ktd certify try.toml --key key.pem --out cert    # cert/certificate.json
  ktd certify try.toml --plan-hash                 # give it away before an auditor gives a nonce
  ktd certify try.toml --key key.pem --nonce 5f2c...  # an auditor's word decides
  ktd certify try.toml --key key.pem --tables      # every attack, control and limit
  ktd verify --certificate cert/certificate.json --public-key key.pem.pub

The file is that of `ktd probe`, whose help shows one.

With few probes most of the time goes to `training` (default 300 of each kind) and to `control_probes` (default 200 of each \
control), which do not shrink with `probes`: lower them too for a trial.

Before anybody is asked, the probes are committed to: DIR/commitment.json, signed, and a line in the key's log of attempts, KEY.attempts.jsonl beside it. The certificate counts every attempt of that log for its rung and panel, the refused and unjudged among them.

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
    /// Make the probes and commit to them, and ask nobody.
    #[arg(long, conflicts_with = "reasons")]
    commit_only: bool,
    /// Print the hash of the plan, which binds all that decides probes and verdict but a nonce, and do nothing else.
    #[arg(long, conflicts_with_all = ["key", "out", "nonce", "commit_only", "reasons", "tables"])]
    plan_hash: bool,
    /// Write a new key to this file, its public part beside it with `.pub`, and do nothing else.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["key", "config", "out", "probes", "threads", "tables"])]
    new_key: Option<PathBuf>,
    /// Draw a key for `mask_key_file`, of an experiment or a certificate, into this file, and do nothing else.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["new_key", "key", "config", "out", "probes", "threads", "tables"])]
    new_mask_key: Option<PathBuf>,
    /// Print every reason of a refusal, and not one line an attacker.
    #[arg(long)]
    reasons: bool,
}

/// The file of a certificate in its folder.
const CERTIFICATE: &str = "certificate.json";

/// The certificate that an argument names: a file, or in a folder its `certificate.json`.
#[expect(clippy::unnecessary_wraps, reason = "a parser of arguments gives a result")]
pub(super) fn certificate_file(argument: &str) -> Result<PathBuf, Infallible> {
    Ok(certificate_path(Path::new(argument)))
}

/// The same of a path.
pub(super) fn certificate_path(path: &Path) -> PathBuf {
    if path.is_dir() {
        path.join(CERTIFICATE)
    } else {
        path.to_owned()
    }
}

/// Whether a path is a certificate, or the folder of one.
pub(super) fn is_certificate(path: &Path) -> bool {
    let path = certificate_path(path);
    path.ends_with(CERTIFICATE) && path.is_file()
}

/// Runs the command.
///
/// # Errors
/// [`CliError`] for bad input, and when the certificate is refused.
pub(super) fn run(args: &CertifyArgs, console: Console) -> Result<(), CliError> {
    if let Some(path) = &args.new_key {
        return new_key(path, console);
    }
    if let Some(path) = &args.new_mask_key {
        return new_mask_key(path, console);
    }
    if args.plan_hash {
        return plan_hash(&args.set, console);
    }
    // Where the command names a key, its path starts where the command runs.
    let named = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let base = args.set.config.as_deref().and_then(Path::parent);
    let mut signer = PathBuf::new();
    let change = |keys: &mut CertifyConfig| {
        keys.key = args.key.as_deref().map(named).or(keys.key.take());
        keys.commit_only = args.commit_only;
        let key = keys.key.as_ref().ok_or_else(|| {
            CliError::input(
                "no key signs the certificate",
                "name one with --key, or make one with `ktd certify --new-key key.pem`",
            )
        })?;
        signer = base.unwrap_or(Path::new("")).join(key);
        Ok(())
    };
    let done = args.set.finish::<CertificateStudy>(change, console)?;
    let is_whole = args.set.tables || console.wide;
    let summary: MaskReport = serde_json::from_value(done.summary.clone()).map_err(CliError::invalid)?;
    if summary.certificate.is_none() {
        return study::show(&done, is_whole, console);
    }
    // The folder may have been another one's: what it holds is this key's, or is not told as such.
    let path = done.folder.join("certificate.json");
    let signed = SignedCertificate::read(&path, Some(&SigningKey::read(&signer)?.public()))?;
    let refusals = signed.certificate.refusals.iter().filter(|_| args.reasons);
    let because: Vec<String> = refusals.map(|refusal| format!("because {refusal}\n")).collect();
    let signer = format!("signed by {}: {}", signed.signature.fingerprint, path.display());
    let text = study::text_of(&done, is_whole, console);
    let page = done.folder.join("index.html");
    let rest = if is_whole {
        String::new()
    } else {
        format!(
            "every attack, control and limit: {}, or --tables\n",
            page.display()
        )
    };
    console.result(&format!("{text}{}{rest}{signer}\n", because.concat()), &signed)?;
    refused(&signed.certificate)
}

/// How much is printed of a refusal.
pub(super) const fn detail(reasons: bool) -> RefusalDetail {
    if reasons {
        RefusalDetail::Every
    } else {
        RefusalDetail::Summary
    }
}

fn refused(certificate: &Certificate) -> Result<(), CliError> {
    if certificate.verdict == CertificateVerdict::Certified {
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
    .with_hint(how_to_fix(&certificate.refusals)))
}

/// The hash of a plan.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct PlanHash {
    /// SHA-256 of all that decides probes and verdict but an auditor's nonce.
    plan_sha256: String,
}

fn plan_hash(set: &SetArgs, console: Console) -> Result<(), CliError> {
    let (keys, base) = set.keys::<CertificateStudy>()?;
    let hash = PlanHash {
        plan_sha256: plan_sha256(&keys, &base)?,
    };
    let text = format!(
        "the hash of the plan: {}\nwhoever audits gives a nonce after this hash, and checks both: `ktd verify DIR --nonce WORD --plan-hash HASH`\n",
        hash.plan_sha256
    );
    console.result(&text, &hash)
}

/// A key that was drawn.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct NewKey<'k> {
    /// Its file.
    key: &'k Path,
    /// The file of its public part.
    public_key: &'k Path,
    fingerprint: String,
}

/// A mask key that was drawn.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct NewMaskKey<'k> {
    /// Its file.
    mask_key: &'k Path,
    commitment: &'k str,
}

fn new_key(path: &Path, console: Console) -> Result<(), CliError> {
    let public = public_path(path);
    for file in [path, public.as_path()] {
        if file.exists() {
            return Err(CliError::input(
                format_args!("{} exists, and a key is never replaced", file.display()),
                "choose another name for the new key, or move the old one away",
            ));
        }
    }
    let key = SigningKey::draw(path)?.public();
    write_file(
        &public,
        key.to_pem().as_bytes(),
        IfExists::Refuse,
        Durability::Synced,
    )?;
    console.result(
        &describe(path, &public, &key),
        &NewKey {
            key: path,
            public_key: &public,
            fingerprint: key.fingerprint(),
        },
    )
}

fn new_mask_key(path: &Path, console: Console) -> Result<(), CliError> {
    let commitment = draw_key_file(path)?.commitment();
    console.result(
        &format!(
            "the mask key: {} (keep it to yourself)\nits commitment: {commitment}\n",
            path.display()
        ),
        &NewMaskKey {
            mask_key: path,
            commitment: &commitment,
        },
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
