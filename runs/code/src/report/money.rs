//! Tables of tokens and money.

use super::bundles::ReportedBundle;
use super::rates::{count, missing, text};
use crate::error::CodeError;
use ktd_asking::AgentFile;
use ktd_experiment::amount::Picodollars;
use ktd_factor_code::{Funnel, JudgeRule, LayersPassed, TaskGroup};
use ktd_io::whole_file::{parse_json, read_bounded};
use ktd_record::RecordPaths;
use ktd_record::exchanges::Cassette;
use ktd_record::spending::Spending;
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};
use ktd_view::report_table::ReportTable;
use std::collections::BTreeMap;

/// The most that the file of an agent may hold.
const AGENT_LIMIT_BYTES: u64 = 1 << 24;

const NO_PRICE: &str = "the model has no price";

/// Table 11: what a bundle cost.
pub(super) fn table(bundles: &[ReportedBundle]) -> ReportTable {
    let heads = [
        ("bundle", Left),
        ("requests", Right),
        ("tokens in", Right),
        ("tokens out", Right),
        ("cost", Right),
        ("a task", Right),
        ("a verified task", Right),
    ];
    let rows = bundles.iter().map(|reported| {
        let spending = &reported.bundle.spending;
        let funnel = Funnel::of(&reported.last(), TaskGroup::All, &reported.rules);
        let verified = funnel.rate(JudgeRule::Strict, LayersPassed::Verified).passed;
        let total = spending.total();
        let each = |tasks: u64| match (total, tasks) {
            (None, _) => missing(NO_PRICE),
            (Some(_), 0) => missing("no such task"),
            (Some(amount), tasks) => TableCell::Dollars(Picodollars(amount.0 / tasks).to_usd()),
        };
        let sends = &spending.sends;
        vec![
            text(reported.name()),
            count(sends.reported + sends.estimated + sends.incomplete + sends.unknown + sends.uncharged),
            count(spending.tokens.input()),
            count(spending.tokens.all() - spending.tokens.input()),
            total.map_or_else(|| missing(NO_PRICE), |amount| TableCell::Dollars(amount.to_usd())),
            each(funnel.tasks),
            each(verified),
        ]
    });
    ReportTable::new(
        "T11_money",
        TableData::new("T11. Tokens and money", heads).with_rows(rows),
    )
}

/// Tokens by round, as the exchanges have them.
pub(super) fn rounds(bundles: &[ReportedBundle]) -> Result<ReportTable, CodeError> {
    let heads = [
        ("bundle", Left),
        ("round", Right),
        ("requests", Right),
        ("tokens in", Right),
        ("tokens out", Right),
    ];
    let mut rows = Vec::new();
    for reported in bundles {
        let paths = &reported.bundle.paths;
        let agent: AgentFile = parse_json(&paths.agent(), &read_bounded(&paths.agent(), AGENT_LIMIT_BYTES)?)?;
        let model = agent.model("report", reported.bundle.header.seed);
        let exchanges = RecordPaths::new(paths.root()).exchanges();
        let cassette = Cassette::read(&exchanges).map_err(ktd_asking::AskingError::from)?;
        let mut by_round: BTreeMap<u32, (u64, Spending)> = BTreeMap::new();
        for sent in cassette.sends() {
            let (requests, spent) = by_round
                .entry(sent.intent.at.ordinal + 1)
                .or_insert_with(|| (0, Spending::begin(&model.payer.tariff)));
            *requests += 1;
            spent.add_charge(&model.payer.tariff.charge_of(sent));
        }
        for (round, (requests, spent)) in by_round {
            rows.push(vec![
                text(reported.name()),
                TableCell::Text(round.to_string()),
                count(requests),
                count(spent.tokens.input()),
                count(spent.tokens.all() - spent.tokens.input()),
            ]);
        }
    }
    let data = TableData::new("T11. Tokens by round", heads).with_rows(rows);
    Ok(ReportTable::new("T11_rounds", data))
}
