//! `ktd publish DIR --key KEY --out DIR`.

use super::given::kind_in;
use super::unless_ending::unless_ending;
use crate::CliError;
use crate::output::Console;
use clap::Args;
use ktd_bundle::bundle_set::BundleSet;
use ktd_bundle::publication::Publication;
use ktd_bundle::publish::publish;
use ktd_episode::EpisodesStudy;
use ktd_record::signing::SigningKey;
use ktd_study::StudyKind;
use ktd_study::publish_study;
use std::path::{Path, PathBuf};

const EXAMPLE: &str = "\
Examples:
  ktd certify --new-key lab.pem      # once; give others lab.pem.pub and its fingerprint
  ktd publish results/leak-demo --key lab.pem --out leak-published    # a study of any kind
  ktd verify leak-published --signer lab.pem.pub
  ktd publish results/headline --key lab.pem --out headline-published --open-mask
  ktd verify headline-published --signer lab.pem.pub --panel csi300.ktdp
  ktd leaderboard headline-published --signer lab.pem.pub --panel csi300.ktdp

What others need for ranking names every stock and day that a mask hid, so publish when no run under these mask keys is to come.";

/// Copies a finished study without its private part, or finished episodes with the private part that ranking again needs,
/// under one signed manifest that names every file by its hash.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct PublishArgs {
    /// The folder of one study; or results directories or bundles, all of whose episodes have ended.
    #[arg(required = true)]
    results: Vec<PathBuf>,
    /// Your private key, PEM, which signs the manifest.
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// The folder to make; it must be new or empty.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Consent that stocks, days, orders and holdings of masked episodes become public, for good.
    #[arg(long)]
    open_mask: bool,
}

/// Runs the command.
///
/// # Errors
/// [`CliError`] when an episode has not ended or is damaged, consent is missing, or the folder is in use.
pub(super) fn run(args: &PublishArgs, console: Console) -> Result<(), CliError> {
    // What cannot be published is told before what cannot be signed.
    for folder in &args.results {
        // Bundles say themselves what of them may be published.
        if kind_in(folder)?.is_some_and(|kind| kind.name() != EpisodesStudy::NAME) {
            return publish_alone(folder, args, &SigningKey::read(&args.key)?, console);
        }
    }
    let found = BundleSet::below(&args.results)?;
    let key = SigningKey::read(&args.key)?;
    let publication = unless_ending(|| Ok(publish(&found, &args.out, &key, args.open_mask)?))?;
    console.result(&text(&publication, &args.out), &publication)
}

fn publish_alone(
    folder: &Path,
    args: &PublishArgs,
    key: &SigningKey,
    console: Console,
) -> Result<(), CliError> {
    if 1 < args.results.len() || args.open_mask {
        let what = format!("{} holds a study, which is published alone", folder.display());
        return Err(CliError::input(
            what,
            "name one folder, without --open-mask: a study has no mask",
        ));
    }
    let published = unless_ending(|| Ok(publish_study(folder, &args.out, key)?))?;
    let text = format!(
        "published {} files of the study {} in {}\nsigned with the key {}\n",
        published.manifest.files.len(),
        published.manifest.study,
        args.out.display(),
        published.signature.fingerprint
    );
    console.result(&text, &published)
}

fn text(publication: &Publication, out: &Path) -> String {
    let manifest = &publication.manifest;
    let head = format!(
        "published {} episodes in {}\nsigned with the key {}\n",
        manifest.bundles.len(),
        out.display(),
        publication.signature.fingerprint
    );
    let opens = manifest.opens.iter().map(|line| format!("this opens {line}\n"));
    let kept_back = match manifest.kept_back {
        0 => String::new(),
        count => format!("{count} finished episodes beside them are kept back, and the manifest says so\n"),
    };
    [head, opens.collect(), kept_back].concat()
}
