//! Rules of structure on trees as Python's parser gives them.

use crate::structure::StructureReport;
use crate::syntax::{SyntaxFact, SyntaxFacts};

/// A node with what stands below it; fields before kinds, as in Python's `ast`.
struct Tree {
    field: &'static str,
    kind: &'static str,
    text: &'static str,
    detail: Option<&'static str>,
    below: Vec<Self>,
}

fn tree(field: &'static str, kind: &'static str, text: &'static str, below: Vec<Tree>) -> Tree {
    Tree {
        field,
        kind,
        text,
        detail: None,
        below,
    }
}

fn name(field: &'static str, text: &'static str) -> Tree {
    tree(field, "Name", text, Vec::new())
}

fn constant(field: &'static str, text: &'static str, kind: &'static str) -> Tree {
    Tree {
        detail: Some(kind),
        ..tree(field, "Constant", text, Vec::new())
    }
}

/// `value.method`.
fn attribute(field: &'static str, mut value: Tree, method: &'static str) -> Tree {
    value.field = "value";
    tree(field, "Attribute", method, vec![value])
}

/// `called(arguments)`.
fn call(mut called: Tree, arguments: Vec<Tree>) -> Tree {
    called.field = "func";
    let mut below = vec![called];
    below.extend(arguments);
    tree("value", "Call", "", below)
}

fn add(nodes: &mut Vec<SyntaxFact>, parent: Option<usize>, tree: Tree) {
    let place = nodes.len();
    nodes.push(SyntaxFact {
        parent,
        field: parent.map(|_| tree.field.to_owned()),
        place: None,
        kind: tree.kind.to_owned(),
        line: Some(3),
        text: Some(tree.text.to_owned()),
        detail: tree.detail.map(str::to_owned),
    });
    for below in tree.below {
        add(nodes, Some(place), below);
    }
}

/// The violations of a function `alpha_a` with these statements.
fn codes(statements: Vec<Tree>) -> Vec<&'static str> {
    let function = tree("body", "FunctionDef", "alpha_a", statements);
    let mut nodes = Vec::new();
    add(&mut nodes, None, tree("", "Module", "", vec![function]));
    StructureReport::of(&SyntaxFacts::new(nodes).unwrap(), "alpha_a").codes()
}

fn returned(mut value: Tree) -> Vec<Tree> {
    value.field = "value";
    vec![tree("body", "Return", "", vec![value])]
}

fn windows() -> Tree {
    call(attribute("func", name("value", "c"), "rolling"), Vec::new())
}

fn own_function() -> Tree {
    tree("args", "Lambda", "", Vec::new())
}

#[test]
fn loops_and_comprehensions_are_loops() {
    assert_eq!(codes(vec![tree("body", "For", "", Vec::new())]), ["loop"]);
    assert_eq!(
        codes(returned(tree("value", "ListComp", "", Vec::new()))),
        ["loop"]
    );
    assert_eq!(
        codes(returned(call(
            attribute("func", name("value", "df"), "iterrows"),
            Vec::new()
        ))),
        ["loop"]
    );
}

#[test]
fn a_function_may_be_applied_to_windows_alone() {
    let applied = |value: Tree, first: Tree| returned(call(attribute("func", value, "apply"), vec![first]));
    assert!(codes(applied(windows(), own_function())).is_empty());
    assert_eq!(
        codes(applied(name("value", "c"), own_function())),
        ["hidden_loop"]
    );
    assert!(codes(applied(name("value", "c"), constant("args", "mean", "str"))).is_empty());
    let of_numpy = attribute("args", name("value", "np"), "sqrt");
    assert!(codes(applied(name("value", "c"), of_numpy)).is_empty());
    // r = c.rolling(); r.apply(f)
    let assigned = tree("body", "Assign", "", vec![name("targets", "r"), windows()]);
    let mut statements = vec![assigned];
    statements.extend(applied(name("value", "r"), own_function()));
    assert!(codes(statements).is_empty());
}

#[test]
fn an_apply_along_rows_is_a_loop() {
    let along = |value: Tree| {
        let axis = tree("keywords", "keyword", "axis", vec![value]);
        returned(call(
            attribute("func", name("value", "df"), "apply"),
            vec![own_function(), axis],
        ))
    };
    assert_eq!(codes(along(constant("value", "1", "int"))), ["loop"]);
    assert_eq!(codes(along(constant("value", "columns", "str"))), ["loop"]);
    assert_eq!(codes(along(constant("value", "0", "int"))), ["hidden_loop"]);
    assert_eq!(codes(along(constant("value", "1", "str"))), ["hidden_loop"]);
}

#[test]
fn loops_behind_names_and_code_from_text_are_found() {
    let called = |function: &'static str| returned(call(name("func", function), Vec::new()));
    assert_eq!(codes(called("map")), ["hidden_loop"]);
    assert_eq!(codes(called("eval")), ["dynamic_code"]);
    assert_eq!(codes(called("alpha_a")), ["hidden_loop"]);
    assert!(codes(called("helper")).is_empty());
    // from numpy import vectorize as helper
    let alias = Tree {
        detail: Some("helper"),
        ..tree("names", "alias", "vectorize", Vec::new())
    };
    let mut statements = vec![tree("body", "ImportFrom", "numpy", vec![alias])];
    statements.extend(called("helper"));
    assert_eq!(codes(statements), ["hidden_loop"]);
}

#[test]
fn a_list_that_is_no_tree_is_refused() {
    assert!(SyntaxFacts::new(Vec::new()).is_err());
    let node = |parent| SyntaxFact {
        parent,
        field: None,
        place: None,
        kind: "Module".to_owned(),
        line: None,
        text: None,
        detail: None,
    };
    assert!(SyntaxFacts::new(vec![node(Some(0))]).is_err());
    assert!(SyntaxFacts::new(vec![node(None), node(None)]).is_err());
    assert!(SyntaxFacts::new(vec![node(None), node(Some(2)), node(Some(0))]).is_err());
    assert!(SyntaxFacts::new(vec![node(None), node(Some(0))]).is_ok());
}
