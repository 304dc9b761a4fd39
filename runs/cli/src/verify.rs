//! `ktd verify BUNDLE|PUBLICATION|BOARD...` and `ktd verify --certificate FILE`.

use super::certify::{certificate_file, certificate_path, detail, is_certificate};
use super::given::kind_in;
use super::leaderboard::public_keys;
use super::replay_args::StudyReplayArgs;
use super::runtime::runtime;
use super::study;
use super::verify_document::{
    CertificateSays, CheckedCertificate, FoundByCheck, VerifiedBundle, VerifiedDocument,
};
use super::verify_report::VerifyReport;
use crate::CliError;
use crate::output::Console;
use crate::this_program::this_program;
use clap::{Args, ValueHint};
use ktd_board::is_board;
use ktd_bundle::BundlePaths;
use ktd_bundle::open::read_header;
use ktd_certify::CertificateStudy;
use ktd_certify::certificate_lines::summary_lines;
use ktd_certify::mark::Certificates;
use ktd_certify::signed::SignedCertificate;
use ktd_certify::verify::{Check, make_again, verify as verify_certificate};
use ktd_data::market_source::RecordedMarkets;
use ktd_episode::verify::{Verified, verify_on};
use ktd_record::signed_folder::PUBLICATION;
use ktd_record::signing::PublicKey;
use ktd_study::{AnyKind, Depth, StudyKind, StudyRun, kind_of, told_unnamed};
use std::fmt::Write;
use std::path::{Path, PathBuf};

const EXAMPLE: &str = "\
Examples:
  ktd verify results/demo/cells/*
  ktd verify --certificate cert/certificate.json --public-key their.pub
  ktd verify --certificate cert/certificate.json --panel csi300.ktdp --attack
  ktd verify cert --public-key their.pub --nonce 5f2c... --plan-hash 81d3...
  ktd verify results/demo/cells/* --certificate cert/certificate.json
  ktd verify results/leak-demo --sample 5
  ktd verify lab-a board --signer a.pub --signer mine.pub --panel csi300.ktdp

Exit code 0 when everything that was asked for is as it says, also a certificate that says REFUSED; 1 when something differs, 2 \
when it could not be checked.";

/// Checks bundles: hashes, fills, NAV and metrics; what labs published, boards, and certificates of masks. Names what
/// differs first.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct VerifyArgs {
    /// The directories of bundles, of studies, of what `ktd publish` wrote, and of boards.
    #[arg(required_unless_present = "certificate")]
    pub bundles: Vec<PathBuf>,
    /// The panel, when it is no longer where the bundles or the study were made.
    #[arg(long)]
    pub panel: Option<PathBuf>,
    #[command(flatten)]
    study: StudyReplayArgs,
    /// Of studies: make the works of so many units again, which chance draws.
    #[arg(long, value_name = "UNITS", conflicts_with = "deep")]
    sample: Option<usize>,
    /// A certificate of a mask, with the files beside it, or its folder.
    #[arg(long, value_name = "FILE", value_parser = certificate_file, value_hint = ValueHint::AnyPath)]
    certificate: Option<PathBuf>,
    /// The public key, PEM, that must have signed the certificate.
    #[arg(long, value_name = "FILE")]
    public_key: Option<PathBuf>,
    /// The public key, PEM, of who may have signed a publication or a board; once for each.
    #[arg(long, value_name = "FILE")]
    signer: Vec<PathBuf>,
    /// The nonce that you gave the signer, which must have decided the draw.
    #[arg(long, value_name = "WORD")]
    nonce: Option<String>,
    /// The hash of the certificate's plan that its signer gave you before you gave the nonce.
    #[arg(long, value_name = "HASH")]
    plan_hash: Option<String>,
    /// Put the attackers to the certificate's probes again and compare every answer; needs the panel.
    #[arg(long)]
    attack: bool,
    /// Print every reason of a refused certificate, and not one line an attacker.
    #[arg(long)]
    reasons: bool,
    /// Threads for that (default: one a core).
    #[arg(long)]
    threads: Option<usize>,
}

/// What no record of replies proves.
const UNPROVEN_REPLIES: &str =
    "who answered: its files bind one another, and whoever writes all of them anew can write other replies";

/// So many bundles are told check by check.
const TOLD_WHOLE: usize = 3;

/// Runs the command.
///
/// # Errors
/// [`CliError`] when a bundle or the certificate differs; all are checked first.
pub(super) fn run(args: &VerifyArgs, console: Console) -> Result<(), CliError> {
    args.check_options()?;
    let whose = args.public_key.as_deref().map(PublicKey::read).transpose()?;
    let mut report = VerifyReport::new(console.is_on_screen());
    let named = args.certificate.as_deref();
    report.certificate = named.map(|path| report.certificate((path, false), (args, whose), console));
    // The certificate of `--certificate` is the only one that has been read.
    let certificate = (!report.read.is_empty())
        .then(|| Certificates::of(report.read.clone(), whose.is_some()))
        .transpose()?;
    let signers = public_keys(&args.signer)?;
    let mut markets = RecordedMarkets::new(args.panel.as_deref());
    for folder in &args.bundles {
        if let Some(kind) = kind_in(folder)? {
            if report.study_signed(folder, &signers) {
                report.study(kind, (folder, args), console);
                report.certificate_in((folder, true), (args, whose), console);
            }
            continue;
        }
        if is_certificate(folder) {
            report.certificate_in((folder, false), (args, whose), console);
            continue;
        }
        let bundles = report.bundles_of(folder, &signers);
        report.is_brief = TOLD_WHOLE < bundles.len().max(args.bundles.len());
        for bundle in bundles {
            // A folder that was published stands above its bundles.
            let is_signed = bundle != *folder;
            report.bundle((&bundle, is_signed), &mut markets, certificate.as_ref())?;
        }
    }
    report.one_log(whose.is_some());
    report.sum_up();
    let ended = report.ended();
    let document = VerifiedDocument {
        bundles: report.bundles,
        signed: report.signed,
        certificate: report.certificate,
        certificates: report.certificates,
        logs: report.logs,
    };
    console.result(&report.text, &document)?;
    ended.map_or(Ok(()), Err)
}

impl VerifyArgs {
    /// Whether what is named is what the options are of.
    fn check_options(&self) -> Result<(), CliError> {
        let is_of_certificate = self.public_key.is_some()
            || self.nonce.is_some()
            || self.plan_hash.is_some()
            || self.attack
            || self.reasons;
        let is_named = self.certificate.is_some() || self.bundles.iter().any(|folder| is_certificate(folder));
        if let Some(path) = self.certificate.as_deref().filter(|path| !path.exists()) {
            check_finished(path.parent().unwrap_or(path))?;
        }
        if is_of_certificate && !is_named {
            self.bundles
                .iter()
                .try_for_each(|folder| check_finished(folder))?;
            return Err(CliError::input(
                "--public-key, --nonce, --plan-hash, --attack and --reasons are of a certificate, and none is named",
                "name its folder, or the certificate with --certificate; the key of a publication or a board is --signer",
            ));
        }
        let is_published = |folder: &PathBuf| folder.join(PUBLICATION).exists() || is_board(folder);
        if !self.signer.is_empty() && !self.bundles.iter().any(is_published) {
            return Err(CliError::input(
                "--signer is of a publication or a board, and none is named",
                "name its folder; the key of a certificate is --public-key, and a bundle alone is signed by nobody",
            ));
        }
        let is_study = |folder: &PathBuf| kind_of(folder).is_some();
        self.study.check_has_study(self.bundles.iter().any(is_study))
    }
}

/// Refuses the folder of a certificate's study that has no certificate yet, and says what finishes it.
fn check_finished(folder: &Path) -> Result<(), CliError> {
    let Some(kind) = kind_in(folder)?.filter(|kind| kind.name() == CertificateStudy::NAME) else {
        return Ok(());
    };
    let mut study = kind.watch(folder)?;
    let (status, shown) = (study.look()?, folder.display());
    if status.is_running {
        return Err(CliError::input(
            format_args!("{shown}: its certificate is not finished: a process is making it now"),
            format_args!("`ktd status {shown} --watch` follows it"),
        ));
    }
    // Probes that were attacked and never committed to have a report, and end without a certificate.
    if status.is_reported && !folder.join("commitment.json").exists() {
        return Err(CliError::input(
            format_args!("{shown}: it holds probes that were put to attackers, and nobody certifies them"),
            "`ktd certify FILE --key KEY` certifies probes that were committed to before, in another folder",
        ));
    }
    Err(CliError::input(
        format_args!("{shown}: its certificate is not finished"),
        format_args!("to finish it: {}", study.command()),
    ))
}

impl VerifyReport {
    fn bundle(
        &mut self,
        (bundle, is_signed): (&Path, bool),
        markets: &mut RecordedMarkets<'_>,
        certificates: Option<&Certificates>,
    ) -> Result<(), CliError> {
        let shown = bundle.display().to_string();
        match runtime()?.block_on(verify_on(bundle, markets, &this_program())) {
            Ok(verified) => {
                let verified = if is_signed {
                    verified.of_published()
                } else {
                    verified
                };
                self.good(&shown, None, &verified);
                let mut mask = None;
                if let Some(certificates) = certificates {
                    let mark = certificates.mark(&read_header(&BundlePaths::new(bundle))?);
                    // Writing to a string cannot fail.
                    writeln!(self.text, "  mask       {mark}").ok();
                    mask = Some(mark);
                }
                self.bundles.push(VerifiedBundle {
                    bundle: shown,
                    mask,
                    says: None,
                    found: FoundByCheck::of(Ok(verified)),
                });
            }
            Err(error) => {
                let found = FoundByCheck::of(Err(error.to_string()));
                self.bad(&shown, error.into());
                self.bundles.push(VerifiedBundle {
                    bundle: shown,
                    mask: None,
                    says: None,
                    found,
                });
            }
        }
        Ok(())
    }

    /// A study: every unit is made again from its record, and the report of all.
    fn study(&mut self, kind: &dyn AnyKind, (folder, args): (&Path, &VerifyArgs), console: Console) {
        let shown = folder.display().to_string();
        let depth = match args.sample {
            Some(units) => Depth::Sample(units),
            None if args.study.deep => Depth::Deep,
            None => Depth::Recorded,
        };
        let (says, found) = match study::replayed(
            kind,
            (folder, args.study.moved(args.panel.as_deref())),
            depth,
            console,
        ) {
            Ok(replayed) => {
                let left = replayed.units - replayed.made_again;
                let works = format!("the works of {left} units: --deep makes them again");
                let works = (0 < left).then_some(works);
                let asked = kind.asks().then(|| UNPROVEN_REPLIES.to_owned());
                let verified = Verified {
                    checks: vec![study::compared(&replayed)],
                    unchecked: works.into_iter().chain(told_unnamed(&replayed.unnamed)).collect(),
                    claimed: replayed.another_program.into_iter().chain(asked).collect(),
                };
                // It was made again, and with it the certificate that it ends with.
                let certificate = SignedCertificate::read(&certificate_path(folder), None).ok();
                let verdict = certificate.map(|signed| signed.certificate.verdict);
                self.good(&shown, verdict, &verified);
                // Writing to a string cannot fail.
                writeln!(self.text, "  says       {}", replayed.verdict).ok();
                (Some(replayed.verdict), FoundByCheck::of(Ok(verified)))
            }
            Err(error) => {
                let found = FoundByCheck::of(Err(error.message().to_owned()));
                self.bad_study(folder, error, args.study.base.is_some() || args.panel.is_some());
                (None, found)
            }
        };
        self.bundles.push(VerifiedBundle {
            bundle: shown,
            mask: None,
            says,
            found,
        });
    }

    /// The certificate in a folder, which is more than a file of its study.
    fn certificate_in(
        &mut self,
        (folder, is_study): (&Path, bool),
        given: (&VerifyArgs, Option<PublicKey>),
        console: Console,
    ) {
        let path = certificate_path(folder);
        let is_named = given.0.certificate.as_ref() == Some(&path);
        if is_certificate(folder) && !is_named {
            let checked = self.certificate((&path, is_study), given, console);
            self.certificates.push(checked);
        }
    }

    /// What a check of a certificate found, and whether its study is checked beside it.
    fn certificate(
        &mut self,
        (path, is_study_checked): (&Path, bool),
        (args, whose): (&VerifyArgs, Option<PublicKey>),
        console: Console,
    ) -> CheckedCertificate {
        let shown = path.display().to_string();
        let checked = check_certificate((path, is_study_checked), (args, whose), console);
        let seen = checked.and_then(|(signed, verified)| {
            let certificate = &signed.certificate;
            Ok((
                (certificate.pass_odds()?, certificate.detectable()?),
                signed,
                verified,
            ))
        });
        match seen {
            Ok(((odds, detectable), signed, verified)) => {
                self.good(&shown, Some(signed.certificate.verdict), &verified);
                // Writing to a string cannot fail.
                let says = summary_lines(
                    &signed.certificate,
                    (odds.as_ref(), &detectable),
                    detail(args.reasons),
                );
                let says = says.join("\n             ");
                writeln!(self.text, "  says       {says}").ok();
                let says = Some(CertificateSays::of(&signed, odds, detectable));
                self.read.push((path.to_owned(), signed));
                CheckedCertificate {
                    certificate: shown,
                    found: FoundByCheck::of(Ok(verified)),
                    says,
                }
            }
            Err(error) => {
                let found = FoundByCheck::of(Err(error.to_string()));
                self.bad(&shown, error);
                CheckedCertificate {
                    certificate: shown,
                    found,
                    says: None,
                }
            }
        }
    }
}

fn check_certificate(
    (path, is_study_checked): (&Path, bool),
    (args, whose): (&VerifyArgs, Option<PublicKey>),
    console: Console,
) -> Result<(SignedCertificate, Verified), CliError> {
    let check = Check {
        whose,
        nonce: args.nonce.clone(),
        plan_sha256: args.plan_hash.clone(),
        is_study_checked,
        panel: args.panel.clone(),
        // Where the certificate stands beside bundles, the panel is for them.
        remakes: args.panel.is_some() && (args.bundles.is_empty() || args.certificate.is_none()),
        attacks: args.attack,
    };
    let (signed, mut verified) = verify_certificate(path, &check)?;
    study::with_run(("checking", None, console), |run| {
        let threads = args.threads.unwrap_or(run.threads);
        Ok(make_again(
            path,
            (&signed, &mut verified),
            &check,
            &StudyRun { threads, ..*run },
        )?)
    })?;
    Ok((signed, verified))
}
