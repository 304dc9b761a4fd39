//! What `ktd verify` has found so far, as text and for programs.

use super::verify_document::{CheckedCertificate, FoundByCheck, VerifiedBundle, VerifiedFolder};
use crate::CliError;
use crate::output::visible_lines;
use ktd_certify::mark::Certificates;
use ktd_certify::signed::SignedCertificate;
use ktd_episode::verify::Verified;
use ktd_probes::judge::CertificateVerdict;
use ktd_view::draw::counted;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

/// Report so far, as text and for programs.
#[derive(Default)]
pub(super) struct VerifyReport {
    pub(super) text: String,
    pub(super) bundles: Vec<VerifiedBundle>,
    pub(super) certificate: Option<CheckedCertificate>,
    /// Those of the folders that were named.
    pub(super) certificates: Vec<CheckedCertificate>,
    /// Those of them that hold.
    pub(super) read: Vec<(PathBuf, SignedCertificate)>,
    /// What is wrong with the logs of their signers.
    pub(super) logs: Option<FoundByCheck>,
    /// Publications and boards.
    pub(super) signed: Vec<VerifiedFolder>,
    failed: Vec<Failed>,
    /// Whether the failure that ends the command is read below this text anyway.
    is_on_screen: bool,
    /// Whether there are so many bundles that each is a line, and what was checked of them, and what not, stands once at the end.
    pub(super) is_brief: bool,
    /// What was checked of bundles, was not, or is claimed: of how many.
    told: BTreeMap<String, usize>,
}

/// What did not hold, or could not be checked.
struct Failed {
    /// What failed.
    shown: String,
    /// Where its line ends in the text.
    end_of_line: usize,
    /// What stands there, unless it is read below.
    message: String,
    failure: CliError,
}

impl VerifyReport {
    pub(super) fn new(is_on_screen: bool) -> Self {
        Self {
            is_on_screen,
            ..Self::default()
        }
    }

    /// Whether the logs of one signer, beside all certificates that were named, are one.
    pub(super) fn one_log(&mut self, is_signer_named: bool) {
        if let Err(error) = Certificates::of(std::mem::take(&mut self.read), is_signer_named) {
            self.logs = Some(FoundByCheck::of(Err(error.to_string())));
            self.bad("certificates of one signer", error.into());
        }
    }

    /// A signed folder, of which there are few.
    pub(super) fn good_signed(&mut self, shown: &str, verified: &Verified) {
        // Writing to a string cannot fail.
        writeln!(self.text, "{shown}: ok").ok();
        self.tell_whole(verified);
    }

    /// What holds; a certificate, and the study of one, with its verdict.
    pub(super) fn good(&mut self, shown: &str, verdict: Option<CertificateVerdict>, verified: &Verified) {
        let outcome = match verdict {
            Some(CertificateVerdict::Refused) => "REFUSED: it certifies nothing, and holds as a refusal",
            Some(CertificateVerdict::Certified) | None => "ok",
        };
        // Writing to a string cannot fail.
        writeln!(self.text, "{shown}: {outcome}").ok();
        if self.is_brief {
            let checked = verified
                .checks
                .iter()
                .map(|what| format!("checked    {}", without_counts(what)));
            let unchecked = verified.unchecked.iter().map(|what| format!("UNCHECKED  {what}"));
            let claimed = verified.claimed.iter().map(|what| format!("CLAIMED    {what}"));
            for line in checked.chain(unchecked).chain(claimed) {
                *self.told.entry(line).or_insert(0) += 1;
            }
            return;
        }
        self.tell_whole(verified);
    }

    /// Every check by itself, with its counts.
    fn tell_whole(&mut self, verified: &Verified) {
        // Writing to a string cannot fail.
        for check in &verified.checks {
            writeln!(self.text, "  checked    {check}").ok();
        }
        for check in &verified.unchecked {
            writeln!(self.text, "  UNCHECKED  {check}").ok();
        }
        for claim in &verified.claimed {
            writeln!(self.text, "  CLAIMED    {claim}").ok();
        }
    }

    /// How many bundles hold, and what of them was not checked.
    pub(super) fn sum_up(&mut self) {
        let bundles = self.bundles.iter().map(|bundle| bundle.found.ok);
        let certificates: Vec<_> = self.certificate.iter().chain(&self.certificates).collect();
        let held: Vec<bool> = bundles
            .chain(certificates.iter().map(|one| one.found.ok))
            .collect();
        if held.len() < 2 {
            return;
        }
        let ok = held.iter().filter(|ok| **ok).count();
        let refused = certificates.iter().filter(|one| one.is_refused()).count();
        let mut what = String::new();
        if !certificates.is_empty() {
            what.push_str(", certificates each by themselves");
        }
        if 0 < refused {
            // Writing to a string cannot fail.
            write!(
                what,
                "; {} REFUSED: a refusal certifies nothing",
                counted(refused, "certificate")
            )
            .ok();
        }
        if self.logs.is_some() {
            what.push_str("; TOGETHER they DIFFER: rely on no certificate of this signer");
        }
        // Writing to a string cannot fail.
        writeln!(self.text, "\n{ok} of {} hold{what}", held.len()).ok();
        for (line, count) in &self.told {
            writeln!(self.text, "  {line} ({count} of them)").ok();
        }
        if self.is_brief {
            writeln!(self.text, "  each check of each: --json").ok();
        }
    }

    pub(super) fn bad(&mut self, shown: &str, failure: CliError) {
        let says = said(&failure);
        let message = failure.message();
        let message = message.strip_prefix(&format!("{shown}: ")).unwrap_or(message);
        // Writing to a string cannot fail.
        writeln!(self.text, "{shown}: {says}").ok();
        self.failed.push(Failed {
            shown: shown.to_owned(),
            end_of_line: self.text.len() - 1,
            message: format!(": {}", visible_lines(message)),
            failure,
        });
    }

    /// The failure that ends the command: the first difference, which says more than what could not be checked, else the first. On a
    /// screen, or where it is all that was found, its message is read below the text; those of all others stand in it.
    pub(super) fn ended(&mut self) -> Option<CliError> {
        let mut failed = std::mem::take(&mut self.failed);
        let ends = failed.iter().position(|failed| failed.failure.is_difference());
        let ends = ends.unwrap_or(0);
        let is_read_below = self.is_on_screen || self.text.lines().count() == 1;
        let head = self.head(&failed);
        for (place, failed) in failed.iter().enumerate().rev() {
            if place != ends || !is_read_below {
                self.text.insert_str(failed.end_of_line, &failed.message);
            }
        }
        self.text.insert_str(0, &head);
        (ends < failed.len()).then(|| failed.swap_remove(ends).failure)
    }
}

impl VerifyReport {
    /// What does not hold, said before what does: a reader may stop at the first line.
    fn head(&self, failed: &[Failed]) -> String {
        const SHOWN: usize = 3;
        let Some(first) = failed
            .iter()
            .find(|failed| failed.failure.is_difference())
            .or(failed.first())
        else {
            return String::new();
        };
        let says = said(&first.failure);
        let alike: Vec<&str> = failed
            .iter()
            .filter(|failed| said(&failed.failure) == says)
            .map(|failed| failed.shown.as_str())
            .collect();
        let shown = alike.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
        let more = match alike.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        // Alone it is its own first line.
        if self.text.lines().count() <= failed.len() {
            return String::new();
        }
        format!("{says}: {shown}{more}; what is ok below is so by itself\n\n")
    }
}

const fn said(failure: &CliError) -> &'static str {
    if failure.is_difference() {
        "DIFFERS"
    } else {
        "NOT CHECKED"
    }
}

/// A check with N for its counts, which differ from bundle to bundle.
fn without_counts(check: &str) -> String {
    let mut told = String::new();
    for word in check.split_inclusive(' ') {
        let is_count = word.starts_with(|letter: char| letter.is_ascii_digit())
            && word
                .trim_end()
                .chars()
                .all(|letter| letter.is_ascii_digit() || letter == ',');
        told.push_str(if is_count { "N " } else { word });
    }
    told
}
