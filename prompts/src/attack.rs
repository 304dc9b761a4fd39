//! Texts for a model that is to find out which stock and which day is behind a mask. They are part of no episode,
//! so it has a hash of its own and is no part of [`crate::hash`].

use crate::slots::{AttemptSlots, ForceSlots, LinkedSlots, NoSlots, NotJsonSlots, ProblemSlots, StockSlots};
use crate::template::{Template, templates};
use crate::{DATA, FACTORS, hash_of, mask_parts};
use ktd_masking::{Level, MaskSettings, Numeric, Prompt};

templates! {
    AS_JSON = include_str!("../attack/as_json.md");
    AS_TEXT = include_str!("../attack/as_text.md");
    BY_CALL = include_str!("../attack/by_call.md");
    FEEDBACK_FORM = include_str!("../attack/feedback_form.md");
    FEEDBACK_NOT_JSON = include_str!("../attack/feedback_not_json.md");
    FEEDBACK_NO_CALL = include_str!("../attack/feedback_no_call.md");
    FEEDBACK_NO_OBJECT = include_str!("../attack/feedback_no_object.md");
    FEEDBACK_REFUSAL = include_str!("../attack/feedback_refusal.md");
    FEEDBACK_TRUNCATED = include_str!("../attack/feedback_truncated.md");
    QUESTION_LINKED = include_str!("../attack/question_linked.md");
    QUESTION_STOCK = include_str!("../attack/question_stock.md");
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

/// The question about one exhibit: which stock, which day?
#[must_use]
pub fn attack_stock(slots: &StockSlots) -> Prompt {
    QUESTION_STOCK.append(Prompt::new(), slots)
}

/// The question about two exhibits: is it the same stock?
#[must_use]
pub fn attack_linked(slots: &LinkedSlots) -> Prompt {
    QUESTION_LINKED.append(Prompt::new(), slots)
}

/// How to answer where the answer is a call (levels F0 to F2).
#[must_use]
pub fn attack_by_call() -> Prompt {
    BY_CALL.append(Prompt::new(), &NoSlots {})
}

/// How to answer where there are no tools and the vendor holds the answer to JSON (level F3).
#[must_use]
pub fn attack_as_json(slots: &ForceSlots) -> Prompt {
    AS_JSON.append(Prompt::new(), slots)
}

/// How to answer where there are no tools and one JSON object is taken from plain text (level F4).
#[must_use]
pub fn attack_as_text(slots: &ForceSlots) -> Prompt {
    AS_TEXT.append(Prompt::new(), slots)
}

/// The reply to an answer that is not one call.
#[must_use]
pub fn attack_feedback_no_call(slots: &AttemptSlots) -> Prompt {
    FEEDBACK_NO_CALL.append(Prompt::new(), slots)
}

/// The reply to an answer without tools (levels F3 and F4) that is not one JSON object.
#[must_use]
pub fn attack_feedback_no_object(slots: &AttemptSlots) -> Prompt {
    FEEDBACK_NO_OBJECT.append(Prompt::new(), slots)
}

/// The reply to an answer that was declined or filtered.
#[must_use]
pub fn attack_feedback_refusal(slots: &AttemptSlots) -> Prompt {
    FEEDBACK_REFUSAL.append(Prompt::new(), slots)
}

/// The reply to an answer that was cut off at its longest length.
#[must_use]
pub fn attack_feedback_truncated(slots: &AttemptSlots) -> Prompt {
    FEEDBACK_TRUNCATED.append(Prompt::new(), slots)
}

/// The reply to an answer that is not JSON.
#[must_use]
pub fn attack_feedback_not_json(slots: &NotJsonSlots) -> Prompt {
    FEEDBACK_NOT_JSON.append(Prompt::new(), slots)
}

/// The reply to an answer that breaks the required form.
#[must_use]
pub fn attack_feedback_form(slots: &ProblemSlots) -> Prompt {
    FEEDBACK_FORM.append(Prompt::new(), slots)
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
    use crate::template::{Piece, Slots};
    use ktd_masking::Payload;
    use std::collections::BTreeSet;

    fn label(text: &'static str) -> Payload {
        Payload::label(text)
    }

    /// The slots that a message is filled with.
    fn names<S: Slots>(_: fn(&S) -> Prompt) -> BTreeSet<&'static str> {
        S::NAMES.iter().copied().collect()
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test lists the folder of templates")]
    fn every_file_is_a_template_and_its_slots_are_filled() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/attack");
        let files: BTreeSet<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        let listed: BTreeSet<String> = ALL
            .iter()
            .map(|template| format!("{}.md", template.name.to_lowercase()))
            .collect();
        assert_eq!(files, listed);
        for (template, slots) in [
            (&QUESTION_STOCK, names(attack_stock)),
            (&QUESTION_LINKED, names(attack_linked)),
            (&AS_JSON, names(attack_as_json)),
            (&AS_TEXT, names(attack_as_text)),
            (&FEEDBACK_NO_CALL, names(attack_feedback_no_call)),
            (&FEEDBACK_NO_OBJECT, names(attack_feedback_no_object)),
            (&FEEDBACK_REFUSAL, names(attack_feedback_refusal)),
            (&FEEDBACK_TRUNCATED, names(attack_feedback_truncated)),
            (&FEEDBACK_NOT_JSON, names(attack_feedback_not_json)),
            (&FEEDBACK_FORM, names(attack_feedback_form)),
            (&SYSTEM, BTreeSet::new()),
            (&BY_CALL, BTreeSet::new()),
        ] {
            let slot = |piece: &Piece| match piece {
                Piece::Slot(name) => Some(*name),
                Piece::Text(_) => None,
            };
            let found: BTreeSet<_> = template.pieces().iter().filter_map(slot).collect();
            assert_eq!(found, slots, "{}", template.name);
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
