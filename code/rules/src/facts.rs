//! The syntax tree of a source, as Python's own parser reads it.

use serde::Deserialize;

/// One node of a syntax tree, named as in Python's `ast`; written as the list of its fields.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct SyntaxNode {
    /// The node that holds it, by its place in the list; none for the module.
    pub parent: Option<usize>,
    /// The field of the parent that it stands in, such as `body` or `args`.
    pub field: Option<String>,
    /// Its place in that field, where the field is a list.
    pub place: Option<u64>,
    /// Its kind, such as `FunctionDef` or `For`.
    pub kind: String,
    /// The line that it begins on, from 1.
    pub line: Option<u64>,
    /// The line that it ends on.
    pub last_line: Option<u64>,
    /// The name that it holds, or the text of a constant, cut after 1,000 letters.
    pub text: Option<String>,
    /// What stands beside the name: another name of an import, the type of a constant.
    pub detail: Option<String>,
}
