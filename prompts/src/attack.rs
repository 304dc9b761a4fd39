//! Texts for a model that is to find out which stock and which day is behind a mask. They are part of no episode,
//! so it has a hash of its own and is no part of [`crate::hash`].

use crate::slots::{AttemptSlots, ForceSlots, LinkedSlots, NoSlots, NotJsonSlots, ProblemSlots, StockSlots};
use crate::template::{Template, templates};
use crate::{DATA, FACTORS, hash_of, mask_parts};
use ktd_masking::{Level, MaskSettings, Numeric, Prompt};

templates! {
    /// How to answer where there are no tools and the vendor holds the answer to JSON (level F3).
    fn attack_as_json(ForceSlots): AS_JSON = include_str!("../attack/as_json.md");
    /// How to answer where there are no tools and one JSON object is taken from plain text (level F4).
    fn attack_as_text(ForceSlots): AS_TEXT = include_str!("../attack/as_text.md");
    BY_CALL = include_str!("../attack/by_call.md");
    /// The reply to an answer that breaks the required form.
    fn attack_feedback_form(ProblemSlots): FEEDBACK_FORM = include_str!("../attack/feedback_form.md");
    /// The reply to an answer that is not JSON.
    fn attack_feedback_not_json(NotJsonSlots): FEEDBACK_NOT_JSON = include_str!("../attack/feedback_not_json.md");
    /// The reply to an answer that is not one call.
    fn attack_feedback_no_call(AttemptSlots): FEEDBACK_NO_CALL = include_str!("../attack/feedback_no_call.md");
    /// The reply to an answer without tools (levels F3 and F4) that is not one JSON object.
    fn attack_feedback_no_object(AttemptSlots): FEEDBACK_NO_OBJECT = include_str!("../attack/feedback_no_object.md");
    /// The reply to an answer that was declined or filtered.
    fn attack_feedback_refusal(AttemptSlots): FEEDBACK_REFUSAL = include_str!("../attack/feedback_refusal.md");
    /// The reply to an answer that was cut off at its longest length.
    fn attack_feedback_truncated(AttemptSlots): FEEDBACK_TRUNCATED = include_str!("../attack/feedback_truncated.md");
    /// The question about two exhibits: is it the same stock?
    fn attack_linked(LinkedSlots): QUESTION_LINKED = include_str!("../attack/question_linked.md");
    /// The question about one exhibit: which stock, which day?
    fn attack_stock(StockSlots): QUESTION_STOCK = include_str!("../attack/question_stock.md");
    SYSTEM = include_str!("../attack/system.md");
}

/// The system message: what is asked, and what agents under this mask are told about their data. It is the same for all
/// probes of a set, so that a vendor's prompt cache holds.
#[must_use]
pub fn attack_system(settings: MaskSettings) -> Prompt {
    [&DATA, &FACTORS, numbers(settings)]
        .into_iter()
        .fold(SYSTEM.append(Prompt::new(), &NoSlots {}), |prompt, part| {
            part.append(prompt.text("\n"), &NoSlots {})
        })
}

/// What numbers mean under a mask.
fn numbers(settings: MaskSettings) -> &'static Template {
    let [_, numeric] = mask_parts(settings);
    numeric
}

/// How to answer where the answer is a call (levels F0 to F2).
#[must_use]
pub fn attack_by_call() -> Prompt {
    BY_CALL.append(Prompt::new(), &NoSlots {})
}

/// SHA-256 over all texts for an attacker, in hexadecimal: its own templates, and those of episodes that tell
/// what the data mean.
#[must_use]
pub fn attack_hash() -> String {
    let numeric = Numeric::ALL.map(|numeric| {
        numbers(MaskSettings {
            level: Level::Blinded,
            numeric,
        })
    });
    let shared = [&DATA, &FACTORS].into_iter().chain(numeric);
    hash_of(b"ktd attack prompts 1\0", ALL.iter().copied().chain(shared))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::tests::{check, slot_names};
    use ktd_masking::Payload;

    fn label(text: &'static str) -> Payload {
        Payload::label(text)
    }

    #[test]
    fn every_file_is_a_template_and_its_slots_are_filled() {
        check("attack", ALL, MESSAGES);
        for template in [&SYSTEM, &BY_CALL] {
            assert!(slot_names(template).is_empty());
        }
    }

    #[test]
    fn the_system_message_tells_what_the_numbers_mean_and_forbids_nothing() {
        let text = |numeric| {
            attack_system(MaskSettings {
                level: Level::Blinded,
                numeric,
            })
            .render()
        };
        assert!(
            text(Numeric::Exact).contains("true prices") && text(Numeric::Rescaled).contains("points: 100")
        );
        // Agents are told not to look behind the labels; attackers are asked to.
        assert!(!text(Numeric::Exact).contains("Do not try"));
    }

    #[test]
    fn exhibits_stand_on_lines_of_their_own() {
        let one = attack_stock(&StockSlots {
            target: label("asset_1"),
            exhibit: label("{}"),
        });
        assert!(
            one.render()
                .starts_with("EXHIBIT 1:\n{}\n\nWhich stock is asset_1?")
        );
        let two = attack_linked(&LinkedSlots {
            first_target: label("asset_1"),
            first: label("{\"a\":1}"),
            second_target: label("asset_2"),
            second: label("{\"b\":2}"),
        });
        assert!(
            two.render()
                .starts_with("EXHIBIT 1:\n{\"a\":1}\nEXHIBIT 2:\n{\"b\":2}\n")
        );
    }

    #[test]
    fn the_hash_is_apart_from_that_of_episodes() {
        assert_eq!(attack_hash().len(), 64);
        assert_ne!(attack_hash(), crate::hash());
    }
}
