//! Columns made of other columns' cells: read, shifted, repeated, joined by session.

use crate::cells::{Buffers, Cells};
use crate::element::{converted, shifted};
use crate::kind::CellKind;
use crate::rows::{FieldCells, NameRows};

/// A field's cells in the type of the plan.
pub(crate) fn field(cells: Option<FieldCells<'_>>, kind: CellKind, buffers: &mut Buffers) -> Cells {
    let cells = cells.unwrap_or(FieldCells::Singles(&[]));
    if kind == CellKind::Single {
        let mut out = buffers.singles();
        match cells {
            FieldCells::Singles(cells) => out.extend_from_slice(cells),
            FieldCells::Doubles(cells) => out.extend(cells.iter().map(|cell| crate::casts::single_of(*cell))),
        }
        return Cells::Singles(out);
    }
    let mut out = buffers.doubles();
    out.extend(cells.doubles());
    Cells::Doubles(out)
}

pub(crate) fn shift(cells: &Cells, rows: i64, buffers: &mut Buffers) -> Cells {
    if let Cells::Singles(cells) = cells {
        let mut out = buffers.singles();
        shifted(cells, rows, f32::NAN, &mut out);
        return Cells::Singles(out);
    }
    let mut out = buffers.doubles();
    shifted(cells.doubles(), rows, f64::NAN, &mut out);
    Cells::Doubles(out)
}

/// The first cell on all rows.
pub(crate) fn first(cells: &Cells, buffers: &mut Buffers) -> Cells {
    fn repeated<T: Copy>(cells: &[T], mut out: Vec<T>) -> Vec<T> {
        if let Some(first) = cells.first() {
            out.resize(cells.len(), *first);
        }
        out
    }
    match cells {
        Cells::Booleans(cells) => Cells::Booleans(repeated(cells, buffers.booleans())),
        Cells::Integers(cells) => Cells::Integers(repeated(cells, buffers.integers())),
        Cells::Singles(cells) => Cells::Singles(repeated(cells, buffers.singles())),
        Cells::Doubles(cells) => Cells::Doubles(repeated(cells, buffers.doubles())),
        Cells::Empty | Cells::Pairs(_) | Cells::Sorted(_) => Cells::Empty,
    }
}

/// Cells of another name on the sessions of this one; sessions that it lacks are missing.
pub(crate) fn aligned(cells: &Cells, name: &NameRows<'_>, other: &NameRows<'_>) -> Cells {
    let sessions = name.first_session()..name.first_session() + name.rows();
    let rows = sessions.map(|session| session.checked_sub(other.first_session()));
    if let Cells::Singles(cells) = cells {
        let at = |row: Option<usize>| row.and_then(|row| cells.get(row)).copied().unwrap_or(f32::NAN);
        return Cells::Singles(rows.map(at).collect());
    }
    let wide = converted(cells, CellKind::Double, &mut Buffers::default());
    let at = |row: Option<usize>| {
        row.and_then(|row| wide.doubles().get(row))
            .copied()
            .unwrap_or(f64::NAN)
    };
    Cells::Doubles(rows.map(at).collect())
}
