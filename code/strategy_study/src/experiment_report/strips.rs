//! Strips of scenarios: signals and positions of the reference and of a version, a letter a bar, in blocks that wrap.

use ktd_strategy_code::{BarTrace, MarketTrace};
use ktd_view::draw::{counted, visible};
use maud::{Markup, html};

/// Bars of one block: two blocks stand side by side on a phone.
const BLOCK: usize = 20;
/// Stretches of differing bars that are named; others are counted.
const NAMED: usize = 6;

/// A bar of a trace as it is compared; `None` where the trace has none.
type Bar = Option<(char, char, Option<i64>)>;

/// A trace bar by bar. A foreign record may hold columns of different lengths: the signals count.
struct Bars {
    signals: Vec<char>,
    positions: Vec<char>,
    exposure: Vec<Option<i64>>,
}

impl Bars {
    fn of(trace: &BarTrace) -> Self {
        Self {
            signals: trace.signals.chars().collect(),
            positions: trace.positions.chars().collect(),
            exposure: trace.exposure.clone(),
        }
    }

    fn bar(&self, place: usize) -> Bar {
        let signal = *self.signals.get(place)?;
        let position = self.positions.get(place).copied().unwrap_or('?');
        Some((signal, position, self.exposure.get(place).copied().flatten()))
    }
}

/// The strips of a version on all markets; those on which it does otherwise than the reference are open.
pub(super) fn strips(markets: &[MarketTrace]) -> Markup {
    // The equity of the long run is no part of its strip.
    let is_same = |market: &&MarketTrace| {
        let own = |trace: &BarTrace| BarTrace {
            equity: Vec::new(),
            ..trace.clone()
        };
        own(&market.reference) == own(&market.version)
    };
    let same = markets.iter().filter(is_same);
    html! {
        p {
            "Signals and positions, bar by bar"
            @if markets.iter().any(has_reference) {
                ": as the reference on " (same.count()) " of " (counted(markets.len(), "market")) "."
            } @else {
                "; there is no reference to compare them with."
            }
        }
        @for market in markets { (of_market(market)) }
    }
}

/// Whether a reference ran on a market: a strategy of one's own may have none.
const fn has_reference(market: &MarketTrace) -> bool {
    !market.reference.signals.is_empty()
}

fn of_market(market: &MarketTrace) -> Markup {
    let (reference, version) = (Bars::of(&market.reference), Bars::of(&market.version));
    let is_compared = has_reference(market);
    let bars = reference.signals.len().max(version.signals.len());
    let differs: Vec<bool> = (0..bars)
        .map(|bar| is_compared && reference.bar(bar) != version.bar(bar))
        .collect();
    let count = differs.iter().filter(|differs| **differs).count();
    let sentence = if is_compared {
        said(&differs, count, version.signals.is_empty())
    } else {
        counted(bars, "bar")
    };
    html! {
        details.market open[0 < count] {
            summary { b { bdi { (visible(&market.market)) } } " " (sentence) }
            // The sentence above is the text for those who do not see the letters.
            div.strip aria-hidden="true" {
                @for first in (0..bars).step_by(BLOCK) {
                    (block(first..bars.min(first + BLOCK), (is_compared.then_some(&reference), &version), &differs))
                }
            }
        }
    }
}

/// On which bars a version differs, as a sentence.
fn said(differs: &[bool], count: usize, is_empty: bool) -> String {
    let bars = counted(differs.len(), "bar");
    if is_empty && count > 0 {
        return format!("does not run: no bar of {bars}");
    }
    if count == 0 {
        return format!("as the reference on all of {bars}");
    }
    let stretches = stretches(differs);
    let named = stretches.iter().take(NAMED).map(|(first, last)| {
        if first == last {
            first.to_string()
        } else {
            format!("{first} to {last}")
        }
    });
    let more = match stretches.len().saturating_sub(NAMED) {
        0 => String::new(),
        1 => " and 1 more stretch".to_owned(),
        more => format!(" and {more} more stretches"),
    };
    let places: Vec<String> = named.collect();
    format!("differs on {count} of {bars}: {}{more}", places.join(", "))
}

/// First and last bar of each stretch of differing bars.
fn stretches(differs: &[bool]) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (bar, _) in differs.iter().enumerate().filter(|(_, differs)| **differs) {
        match found.last_mut() {
            Some((_, last)) if *last + 1 == bar => *last = bar,
            _ => found.push((bar, bar)),
        }
    }
    found
}

/// Some bars: two lines of the reference, two of the version, and marks below bars that differ.
fn block(
    bars: std::ops::Range<usize>,
    (reference, version): (Option<&Bars>, &Bars),
    differs: &[bool],
) -> Markup {
    let own = differs.get(bars.clone()).unwrap_or_default();
    let line = |trace: &Bars, letter: fn((char, char, Option<i64>)) -> char| -> String {
        let bars = bars.clone().map(|bar| trace.bar(bar).map_or(' ', letter));
        bars.collect()
    };
    let marks: String = own
        .iter()
        .map(|differs| if *differs { '^' } else { ' ' })
        .collect();
    html! {
        pre {
            span.q { "bar " (bars.start) } "\n"
            @if let Some(reference) = reference {
                span.q { "ref " } (coloured(&line(reference, |bar| bar.0))) "\n"
                "    " (coloured(&line(reference, |bar| bar.1))) "\n"
            }
            span.q { "ver " } (coloured(&line(version, |bar| bar.0))) "\n"
            "    " (coloured(&line(version, |bar| bar.1))) "\n"
            "    " (coloured(&marks))
        }
    }
}

/// Letters in the colours of what they mean, a stretch of one colour at a time.
fn coloured(letters: &str) -> Markup {
    let mut runs: Vec<(&'static str, String)> = Vec::new();
    for letter in letters.chars() {
        // What is no letter of ours comes from a foreign record.
        let (class, letter) = match letter {
            '.' | '_' | ' ' => ("", letter),
            'L' | 'A' | '+' => ("up", letter),
            'S' | '-' => ("down", letter),
            'R' | 'X' => ("other", letter),
            '^' => ("differs", letter),
            _ => ("other", '?'),
        };
        match runs.last_mut() {
            Some((last, text)) if *last == class => text.push(letter),
            _ => runs.push((class, letter.to_string())),
        }
    }
    html! {
        @for (class, text) in runs {
            @if class.is_empty() { (text) } @else { b class=(class) { (text) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(signals: &str, positions: &str) -> BarTrace {
        BarTrace {
            signals: signals.to_owned(),
            positions: positions.to_owned(),
            exposure: signals.chars().map(|_| Some(0)).collect(),
            equity: Vec::new(),
        }
    }

    fn market(reference: BarTrace, version: BarTrace) -> MarketTrace {
        MarketTrace {
            market: "zigzag".to_owned(),
            reference,
            version,
        }
    }

    #[test]
    fn bars_that_differ_are_named_and_marked() {
        let same = trace("..L..X", "__+++_");
        let shown = of_market(&market(same.clone(), trace(".SL...", "__++++"))).into_string();
        assert!(shown.contains("<details class=\"market\" open>"), "{shown}");
        assert!(shown.contains("differs on 2 of 6 bars: 1, 5"), "{shown}");
        assert!(shown.contains("__<b class=\"up\">++++</b>\n"), "{shown}");
        assert!(
            shown.contains("     <b class=\"differs\">^</b>   <b class=\"differs\">^</b>"),
            "{shown}"
        );
        let shown = of_market(&market(same.clone(), same)).into_string();
        assert!(shown.contains("<details class=\"market\"><summary>"), "{shown}");
        assert!(
            shown.contains("as the reference on all of 6 bars") && !shown.contains('^'),
            "{shown}"
        );
    }

    #[test]
    fn an_exposure_alone_is_a_difference() {
        let one = trace("..", "++");
        let other = BarTrace {
            exposure: vec![Some(0), Some(9)],
            ..one.clone()
        };
        let shown = of_market(&market(one.clone(), other)).into_string();
        assert!(shown.contains("differs on 1 of 2 bars: 1"), "{shown}");
        let shown = of_market(&market(one, BarTrace::default())).into_string();
        assert!(shown.contains("does not run: no bar of 2 bars"), "{shown}");
    }

    #[test]
    fn nothing_foreign_is_shown_as_it_is() {
        let mut hostile = market(trace("..", "__"), trace("<b>\u{202e}", "\u{1b}"));
        hostile.market = "<script>\u{1b}".to_owned();
        let shown = strips(&[hostile]).into_string();
        assert!(shown.contains("&lt;script&gt;\\u{1b}"), "{shown}");
        assert!(
            !shown.contains("<script>") && !shown.contains('\u{202e}') && !shown.contains('\u{1b}'),
            "{shown}"
        );
    }

    #[test]
    fn another_equity_alone_is_no_other_strip() {
        let same = trace("..L..X", "__+++_");
        let rich = BarTrace {
            equity: vec![Some(1)],
            ..same.clone()
        };
        let shown = strips(&[market(same, rich)]).into_string();
        assert!(shown.contains(": as the reference on 1 of 1 market."), "{shown}");
    }

    #[test]
    fn a_version_without_a_reference_is_shown_alone() {
        let shown = strips(&[market(BarTrace::default(), trace(".L", "_+"))]).into_string();
        assert!(
            shown.contains("there is no reference to compare them with"),
            "{shown}"
        );
        assert!(shown.contains("</b> 2 bars</summary>"), "{shown}");
        assert!(
            !shown.contains("ref ") && !shown.contains('^') && !shown.contains(" open"),
            "{shown}"
        );
    }

    #[test]
    fn many_stretches_are_counted() {
        let differs: Vec<bool> = (0..40).map(|bar| bar % 2 == 0).collect();
        let text = said(&differs, 20, false);
        assert_eq!(
            text,
            "differs on 20 of 40 bars: 0, 2, 4, 6, 8, 10 and 14 more stretches"
        );
        assert!(said(&[true, true, false, true], 3, false).ends_with(": 0 to 1, 3"));
    }
}
