//! What is wrong with a call, as data: a stable code, where, what was expected, how to fix it.

use crate::feedback_texts;
use ktd_masking::{Count, Payload, PointerPart};

/// The code of a text that is no JSON.
pub(crate) const NOT_JSON: &str = "not_json";

/// One thing that is wrong with what a model sent. It holds nothing of the model's text.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    code: &'static str,
    pointer: Vec<PointerPart>,
    expected: &'static str,
    hint: &'static str,
    figures: Vec<(&'static str, Payload)>,
}

impl Fault {
    pub(crate) const fn new(code: &'static str, expected: &'static str, hint: &'static str) -> Self {
        Self {
            code,
            pointer: Vec::new(),
            expected,
            hint,
            figures: Vec::new(),
        }
    }

    pub(crate) fn at(mut self, pointer: impl IntoIterator<Item = PointerPart>) -> Self {
        self.pointer = pointer.into_iter().collect();
        self
    }

    pub(crate) fn with(mut self, name: &'static str, figure: impl Into<Payload>) -> Self {
        self.figures.push((name, figure.into()));
        self
    }

    /// The stable code, for counters.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.code
    }

    /// The line and the column at which a text stops being JSON; `None` for every other fault.
    pub(crate) fn stops_at(&self) -> Option<(Payload, Payload)> {
        let figure = |name| self.figures.iter().find(|(of, _)| *of == name);
        (self.code == NOT_JSON)
            .then(|| Some((figure("line")?.1.clone(), figure("column")?.1.clone())))
            .flatten()
    }

    fn payload(&self) -> Payload {
        let mut entries = vec![
            ("error", Payload::label(self.code)),
            ("pointer", Payload::pointer(&self.pointer)),
            ("expected", Payload::label(self.expected)),
        ];
        entries.extend(self.figures.iter().cloned());
        entries.push(("hint", Payload::label(self.hint)));
        Payload::map(entries)
    }
}

/// Most faults of one answer: enough to fix a call in one go, few enough to read.
const MAX_FAULTS: usize = 8;

/// The answer to a call that could not be answered.
pub(crate) fn faults(faults: &[Fault]) -> Payload {
    let shown = faults.iter().take(MAX_FAULTS).map(Fault::payload);
    let mut entries = vec![("errors", Payload::list(shown))];
    let more = faults.len().saturating_sub(MAX_FAULTS);
    if 0 < more {
        entries.push(("more_errors", Count::of(more).into()));
    }
    Payload::map(entries)
}

/// The fault of a text that names no stock of this episode.
pub(crate) fn unknown_stock(pointer: impl IntoIterator<Item = PointerPart>) -> Fault {
    Fault::new(
        "unknown_stock_id",
        feedback_texts::STOCK_ID,
        feedback_texts::STOCK_ID_HINT,
    )
    .at(pointer)
}
