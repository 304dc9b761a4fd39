//! Documents that commands print under `--json`, each with the schema of its type.

use crate::printed_document::PrintedDocument;
use crate::study::KINDS;
use crate::{
    alpha, attribute, baseline, boxed, boxed_run, certify, completions, data, data_import, demo, diff,
    doctor, doctor_file, doctor_probe, doctor_repeat, error, factor_code, factors, help_topic, plan, replay,
    results, simulate, strategy_code, study, verify_document, view, windows,
};
use ktd_study::document_schema;
use serde_json::Value;

/// The schema of what commands print.
#[derive(Debug, Clone)]
pub struct PrintedSchema {
    /// Its file below `docs/schemas`, without `.schema.json`.
    pub file: String,
    /// The commands that print it; none where every command may.
    pub commands: Vec<&'static str>,
    /// The schema.
    pub schema: Value,
}

macro_rules! documents {
    ($($file:literal: $document:ty, [$($command:literal),*];)+) => {
        $(impl PrintedDocument for $document {})+

        fn of_types() -> Vec<PrintedSchema> {
            vec![$(PrintedSchema {
                file: $file.to_owned(),
                commands: vec![$($command),*],
                schema: document_schema::<$document>(),
            }),+]
        }
    };
}

documents! {
    "error": error::Failure<'_>, [];
    "results": results::Results<'_>, ["run", "replay"];
    "leaderboard": ktd_board::Leaderboard, ["leaderboard"];
    "published": ktd_bundle::publication::Publication, ["publish"];
    "certificate": ktd_certify::signed::SignedCertificate, ["certify"];
    "plan": plan::Plan, ["plan"];
    "verified": verify_document::VerifiedDocument, ["verify"];
    "checks": doctor::Checks<'_>, ["doctor"];
    "verbs/status": ktd_study::StudyStatus, ["status"];
    "verbs/study-plan": ktd_study::StudyPlan, ["plan"];
    "verbs/study-difference": ktd_study::StudyDifference, ["diff"];
    "verbs/export": ktd_episode::ExportedRows, ["export"];
    "reports/leak-check": ktd_leakage_study::ManifestCheck, ["leak check"];
    "reports/leak-audit": ktd_leakage_study::ColumnAudit, ["leak audit"];
    "reports/leak-audit-signals": ktd_leakage_study::SignalsAudit, ["leak audit"];
    "reports/leak-audit-planted": ktd_leakage_study::PlantedAudit, ["leak audit"];
    "reports/leak-sanity": ktd_leakage_study::Interventions, ["leak sanity"];
    "reports/leak-audit-self": ktd_mirror::SelfAudit, ["leak audit-self"];
    "commands/demo": demo::DemoDocument<'_>, ["demo"];
    "commands/status-invoice": ktd_study::InvoiceComparison, ["status"];
    "commands/replayed-episode": replay::ReplayedEpisode, ["replay"];
    "commands/replayed-study": study::ReplayedStudy, ["replay"];
    "commands/replay-steps": replay::ShownSteps, ["replay"];
    "commands/attribute": attribute::Attributions, ["attribute"];
    "commands/counted-answers": ktd_certify::own_answers::CountedAnswers, ["probe"];
    "commands/new-key": certify::NewKey<'_>, ["certify"];
    "commands/new-mask-key": certify::NewMaskKey<'_>, ["certify"];
    "commands/plan-hash": certify::PlanHash, ["certify"];
    "commands/view": view::ViewerAddress, ["view"];
    "commands/view-export": view::ExportedSite<'_>, ["view"];
    "commands/diff-books": diff::ComparedBooks, ["diff"];
    "commands/draw-number": ktd_record::draw_number::DrawNumber, ["windows"];
    "commands/windows": windows::ShownWindows<'_>, ["windows"];
    "commands/published-study": ktd_record::signed_folder::Signed<ktd_study::StudyManifest>, ["publish"];
    "commands/reasons": ktd_reasons::ReasonReport, ["reasons"];
    "commands/reasons-side-by-side": ktd_reasons::side::SideBySide, ["reasons"];
    "commands/doctor-file": doctor_file::CheckedExchanges, ["doctor"];
    "commands/doctor-probe": doctor_probe::KeptProbe<'_>, ["doctor"];
    "commands/doctor-repeat": doctor_repeat::Repeated<'_>, ["doctor"];
    "commands/vendors": crate::vendors::Vendors<'_>, ["vendors"];
    "commands/data-import": data_import::ImportedPanel, ["data import"];
    "commands/data-check": ktd_data::CheckedPanel, ["data check"];
    "commands/data-synth": data::GeneratedPanel, ["data synth"];
    "commands/data-factors": factors::WrittenFactors, ["data factors"];
    "commands/baseline-linear": baseline::TrainedLinear<'_>, ["baseline linear"];
    "commands/baseline-boosted-trees": baseline::TrainedTrees<'_>, ["baseline boosted-trees"];
    "commands/alpha-check": alpha::CheckedFormulas<'_>, ["alpha check"];
    "commands/alpha-compute": alpha::ComputedValues<'_>, ["alpha compute"];
    "commands/box-doctor": boxed::Parts, ["box doctor"];
    "commands/box-setup": boxed::InstalledPackages, ["box setup"];
    "commands/box-run": boxed_run::RunDocument<'_>, ["box run"];
    "commands/box-test": boxed_run::TestedBox<'_>, ["box test"];
    "commands/box-bench": boxed::Bench<'_>, ["box bench"];
    "commands/factor-code-list": factor_code::Tasks<'_>, ["factor-code list"];
    "commands/factor-code-show": factor_code::ShownTask<'_>, ["factor-code show"];
    "commands/factor-code-gold": factor_code::GoldFiles, ["factor-code gold"];
    "commands/factor-code-check": ktd_factor_study::VerdictDocument<'_>, ["factor-code check"];
    "commands/factor-code-score": ktd_factor_study::ScoredReplies<'_>, ["factor-code score"];
    "commands/factor-code-gates": ktd_factor_study::GatesFound, ["factor-code gates"];
    "commands/strategy-code-list": strategy_code::Strategies<'_>, ["strategy-code list"];
    "commands/strategy-code-show": strategy_code::ShownStrategy<'_>, ["strategy-code show"];
    "commands/strategy-code-lint": strategy_code::Linted<'_>, ["strategy-code lint"];
    "commands/strategy-code-scenario": strategy_code::ShownScenario<'_>, ["strategy-code scenario"];
    "commands/strategy-code-gate": strategy_code::Gated<'_>, ["strategy-code gate"];
    "commands/strategy-code-drift": ktd_strategy_study::DriftDocument<'_>, ["strategy-code drift"];
    "commands/strategy-code-patch": ktd_strategy_study::PatchDocument, ["strategy-code patch"];
    "commands/strategy-code-score": strategy_code::ScoredSubmissions, ["strategy-code score"];
    "commands/strategy-code-score-source": ktd_strategy_study::PaperScores, ["strategy-code score"];
    "commands/strategy-code-score-records": strategy_code::ScoreTables<'_>, ["strategy-code score"];
    "commands/strategy-code-marks": ktd_view::report_table::TableDocument<'_>, ["strategy-code marks"];
    "commands/planting": ktd_board::planting::PlantingReport, ["planting"];
    "commands/sizes-board": ktd_board::size_table::SizeReport, ["sizes"];
    "commands/sizes-factor-code": ktd_factor_study::FactorSizeReport, ["sizes"];
    "commands/sizes-strategy-code": ktd_strategy_study::StrategySizeReport, ["sizes"];
    "commands/sizes-alpha": ktd_formula_study::AlphaSizeReport, ["sizes"];
    "commands/sizes-leak": ktd_leakage_study::LeakSizeReport, ["sizes"];
    "commands/simulate": simulate::Simulated, ["simulate"];
    "commands/simulate-qlib": simulate::SimulatedQlib, ["simulate"];
    "commands/completions": completions::CompletionScript<'_>, ["completions"];
    "commands/man": completions::ManualPages<'_>, ["man"];
    "commands/help-topics": help_topic::Topics, ["help"];
    "commands/help-topic": help_topic::Topic<'_>, ["help"];
}

#[cfg(feature = "server")]
mod on_servers {
    use super::{PrintedDocument, PrintedSchema, document_schema};
    documents! {
        "servers/status": ktd_server::ServerStatus, ["status"];
        "servers/enqueue": crate::enqueue::Enqueued<'_>, ["enqueue"];
        "servers/worker": crate::worker::EndedWork<'_>, ["worker"];
        "servers/requeued": crate::requeue::Requeued, ["retry", "cancel"];
    }

    pub(super) fn schemas() -> Vec<PrintedSchema> {
        of_types()
    }
}

/// The schemas of all documents that commands of this build print: the one list, from which `docs/schemas` is written.
#[must_use]
pub fn printed_schemas() -> Vec<PrintedSchema> {
    let mut schemas = of_types();
    for kind in KINDS {
        let own = match kind.name() {
            "leakage" => vec!["leak run"],
            "alpha-eval" => vec!["alpha eval"],
            "alpha-mine" => vec!["alpha mine"],
            "alpha-judge" => vec!["alpha judge"],
            "factor-code" => vec!["factor-code run"],
            "strategy-code" => vec!["strategy-code run"],
            "certificate" => vec!["certify", "probe"],
            "curve" => vec!["curve"],
            _ => Vec::new(),
        };
        schemas.push(PrintedSchema {
            file: format!("reports/{}", kind.name()),
            commands: [vec!["run", "report"], own].concat(),
            schema: kind.schema(),
        });
        schemas.extend(kind.unfinished_schema().map(|schema| PrintedSchema {
            file: format!("commands/unfinished-{}", kind.name()),
            commands: vec!["report"],
            schema,
        }));
    }
    #[cfg(feature = "server")]
    schemas.extend(on_servers::schemas());
    schemas
}
