//! The syntax tree of a source, as Python's own parser reads it.

use crate::cells::TableCellValue;

/// One node of a syntax tree, named as in Python's `ast`.
#[derive(Debug, Clone, PartialEq, Eq)]
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

/// A node from its cells; `None` where they are of other types, or its parent is no earlier node.
pub(crate) fn read_node(cells: &[TableCellValue], nodes: usize) -> Option<SyntaxNode> {
    let [parent, field, place, kind, line, last_line, text, detail] = cells else {
        return None;
    };
    let parent = match count(parent)? {
        Some(parent) => Some(usize::try_from(parent).ok().filter(|parent| *parent < nodes)?),
        None if nodes == 0 => None,
        None => return None,
    };
    Some(SyntaxNode {
        parent,
        field: name(field)?,
        place: count(place)?,
        kind: name(kind)??,
        line: count(line)?,
        last_line: count(last_line)?,
        text: name(text)?,
        detail: name(detail)?,
    })
}

/// A count or nothing; `None` where it is neither.
#[expect(clippy::option_option, reason = "nothing in a cell is no fault")]
fn count(cell: &TableCellValue) -> Option<Option<u64>> {
    match cell {
        TableCellValue::Missing => Some(None),
        TableCellValue::Whole(value) => u64::try_from(*value).ok().map(Some),
        TableCellValue::Flag(_) | TableCellValue::Number(_) | TableCellValue::Text(_) => None,
    }
}

/// A text or nothing; `None` where it is neither.
#[expect(clippy::option_option, reason = "nothing in a cell is no fault")]
fn name(cell: &TableCellValue) -> Option<Option<String>> {
    match cell {
        TableCellValue::Missing => Some(None),
        TableCellValue::Text(text) => Some(Some(text.clone())),
        TableCellValue::Flag(_) | TableCellValue::Whole(_) | TableCellValue::Number(_) => None,
    }
}
