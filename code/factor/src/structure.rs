//! Layer 4: whether a source is vectorised, from its syntax tree.

use crate::syntax::{NodePlace, SyntaxFacts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What breaks the rule that a factor is vectorised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Violation {
    /// A loop, a comprehension, or a function applied row by row.
    Loop,
    /// A loop behind a call: `np.vectorize`, `map`, a function given to `apply`, recursion.
    HiddenLoop,
    /// Code that is made while it runs.
    DynamicCode,
}

impl Violation {
    /// The word that records hold.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Loop => "loop",
            Self::HiddenLoop => "hidden_loop",
            Self::DynamicCode => "dynamic_code",
        }
    }
}

/// The violations of a source with the first line of each, and what is reported beside them.
#[derive(Debug, Clone, PartialEq, Eq, Default, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StructureReport {
    /// Each kind of violation, with the lines where it stands.
    pub violations: BTreeMap<Violation, BTreeSet<u64>>,
    /// Whether the chosen function says in a docstring what it means.
    pub has_docstring: bool,
    /// Functions of the module itself.
    pub top_functions: usize,
}

impl StructureReport {
    /// What the tree of a source says; the function is the chosen one's name.
    #[must_use]
    pub fn of(facts: &SyntaxFacts, function: &str) -> Self {
        let mut reader = Reader::new(facts);
        for place in facts.places() {
            reader.read(place);
        }
        let chosen = facts
            .top_functions()
            .filter(|place| facts.text(*place) == function);
        Self {
            violations: reader.violations,
            has_docstring: chosen.last().is_some_and(|place| has_docstring(facts, place)),
            top_functions: facts.top_functions().count(),
        }
    }

    /// Whether there is no violation.
    #[must_use]
    pub fn is_vectorised(&self) -> bool {
        self.violations.is_empty()
    }

    /// The words of the violations, in the order of the alphabet.
    #[must_use]
    pub fn codes(&self) -> Vec<&'static str> {
        let mut codes: Vec<&'static str> = self.violations.keys().map(|kind| kind.code()).collect();
        codes.sort_unstable();
        codes
    }
}

const LOOPS: [&str; 7] = [
    "For",
    "AsyncFor",
    "While",
    "ListComp",
    "SetComp",
    "DictComp",
    "GeneratorExp",
];
/// Methods that hand out one row after the other.
const ROWS: [&str; 3] = ["iterrows", "itertuples", "iteritems"];
/// Functions of numpy that call Python for each element.
const ELEMENTWISE: [&str; 7] = [
    "vectorize",
    "frompyfunc",
    "apply_along_axis",
    "apply_over_axes",
    "fromiter",
    "nditer",
    "ndenumerate",
];
/// Methods that take a function.
const APPLIERS: [&str; 7] = [
    "apply",
    "map",
    "transform",
    "agg",
    "aggregate",
    "applymap",
    "pipe",
];
/// Methods whose result applies a function to windows or groups.
const WINDOWS: [&str; 5] = ["rolling", "expanding", "ewm", "groupby", "resample"];
/// Functions by their bare names.
const LOOPING_NAMES: [&str; 6] = ["map", "filter", "reduce", "accumulate", "vectorize", "frompyfunc"];
const DYNAMIC_NAMES: [&str; 4] = ["exec", "eval", "compile", "__import__"];

struct Reader<'a> {
    facts: &'a SyntaxFacts,
    /// Names that stand for windows or groups.
    windows: BTreeSet<&'a str>,
    /// What a name was before it was imported under another.
    imported: BTreeMap<&'a str, &'a str>,
    violations: BTreeMap<Violation, BTreeSet<u64>>,
}

impl<'a> Reader<'a> {
    fn new(facts: &'a SyntaxFacts) -> Self {
        let mut reader = Self {
            facts,
            windows: BTreeSet::new(),
            imported: BTreeMap::new(),
            violations: BTreeMap::new(),
        };
        let mut windows = BTreeSet::new();
        for place in facts.places() {
            if facts.is(place, "Assign") {
                windows.extend(reader.assigned_window(place));
            }
            if facts.is(place, "ImportFrom") {
                for alias in facts.below(place, "names") {
                    let known = facts.node(alias).and_then(|node| node.detail.as_deref());
                    let name = facts.text(alias);
                    reader.imported.insert(known.unwrap_or(name), name);
                }
            }
        }
        reader.windows = windows;
        reader
    }

    /// The name that an assignment gives to windows or groups.
    fn assigned_window(&self, place: NodePlace) -> Option<&'a str> {
        let mut targets = self.facts.below(place, "targets");
        let (Some(target), None) = (targets.next(), targets.next()) else {
            return None;
        };
        let value = self.facts.first_below(place, "value")?;
        let is_window = self.facts.is(target, "Name") && self.is_of_windows(value);
        is_window.then(|| self.facts.text(target))
    }

    /// Whether a chain of calls and attributes goes through windows or groups, or begins with a name that stands for some.
    fn is_of_windows(&self, place: NodePlace) -> bool {
        let facts = self.facts;
        let mut at = Some(place);
        while let Some(place) = at {
            at = match facts.kind(place) {
                "Call" => facts.first_below(place, "func"),
                "Attribute" if WINDOWS.contains(&facts.text(place)) => return true,
                "Attribute" | "Subscript" => facts.first_below(place, "value"),
                "Name" => return self.windows.contains(facts.text(place)),
                _ => None,
            };
        }
        false
    }

    fn add(&mut self, violation: Violation, place: NodePlace) {
        let line = self.facts.line(place);
        self.violations.entry(violation).or_default().insert(line);
    }

    fn read(&mut self, place: NodePlace) {
        let facts = self.facts;
        if LOOPS.contains(&facts.kind(place)) {
            self.add(Violation::Loop, place);
        }
        if !facts.is(place, "Call") {
            return;
        }
        let Some(called) = facts.first_below(place, "func") else {
            return;
        };
        match facts.kind(called) {
            "Attribute" => self.read_method(place, called),
            "Name" => self.read_function(place, called),
            _ => {}
        }
    }

    fn read_method(&mut self, call: NodePlace, called: NodePlace) {
        let facts = self.facts;
        let method = facts.text(called);
        let receiver = facts.first_below(called, "value");
        if ROWS.contains(&method) {
            self.add(Violation::Loop, call);
        }
        if ELEMENTWISE.contains(&method) {
            self.add(Violation::HiddenLoop, call);
        }
        let of_windows = receiver.is_some_and(|receiver| self.is_of_windows(receiver));
        if APPLIERS.contains(&method) && !of_windows {
            if self.is_row_wise(call) {
                self.add(Violation::Loop, call);
            } else if method != "pipe" && self.is_given_a_function(call) {
                self.add(Violation::HiddenLoop, call);
            }
        }
        let module = receiver.filter(|place| facts.is(*place, "Name"));
        let of_tools = module.is_some_and(|place| ["functools", "itertools"].contains(&facts.text(place)));
        if ["reduce", "accumulate"].contains(&method) && of_tools {
            self.add(Violation::HiddenLoop, call);
        }
    }

    /// Whether a call has `axis=1` or `axis='columns'`.
    fn is_row_wise(&self, call: NodePlace) -> bool {
        let facts = self.facts;
        let axis = facts
            .below(call, "keywords")
            .find(|keyword| facts.text(*keyword) == "axis");
        let value = axis.and_then(|keyword| facts.first_below(keyword, "value"));
        value.is_some_and(|value| {
            let kind = facts.node(value).and_then(|node| node.detail.as_deref());
            facts.is(value, "Constant")
                && match kind {
                    Some("str") => facts.text(value) == "columns",
                    // Python's True and 1.0 are equal to 1
                    _ => ["1", "1.0", "True"].contains(&facts.text(value)),
                }
        })
    }

    /// Whether the first argument is a function of the source: neither a constant nor one of numpy or `math`.
    fn is_given_a_function(&self, call: NodePlace) -> bool {
        let facts = self.facts;
        facts.first_below(call, "args").is_some_and(|first| {
            let module = facts.first_below(first, "value");
            let of_module = module.is_some_and(|place| {
                facts.is(place, "Name") && ["np", "numpy", "math"].contains(&facts.text(place))
            });
            !(facts.is(first, "Constant") || facts.is(first, "Attribute") && of_module)
        })
    }

    fn read_function(&mut self, call: NodePlace, called: NodePlace) {
        let facts = self.facts;
        let name = facts.text(called);
        let known = self.imported.get(name).copied().unwrap_or(name);
        if LOOPING_NAMES.contains(&known) {
            self.add(Violation::HiddenLoop, call);
        }
        if DYNAMIC_NAMES.contains(&known) {
            self.add(Violation::DynamicCode, call);
        }
        let calls_itself = facts
            .places()
            .filter(|place| facts.is(*place, "FunctionDef") && facts.text(*place) == name)
            .any(|place| facts.is_within(call, place));
        if calls_itself {
            self.add(Violation::HiddenLoop, call);
        }
    }
}

fn has_docstring(facts: &SyntaxFacts, function: NodePlace) -> bool {
    let first = facts.first_below(function, "body");
    let value = first
        .filter(|place| facts.is(*place, "Expr"))
        .and_then(|place| facts.first_below(place, "value"));
    value
        .and_then(|place| facts.node(place))
        .is_some_and(|node| node.kind == "Constant" && node.detail.as_deref() == Some("str"))
}
