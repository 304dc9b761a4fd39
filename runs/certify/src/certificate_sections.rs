//! What a certificate says to an auditor, in this order: the verdict, under whose thresholds, what was attacked and by whom,
//! whether the attackers succeed where they must, and what was not tried.

use super::attack_tables::{CountedAttacks, counted};
use super::certificate::Certificate;
use super::certificate_lines::{
    MODELS_ALONE, deciding_lines, headline, of_controls, of_windows, sees, terms,
};
use super::completeness;
use super::plain_words::{asking, knowing};
use super::signed::SignedCertificate;
use crate::attacker_record::Knowledge;
use ktd_probes::AttackerClass;
use ktd_probes::judge::{CertificateVerdict, ClassBound, DetectableShare, PassOdds, summary_of_refusals};
use ktd_study::{Report, Section, Shown};
use ktd_view::draw::{Align, TableCell, TableData};
use serde::Deserialize;
use serde_json::Value;

/// What a signed certificate's document says; none of a document that this program does not read, or that lacks what every
/// certificate has. Whether the signature holds is not looked at.
#[must_use]
pub fn certificate_report(document: &Value) -> Option<Report> {
    let signed = SignedCertificate::deserialize(document).ok()?;
    let certificate = &signed.certificate;
    // What is whole has sizes within reason.
    if !matches!(completeness::fault(certificate), Ok(None)) {
        return None;
    }
    let (odds, detectable) = (certificate.pass_odds().ok()?, certificate.detectable().ok()?);
    let limitations = certificate.set.data.limitations.iter();
    Some(Report {
        title: "Certificate".to_owned(),
        verdict: headline(certificate),
        notes: limitations.map(|line| format!("of the panel: {line}")).collect(),
        sections: certificate_sections(&signed, (odds.as_ref(), &detectable)),
        ..Report::default()
    })
}

/// The sections of a certificate, with what passes under its terms and what it can see.
pub(crate) fn certificate_sections(
    signed: &SignedCertificate,
    (odds, detectable): (Option<&PassOdds>, &[DetectableShare]),
) -> Vec<Section> {
    let certificate = &signed.certificate;
    let attacks = CountedAttacks {
        figures: &certificate.figures,
        unanswered: &certificate.unanswered,
    };
    let attacked = Section::new("What was attacked, and by whom").at(
        "attacked",
        "Every probe is what an agent under this mask is shown. Each attacker was asked which stock and which day it is.",
    );
    let attacked =
        attacks
            .add_to(attacked, Shown::Page)
            .table("attackers", attackers_table(certificate), Shown::Folded);
    let controls = Section::new("Controls").at(
        "controls",
        "An attacker that finds nothing anywhere proves nothing. So each was also put to masks with a known weakness, and had \
         to succeed there.",
    );
    let open = certificate.not_covered.iter().cloned();
    vec![
        verdict_section(certificate, odds),
        Section::new("Under whose thresholds")
            .at(
                "terms",
                "What the signer chose, and what a mask could give away and pass all the same.",
            )
            .table("terms", terms_table(signed, (odds, detectable)), Shown::Page),
        attacked,
        controls.table("controls", control_table(certificate), Shown::Page),
        Section::new("What was not tried").table("not_tried", lines_table("", open), Shown::Page),
    ]
}

fn verdict_section(certificate: &Certificate, odds: Option<&PassOdds>) -> Section {
    let lines = deciding_lines(certificate, odds).into_iter();
    let lines = lines.map(|line| vec![TableCell::Text(line.trim_start().to_owned())]);
    let section = Section::new("The verdict")
        .at(
            "verdict",
            "A mask is certified where nothing that language models or the price database recover can lie further above \
             guessing than the thresholds allow, and every control succeeded.",
        )
        .table(
            "said",
            TableData::new("", [("", Align::Left)]).with_rows(lines),
            Shown::Terminal,
        )
        .table("verdict", verdict_table(certificate), Shown::Page)
        .table(
            "windows",
            lines_table("Windows", of_windows(certificate).into_iter()),
            Shown::Page,
        );
    let refusals = &certificate.refusals;
    if refusals.is_empty() {
        return section;
    }
    let why = summary_of_refusals(refusals).into_iter();
    let every = refusals.iter().map(ToString::to_string);
    section
        .table("why", lines_table("Why it is refused", why), Shown::Page)
        .table("refusals", lines_table("Every reason", every), Shown::Folded)
}

/// A row a class of attackers and question, with its largest bound.
fn verdict_table(certificate: &Certificate) -> TableData {
    let columns = [
        ("attackers know", Align::Left, 1),
        ("verdict", Align::Left, 0),
        ("asked for", Align::Left, 1),
        ("by", Align::Left, 2),
        ("on probes", Align::Left, 2),
        ("above guessing, at most", Align::Right, 0),
        ("may be", Align::Right, 0),
    ];
    let classes = certificate
        .classes
        .iter()
        .map(|class| (knowing(class.class).to_owned(), class.verdict, &class.bounds));
    let known = certificate.known.iter().map(|known| {
        let who = format!("every price, and the codes of {} stocks shown", known.given_away);
        (who, known.verdict, &known.bounds)
    });
    let row = |(who, verdict): (&str, CertificateVerdict), bound: Option<&ClassBound>| {
        let text = |of: fn(&ClassBound) -> String| {
            bound.map_or(TableCell::Empty, |bound| TableCell::Text(of(bound)))
        };
        vec![
            TableCell::Text(who.to_owned()),
            TableCell::Text(verdict.label().to_owned()),
            text(|bound| asking(bound.measure)),
            text(|bound| bound.attacker.clone()),
            text(|bound| bound.kind.label().to_owned()),
            TableCell::optional(bound.map(|bound| bound.excess), TableCell::Change),
            TableCell::optional(bound.map(|bound| bound.threshold), TableCell::Percent),
        ]
    };
    let mut rows = Vec::new();
    for (who, verdict, bounds) in classes.chain(known) {
        if bounds.is_empty() {
            rows.push(row((&who, verdict), None));
        }
        rows.extend(bounds.iter().map(|bound| row((&who, verdict), Some(bound))));
    }
    TableData::new("Against whom the mask holds", columns).with_rows(rows)
}

fn terms_table(
    signed: &SignedCertificate,
    (odds, detectable): (Option<&PassOdds>, &[DetectableShare]),
) -> TableData {
    let certificate = &signed.certificate;
    let mut terms = terms(certificate, odds);
    terms.extend(sees(detectable));
    terms.push(("signed by", format!("the key {}", signed.signature.fingerprint)));
    let rows = terms
        .into_iter()
        .map(|(what, says)| vec![TableCell::Text(what.to_owned()), TableCell::Text(says)]);
    TableData::new("", [("what", Align::Left), ("it says", Align::Left)]).with_rows(rows)
}

fn attackers_table(certificate: &Certificate) -> TableData {
    let columns = [
        ("attacker", Align::Left),
        ("knows", Align::Left),
        ("asked", Align::Left),
    ];
    let rows = certificate.attackers.iter().map(|attacker| {
        let class = match attacker.knows {
            Knowledge::Database => AttackerClass::Database,
            Knowledge::Language => AttackerClass::Model,
        };
        let mut models = certificate.models.iter();
        let asked = models.find(|model| model.agent == attacker.name);
        vec![
            TableCell::Text(attacker.name.clone()),
            TableCell::Text(knowing(class).to_owned()),
            asked.map_or(TableCell::Empty, |model| TableCell::Text(model.to_string())),
        ]
    });
    let table = TableData::new("Every attacker", columns).with_rows(rows);
    if certificate.models.is_empty() {
        table
    } else {
        table.with_note(MODELS_ALONE)
    }
}

fn control_table(certificate: &Certificate) -> TableData {
    let columns = [
        ("control", Align::Left, 0),
        ("attacker", Align::Left, 0),
        ("asked for", Align::Left, 1),
        ("probes", Align::Right, 4),
        ("recovers", Align::Right, 3),
        ("guessing gives", Align::Right, 2),
        ("recovers at least", Align::Right, 0),
        ("must be more than", Align::Right, 0),
        ("verdict", Align::Left, 0),
    ];
    let rows = certificate.controls.iter().map(|control| {
        let fired = if control.fired { "succeeds" } else { "BLIND" };
        vec![
            TableCell::Text(control.control.label().to_owned()),
            TableCell::Text(control.attacker.clone()),
            TableCell::Text(asking(control.measure)),
            counted(control.asked),
            TableCell::Percent(control.share),
            TableCell::Percent(control.chance),
            TableCell::Percent(control.lower),
            TableCell::Percent(control.chance + control.need),
            TableCell::Text(fired.to_owned()),
        ]
    });
    TableData::new(of_controls(certificate), columns).with_rows(rows)
}

fn lines_table(title: &str, lines: impl Iterator<Item = String>) -> TableData {
    let rows = lines.map(|line| vec![TableCell::Text(line)]);
    TableData::new(title, [("it says", Align::Left)]).with_rows(rows)
}
