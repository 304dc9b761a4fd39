//! What must be equal before rows are compared: settings as sent, who answered, tokens and money a step.

use super::described;
use crate::record::{Comparability, Track};
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};

/// Cents of a dollar.
const CENTS: f64 = 100.0;

pub(crate) fn table(track: &Track) -> TableData {
    let mut table = TableData::new(
        format!("Comparability: {}", described(track)),
        [
            ("agent", Left, 0),
            ("force", Left, 2),
            ("thinking", Left, 3),
            ("temperature", Left, 1),
            ("max tokens", Left, 3),
            ("tool calls", Left, 5),
            ("retries", Left, 5),
            ("answered by", Left, 4),
            ("tokens/step", Right, 1),
            ("cents/step", Right, 1),
            ("runs differ in", Left, 0),
        ],
    );
    for leader in &track.leaders {
        let Some(found) = &leader.comparability else {
            continue;
        };
        let setting = |name: &str, values: &[String]| TableCell::Text(shown(found, name, values));
        table.rows.push(vec![
            TableCell::Text(leader.agent.clone()),
            setting("force", &found.force),
            setting("thinking", &found.thinking),
            setting("temperature", &found.temperature),
            setting("max_output_tokens", &found.max_output_tokens),
            setting("max_tool_calls", &found.max_tool_calls),
            setting("schema_retries", &found.schema_retries),
            setting("served_models", &found.served_models),
            tokens(found.tokens_per_step),
            TableCell::optional(found.paid_usd_per_step.map(|cost| cost * CENTS), TableCell::Fine),
            TableCell::Text(found.mixed.join(", ")),
        ]);
    }
    table.notes.push(
        "temperature and bounds as the requests name them; \"mixed\" where the runs of a row differ; tokens and US cents \
         are means over runs, absent where those of a run are not known"
            .to_owned(),
    );
    table
}

fn tokens(per_step: Option<u64>) -> TableCell {
    let count = |tokens| TableCell::Count(usize::try_from(tokens).unwrap_or(usize::MAX));
    per_step.map_or(TableCell::Empty, count)
}

/// The values of a setting, marked where runs differ in it.
fn shown(found: &Comparability, name: &str, values: &[String]) -> String {
    let values = values.join(" | ");
    if found.mixed.iter().any(|mixed| mixed == name) {
        format!("mixed: {values}")
    } else {
        values
    }
}
