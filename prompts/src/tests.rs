use super::*;
use crate::template::Slots;
use crate::template::tests::{check, slot_names};
use ktd_masking::{Count, Payload};
use std::collections::BTreeSet;

fn number(value: usize) -> Payload {
    Count::of(value).into()
}

fn names<S: Slots>() -> BTreeSet<&'static str> {
    S::NAMES.iter().copied().collect()
}

fn every_mask() -> Vec<MaskSettings> {
    let of_level = |level| Numeric::ALL.map(|numeric| MaskSettings { level, numeric });
    Level::ALL.into_iter().flat_map(of_level).collect()
}

fn system_slots() -> SystemSlots {
    SystemSlots {
        initial_cash_cny: number(1_000_001),
        candidates_per_factor: number(11),
        max_tool_calls: number(21),
        max_candidates: number(31),
        max_lookback: number(61),
        max_compare: number(12),
        max_single_weight: number(13),
        max_positions: number(22),
        price_limits: Payload::label("Limits lie 10 % from the previous close."),
        open_terms: Payload::label("Cash from sells pays for buys of the same open."),
        fees: Payload::label("5 basis points of value."),
        min_reason_chars: number(14),
        max_orders: number(201),
        schema_retries: number(3),
        constraint_policy: Payload::label("Orders that break a rule come back."),
    }
}

#[test]
fn slots_are_those_of_the_templates() {
    check("templates", ALL, MESSAGES);
    for template in [&SUBMISSION, &CLOSE_RESEARCH, &FORCE_AUTO] {
        assert!(slot_names(template).is_empty(), "{}", template.name);
    }
    assert_eq!(slot_names(&USER_STEP), names::<UserStepSlots>());
    for part in every_mask().into_iter().flat_map(mask_parts) {
        assert_eq!(slot_names(part), names::<NoSlots>(), "{}", part.name);
    }
    let parts = Mode::ALL.into_iter().flat_map(system_parts);
    let of_systems: BTreeSet<&str> = parts.flat_map(slot_names).collect();
    assert_eq!(of_systems, names::<SystemSlots>());
}

#[test]
fn every_template_is_used() {
    let of_systems = Mode::ALL.into_iter().flat_map(system_parts);
    let of_masks = every_mask().into_iter().flat_map(mask_parts);
    let mut used: BTreeSet<&str> = of_systems.chain(of_masks).map(|template| template.name).collect();
    for template in ALL {
        if template.name.starts_with("FEEDBACK_") || template.name.starts_with("FORCE_") {
            used.insert(template.name);
        }
    }
    used.extend([USER_STEP.name, SUBMISSION.name, CLOSE_RESEARCH.name]);
    assert_eq!(used, ALL.iter().map(|template| template.name).collect());
}

#[test]
fn system_messages_are_filled_and_differ_by_mode_alone() {
    let texts: BTreeSet<String> = Mode::ALL
        .into_iter()
        .map(|mode| system(mode, &system_slots()).render())
        .collect();
    assert_eq!(texts.len(), 3);
    for text in texts {
        assert!(!text.contains("{{") && !text.contains("}}"), "{text}");
        assert!(
            text.contains("weigh at most 13 of NAV") && text.contains("up to 3 times"),
            "{text}"
        );
        // What only one mask shows is not said here.
        for word in ["asset_", "day_", "SH600000", "points:"] {
            assert!(!text.contains(word), "{word}: {text}");
        }
    }
}

#[test]
fn the_opening_message_says_what_the_mask_means_and_ends_with_the_state() {
    let slots = UserStepSlots {
        state: Payload::map([("day", Payload::label("day_+2"))]),
    };
    let mut texts = BTreeSet::new();
    for settings in every_mask() {
        let text = user_step(settings, &slots).render();
        let (stocks, days) = (settings.level.hides_stocks(), settings.level.hides_days());
        assert!(text.ends_with("\n\nSTATE:\n{\"day\":\"day_+2\"}"), "{text}");
        assert_eq!(text.contains("asset_0042"), stocks, "{text}");
        assert_eq!(text.contains("exchange codes"), !stocks, "{text}");
        assert_eq!(text.contains("day_+0"), days, "{text}");
        assert_eq!(text.contains("by their dates"), !days, "{text}");
        let exact = settings.numeric == Numeric::Exact;
        assert_eq!(text.contains("may give `shares`"), exact, "{text}");
        assert_eq!(text.contains("`shares` is refused"), !exact, "{text}");
        let has_steps = Numeric::Rescaled < settings.numeric;
        assert_eq!(text.contains("only, in multiples of 0.0"), has_steps, "{text}");
        texts.insert(text);
    }
    assert_eq!(texts.len(), Level::ALL.len() * Numeric::ALL.len());
}

#[test]
fn feedback_speaks_of_the_attempt() {
    let (attempt, attempts) = (number(2), number(4));
    let of = AttemptSlots {
        attempt: attempt.clone(),
        attempts: attempts.clone(),
    };
    let texts = [
        feedback_no_call(&of).render(),
        feedback_other_tool(&of).render(),
        feedback_two_calls(&TwoCallsSlots {
            calls: number(5),
            attempt: attempt.clone(),
            attempts: attempts.clone(),
        })
        .render(),
        feedback_schema(&SchemaSlots {
            errors: Payload::null(),
            attempt: attempt.clone(),
            attempts: attempts.clone(),
        })
        .render(),
        feedback_rejected(&RejectedSlots {
            decisions: Payload::null(),
            attempt: attempt.clone(),
            attempts: attempts.clone(),
        })
        .render(),
        feedback_not_json(&NotJsonSlots {
            line: number(8),
            column: number(9),
            attempt: attempt.clone(),
            attempts: attempts.clone(),
        })
        .render(),
        feedback_too_large(&TooLargeSlots {
            max_bytes: number(1000),
            max_depth: number(16),
            max_orders: number(200),
            attempt,
            attempts,
        })
        .render(),
        feedback_truncated(&of).render(),
        feedback_refusal(&of).render(),
        feedback_call_in_text(&of).render(),
        feedback_no_object(&of).render(),
    ];
    for text in texts {
        let is_final = text.ends_with("attempt 2 of 4; after the last one the step ends without a trade.");
        assert!(is_final && text.contains("submi"), "{text}");
    }
    let budget = ToolBudgetSlots {
        max_tool_calls: number(20),
    };
    assert!(
        feedback_tool_budget(&budget)
            .render()
            .contains("all 20 tool calls")
    );
    assert!(submission().render().contains("submit_action"));
    assert!(close_research().render().contains("over"));
}

#[test]
fn every_way_to_ask_for_a_submission_says_how_to_hold() {
    let slots = ForceSlots {
        action_schema: Payload::label("{\"type\":\"object\"}"),
    };
    for text in [submission(), force_auto(), force_json(&slots), force_text(&slots)] {
        let text = text.render();
        assert!(
            text.contains("empty `orders` list") && text.contains("`submit_action`"),
            "{text}"
        );
    }
    for text in [force_json(&slots), force_text(&slots)] {
        // The schema stands on a line of its own, as it is.
        assert!(text.render().contains("\n{\"type\":\"object\"}\n"));
    }
}

#[test]
fn the_hash_is_64_digits_and_steady() {
    assert_eq!(hash().len(), 64);
    assert_eq!(hash(), hash());
}
