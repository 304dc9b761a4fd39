//! A scenario as a strip of letters, one a bar: what the reference does, and where a program does otherwise.

use ktd_strategy_code::{BarTrace, TRACE_LETTERS};
use std::fmt::Write;

/// Bars of one line.
const WIDTH: usize = 80;

/// Strips of the reference's tokens and, where given, of a program's; bars on which they differ are marked.
#[must_use]
pub fn scenario_strip(reference: &[String], program: Option<&[String]>) -> String {
    let bars = reference.len().max(program.map_or(0, <[String]>::len));
    let traces = [("reference", Some(reference)), ("program", program)];
    let traces = traces.map(|(name, tokens)| (name, tokens.map(BarTrace::of)));
    let mut text = String::new();
    for first in (0..bars).step_by(WIDTH) {
        let last = bars.min(first + WIDTH);
        let line = |name: &str, letters: &str| {
            let own: String = letters.chars().skip(first).take(WIDTH).collect();
            format!("{name:<18} {own}\n")
        };
        // Writing to a string cannot fail.
        writeln!(text, "bars {first} to {}", last - 1).ok();
        for (name, trace) in &traces {
            if let Some(trace) = trace {
                text += &line(name, &trace.signals);
                text += &line("  position", &trace.positions);
            }
        }
        let differs = |bar| program.is_some_and(|program| reference.get(bar) != program.get(bar));
        let marks: String = (0..last)
            .map(|bar| if differs(bar) { '^' } else { ' ' })
            .collect();
        if marks.chars().skip(first).any(|mark| mark == '^') {
            text += &line("  differ", &marks);
        }
    }
    format!("{text}{TRACE_LETTERS}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_on_which_two_programs_differ_are_marked() {
        let tokens = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let reference = tokens(&["0|NONE|FLAT|0.0", "1|LONG|LONG|1.0", "2|EXIT|FLAT|0.0"]);
        let program = tokens(&["0|NONE|FLAT|0.0", "1|BUY|LONG|1.0", "2|EXIT|FLAT|0.0"]);
        let strip = scenario_strip(&reference, Some(&program));
        let lines: Vec<&str> = strip.lines().collect();
        assert_eq!(lines.first(), Some(&"bars 0 to 2"));
        assert_eq!(lines.get(1), Some(&"reference          .LX"));
        assert_eq!(lines.get(2), Some(&"  position         _+_"));
        assert_eq!(lines.get(3), Some(&"program            .?X"));
        assert_eq!(lines.get(5), Some(&"  differ            ^ "));
        assert!(!scenario_strip(&reference, Some(&reference)).contains('^'));
        assert_eq!(scenario_strip(&reference, None).lines().count(), 4);
    }
}
