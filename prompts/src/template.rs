//! Templates: compiled-in text with `{{slot}}` places.

use ktd_masking::{Payload, Prompt};
use std::sync::OnceLock;

/// One file of `templates/`.
#[derive(Debug)]
pub(crate) struct Template {
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
    pieces: OnceLock<Vec<Piece>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(&'static str),
    Slot(&'static str),
}

/// The payloads of one template's slots, by name.
pub(crate) trait Slots {
    #[cfg(test)]
    const NAMES: &'static [&'static str];

    fn get(&self, name: &str) -> Option<&Payload>;
}

impl Template {
    pub(crate) const fn new(name: &'static str, text: &'static str) -> Self {
        Self {
            name,
            text,
            pieces: OnceLock::new(),
        }
    }

    pub(crate) fn pieces(&self) -> &[Piece] {
        self.pieces.get_or_init(|| split(self.text))
    }

    /// Its texts between slots, in order.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &'static str> {
        self.pieces().iter().filter_map(|piece| match piece {
            Piece::Text(text) => Some(*text),
            Piece::Slot(_) => None,
        })
    }

    /// Its text up to the first slot.
    pub(crate) fn text_before_slots(&self) -> &'static str {
        match self.pieces().first() {
            Some(Piece::Text(text)) => text,
            Some(Piece::Slot(_)) | None => "",
        }
    }

    /// What follows the template in a text that opens with it, its slots filled by a line each.
    pub(crate) fn strip_from<'a>(&self, text: &'a str) -> Option<&'a str> {
        self.pieces().iter().try_fold(text, |rest, piece| match piece {
            Piece::Text(text) => rest.strip_prefix(text),
            Piece::Slot(_) => rest.find('\n').and_then(|end| rest.get(end..)),
        })
    }

    /// Appends the template to a message. A test holds that every slot is one of `slots`.
    pub(crate) fn append(&self, prompt: Prompt, slots: &impl Slots) -> Prompt {
        self.pieces().iter().fold(prompt, |prompt, piece| match piece {
            Piece::Text(text) => prompt.text(text),
            Piece::Slot(name) => match slots.get(name) {
                Some(payload) => prompt.payload(payload.clone()),
                None => prompt,
            },
        })
    }
}

/// Cuts a text at its `{{slot}}` places; an unclosed `{{` is text.
pub(crate) fn split(text: &'static str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = text.strip_suffix('\n').unwrap_or(text);
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((slot, after)) = after.split_once("}}") else {
            break;
        };
        if !before.is_empty() {
            pieces.push(Piece::Text(before));
        }
        pieces.push(Piece::Slot(slot.trim()));
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    pieces
}

/// Templates that only messages show, and the list of all of them. One with slots of its own has the function that makes the
/// message before it.
macro_rules! templates {
    ($($($(#[$about:meta])+ fn $message:ident($slots:ty):)? $template:ident = $text:expr;)*) => {
        $(static $template: $crate::template::Template =
            $crate::template::Template::new(stringify!($template), $text);
        $($(#[$about])+
        #[must_use]
        pub fn $message(slots: &$slots) -> ktd_masking::Prompt {
            $template.append(ktd_masking::Prompt::new(), slots)
        })?)*
        /// Every template, in the order of the hash.
        static ALL: &[&$crate::template::Template] = &[$(&$template),*];
        /// The messages with their slots.
        #[cfg(test)]
        static MESSAGES: &[(&$crate::template::Template, &[&str])] =
            &[$($((&$template, <$slots as $crate::template::Slots>::NAMES),)?)*];
    };
}
pub(crate) use templates;

/// Templates as texts, whose slots others fill with what comes from outside any mask, and the list of all of them.
macro_rules! open_templates {
    ($($(#[$about:meta])* $template:ident = $text:expr;)*) => {
        $($(#[$about])* pub const $template: &str = $text;)*
        /// Every template, in the order of the hash.
        static ALL: [$crate::template::Template; [$(stringify!($template)),*].len()] =
            [$($crate::template::Template::new(stringify!($template), $text)),*];
    };
}
pub(crate) use open_templates;

/// A struct of payloads whose field names are the slots of a template.
macro_rules! slots {
    ($(#[$about:meta])* $slots:ident { $($(#[$field_about:meta])* $field:ident),* $(,)? }) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $slots {
            $($(#[$field_about])* pub $field: Payload,)*
        }

        impl Slots for $slots {
            #[cfg(test)]
            const NAMES: &'static [&'static str] = &[$(stringify!($field)),*];

            fn get(&self, name: &str) -> Option<&Payload> {
                match name {
                    $(stringify!($field) => Some(&self.$field),)*
                    _ => None,
                }
            }
        }
    };
}
pub(crate) use slots;

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// The slots of a template.
    pub(crate) fn slot_names(template: &Template) -> BTreeSet<&'static str> {
        let slot = |piece: &Piece| match piece {
            Piece::Slot(name) => Some(*name),
            Piece::Text(_) => None,
        };
        template.pieces().iter().filter_map(slot).collect()
    }

    /// Every file of a folder is a template, in their order; messages are filled by the slots of their templates.
    #[expect(clippy::disallowed_methods, reason = "a test lists the folder of templates")]
    pub(crate) fn check(folder: &str, all: &[&Template], messages: &[(&Template, &[&'static str])]) {
        let folder = format!("{}/{folder}", env!("CARGO_MANIFEST_DIR"));
        let files: BTreeSet<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        let listed = all
            .iter()
            .map(|template| format!("{}.md", template.name.to_lowercase()));
        assert_eq!(files, listed.collect());
        assert!(all.iter().map(|template| template.name).is_sorted());
        for (template, slots) in messages {
            assert_eq!(
                slot_names(template),
                slots.iter().copied().collect(),
                "{}",
                template.name
            );
        }
    }

    #[test]
    fn texts_are_cut_at_their_slots() {
        assert_eq!(
            split("a {{ b }}{{c}} d\n"),
            [
                Piece::Text("a "),
                Piece::Slot("b"),
                Piece::Slot("c"),
                Piece::Text(" d")
            ]
        );
        assert_eq!(split("no slot"), [Piece::Text("no slot")]);
        assert_eq!(split("{{open"), [Piece::Text("{{open")]);
        assert_eq!(split("\n"), []);
    }
}
