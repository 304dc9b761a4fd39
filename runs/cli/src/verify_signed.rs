//! What `ktd verify` says of folders that somebody signed: publications and boards.

use super::verify::VerifyReport;
use crate::CliError;
use ktd_board::{CheckedBoard, check_board, is_board};
use ktd_bundle::bundle_set::BundleSet;
use ktd_bundle::publication::{PUBLICATION, Publication};
use ktd_bundle::publish::sweep_unpublished;
use ktd_episode::verify::Verified;
use ktd_record::signer_mark::SignerMark;
use ktd_record::signing::PublicKey;
use serde_json::json;
use std::path::{Path, PathBuf};

impl VerifyReport {
    /// The bundles to check of a folder that was named: those of a publication whose signature fits, none of a board, or
    /// the folder itself.
    pub(super) fn bundles_of(&mut self, folder: &Path, signers: &[PublicKey]) -> Vec<PathBuf> {
        if folder.join(PUBLICATION).exists() {
            sweep_unpublished(folder);
            let checked = check_publication(folder, signers);
            return self.signed(folder, checked);
        }
        if is_board(folder) {
            let checked = check_board(folder, signers).map_err(CliError::from);
            return self.signed(
                folder,
                checked.map(|board| (of_board(&board), board.signer, Vec::new())),
            );
        }
        vec![folder.to_owned()]
    }

    fn signed(
        &mut self,
        folder: &Path,
        checked: Result<(Verified, SignerMark, Vec<PathBuf>), CliError>,
    ) -> Vec<PathBuf> {
        let shown = folder.display().to_string();
        match checked {
            Ok((mut verified, signer, bundles)) => {
                if signer.fingerprint.is_none() {
                    let what = "who made it: it is unsigned";
                    verified.unchecked.push(what.to_owned());
                } else if !signer.is_named {
                    let what =
                        "whose key that is: ask the signer for the public key, and name it with --signer";
                    verified.unchecked.push(what.to_owned());
                }
                self.good(&shown, &verified);
                self.signed.push(json!({
                    "folder": shown, "ok": true, "signer": signer, "checked": verified.checks,
                    "unchecked": verified.unchecked, "claimed": verified.claimed,
                }));
                bundles
            }
            Err(error) => {
                self.signed
                    .push(json!({ "folder": shown, "ok": false, "difference": error.message() }));
                self.bad(&shown, error);
                Vec::new()
            }
        }
    }
}

fn check_publication(
    folder: &Path,
    signers: &[PublicKey],
) -> Result<(Verified, SignerMark, Vec<PathBuf>), CliError> {
    let publication = Publication::read(folder, signers)?;
    // Finding them checks every file, and that nothing else lies there.
    let found = BundleSet::below(&[folder.to_owned()])?;
    let manifest = &publication.manifest;
    let (files, bundles) = (publication.file_count(), manifest.bundles.len());
    let signer = publication.signer(signers);
    let checks = vec![
        format!(
            "{PUBLICATION}: signed with the key {}",
            publication.signature.fingerprint
        ),
        format!(
            "{files} files of {bundles} bundles: each has the hash that was signed, and nothing else lies in the folder"
        ),
    ];
    let kept_back = match manifest.kept_back {
        0 => "no finished episode beside these was kept back".to_owned(),
        count => format!("{count} finished episodes beside these were kept back"),
    };
    let claimed = vec![format!(
        "{kept_back}, and what was never finished does not show here"
    )];
    let roots = found.named.into_iter().map(|found| found.root);
    let verified = Verified {
        checks,
        unchecked: Vec::new(),
        claimed,
    };
    Ok((verified, signer, roots.collect()))
}

fn of_board(board: &CheckedBoard) -> Verified {
    let mut checks = vec![format!(
        "{} files, each with the hash in manifest.json, and the content {}",
        board.files, board.content_sha256
    )];
    if let Some(fingerprint) = &board.signer.fingerprint {
        checks.push(format!("signature.json: signed with the key {fingerprint}"));
    }
    Verified {
        checks,
        unchecked: vec!["the ranks: rank the bundles again with `ktd leaderboard`".to_owned()],
        claimed: Vec::new(),
    }
}
