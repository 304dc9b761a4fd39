//! The syntax tree of a source as a list of nodes: what a `facts` job gives back. Python's own parser made it, nothing of
//! the source was run.

use crate::error::FactorCodeError;

/// One node of a syntax tree. The list begins with the module and holds each node after the one that holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxFact {
    /// The place of the node that holds it; none for the module.
    pub parent: Option<usize>,
    /// The field of that node that it stands in, as Python's `ast` names it: `body`, `func`, `args`.
    pub field: Option<String>,
    /// Its place in that field, where the field is a list.
    pub place: Option<u64>,
    /// Its kind, as Python's `ast` names it: `FunctionDef`, `For`, `Call`.
    pub kind: String,
    /// The line that it begins on, from 1.
    pub line: Option<u64>,
    /// The name that it holds (`id`, `attr`, `name`, `arg`, `module`), or a constant: a text as it is, anything else as
    /// Python's `repr` writes it.
    pub text: Option<String>,
    /// The other name of an import; the type of a constant, such as `str` or `int`.
    pub detail: Option<String>,
}

/// A syntax tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxFacts {
    nodes: Vec<SyntaxFact>,
    children: Vec<Vec<usize>>,
}

/// The place of a node.
pub(crate) type NodePlace = usize;

impl SyntaxFacts {
    /// A tree of its nodes.
    ///
    /// # Errors
    /// [`FactorCodeError::Facts`] where there is no node, or one does not follow the node that holds it.
    pub fn new(nodes: Vec<SyntaxFact>) -> Result<Self, FactorCodeError> {
        let invalid = |place: usize, problem: &str| FactorCodeError::Facts {
            problem: format!("node {place} {problem}"),
        };
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
        for (place, node) in nodes.iter().enumerate() {
            match node.parent {
                None if place == 0 => {}
                None => return Err(invalid(place, "has no node that holds it")),
                Some(parent) if place <= parent => {
                    return Err(invalid(place, "stands before the node that holds it"));
                }
                Some(parent) => {
                    if let Some(known) = children.get_mut(parent) {
                        known.push(place);
                    }
                }
            }
        }
        if nodes.is_empty() {
            return Err(invalid(0, "is missing"));
        }
        Ok(Self { nodes, children })
    }

    /// All places, holders first.
    pub(crate) fn places(&self) -> impl Iterator<Item = NodePlace> {
        0..self.nodes.len()
    }

    pub(crate) fn node(&self, place: NodePlace) -> Option<&SyntaxFact> {
        self.nodes.get(place)
    }

    pub(crate) fn kind(&self, place: NodePlace) -> &str {
        self.node(place).map_or("", |node| node.kind.as_str())
    }

    pub(crate) fn text(&self, place: NodePlace) -> &str {
        self.node(place)
            .and_then(|node| node.text.as_deref())
            .unwrap_or("")
    }

    pub(crate) fn line(&self, place: NodePlace) -> u64 {
        self.node(place).and_then(|node| node.line).unwrap_or(0)
    }

    /// The nodes of a field, in order.
    pub(crate) fn below<'a>(
        &'a self,
        place: NodePlace,
        field: &'a str,
    ) -> impl Iterator<Item = NodePlace> + 'a {
        let children = self.children.get(place).map_or(&[][..], Vec::as_slice);
        children
            .iter()
            .copied()
            .filter(move |child| self.node(*child).and_then(|node| node.field.as_deref()) == Some(field))
    }

    /// The first node of a field.
    pub(crate) fn first_below(&self, place: NodePlace, field: &str) -> Option<NodePlace> {
        self.below(place, field).next()
    }

    /// Whether a node is of a kind.
    pub(crate) fn is(&self, place: NodePlace, kind: &str) -> bool {
        self.kind(place) == kind
    }

    /// Whether a node stands within another, at any depth.
    pub(crate) fn is_within(&self, place: NodePlace, holder: NodePlace) -> bool {
        let holders = std::iter::successors(Some(place), |at| self.node(*at)?.parent);
        holders.skip(1).any(|at| at == holder)
    }

    /// The functions of the module itself, in order.
    pub(crate) fn top_functions(&self) -> impl Iterator<Item = NodePlace> + '_ {
        self.below(0, "body")
            .filter(|place| self.is(*place, "FunctionDef"))
    }
}
