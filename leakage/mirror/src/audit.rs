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
    use crate::small_market::small_market;
    use ktd_env::synth::{SynthConfig, generate};
    use std::sync::{Arc, Mutex};

    #[test]
    fn every_day_of_every_check_is_compared_and_told() {
        let subject = AuditSubject::of_market(Arc::new(small_market()));
        let told = Mutex::new(Vec::new());
        let tell = |done, of| told.lock().unwrap().push((done, of));
        let audit = audit_self(&subject, 2, &tell).unwrap();
        let told = told.into_inner().unwrap();
        let (done, of) = (told.iter().map(|(done, _)| *done).max(), told[0].1);
        assert_eq!((done, told.len() as u64), (Some(of), of + 1));
        for check in &audit.checks {
            let least = match check.id {
                "M7" => 2 * AS_OF_DAYS,
                "M8" => 0,
                _ => 500,
            };
            assert!(least <= check.compared.compared, "{}", check.id);
        }
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
