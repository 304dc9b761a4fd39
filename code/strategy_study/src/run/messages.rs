//! What a model is sent.

use super::evidence::evidence_text;
use crate::task::StrategyTask;
use ktd_prompts::strategy_code::{BUILD, CONTRACT_RUN, CONTRACT_STEP, PATCH, PROFIT, SYSTEM};
use ktd_strategy_code::{
    AssetBars, PATCH_LINES_MAX, RealVersion, StrategyBars, StrategyContract, StrategyGoal, VersionChain,
};
use ktd_unmasked::OpenPrompt;
use std::fmt::Write;

/// Rows of the data that a model is shown.
const ROWS: usize = 3;

/// The standing instructions.
pub(super) fn system() -> OpenPrompt {
    OpenPrompt::new().filled(SYSTEM, &[])
}

/// The message of the next iteration: a build, or a patch of the version that stands with what `peers` say of iteration 0, and
/// then what it earned on the train split where the model is to know it.
pub(super) fn message(
    task: &StrategyTask,
    (chain, peers): (&VersionChain, &[&str]),
    train: Option<&RealVersion>,
) -> OpenPrompt {
    let document = task.text();
    let stands = chain.standing().and_then(|version| version.submission.as_ref());
    let Some(stands) = stands else {
        let build = OpenPrompt::new().filled(
            BUILD,
            &[
                ("document", document),
                ("id", task.id.label()),
                ("spec", task.spec().trim_end()),
            ],
        );
        let rows = first_rows(task.long());
        let slots = |shape| [("shape", shape), ("rows", rows.trim_end())];
        return match task.contract {
            StrategyContract::Run => build.filled(CONTRACT_RUN, &slots(shape(task.long()))),
            StrategyContract::Step => build.filled(CONTRACT_STEP, &slots(bar_shape(task.long()))),
        };
    };
    let patch = OpenPrompt::new().filled(
        PATCH,
        &[
            ("document", document),
            ("card", stands.card.trim_end()),
            ("source", stands.source.trim_end()),
            ("evidence", &evidence_text(chain, peers)),
            ("lines", &PATCH_LINES_MAX.to_string()),
        ],
    );
    match train {
        Some(train) => patch.filled(PROFIT, &[("figures", &StrategyGoal::figures(train).to_string())]),
        None => patch,
    }
}

const fn shape(market: &StrategyBars) -> &'static str {
    if market.assets.len() == 1 {
        "one DataFrame"
    } else {
        "a dict of one DataFrame a symbol, in the order of the document, all on the same rows"
    }
}

const fn bar_shape(market: &StrategyBars) -> &'static str {
    if market.assets.len() == 1 {
        "the bar, a dict of its columns"
    } else {
        "a dict of one such dict of columns a symbol, in the order of the document"
    }
}

fn first_rows(market: &StrategyBars) -> String {
    let mut text = String::new();
    for (symbol, bars) in &market.assets {
        if market.assets.len() > 1 {
            text += symbol;
            text.push('\n');
        }
        let further: Vec<&str> = bars.further.keys().map(String::as_str).collect();
        let names = [
            &["datetime", "open", "high", "low", "close", "volume"],
            further.as_slice(),
        ]
        .concat();
        text += &names.join(",");
        text.push('\n');
        for row in 0..ROWS.min(bars.len()) {
            text += &row_text(bars, row);
        }
    }
    text
}

fn row_text(bars: &AssetBars, row: usize) -> String {
    let mut text = bars.times.get(row).map_or_else(String::new, ToString::to_string);
    let own = [&bars.open, &bars.high, &bars.low, &bars.close, &bars.volume];
    for column in own.into_iter().chain(bars.further.values()) {
        // Writing to a string cannot fail.
        write!(text, ",{}", column.get(row).copied().unwrap_or(f64::NAN)).ok();
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_strategy_code::{DocumentId, DriftRule, document_json, document_text};

    #[test]
    fn a_build_shows_document_and_data_and_leaves_no_slot() {
        for id in DocumentId::ALL {
            let task = StrategyTask::drawn(id, 7).unwrap();
            let prompt = message(&task, (&VersionChain::new(DriftRule::Reference), &[]), None);
            let text = prompt.as_str();
            assert!(
                text.contains(document_text(id)) && text.contains(document_json(id).trim_end()),
                "{id}"
            );
            assert!(!text.contains("{{"), "{id}");
            assert_eq!(
                text.matches("datetime,open,high").count(),
                task.long().assets.len(),
                "{id}"
            );
        }
    }
}
