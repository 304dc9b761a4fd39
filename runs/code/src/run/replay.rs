//! A bundle judged again from its record: nobody is asked.

use super::bundle::{FactorCodeBundle, panels_of};
use super::cell::FactorCodeCell;
use super::cell_run::{CellOutcome, CellRun, RoundsFn};
use super::comparison::first_difference;
use super::header::SandboxRecord;
use super::summary::FactorCodeSummary;
use super::verdicts::VerdictBook;
use crate::error::CodeError;
use ktd_asking::{AgentFile, AskedRecord, json_lines};
use ktd_boxed::BoxLauncher;
use ktd_client::AskedModel;
use ktd_client::money::Metering;
use ktd_io::whole_file::{parse_json, read_bounded, read_if_exists};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The most that the file of an agent may hold.
const AGENT_LIMIT_BYTES: u64 = 1 << 24;

/// Reads the answers of a finished bundle from its exchanges, runs their functions again in the box, and compares events,
/// sources and summary with what the bundle holds: figures within a billionth, everything else exactly. Gives the bundle,
/// and what differs between its box and this one.
///
/// # Errors
/// [`CodeError::Difference`] naming the first difference; other errors for a folder that is no finished bundle.
pub async fn replay_factor_code(
    folder: &Path,
    launcher: &BoxLauncher,
    progress: RoundsFn<'_>,
) -> Result<(FactorCodeBundle, Option<String>), CodeError> {
    let bundle = FactorCodeBundle::read(folder)?.ok_or_else(|| {
        CodeError::input(
            format!("{}: the bundle is not finished", folder.display()),
            "give `ktd factor-code run` again: it continues",
        )
    })?;
    let (paths, header) = (&bundle.paths, &bundle.header);
    let panels = panels_of(paths, header)?;
    let agent: AgentFile = parse_json(&paths.agent(), &read_bounded(&paths.agent(), AGENT_LIMIT_BYTES)?)?;
    let cell = header.cell();
    let (model, metering) = (agent.model(&cell.role(), cell.seed), Metering::default());
    check_agent(&bundle, &model)?;
    let record = AskedRecord::closed(folder, &model, &metering)?;
    let counted = record.spending()?;
    if (bundle.spending.tokens, bundle.spending.sends) != (counted.tokens, counted.sends) {
        return Err(CodeError::Difference(format!(
            "{}: its tokens or requests are not those of the exchanges",
            paths.spending().display()
        )));
    }
    let book = VerdictBook::new(launcher, &panels, header.rules());
    let places = bundle
        .tasks
        .as_slice()
        .iter()
        .map(|task| task.id.as_str())
        .zip(0..);
    let places: BTreeMap<&str, usize> = places.collect();
    let recorded_feedback = bundle.events.iter().filter_map(|event| {
        let place = *places.get(event.task.as_str())?;
        Some(((place, event.sample, event.round), event.feedback.clone()?))
    });
    let run = CellRun {
        header,
        tasks: &bundle.tasks,
        book: &book,
        record: &record,
        recorded_feedback: &recorded_feedback.collect(),
        answerer: None,
        parallel: 1,
        progress,
    };
    let outcome = run.hold().await?;
    compare(&bundle, &outcome)?;
    let other = (SandboxRecord::of(launcher.header()) != header.sandbox)
        .then(|| "the box or its packages are not those that the bundle was made with".to_owned());
    Ok((bundle, other))
}

/// Checks that a header names who was asked, as the file of the agent has it.
fn check_agent(bundle: &FactorCodeBundle, model: &AskedModel) -> Result<(), CodeError> {
    let header = &bundle.header;
    let cell = FactorCodeCell {
        agent: model.agent.id.clone(),
        ..header.cell()
    };
    let names = [
        ("agent", header.agent == model.agent.id),
        ("cell", header.cell == cell.id()),
        ("model", header.model == model.agent.model_name()),
        ("temperature", header.temperature == model.agent.temperature()),
    ];
    match names.iter().find(|(_, is_same)| !is_same) {
        Some((name, _)) => Err(CodeError::Difference(format!(
            "{}: `{name}` is not that of {}",
            bundle.paths.header().display(),
            bundle.paths.agent().display()
        ))),
        None => Ok(()),
    }
}

fn compare(bundle: &FactorCodeBundle, outcome: &CellOutcome) -> Result<(), CodeError> {
    let (paths, header) = (&bundle.paths, &bundle.header);
    let named = |event: &super::event::FactorCodeEvent| {
        format!(
            "task {} sample {} round {}",
            event.task, event.sample, event.round
        )
    };
    for (recorded, made) in bundle.events.iter().zip(&outcome.events) {
        if let Some(found) = difference(recorded, made)? {
            return Err(CodeError::Difference(format!(
                "{}: {}: {found} differs",
                paths.events().display(),
                named(recorded)
            )));
        }
    }
    if bundle.events.len() != outcome.events.len() {
        return Err(CodeError::Difference(format!(
            "{}: it holds {} events, the record gives {}",
            paths.events().display(),
            bundle.events.len(),
            outcome.events.len()
        )));
    }
    for ((place, sample, round), text) in &outcome.sources {
        if let Some(task) = bundle.tasks.as_slice().get(*place) {
            let path = paths.source(task.id.as_str(), (*sample, header.samples), *round);
            if read_if_exists(&path)?.as_deref() != Some(text.as_bytes()) {
                return Err(CodeError::Difference(format!(
                    "{}: it is not what the model answered",
                    path.display()
                )));
            }
        }
    }
    let events = json_lines(&paths.events(), &bundle.events)?;
    let summary = FactorCodeSummary::of(header, &bundle.tasks, &bundle.events, &events)?;
    let summary = FactorCodeSummary {
        events_sha256: bundle.summary.events_sha256.clone(),
        ..summary
    };
    if let Some(found) = difference(&bundle.summary, &summary)? {
        return Err(CodeError::Difference(format!(
            "{}: {found} is not what the events give",
            paths.summary().display()
        )));
    }
    Ok(())
}

fn difference<T: Serialize>(recorded: &T, made: &T) -> Result<Option<String>, CodeError> {
    let value = |of: &T| serde_json::to_value(of).map_err(CodeError::invalid);
    Ok(first_difference(&value(recorded)?, &value(made)?))
}
