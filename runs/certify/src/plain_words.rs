//! What kinds of probes, questions and classes of attackers are, in words for somebody who reads one certificate.

use ktd_probes::{AttackerClass, Measure, ProbeKind};

/// What attackers of a class know.
pub(crate) const fn knowing(class: AttackerClass) -> &'static str {
    match class {
        AttackerClass::Model => "what a language model remembers",
        AttackerClass::Database => "every price of every stock",
        AttackerClass::DatabaseAndStocks => "every price, and the codes of some stocks shown",
        AttackerClass::DatabaseAndDay => "every price, and the day",
    }
}

/// What a question asks.
pub(crate) fn asking(measure: Measure) -> String {
    let what = match measure {
        Measure::Top1 => "the stock, at the first guess",
        Measure::Top5 => "the stock, within five guesses",
        Measure::Date5 => "the day, within 5 trading days",
        Measure::Date20 => "the day, within 20 trading days",
        Measure::Date60 => "the day, within 60 trading days",
        Measure::Joint => "stock and day together",
        Measure::Sector => "the sector",
        Measure::Board => "the board",
        Measure::Same => "whether two exhibits show one stock",
    };
    format!("{what} ({})", measure.label())
}

/// What probes of a kind show.
pub(crate) const fn showing(kind: ProbeKind) -> &'static str {
    match kind {
        ProbeKind::Day => "one step: market, a screen, the stock asked about",
        ProbeKind::Days => "some steps in a row under one alias",
        ProbeKind::Episode => "all steps of an episode that holds the stock",
        ProbeKind::Linked => "some steps of two episodes: one stock or two?",
        ProbeKind::Anchored => "one step, and the code of another stock in it",
        ProbeKind::Asked => "a whole episode of an agent that asks its own questions",
        ProbeKind::AskedKnown => "the same, and the codes of some of its stocks",
        ProbeKind::AskedDated => "the same, and its days",
    }
}
