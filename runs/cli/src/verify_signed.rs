//! What `ktd verify` says of folders that somebody signed: publications and boards.

use super::verify_document::{FoundByCheck, VerifiedFolder};
use super::verify_report::VerifyReport;
use crate::CliError;
use ktd_board::{CheckedBoard, check_board, is_board};
use ktd_bundle::bundle_set::BundleSet;
use ktd_bundle::publication::Publication;
use ktd_bundle::publish::sweep_unpublished;
use ktd_episode::verify::Verified;
use ktd_record::signed_folder::{PUBLICATION, Signed};
use ktd_record::signer_mark::SignerMark;
use ktd_record::signing::{PublicKey, Signature};
use ktd_study::{StudyManifest, check_published_study};
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

    /// Whether a study may be made again: it was not published, or its signature and files are as they were signed.
    pub(super) fn study_signed(&mut self, folder: &Path, signers: &[PublicKey]) -> bool {
        let checked = match check_published_study(folder, signers) {
            Ok(None) => return true,
            Ok(Some(published)) => Ok(of_study(&published, signers)),
            Err(error) => Err(error.into()),
        };
        let is_good = checked.is_ok();
        self.signed(folder, checked);
        is_good
    }

    /// A study that was not made again. Who holds nothing but a published folder is told what helps: no publication says where the
    /// files lay that its study read. A certificate's error says itself what is checked without them.
    pub(super) fn bad_study(&mut self, folder: &Path, error: CliError, are_files_named: bool) {
        const HINT: &str = "a publication does not say where the files lie that its study read: name the panel with --panel, or \
                            their folder with --base; ask the signer for them";
        let is_published = folder.join(PUBLICATION).exists() && !folder.join("certificate.json").exists();
        let is_for_holder = is_published && !are_files_named && !error.is_difference();
        let error = if is_for_holder {
            error.with_hint(HINT)
        } else {
            error
        };
        self.bad(&folder.display().to_string(), error);
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
                self.good_signed(&shown, &verified);
                self.signed.push(VerifiedFolder {
                    folder: shown,
                    signer: Some(signer),
                    found: FoundByCheck::of(Ok(verified)),
                });
                bundles
            }
            Err(error) => {
                let found = FoundByCheck::of(Err(error.message().to_owned()));
                self.bad(&shown, error);
                self.signed.push(VerifiedFolder {
                    folder: shown,
                    signer: None,
                    found,
                });
                Vec::new()
            }
        }
    }
}

fn of_study(
    published: &Signed<StudyManifest>,
    signers: &[PublicKey],
) -> (Verified, SignerMark, Vec<PathBuf>) {
    let verified = Verified {
        checks: vec![
            signed_with(&published.signature),
            format!(
                "{} files of a study: each has the hash that was signed, and nothing else lies in the folder",
                published.manifest.files.len()
            ),
        ],
        unchecked: Vec::new(),
        claimed: Vec::new(),
    };
    (verified, published.signer(signers), Vec::new())
}

fn signed_with(signature: &Signature) -> String {
    format!("{PUBLICATION}: signed with the key {}", signature.fingerprint)
}

fn check_publication(
    folder: &Path,
    signers: &[PublicKey],
) -> Result<(Verified, SignerMark, Vec<PathBuf>), CliError> {
    let publication = Publication::read(folder, signers)?;
    // Finding them checks every file, and that nothing else lies there.
    let found = BundleSet::below(&[folder.to_owned()])?;
    let manifest = &publication.manifest;
    let (files, bundles) = (manifest.file_count(), manifest.bundles.len());
    let signer = publication.signer(signers);
    let checks = vec![
        signed_with(&publication.signature),
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
        unchecked: vec![
            "the ranks: who has the bundles and the panel ranks them again with `ktd leaderboard`".to_owned(),
        ],
        claimed: Vec::new(),
    }
}
