//! M7: agents that know the future are found by what finds nothing in the tools. The check must find both.

use crate::auditor::Auditor;
use crate::counterfactual::other_future;
use crate::doors::MarketDay;
use crate::report::{Answer, AuditVerdict, CheckReport, Compared, count};
use crate::scene::Scene;
use ktd_baselines::ChatModel;
use ktd_env::{DayIndex, Market};
use ktd_episode::control::{cheater, oracle};
use ktd_masking::{EpisodeFrame, Level, Mask, MaskKey, MaskSettings, Mode, Numeric};
use ktd_prompts::UserStepSlots;
use ktd_tools::{SUBMIT_ACTION, StepView, ToolContext};
use serde_json::json;
use std::sync::Arc;

const BRIGHT: MaskSettings = MaskSettings {
    level: Level::Bright,
    numeric: Numeric::Exact,
};

/// M7: the oracle and the cheater, asked the same on panels with another future.
pub(crate) fn controls(auditor: &Auditor<'_>) -> CheckReport {
    let mut report = CheckReport::new(
        "M7",
        "are the oracle and the cheater found, which know the future?",
    );
    let each = auditor.each(&auditor.as_of_days, |day| of_day(auditor, *day));
    let mut found = [0, 0];
    for compared in each {
        let Some(compared) = compared else {
            report.add(Compared::skipped());
            continue;
        };
        for (sum, own) in found.iter_mut().zip(compared) {
            *sum += own.differing;
            report.add(own);
        }
    }
    let [of_oracle, of_cheater] = found;
    report.figure("days on which the oracle wants other stocks", count(of_oracle));
    report.figure(
        "days on which the cheater submits another action",
        count(of_cheater),
    );
    let mut report = report.judged_found();
    if report.verdict == AuditVerdict::Found && (of_oracle == 0 || of_cheater == 0) {
        report.verdict = AuditVerdict::NotFound;
    }
    report
}

fn of_day(auditor: &Auditor<'_>, as_of: DayIndex) -> Option<[Compared; 2]> {
    let other = other_future(auditor.market, as_of, 7)?;
    let (own, others) = (
        answers(auditor, auditor.market, as_of)?,
        answers(auditor, &other, as_of)?,
    );
    let day = auditor.date(as_of);
    let mut compared = own
        .into_iter()
        .zip(others)
        .map(|(own, other)| Compared::of(&[own], &[other], (&day, "later bars replaced")));
    Some([compared.next()?, compared.next()?])
}

fn answers(auditor: &Auditor<'_>, market: &Market, as_of: DayIndex) -> Option<[Answer; 2]> {
    let scene = Scene::played(
        auditor.doors,
        &auditor.rules,
        MarketDay { market, day: as_of },
        (&auditor.table, 0),
    )?;
    let frame = EpisodeFrame {
        market,
        window: &scene.window,
        initial_cash: auditor.rules.initial_cash,
    };
    let mask = Mask::new(BRIGHT, &MaskKey::from_bytes([1; 32]), &frame)?;
    let shared = Arc::new(market.clone());
    let plan = oracle(
        &shared,
        &auditor.table,
        mask.clone(),
        auditor.rules.clone(),
        &scene.window,
    );
    let request = request(auditor, &scene, &mask);
    let reply = cheater(&shared).reply(request.as_bytes());
    Some([
        Answer {
            door: "oracle",
            call: "what to hold".to_owned(),
            text: plan.wanted(1, &[]).join(" "),
        },
        Answer {
            door: "cheater",
            call: "memory-only [bright, exact]".to_owned(),
            text: String::from_utf8_lossy(&reply).into_owned(),
        },
    ])
}

/// A request to submit with what the mode `memory-only` shows.
fn request(auditor: &Auditor<'_>, scene: &Scene<'_>, mask: &Mask) -> String {
    let as_of = scene.at.market.as_of(scene.at.day).with_factors(scene.table);
    let context = ToolContext {
        as_of: &as_of,
        account: &scene.account,
        mask,
        rules: &auditor.rules,
        limits: &auditor.limits,
        last_step: None,
        step: 1,
    };
    let state = StepView::Market(&context).state(Mode::MemoryOnly);
    let prompt = ktd_prompts::user_step(BRIGHT, &UserStepSlots { state }).render();
    json!({
        "messages": [{ "role": "user", "content": prompt }],
        "tools": [{ "type": "function", "function": { "name": SUBMIT_ACTION } }],
    })
    .to_string()
}
