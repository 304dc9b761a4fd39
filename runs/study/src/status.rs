//! How far a study is.

use crate::failures::{FailedUnit, read_failures};
use crate::identity::{known_base, read_header};
use crate::key_status::{self, KeyStatus, key_states};
use crate::kind::{Keep, StudyKind};
use crate::recorded_units::{RecordedUnits, UnitState};
use crate::report::{Report, Section, Shown};
use crate::report_files::SUMMARY;
use crate::spent_money::SpentMoney;
use crate::unit_id::some_names;
use crate::{StudyError, UnitId};
use ktd_asking::{AGENT_FILE, AgentFile};
use ktd_client::AskedModel;
use ktd_experiment::amount::Picodollars;
use ktd_record::RecordPaths;
use ktd_record::spending::Spending;
use ktd_view::draw::Align::Left;
use ktd_view::draw::{TableCell, TableData};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// How far a study is, read while another process may be writing it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct StudyStatus {
    /// Its name.
    pub study: String,
    /// Its kind.
    pub kind: String,
    /// Its folder.
    pub folder: String,
    /// Units in all.
    pub units: usize,
    /// Units with a result.
    pub finished: usize,
    /// Units that were begun and have no result yet.
    pub open: Vec<UnitId>,
    /// How many units nothing is recorded of.
    pub not_begun: usize,
    /// Units that ended without a result in the last run, and have none since.
    pub failed: Vec<FailedUnit>,
    /// Whether the report of all units stands.
    pub is_reported: bool,
    /// What was asked.
    pub requests: RequestCounts,
    /// What was spent; left out where a price is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spent: Option<SpentMoney>,
    /// How far each key is.
    pub keys: Vec<KeyStatus>,
    /// What to type to go on.
    pub next: String,
}

/// Requests of a study.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct RequestCounts {
    /// Requests that were sent, or were about to be.
    pub asked: u64,
    /// Those that a reply is known of.
    pub answered: u64,
}

/// How far the study in a folder is. Nothing is locked and nothing is written.
///
/// # Errors
/// [`StudyError`] for a folder without a study of this kind, or whose files cannot be read.
pub fn study_status<K: StudyKind>(folder: &Path) -> Result<StudyStatus, StudyError> {
    let header = read_header::<K>(folder)?;
    let base = known_base(folder)?;
    // Prices that cannot be read leave costs unknown, and are no reason to say nothing.
    let models = K::asking(&header.keys).and_then(|settings| settings.models(&base).ok());
    let models = models.map_or_else(Vec::new, |(models, _)| models);
    let units = RecordedUnits::read(folder)?;
    let (mut open, mut spending) = (Vec::new(), Spending::nothing());
    for (unit, state) in &units.0 {
        let own = match state {
            UnitState::Finished(recorded) => recorded.spent.clone(),
            UnitState::Open(root) => {
                open.push(unit.id.clone());
                spent_so_far(root, unit.model.and_then(|place| models.get(place)))?
            }
            UnitState::NotBegun => {
                // What such a unit cost so far is in the lines of the keys.
                let own = K::OWN.filter(|_| unit.keep == Keep::Own);
                if own.is_some_and(|own| folder.join(own.folder).join(unit.id.as_str()).is_dir()) {
                    open.push(unit.id.clone());
                }
                None
            }
        };
        if let Some(own) = own {
            spending.add(&own);
        }
    }
    let missing = units.missing();
    let finished: BTreeSet<UnitId> = units
        .0
        .iter()
        .filter(|(_, state)| matches!(state, UnitState::Finished(_)))
        .map(|(unit, _)| unit.id.clone())
        .collect();
    let keys = key_states(folder, &finished, now_ms())?;
    let mut failed = read_failures(folder)?;
    failed.retain(|failed| missing.contains(&failed.unit));
    let is_reported = missing.is_empty() && folder.join(SUMMARY).is_file();
    let sends = spending.sends;
    let answered = sends.reported + sends.estimated + sends.incomplete;
    Ok(StudyStatus {
        study: header.name,
        kind: header.kind,
        folder: folder.display().to_string(),
        units: units.0.len(),
        finished: units.0.len() - missing.len(),
        not_begun: missing.len() - open.len(),
        open,
        failed,
        is_reported,
        requests: RequestCounts {
            asked: answered + sends.unknown + sends.uncharged,
            answered,
        },
        spent: spending
            .cost
            .zip(spending.total())
            .map(|(cost, total)| SpentMoney {
                paid_picodollars: cost.paid_picodollars.0,
                at_most_picodollars: total.0,
            }),
        keys,
        next: next(folder, &base, is_reported),
    })
}

/// The machine's clock, milliseconds since 1970.
fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

impl StudyStatus {
    /// The status for people.
    #[must_use]
    pub fn report(&self) -> Report {
        let line = |head: &str, text: String| vec![TableCell::Text(head.to_owned()), TableCell::Text(text)];
        let mut lines = Vec::new();
        if !self.open.is_empty() {
            lines.push(line("open", some_names(&self.open)));
        }
        if 0 < self.requests.asked {
            let RequestCounts { asked, answered } = self.requests;
            lines.push(line("requests", format!("{asked} asked, {answered} answered")));
            let spent = self.spent.map_or_else(
                || "unknown: a price is missing".to_owned(),
                |spent| {
                    let [paid, most] = [spent.paid_picodollars, spent.at_most_picodollars].map(Picodollars);
                    format!("{paid} paid, {most} at most")
                },
            );
            lines.push(line("spent", spent));
        }
        lines.push(line("to go on", self.next.clone()));
        let failed = self.failed.iter().map(|failed| {
            let cells = [failed.unit.as_str(), &failed.error, &failed.hint];
            cells.map(|text| TableCell::Text(text.to_owned())).to_vec()
        });
        let heads = [("unit", Left), ("what ended it", Left), ("how to fix it", Left)];
        let failed = TableData::new("Units that failed in the last run", heads).with_rows(failed);
        let so_far = TableData::new("", [("", Left), ("", Left)]).with_rows(lines);
        Report {
            title: self.study.clone(),
            verdict: format!(
                "{}, a study of kind {}: of {} units {} are finished, {} open, {} not begun.",
                self.study,
                self.kind,
                self.units,
                self.finished,
                self.open.len(),
                self.not_begun
            ),
            sections: vec![
                Section::new("So far").table("so_far", so_far, Shown::Everywhere),
                Section::new("Keys").table("keys", key_status::table(&self.keys), Shown::Everywhere),
                Section::new("Failed").table("failed", failed, Shown::Everywhere),
            ],
            ..Report::default()
        }
    }
}

fn next(folder: &Path, base: &Path, is_reported: bool) -> String {
    let folder = folder.display();
    if is_reported {
        return format!("ktd report {folder}");
    }
    format!("ktd run {} --out {folder}", base.join("FILE").display())
}

/// What an open unit has cost so far, at the prices of today.
fn spent_so_far(root: &Path, model: Option<&AskedModel>) -> Result<Option<Spending>, StudyError> {
    let Some(agent) = crate::json_file::read_as::<AgentFile>(&root.join(AGENT_FILE))? else {
        return Ok(None);
    };
    let unpriced = agent.model("", 0);
    let tariff = &model.unwrap_or(&unpriced).payer.tariff;
    Ok(Some(Spending::of(&RecordPaths::new(root).exchanges(), tariff)?))
}
