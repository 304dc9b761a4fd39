//! The one shape of a recorded study.
//!
//! A study is a file that says what is asked. It has units, the smallest pieces that are run, paid, resumed and judged by
//! themselves; a unit leaves a record, a folder or a line, that is written as it goes and is enough to make the unit again
//! with nobody to ask. A report is made of records alone. A benchmark is a [`StudyKind`]; everything else is here, once: the
//! folder and its lock, identity, the loop over units, stop and resume anywhere, budget, works by the hash of their input,
//! replay, the index of results, and the writers of a report.
//!
//! Knows: files of records, the one client, tables and pages. Never knows: a market, a mask, what a unit asks or is worth.

mod agent_status;
mod any_kind;
mod asking;
mod audited;
mod claimed;
mod claims;
mod counted_run;
mod difference;
mod different_values;
mod document_schema;
mod error;
mod failures;
mod figures_apart;
mod finished;
mod followed_sends;
mod hands;
mod identity;
mod index;
mod inputs;
mod invoice;
mod json_file;
mod kept_header;
mod key_rules;
mod key_status;
mod kind;
mod line_files;
mod line_unit;
mod noted_unit;
mod opening;
mod outline;
mod own_format;
mod own_units;
mod pace;
mod parquet_rows;
mod plan_lines;
mod planned_study;
mod progress;
mod publication;
mod queued;
mod recent_sends;
mod recorded;
mod recorded_units;
mod register;
mod replay;
mod report;
mod report_files;
mod report_page;
mod running_unit;
mod schedule;
mod secret;
mod send_logs;
mod so_far;
mod spent_money;
mod status;
mod study;
mod study_file;
mod study_run;
mod told_to_end;
mod unfinished;
mod unit_folder;
mod unit_id;
mod unit_keys;
mod unit_lines;
mod unit_requests;
mod works;

pub use agent_status::{AgentStatus, RunSoFar};
pub use any_kind::{AnyEnd, AnyKind, ReportOf, any, run_any};
pub use audited::Audited;
pub use claims::{Claimable, UnitClaims, UnitEnd, UnitLease};
pub use counted_run::CountedRun;
pub use difference::{DifferentResult, StudyDifference, study_difference};
pub use different_values::DifferentValue;
pub use document_schema::document_schema;
pub use error::StudyError;
pub use failures::FailedUnit;
pub use finished::report_study;
pub use hands::{Hands, UnitProgress};
pub use identity::{kind_of, known_base};
pub use invoice::{InvoiceComparison, InvoiceLine, compare_invoice};
pub use key_rules::{plain_name, within};
pub use key_status::KeyStatus;
pub use kind::{Keep, Planned, StudyKind};
pub use ktd_view::draw::RowCells;
pub use line_files::LineSink;
pub use opening::{MovedFiles, Opening};
pub use outline::{StudyOutline, UnitOutline};
pub use own_format::{EarlyUnitEnd, OwnFormat, RecordedUnit};
pub use parquet_rows::RowsFile;
pub use planned_study::{PlannedModel, RequestSum, StudyPlan};
pub use progress::{StudyProgress, Unheard};
pub use publication::{StudyManifest, check_published_study, publish_study};
pub use queued::{QueuedStudy, QueuedUnit};
pub use recorded::{check_recorded_files, recorded_keys, recorded_study};
pub use replay::{Depth, Replayed, replay_study};
pub use report::{DataRows, Report, Section, SectionPart, Shown};
pub use report_files::recorded_verdict;
pub use report_page::ShownRecord;
pub use secret::StudySecret;
pub use spent_money::SpentMoney;
pub use status::{RequestCounts, StudyStatus, StudyWatch, study_status};
pub use study::{run_study, run_study_over};
pub use study_file::{TomlText, kind_of_file, read_study_file};
pub use study_run::{StudyEnd, StudyRun};
pub use unfinished::report_unfinished;
pub use unit_id::UnitId;
pub use unit_lines::is_journal_of_another;
pub use unit_requests::{AlikeRequests, UnitRequests};
