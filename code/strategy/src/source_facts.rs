//! What a source's syntax tree shows, by the counting rules of the published scores.

use crate::paper_scores::SourceFacts;
use ktd_sandbox::SyntaxNode;
use std::collections::BTreeSet;

/// Packages that count as libraries.
const LIBRARIES: [&str; 4] = ["numpy", "pandas", "talib", "scipy"];
/// Words that speak of the future.
const FUTURE_WORDS: [&str; 4] = ["forward", "future", "next", "peek"];
/// Attributes that speak of missing values.
const EDGE_ATTRIBUTES: [&str; 7] = ["isnan", "isna", "notna", "isnull", "notnull", "dropna", "fillna"];
/// Calls that ask for the time, by the last two names.
const CLOCK_CALLS: [[&str; 2]; 6] = [
    ["datetime", "now"],
    ["datetime", "utcnow"],
    ["datetime", "today"],
    ["date", "today"],
    ["time", "time"],
    ["Timestamp", "now"],
];

/// The facts of a source; `nodes` is its syntax tree, empty where it cannot be parsed.
#[must_use]
pub fn source_facts(source: &str, nodes: &[SyntaxNode]) -> SourceFacts {
    let raw: Vec<&str> = source.split('\n').map(str::trim).collect();
    let mut facts = SourceFacts {
        cyclomatic_complexity: 1,
        lines: raw.iter().filter(|line| !line.is_empty()).count(),
        ..SourceFacts::default()
    };
    if nodes.is_empty() {
        return facts;
    }
    let tree = SyntaxTree::new(nodes);
    let mut draws = Draws::default();
    for place in 0..nodes.len() {
        tree.count_imports(place, &mut facts);
        tree.count_calls(place, &mut facts, &mut draws);
        tree.count_subscripts(place, &mut facts);
        tree.count_branches(place, &mut facts);
    }
    facts.is_unseeded = draws.draws && !draws.is_seeded;
    let documented = tree.docstring_lines();
    let is_comment =
        |(place, line): (usize, &&str)| line.starts_with('#') || documented.contains(&(place as u64 + 1));
    let written = raw.iter().enumerate().filter(|(_, line)| !line.is_empty());
    facts.comment_lines = written.filter(|line| is_comment(*line)).count();
    let lower = source.to_lowercase();
    let spoken = FUTURE_WORDS.into_iter().filter(|word| lower.contains(word));
    facts.future_words = spoken.map(str::to_owned).collect();
    facts
}

/// What numpy's global generator was asked.
#[derive(Debug, Clone, Copy, Default)]
struct Draws {
    draws: bool,
    is_seeded: bool,
}

/// A syntax tree with the children of every node.
struct SyntaxTree<'n> {
    nodes: &'n [SyntaxNode],
    children: Vec<Vec<usize>>,
}

impl<'n> SyntaxTree<'n> {
    fn new(nodes: &'n [SyntaxNode]) -> Self {
        let mut children = vec![Vec::new(); nodes.len()];
        for (place, node) in nodes.iter().enumerate() {
            let own: Option<&mut Vec<usize>> = node.parent.and_then(|parent| children.get_mut(parent));
            if let Some(own) = own {
                own.push(place);
            }
        }
        Self { nodes, children }
    }

    fn kind(&self, place: usize) -> &'n str {
        self.nodes.get(place).map_or("", |node| node.kind.as_str())
    }

    fn text(&self, place: usize) -> &'n str {
        self.nodes
            .get(place)
            .and_then(|node| node.text.as_deref())
            .unwrap_or("")
    }

    /// Nodes in a field of another, in their order.
    fn in_field<'a>(&'a self, place: usize, field: &'a str) -> impl Iterator<Item = usize> + 'a {
        let own = self.children.get(place).map_or(&[][..], Vec::as_slice);
        own.iter().copied().filter(move |child| {
            let node = self.nodes.get(*child);
            node.and_then(|node| node.field.as_deref()) == Some(field)
        })
    }

    fn child(&self, place: usize, field: &str) -> Option<usize> {
        self.in_field(place, field).next()
    }

    /// A number that stands there, negated or not.
    fn constant(&self, place: usize) -> Option<f64> {
        match self.kind(place) {
            "UnaryOp" => {
                let is_minus = self.child(place, "op").map(|op| self.kind(op)) == Some("USub");
                let operand = self.child(place, "operand").filter(|_| is_minus)?;
                Some(-self.number(operand)?)
            }
            _ => self.number(place),
        }
    }

    fn number(&self, place: usize) -> Option<f64> {
        let node = self.nodes.get(place).filter(|node| node.kind == "Constant")?;
        let is_number = matches!(node.detail.as_deref(), Some("int" | "float"));
        node.text
            .as_deref()
            .filter(|_| is_number)
            .and_then(|text| text.parse().ok())
    }

    /// The names of `a.b.c`, in order; what is no name is left out.
    fn dotted(&self, place: usize) -> Vec<&'n str> {
        let mut names = Vec::new();
        let mut at = Some(place);
        while let Some(place) = at {
            match self.kind(place) {
                "Attribute" => {
                    names.push(self.text(place));
                    at = self.child(place, "value");
                }
                kind => {
                    if kind == "Name" {
                        names.push(self.text(place));
                    }
                    at = None;
                }
            }
        }
        names.reverse();
        names
    }

    fn count_imports(&self, place: usize, facts: &mut SourceFacts) {
        let modules: Vec<&str> = match self.kind(place) {
            "Import" => self
                .in_field(place, "names")
                .map(|name| self.text(name))
                .collect(),
            "ImportFrom" => vec![self.text(place)],
            _ => return,
        };
        let roots = modules
            .into_iter()
            .map(|module| module.split('.').next().unwrap_or(module));
        for root in roots {
            facts.imports_random |= root == "random";
            facts.imports_libraries |= LIBRARIES.contains(&root);
        }
    }

    fn count_calls(&self, place: usize, facts: &mut SourceFacts, draws: &mut Draws) {
        let Some(function) = self.child(place, "func").filter(|_| self.kind(place) == "Call") else {
            return;
        };
        let names = self.dotted(function);
        if let [.., "np" | "numpy", "random", drawn] = names.as_slice() {
            let has_arguments = self
                .in_field(place, "args")
                .chain(self.in_field(place, "keywords"))
                .next();
            let is_generator = matches!(*drawn, "default_rng" | "RandomState") && has_arguments.is_some();
            if *drawn == "seed" || is_generator {
                draws.is_seeded = true;
            } else {
                draws.draws = true;
            }
        }
        if let [.., owner, called] = names.as_slice() {
            facts.reads_clock |= CLOCK_CALLS.contains(&[*owner, *called]);
        }
        if self.kind(function) != "Attribute" {
            return;
        }
        let arguments: Vec<usize> = self.in_field(place, "args").collect();
        let keyword = |name: &str| {
            let mut keywords = self.in_field(place, "keywords");
            keywords.find(|keyword| self.text(*keyword) == name)
        };
        match self.text(function) {
            "shift" => {
                let named = keyword("periods").and_then(|keyword| self.child(keyword, "value"));
                let periods = arguments.first().copied().into_iter().chain(named);
                let is_negative = periods
                    .filter_map(|value| self.constant(value))
                    .any(|value| value < 0.0);
                facts.negative_shifts += usize::from(is_negative);
            }
            "rolling" if arguments.len() < 2 && keyword("min_periods").is_none() => facts.open_rollings += 1,
            _ => {}
        }
    }

    fn count_subscripts(&self, place: usize, facts: &mut SourceFacts) {
        let Some(slice) = self
            .child(place, "slice")
            .filter(|_| self.kind(place) == "Subscript")
        else {
            return;
        };
        match self.kind(slice) {
            "BinOp" => facts.future_indices += usize::from(self.is_name_plus_constant(slice)),
            "Slice" => {
                let step = self.child(slice, "step").and_then(|step| self.constant(step));
                facts.reversed_slices += usize::from(step.is_some_and(|step| step < 0.0));
            }
            _ => {}
        }
    }

    fn is_name_plus_constant(&self, place: usize) -> bool {
        let is_sum = self.child(place, "op").map(|op| self.kind(op)) == Some("Add");
        let sides = self.child(place, "left").zip(self.child(place, "right"));
        let is_later = |(name, constant): (usize, usize)| {
            self.kind(name) == "Name" && self.constant(constant).is_some_and(|value| value > 0.0)
        };
        is_sum && sides.is_some_and(|(left, right)| is_later((left, right)) || is_later((right, left)))
    }

    fn count_branches(&self, place: usize, facts: &mut SourceFacts) {
        match self.kind(place) {
            "ClassDef" => facts.classes.push(self.text(place).to_owned()),
            "Constant" => {
                let is_other = |value: f64| value != 0.0 && value.to_bits() != 1.0_f64.to_bits();
                facts.numbers += usize::from(self.number(place).is_some_and(is_other));
            }
            "If" | "IfExp" => {
                facts.conditionals += 1;
                facts.cyclomatic_complexity += 1;
            }
            "For" | "While" | "ExceptHandler" => facts.cyclomatic_complexity += 1,
            "comprehension" => {
                let conditions = self.in_field(place, "ifs").count();
                facts.conditionals += conditions;
                facts.cyclomatic_complexity += 1 + conditions;
            }
            "BoolOp" => {
                facts.cyclomatic_complexity += self.in_field(place, "values").count().saturating_sub(1);
            }
            "Try" => facts.handles_edges = true,
            "Attribute" => facts.handles_edges |= EDGE_ATTRIBUTES.contains(&self.text(place)),
            _ => {}
        }
    }

    /// Lines of docstrings, from 1.
    fn docstring_lines(&self) -> BTreeSet<u64> {
        let owners = (0..self.nodes.len())
            .filter(|place| matches!(self.kind(*place), "Module" | "ClassDef" | "FunctionDef"));
        let docstrings = owners.filter_map(|owner| {
            let first = self
                .child(owner, "body")
                .filter(|first| self.kind(*first) == "Expr")?;
            let value = self.nodes.get(self.child(first, "value")?)?;
            let is_text = value.kind == "Constant" && value.detail.as_deref() == Some("str");
            self.nodes.get(first).filter(|_| is_text)
        });
        docstrings
            .filter_map(|node| Some(node.line?..=node.last_line?))
            .flatten()
            .collect()
    }
}
