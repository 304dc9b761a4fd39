//! A probe as the opening of a forced submission.

use super::guess::{Problem, tool};
use ktd_agents::{
    Attempt, ForceLevel, ModelFault, Session, SessionLimits, SessionTexts, StepPlan, Submission,
};
use ktd_client::AskedModel;
use ktd_masking::{Count, MaskSettings, Payload, Prompt, ToolSpec};
use ktd_probes::{Probe, RevealedStock};
use ktd_prompts::{AttemptSlots, ForceSlots, LinkedSlots, NotJsonSlots, ProblemSlots, StockSlots};

fn count(value: u32) -> Payload {
    Count::of(usize::try_from(value).unwrap_or(usize::MAX)).into()
}

/// The conversation that puts a probe to an agent, before its first request.
pub(super) fn open(
    attacker: &AskedModel,
    mask: MaskSettings,
    schema_retries: u32,
    probe: &Probe,
) -> Session<Submission> {
    let (agent, provider) = (&attacker.agent, &attacker.provider);
    let submit = tool(probe.kind);
    let user = question(probe).text("\n").append(how(provider.force, &submit));
    Session::submission(StepPlan {
        model: agent.model_name().to_owned(),
        sampling: agent.sampling(attacker.seed),
        tools: [].into(),
        submission: submit,
        force: provider.force,
        thinking: provider.thinking,
        cache_key: Some(format!("{}|attack", agent.id)),
        system: ktd_prompts::attack_system(mask),
        user,
        texts: SessionTexts {
            close: Prompt::new(),
            budget_used_up: Payload::null(),
            not_yet: Payload::null(),
            feedback: no_answer,
        },
        limits: SessionLimits {
            max_tool_calls: 0,
            schema_retries,
        },
    })
}

/// The real codes that a probe gives away on purpose.
pub(super) fn given_away(probe: &Probe) -> impl Iterator<Item = String> + '_ {
    let anchors = probe
        .exhibits
        .iter()
        .flat_map(|exhibit| exhibit.anchor.iter().chain(&exhibit.others));
    anchors.map(|RevealedStock { code, .. }| code.to_inline())
}

/// The real day that a probe gives away on purpose.
pub(super) fn given_day(probe: &Probe) -> Option<String> {
    let mut exhibits = probe.exhibits.iter();
    exhibits.find_map(|exhibit| Some(exhibit.given_day.as_ref()?.to_inline()))
}

fn question(probe: &Probe) -> Prompt {
    match probe.exhibits.as_slice() {
        [first, second, ..] => ktd_prompts::attack_linked(&LinkedSlots {
            first_target: first.target.clone(),
            first: first.payload(),
            second_target: second.target.clone(),
            second: second.payload(),
        }),
        [exhibit] => ktd_prompts::attack_stock(&StockSlots {
            target: exhibit.target.clone(),
            exhibit: exhibit.payload(),
        }),
        [] => Prompt::new(),
    }
}

/// How to answer. A weaker level has to say what a stronger one enforces.
fn how(force: ForceLevel, submit: &ToolSpec) -> Prompt {
    let schema = || ForceSlots {
        action_schema: Payload::from(&submit.parameters),
    };
    match force {
        ForceLevel::Named | ForceLevel::Required | ForceLevel::Auto => ktd_prompts::attack_by_call(),
        ForceLevel::Json => ktd_prompts::attack_as_json(&schema()),
        ForceLevel::Text => ktd_prompts::attack_as_text(&schema()),
    }
}

/// The reply to a turn that is no submission.
fn no_answer(attempt: Attempt) -> Payload {
    let slots = AttemptSlots {
        attempt: count(attempt.number),
        attempts: count(attempt.of),
    };
    let prompt = match attempt.fault {
        ModelFault::Refusal => ktd_prompts::attack_feedback_refusal(&slots),
        ModelFault::Truncated => ktd_prompts::attack_feedback_truncated(&slots),
        ModelFault::ArgumentsTooLarge => problem("it is far too large", slots),
        ModelFault::BadToolCall
        | ModelFault::NoCall
        | ModelFault::UnknownTool
        | ModelFault::WrongTool
        | ModelFault::MultipleCalls
        | ModelFault::TooManyCalls
        | ModelFault::ArgumentsMalformed
        | ModelFault::Rejected
        | ModelFault::CallInText
        | ModelFault::NoAnswer => {
            if attempt.force.is_by_call() {
                ktd_prompts::attack_feedback_no_call(&slots)
            } else {
                ktd_prompts::attack_feedback_no_object(&slots)
            }
        }
    };
    prompt.into()
}

/// The reply to a submission that is no guess.
pub(super) fn bad_guess(found: Problem, (number, of): (u32, u32)) -> Payload {
    let (attempt, attempts) = (count(number), count(of));
    let prompt = match found {
        Problem::NotJson { line, column } => ktd_prompts::attack_feedback_not_json(&NotJsonSlots {
            line: Count::of(line).into(),
            column: Count::of(column).into(),
            attempt,
            attempts,
        }),
        Problem::NotAnObject
        | Problem::Missing(_)
        | Problem::WrongType(_)
        | Problem::TooManyStocks
        | Problem::CodeForm
        | Problem::DateForm
        | Problem::ConfidenceRange
        | Problem::NoGuess => problem(found.explanation(), AttemptSlots { attempt, attempts }),
    };
    prompt.into()
}

fn problem(explanation: &'static str, AttemptSlots { attempt, attempts }: AttemptSlots) -> Prompt {
    ktd_prompts::attack_feedback_form(&ProblemSlots {
        problem: Payload::label(explanation),
        attempt,
        attempts,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_probes::{Exhibit, ProbeKind};

    #[test]
    fn every_stock_that_is_given_away_may_pass() {
        let revealed = |code: &'static str| RevealedStock {
            alias: Payload::label("asset_0001"),
            code: Payload::label(code),
        };
        let probe = Probe {
            number: 0,
            kind: ProbeKind::AskedKnown,
            exhibits: vec![Exhibit {
                target: Payload::label("asset_0002"),
                anchor: Some(revealed("SH600000")),
                others: vec![revealed("SH600001"), revealed("SH600002")],
                given_day: None,
                steps: Vec::new(),
            }],
        };
        let codes: Vec<String> = given_away(&probe).collect();
        assert_eq!(codes, ["SH600000", "SH600001", "SH600002"]);
    }
}
