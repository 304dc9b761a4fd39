//! What attackers recovered of probes, beside what guessing gives: the one with the largest bound of each question, and everybody.

use super::plain_words::{asking, showing};
use ktd_probes::judge::{RateInterval, RateStatus, RecoveryRate, UnansweredCount};
use ktd_probes::{Measure, ProbeKind};
use ktd_study::{Section, Shown};
use ktd_view::draw::{
    Align, Column, RowCells, ShareMark, ShareRow, TableCell, TableData, plural, share_rows,
};
use std::collections::BTreeMap;

/// What was counted of attacks on probes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CountedAttacks<'c> {
    pub(crate) figures: &'c [RecoveryRate],
    pub(crate) unanswered: &'c [UnansweredCount],
}

/// What the picture shows.
const CAPTION: &str = "What the attack with the largest bound recovers of each question that is judged: the mask holds where \"at most\" \
                       lies within the bar, which begins at what guessing gives";

impl<'c> CountedAttacks<'c> {
    /// Adds the kinds of probes that were put, the attack with the largest bound on each question, and every attack.
    pub(crate) fn add_to(self, section: Section, shown: Shown) -> Section {
        let mut section = section.table("probes", self.probes(), Shown::Page).table(
            "attacks",
            self.deciding_table(),
            shown,
        );
        let judged = self.judged_rows();
        if !judged.is_empty() {
            let names = [
                "from guessing to what may be",
                "the attack with the largest bound",
                "at most",
            ];
            section = section.picture(share_rows(CAPTION, &names, &judged));
        }
        for kind in ProbeKind::ALL {
            if let Some(table) = self.of_kind(kind) {
                section = section.table(format!("attacks_{}", kind.label()), table, Shown::Folded);
            }
        }
        section
    }

    fn probes(self) -> TableData {
        let columns = [
            ("probes", Align::Left),
            ("put", Align::Right),
            ("each shows", Align::Left),
        ];
        let put = |kind: ProbeKind| Some((kind, self.unanswered.iter().find(|count| count.kind == kind)?));
        let rows = ProbeKind::ALL.into_iter().filter_map(put).map(|(kind, count)| {
            vec![
                TableCell::Text(kind.label().to_owned()),
                counted(count.probes),
                TableCell::Text(showing(kind).to_owned()),
            ]
        });
        TableData::new("What was put to every attacker", columns).with_rows(rows)
    }

    /// Whose bound lies farthest above guessing, which decides, of each kind of probes and each question.
    fn deciding(self) -> impl Iterator<Item = &'c RecoveryRate> {
        let questions = ProbeKind::ALL
            .into_iter()
            .flat_map(|kind| Measure::ALL.map(|measure| (kind, measure)));
        questions.filter_map(move |(kind, measure)| {
            // Whoever guesses is judged as well, and few probes may leave it the largest bound.
            let of_question = |figure: &&RecoveryRate| figure.kind == kind && figure.measure == measure;
            let own = self.figures.iter().filter(of_question);
            own.max_by(|left, right| left.excess().total_cmp(&right.excess()))
        })
    }

    /// What is recovered above its threshold, whatever more probes would show, with the largest share of each question.
    pub(crate) fn too_much(self) -> Option<String> {
        let mut shares: BTreeMap<(ProbeKind, Measure), f64> = BTreeMap::new();
        for figure in self.figures.iter().filter(|figure| is_too_much(figure)) {
            let share = shares.entry((figure.kind, figure.measure)).or_default();
            *share = share.max(figure.share);
        }
        let told = shares.iter().map(|((kind, measure), share)| {
            format!(
                "{} of {} probes {} %",
                measure.label(),
                kind.label(),
                percent(*share)
            )
        });
        let told: Vec<String> = told.collect();
        let questions = plural(told.len(), "question");
        (!told.is_empty()).then(|| {
            format!(
                "TOO MUCH is recovered of {} {questions}: {}",
                told.len(),
                told.join(", ")
            )
        })
    }

    /// A row of the picture for each question that a threshold is set for.
    fn judged_rows(self) -> Vec<ShareRow> {
        let row = |figure: &RecoveryRate| {
            let allowed = (figure.chance + figure.threshold?).min(1.0);
            let text = format!(
                "guessing gives {} %, {} % may be",
                percent(figure.chance),
                percent(allowed)
            );
            let marks = [
                Some(ShareMark::span(0, (figure.chance, allowed), text)),
                ShareMark::dot(1, Some(figure.share), &figure.attacker),
                ShareMark::dot(2, Some(figure.simultaneous.upper), "at most"),
            ];
            Some(ShareRow {
                name: format!("{} {}", figure.kind.label(), figure.measure.label()),
                marks: marks.into_iter().flatten().collect(),
            })
        };
        self.deciding().filter_map(row).collect()
    }

    /// A row a kind and question.
    fn deciding_table(self) -> TableData {
        let columns = [
            ("probes", Align::Left, 1),
            ("asked for", Align::Left, 1),
            ("attacker", Align::Left, 2),
            ("recovers", Align::Right, 0),
            ("guessing gives", Align::Right, 0),
            ("above guessing, at most", Align::Right, 0),
            ("may be", Align::Right, 0),
            ("verdict", Align::Left, 0),
        ];
        let rows = self.deciding().map(|figure| {
            vec![
                TableCell::Text(figure.kind.label().to_owned()),
                TableCell::Text(asking(figure.measure)),
                TableCell::Text(figure.attacker.clone()),
                TableCell::Percent(figure.share),
                TableCell::Percent(figure.chance),
                TableCell::Change(figure.excess()),
                TableCell::optional(figure.threshold, TableCell::Percent),
                TableCell::Text(status(figure).to_owned()),
            ]
        });
        let table = TableData::new("The attack with the largest bound on each question", columns)
            .with_rows(rows)
            .with_note("guessing: the best answer that looks at nothing shown and knows how probes are drawn")
            .with_note("at most: the upper end of an interval that holds for all attackers at once");
        if self.deciding().any(RecoveryRate::is_undecided) {
            return table.with_note(
                "not enough probes: the interval reaches from what may be to more; put more probes, which narrow it",
            );
        }
        table
    }

    /// What each attacker recovered of a kind in percent, with its interval, beside what guessing gives.
    fn of_kind(self, kind: ProbeKind) -> Option<TableData> {
        let figures: Vec<&RecoveryRate> = self.figures.iter().filter(|figure| figure.kind == kind).collect();
        let unanswered: Vec<&UnansweredCount> = self
            .unanswered
            .iter()
            .filter(|count| count.kind == kind)
            .collect();
        let last = unanswered.last()?;
        let is_asked = |measure: &Measure| figures.iter().any(|figure| figure.measure == *measure);
        let measures: Vec<Measure> = Measure::ALL.into_iter().filter(is_asked).collect();
        let mut columns = vec![
            Column::new("attacker", Align::Left),
            Column::new("unanswered", Align::Right),
        ];
        let share_of = |measure: &Measure| Column::new(measure.label(), Align::Left).of(RowCells::Number);
        columns.extend(measures.iter().map(share_of));
        let of = |attacker: &str, show: fn(&RecoveryRate) -> TableCell| -> Vec<TableCell> {
            let own = |measure: &Measure| {
                let mut own = figures.iter();
                own.find(|figure| figure.attacker == attacker && figure.measure == *measure)
            };
            let cell = |measure| own(measure).map_or(TableCell::Empty, |figure| show(figure));
            measures.iter().map(cell).collect()
        };
        let mut rows: Vec<Vec<TableCell>> = Vec::new();
        for count in &unanswered {
            let head = [TableCell::Text(count.attacker.clone()), counted(count.unanswered)];
            let shares = of(&count.attacker, share_with_interval);
            rows.push(head.into_iter().chain(shares).collect());
        }
        let head = [TableCell::Text("(best blind guess)".to_owned()), TableCell::Empty];
        let chance = of(&last.attacker, |figure| {
            TableCell::Worded(figure.chance, percent(figure.chance))
        });
        rows.push(head.into_iter().chain(chance).collect());
        let title = format!(
            "{}: {} probes, shares in percent with their intervals",
            kind.label(),
            last.probes
        );
        Some(TableData::new(title, columns).with_rows(rows))
    }
}

/// Whether so much is recovered that more probes would change nothing.
pub(crate) fn is_too_much(figure: &RecoveryRate) -> bool {
    figure.status == RateStatus::Broken && !figure.is_undecided()
}

/// What the verdict makes of a rate, in words.
pub(crate) fn status(figure: &RecoveryRate) -> &'static str {
    match figure.status {
        RateStatus::Holds => "holds",
        RateStatus::Broken if figure.is_undecided() => "not enough probes",
        RateStatus::Broken => "TOO MUCH",
        RateStatus::Shown => "shown openly",
        RateStatus::Reported => "no limit",
    }
}

pub(crate) fn counted(count: u64) -> TableCell {
    TableCell::Count(usize::try_from(count).unwrap_or(usize::MAX))
}

/// `12.3 [10.1, 14.9]`, and `!` where it is above the threshold, `?` where it may be, `=` where the mask shows it.
fn share_with_interval(figure: &RecoveryRate) -> TableCell {
    let mark = match figure.status {
        RateStatus::Broken if figure.is_undecided() => " ?",
        RateStatus::Broken => " !",
        RateStatus::Shown => " =",
        RateStatus::Holds | RateStatus::Reported => "",
    };
    let RateInterval { lower, upper } = figure.interval;
    let shown = format!(
        "{} [{}, {}]{mark}",
        percent(figure.share),
        percent(lower),
        percent(upper)
    );
    TableCell::Worded(figure.share, shown)
}

pub(crate) fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_attack_that_is_shown_has_the_largest_bound_also_where_it_guesses() {
        let figure = |attacker: &str, share: f64, upper: f64| RecoveryRate {
            kind: ProbeKind::ALL[0],
            attacker: attacker.to_owned(),
            measure: Measure::Top1,
            asked: 60,
            hits: 5,
            share,
            chance: 0.05,
            interval: RateInterval { lower: 0.0, upper },
            simultaneous: RateInterval { lower: 0.0, upper },
            threshold: Some(0.1),
            status: RateStatus::Holds,
        };
        let figures = [
            figure("combination", 0.083, 0.177),
            figure(ktd_probes::judge::RANDOM, 0.133, 0.283),
        ];
        let attacks = CountedAttacks {
            figures: &figures,
            unanswered: &[],
        };
        let mut open = figures.clone();
        for figure in &mut open {
            figure.status = RateStatus::Broken;
        }
        let few = CountedAttacks {
            figures: &open,
            unanswered: &[],
        };
        let few = few.deciding_table().text();
        assert!(
            few.contains("not enough probes") && !few.contains("TOO MUCH"),
            "{few}"
        );
        let mut leaks = open.clone();
        for figure in &mut leaks {
            figure.simultaneous.lower = 0.9;
        }
        // Beside what too little was asked of, what leaks is told all the same.
        leaks[0].measure = Measure::Top5;
        let both = [&open[..], &leaks[..]].concat();
        let attacks_of = |figures| CountedAttacks {
            figures,
            unanswered: &[],
        };
        assert_eq!(
            attacks_of(&both).too_much().unwrap(),
            "TOO MUCH is recovered of 2 questions: top1 of day probes 13.3 %, top5 of day probes 8.3 %"
        );
        assert_eq!(attacks_of(&open).too_much(), None);
        let shown = attacks.deciding_table().text();
        assert!(
            shown.contains("random") && !shown.contains("combination"),
            "{shown}"
        );
        assert!(shown.contains("+23"), "{shown}");
    }
}
