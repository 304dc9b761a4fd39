//! Two books of one window, step by step: where they part, and what that came to.

use crate::BundlePaths;
use crate::event::{Mark, OrderRecord, ReadEvent};
use crate::finished_episode::check_bundle;
use crate::header::Header;
use crate::ledger::LedgerLine;
use crate::ledger_mark::mark_of;
use crate::open::read_header;
use ktd_record::RecordError;
use ktd_record::chain::LogReader;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;

/// How the second of two books differs from the first.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct BookDifference {
    /// The two episodes, by their cells.
    pub cells: [String; 2],
    /// What the second changed, if it is a branch of the first; what the first did, if it is one of the second.
    pub change: Option<String>,
    /// Steps that both have.
    pub steps: usize,
    /// 1-based first step whose orders, fills or net asset value differ.
    pub first_step: Option<usize>,
    /// The steps that differ.
    pub differing: Vec<StepDifference>,
    /// Net asset value after the last step that both have, fen.
    pub final_nav_fen: [i64; 2],
    /// The second's less the first's, fen.
    pub final_nav_difference_fen: i64,
}

/// One step in which two books differ.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct StepDifference {
    /// 1-based.
    pub step: usize,
    /// Orders that each has alone, as the model wrote them, without reasons.
    pub orders: [Vec<String>; 2],
    /// The account of each at the close: fills, traded value, fees, cash and net asset value.
    pub marks: [Mark; 2],
    /// Whether the fills differ.
    pub fills_differ: bool,
    /// The second's net asset value less the first's, fen.
    pub nav_difference_fen: i64,
}

/// One step of one book.
struct BookStep {
    orders: Vec<String>,
    line: LedgerLine,
}

impl BookDifference {
    /// Of two bundles with their private parts.
    ///
    /// # Errors
    /// [`RecordError::Input`] for bundles of other windows, data or masks, whose orders do not compare, and for one without
    /// its ledger; errors of reading.
    pub fn of(first: &Path, second: &Path) -> Result<Self, RecordError> {
        let paths = [first, second].map(BundlePaths::new);
        let [one, other] = [read_header(&paths[0])?, read_header(&paths[1])?];
        check_comparable(&one, &other)?;
        check_bundle(first, true)?;
        check_bundle(second, true)?;
        let books = [book(&paths[0])?, book(&paths[1])?];
        let [a, b] = &books;
        let differing: Vec<StepDifference> = a.iter().zip(b).filter_map(|(a, b)| difference(a, b)).collect();
        let steps = a.len().min(b.len());
        let nav = |book: &[BookStep]| {
            steps
                .checked_sub(1)
                .and_then(|last| book.get(last))
                .map_or(0, |step| step.line.nav_fen)
        };
        let final_nav_fen = [nav(a), nav(b)];
        Ok(Self {
            change: change_of(&other, &one).or_else(|| change_of(&one, &other)),
            cells: [one.cell, other.cell],
            steps,
            first_step: differing.first().map(|step| step.step),
            differing,
            final_nav_difference_fen: final_nav_fen[1].saturating_sub(final_nav_fen[0]),
            final_nav_fen,
        })
    }
}

/// What a branch changed against the episode that it left.
fn change_of(branch: &Header, original: &Header) -> Option<String> {
    let left = branch.branch.as_ref().filter(|left| left.cell == original.cell)?;
    let what = left.change.as_ref().map_or_else(
        || format!("{} goes on", branch.agent.id),
        ktd_experiment::branch::BranchChange::in_words,
    );
    Some(format!("step {}: {what}", left.step))
}

fn check_comparable(one: &Header, other: &Header) -> Result<(), RecordError> {
    let parts = [
        ("window", one.window != other.window),
        ("data", one.data.panel_blake3 != other.data.panel_blake3),
        ("mask key", one.mask.commitment != other.mask.commitment),
        ("mask level", one.mask.level != other.mask.level),
    ];
    match parts.into_iter().find(|(_, differs)| *differs) {
        None => Ok(()),
        Some((part, _)) => Err(RecordError::input(
            format!(
                "{} and {} have another {part}: their orders do not compare",
                one.cell, other.cell
            ),
            "name an episode and its branch, or two agents on the same window, mask, mode and seed",
        )),
    }
}

fn book(paths: &BundlePaths) -> Result<Vec<BookStep>, RecordError> {
    let path = paths.ledger();
    if !path.exists() {
        let what = format!(
            "{} has no private part, which holds its book",
            paths.root().display()
        );
        return Err(RecordError::input(what, "ask the bundle's owner for private/"));
    }
    let mut decided: Vec<Vec<String>> = Vec::new();
    LogReader::open(&paths.events())?.each(|event| {
        if let ReadEvent::Decision { orders, .. } = event {
            decided.push(orders.iter().map(order).collect());
        }
        Ok(())
    })?;
    let lines = LogReader::open(&path)?.bodies()?;
    let steps = decided.into_iter().zip(lines);
    Ok(steps.map(|(orders, line)| BookStep { orders, line }).collect())
}

/// An order in a line, without its reason.
fn order(record: &OrderRecord) -> String {
    let size = match (record.target_weight_millionths, record.shares) {
        (Some(weight), _) => format!("{}.{:04} %", weight / 10_000, weight % 10_000),
        (None, Some(shares)) => format!("{shares} shares"),
        (None, None) => "no size".to_owned(),
    };
    format!("{} {} {size}", record.side, record.stock_id)
}

fn difference(a: &BookStep, b: &BookStep) -> Option<StepDifference> {
    let alone = |own: &[String], others: &[String]| -> Vec<String> {
        own.iter()
            .filter(|order| !others.contains(order))
            .cloned()
            .collect()
    };
    let orders = [alone(&a.orders, &b.orders), alone(&b.orders, &a.orders)];
    let fills_differ = a.line.fills != b.line.fills;
    let is_same = orders.iter().all(Vec::is_empty) && !fills_differ && a.line.nav_fen == b.line.nav_fen;
    (!is_same).then(|| StepDifference {
        step: a.line.step,
        orders,
        marks: [mark_of(&a.line), mark_of(&b.line)],
        fills_differ,
        nav_difference_fen: b.line.nav_fen.saturating_sub(a.line.nav_fen),
    })
}
