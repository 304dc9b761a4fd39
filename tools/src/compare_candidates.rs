//! `compare_candidates`: a grid of a few names.

use crate::args::{CompareArguments, Dimension};
use crate::context::ToolContext;
use crate::facts::{Facts, flags};
use crate::fault::{Fault, unknown_stock};
use crate::masked_factor_view::MaskedFactorView;
use crate::state::{count_of, unrealised_return};
use ktd_env::NameId;
use ktd_env::factors::{Factor, Technical};
use ktd_masking::{Payload, PointerPart};
use std::collections::BTreeSet;

pub(crate) fn answer(context: &ToolContext<'_>, arguments: &CompareArguments) -> Result<Payload, Vec<Fault>> {
    let names = names(context, &arguments.stock_ids)?;
    let dimensions: Vec<Dimension> = match &arguments.dimensions {
        Some(dimensions) => distinct(dimensions)?,
        None => Factor::ALL.map(Dimension::Factor).to_vec(),
    };
    let masked = masked(context, &dimensions);
    let mut columns = vec!["stock_id", "board"];
    for dimension in &dimensions {
        match dimension {
            Dimension::Factor(factor) => columns.extend(masked.factor_columns(*factor)),
            Dimension::Technical(technical) => columns.push(masked.technical_name(*technical)),
            Dimension::Close | Dimension::Weight | Dimension::UnrealisedReturn => {
                columns.push(dimension.name());
            }
        }
    }
    columns.push("flags");
    let rows = names.into_iter().filter_map(|name| {
        let facts = Facts::of(context, name)?;
        let mut row = vec![context.mask.asset(name), context.board(name)];
        for dimension in &dimensions {
            push_cells(&masked, context, (name, &facts), *dimension, &mut row);
        }
        row.push(flags(context, name, &facts));
        Some(row)
    });
    Ok(Payload::sparse_table(&columns, rows))
}

fn masked<'a>(context: &'a ToolContext<'a>, dimensions: &[Dimension]) -> MaskedFactorView<'a> {
    let (mut factors, mut technicals): (Vec<Factor>, Vec<Technical>) = (Vec::new(), Vec::new());
    for dimension in dimensions {
        match dimension {
            Dimension::Factor(factor) => factors.push(*factor),
            Dimension::Technical(technical) => technicals.push(*technical),
            Dimension::Close | Dimension::Weight | Dimension::UnrealisedReturn => {}
        }
    }
    MaskedFactorView::of(context, &factors, &technicals)
}

/// The names in the order asked for.
fn names(context: &ToolContext<'_>, texts: &[String]) -> Result<Vec<NameId>, Vec<Fault>> {
    let most = usize::try_from(context.limits.max_compare).unwrap_or(usize::MAX);
    if most < texts.len() {
        let fault = Fault::new("too_many", "a shorter list", "compare fewer names at once")
            .with("most", count_of(context.limits.max_compare));
        return Err(vec![fault.at([PointerPart::Field("stock_ids")])]);
    }
    let mut names = Vec::with_capacity(texts.len());
    let mut faults = Vec::new();
    for (place, text) in texts.iter().enumerate() {
        let pointer = [PointerPart::Field("stock_ids"), PointerPart::Index(place)];
        match context.resolve(text) {
            None => faults.push(unknown_stock(pointer)),
            Some(name) if names.contains(&name) => faults
                .push(Fault::new("duplicate", "different stock ids", "name each stock once").at(pointer)),
            Some(name) => names.push(name),
        }
    }
    if faults.is_empty() { Ok(names) } else { Err(faults) }
}

pub(crate) fn distinct(dimensions: &[Dimension]) -> Result<Vec<Dimension>, Vec<Fault>> {
    let names: BTreeSet<&str> = dimensions.iter().map(|dimension| dimension.name()).collect();
    if names.len() == dimensions.len() {
        return Ok(dimensions.to_vec());
    }
    let fault = Fault::new("duplicate", "different dimensions", "name each dimension once");
    Err(vec![fault.at([PointerPart::Field("dimensions")])])
}

fn push_cells(
    masked: &MaskedFactorView<'_>,
    context: &ToolContext<'_>,
    (name, facts): (NameId, &Facts),
    dimension: Dimension,
    row: &mut Vec<Payload>,
) {
    match dimension {
        Dimension::Factor(factor) => row.extend(masked.factor_cells(name, factor)),
        Dimension::Technical(technical) => row.push(masked.technical(name, technical)),
        Dimension::Close => row.push(
            context
                .mask
                .price(context.as_of, name, facts.last.adjusted_close()),
        ),
        Dimension::Weight => row.push(context.mask.weight(context.weight_of(name))),
        Dimension::UnrealisedReturn => {
            let holding = context.account.holding(name);
            row.push(holding.map_or_else(Payload::null, |held| unrealised_return(context, held, facts)));
        }
    }
}
