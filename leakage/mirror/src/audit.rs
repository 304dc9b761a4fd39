//! All checks on one panel.

use crate::auditor::{AuditSubject, Auditor};
use crate::doors::OwnDoors;
use crate::report::{CheckReport, SelfAudit};
use crate::{controls, decisions, declared, fills, look_ahead, qlib_profile, switches};
use ktd_data::hash_text;
use ktd_io::parallel::Tell;
use ktd_study::StudyError;

/// Turns the benchmark on this program: its tools, prompts, exchange and controls on a panel. `tell` hears how many days of all
/// checks are done.
///
/// # Errors
/// [`StudyError`] for a panel that is too short.
pub fn audit_self(subject: &AuditSubject, threads: usize, tell: Tell<'_>) -> Result<SelfAudit, StudyError> {
    let auditor = Auditor::new(&OwnDoors, subject, threads)?.told_by(tell);
    let as_of_days = auditor.as_of_days.iter().map(|day| auditor.date(*day)).collect();
    Ok(SelfAudit {
        panel: hash_text(subject.market.content_hash()),
        as_of_days,
        checks: checks(&auditor),
    })
}

fn checks(auditor: &Auditor<'_>) -> Vec<CheckReport> {
    vec![
        look_ahead::look_ahead(auditor),
        declared::declared(auditor),
        fills::fills(auditor),
        fills::volume(auditor),
        decisions::decisions(auditor),
        qlib_profile::qlib_profile(auditor),
        controls::controls(auditor),
        switched(auditor),
        look_ahead::bands(auditor),
    ]
}

fn switched(auditor: &Auditor<'_>) -> CheckReport {
    let report = switches::switches(auditor);
    auditor.tick();
    report
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auditor::AS_OF_DAYS;
    use crate::report::AuditVerdict;
    use crate::small_market::small_market;
    use ktd_env::synth::{SynthConfig, generate};
    use std::sync::{Arc, Mutex};

    #[test]
    fn nothing_undeclared_is_found_on_the_synthetic_market_and_what_is_known_is() {
        let subject = AuditSubject::of_market(Arc::new(small_market()));
        let told = Mutex::new(Vec::new());
        let tell = |done, of| told.lock().unwrap().push((done, of));
        let audit = audit_self(&subject, 2, &tell).unwrap();
        let told = told.into_inner().unwrap();
        let (done, of) = (told.iter().map(|(done, _)| *done).max(), told[0].1);
        assert_eq!(
            (done, told.len() as u64),
            (Some(of), of + 1),
            "each day of each check"
        );
        let expected = [
            ("M1", AuditVerdict::Clean),
            ("M2", AuditVerdict::AsDeclared),
            ("M3", AuditVerdict::Clean),
            ("M4", AuditVerdict::AsDeclared),
            ("M5", AuditVerdict::Clean),
            ("M6", AuditVerdict::Found),
            ("M7", AuditVerdict::Found),
            ("M8", AuditVerdict::NotPossible),
            ("M9", AuditVerdict::Clean),
        ];
        for (id, verdict) in expected {
            let check = audit.checks.iter().find(|check| check.id == id).unwrap();
            assert_eq!(
                check.verdict,
                verdict,
                "{id}: {:?}",
                check.compared.findings.first()
            );
            let least = match id {
                "M7" => 2 * AS_OF_DAYS,
                "M8" => 0,
                _ => 500,
            };
            assert!(least <= check.compared.compared, "{id}");
        }
        assert!(audit.failures().is_empty());
        assert!(AS_OF_DAYS - 2 <= audit.as_of_days.len(), "{:?}", audit.as_of_days);
    }

    #[test]
    fn a_panel_that_is_too_short_is_refused() {
        let config = SynthConfig {
            seed: 1,
            names: 5,
            days: 100,
        };
        let subject = AuditSubject::of_market(Arc::new(generate(&config).unwrap()));
        let error = audit_self(&subject, 1, &|_, _| {}).unwrap_err().to_string();
        assert!(error.contains("too short"), "{error}");
    }
}
