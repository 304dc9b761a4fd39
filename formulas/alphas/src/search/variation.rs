//! How a genetic search makes new formulas of old ones.

use super::genetic_settings::GeneticSettings;
use super::growth::{BINARY, FormulaGrowth, PAIRED, UNARY, WINDOWED, picked, place_below};
use super::parts::{changed, is_series, series};
use ktd_env::KeyedStream;
use ktd_expressions::{Formula, FormulaOperator};

impl GeneticSettings {
    /// A child; `parent` chooses one that may have children.
    pub(super) fn child<'p>(
        &self,
        growth: &FormulaGrowth,
        stream: &mut KeyedStream,
        mut parent: impl FnMut(&mut KeyedStream) -> &'p Formula,
    ) -> Formula {
        let mother = parent(stream);
        let total = self.crossover + self.subtree + self.hoist + self.point + self.insertion;
        let way = stream.uniform() * total;
        if way < self.crossover {
            let father = parent(stream);
            let graft = random_part(father, stream).clone();
            return with_random_part(mother, stream, &mut |_, _| graft.clone());
        }
        if way < self.crossover + self.subtree {
            return with_random_part(mother, stream, &mut |_, stream| growth.part(stream));
        }
        if way < self.crossover + self.subtree + self.hoist {
            return with_random_part(mother, stream, &mut |part, stream| {
                random_part(part, stream).clone()
            });
        }
        if way < self.crossover + self.subtree + self.hoist + self.point {
            return with_other_node(mother, growth, stream);
        }
        with_random_part(mother, stream, &mut |part, stream| growth.above(part, stream))
    }
}

fn random_part<'f>(formula: &'f Formula, stream: &mut KeyedStream) -> &'f Formula {
    let parts = series(formula);
    let place = place_below(stream, parts.len());
    parts.get(place).copied().unwrap_or(formula)
}

fn with_random_part(
    formula: &Formula,
    stream: &mut KeyedStream,
    change: &mut dyn FnMut(&Formula, &mut KeyedStream) -> Formula,
) -> Formula {
    let place = place_below(stream, series(formula).len());
    changed(formula, place, is_series, &mut |part| change(part, stream))
}

fn with_other_node(formula: &Formula, growth: &FormulaGrowth, stream: &mut KeyedStream) -> Formula {
    let place = place_below(stream, formula.nodes());
    changed(formula, place, |_| true, &mut |node| match node {
        Formula::Number(_) => other(node, stream, |stream| growth.rows(stream)),
        Formula::Field(_) => other(node, stream, |stream| growth.field(stream)),
        Formula::Apply(operator, parts) => {
            let kinds: [&[FormulaOperator]; 4] = [&UNARY, &BINARY, &WINDOWED, &PAIRED];
            let kind = kinds.into_iter().find(|kind| kind.contains(operator));
            let kind = kind.unwrap_or_default();
            let chosen = other(operator, stream, |stream| {
                picked(stream, kind).unwrap_or(*operator)
            });
            Formula::Apply(chosen, parts.clone())
        }
        Formula::Elsewhere(..) => node.clone(),
    })
}

/// A draw that differs from what is there; after twenty that do not, there is no other one.
fn other<T: PartialEq + Clone>(
    known: &T,
    stream: &mut KeyedStream,
    mut draw: impl FnMut(&mut KeyedStream) -> T,
) -> T {
    const DRAWS: usize = 20;
    let mut drawn = (0..DRAWS).map(|_| draw(stream));
    drawn
        .find(|drawn| drawn != known)
        .unwrap_or_else(|| known.clone())
}

#[cfg(test)]
mod tests {
    use super::GeneticSettings;
    use crate::search::growth::FormulaGrowth;
    use ktd_env::KeyedStream;
    use ktd_expressions::{Formula, FormulaRole, check_formula};
    use std::collections::BTreeSet;

    const NEVER: GeneticSettings = GeneticSettings {
        evaluations: 1,
        population: 1,
        children: 1,
        generations: 1,
        tournament: 1,
        niche: 0.0,
        crossover: 0.0,
        subtree: 0.0,
        hoist: 0.0,
        point: 0.0,
        insertion: 0.0,
    };

    fn parent(text: &str) -> Formula {
        let growth = FormulaGrowth::default();
        let checked = check_formula(text, &growth.fields, FormulaRole::Alpha).unwrap();
        checked.formula().clone()
    }

    fn children(way: GeneticSettings, parents: &[Formula]) -> BTreeSet<String> {
        let growth = FormulaGrowth::default();
        let mut stream = KeyedStream::for_purpose(5, "children");
        let mut made = BTreeSet::new();
        for _ in 0..2_000 {
            let mut turn = 0;
            let child = way.child(&growth, &mut stream, |_| {
                turn += 1;
                &parents[(turn - 1) % parents.len()]
            });
            let text = child.to_string();
            let checked = check_formula(&text, &growth.fields, FormulaRole::Alpha).unwrap();
            assert_eq!(checked.canonical(), text);
            made.insert(text);
        }
        made
    }

    #[test]
    fn each_way_makes_its_own_children() {
        let mother = parent("Sub(Mean($open,5),$close)");
        let father = parent("Abs($low)");
        let crossed = children(
            GeneticSettings {
                crossover: 1.0,
                ..NEVER
            },
            &[mother.clone(), father.clone()],
        );
        let expected = [
            "$low",
            "Abs($low)",
            "Sub($low,$close)",
            "Sub(Abs($low),$close)",
            "Sub(Mean($low,5),$close)",
            "Sub(Mean(Abs($low),5),$close)",
            "Sub(Mean($open,5),$low)",
            "Sub(Mean($open,5),Abs($low))",
        ];
        assert_eq!(crossed, expected.map(str::to_owned).into());
        let hoisted = children(
            GeneticSettings { hoist: 1.0, ..NEVER },
            std::slice::from_ref(&mother),
        );
        let expected = [
            "$close",
            "$open",
            "Mean($open,5)",
            "Sub($open,$close)",
            "Sub(Mean($open,5),$close)",
        ];
        assert_eq!(hoisted, expected.map(str::to_owned).into());
    }

    #[test]
    fn a_point_changes_one_node_for_another_of_its_kind() {
        let made = children(
            GeneticSettings { point: 1.0, ..NEVER },
            &[parent("Corr(Mean($open,5),$close,10)")],
        );
        assert!(!made.contains("Corr(Mean($open,5),$close,10)"));
        for child in [
            "Cov(Mean($open,5),$close,10)",
            "Corr(Mean($open,5),$close,60)",
            "Corr(Mean($open,20),$close,10)",
            "Corr(Mean($vwap,5),$close,10)",
            "Corr(EMA($open,5),$close,10)",
        ] {
            assert!(made.contains(child), "{child}");
        }
        // One other pair operator, 4 windows twice, 19 window operators and 5 fields twice.
        assert_eq!(made.len(), 1 + 8 + 19 + 10);
    }

    #[test]
    fn an_insertion_sets_one_operator_above_a_part() {
        let way = GeneticSettings {
            insertion: 1.0,
            ..NEVER
        };
        let made = children(way, &[parent("Mean($open,5)")]);
        for child in [
            "Log(Mean($open,5))",
            "Mean(Abs($open),5)",
            "Slope(Mean($open,5),60)",
            "Mean(Delta($open,10),5)",
            "Div(Mean($open,5),$vwap)",
            "Div($vwap,Mean($open,5))",
        ] {
            assert!(made.contains(child), "{child}");
        }
        assert!(made.iter().all(|child| child.contains("$open")));
    }

    #[test]
    fn a_subtree_is_new() {
        let made = children(
            GeneticSettings {
                subtree: 1.0,
                ..NEVER
            },
            &[parent("Sub($open,$close)")],
        );
        assert!(1_000 < made.len(), "{}", made.len());
    }
}
