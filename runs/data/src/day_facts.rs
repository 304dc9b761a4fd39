//! What sources say of single days: that no day is such a one is not that nothing is known of it.

use super::columns::Column;
use super::source::Source;
use super::source_forms::SourceForm;
use ktd_env::Market;
use ktd_view::table::grouped;
use schemars::JsonSchema;
use serde::Serialize;

/// Fact of single days, and how often the panel has it.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct DayFact {
    /// What it is.
    pub fact: &'static str,
    /// How often; left out where no source says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<usize>,
}

impl DayFact {
    /// The count, `none`, or `unknown`.
    #[must_use]
    pub fn text(&self) -> String {
        match self.count {
            None => "unknown: no source says it".to_owned(),
            Some(0) => "none".to_owned(),
            Some(count) => grouped(count),
        }
    }
}

/// Which facts sources of prices and files beside them can say.
#[derive(Debug, Clone, Copy)]
pub(super) struct SaidOfDays {
    halts: bool,
    st: bool,
    dividends: bool,
}

impl SaidOfDays {
    /// Of sources of prices, and whether a file of statuses and one of dividends stand beside them.
    pub(super) fn of(prices: &[(Source, Option<usize>)], [statuses, paid]: [bool; 2]) -> Self {
        let all_have = |columns: &[Column]| {
            let has = |source: &Source| columns.iter().any(|column| source.has(*column));
            prices.iter().all(|(source, _)| has(source))
        };
        Self {
            halts: all_have(&[Column::Suspended, Column::Trading]),
            st: all_have(&[Column::St]) || statuses,
            dividends: all_have(&[Column::Dividend]) || paid,
        }
    }

    /// The facts of a panel. What was found is known also where no column is of it, such as a day without volume.
    pub(super) fn facts(self, market: &Market) -> Vec<DayFact> {
        let halts = market.names().flat_map(|(name, _)| market.bars_of(name));
        let halts = halts.filter(|(_, bar)| bar.volume == 0).count();
        let st = market.names().filter(|(_, info)| !info.st.is_empty()).count();
        let dividends = market.names().map(|(_, info)| info.dividends.len()).sum();
        let known = |fact, is_said: bool, count: usize| DayFact {
            fact,
            count: (is_said || 0 < count).then_some(count),
        };
        vec![
            known("days of a stock without trading", self.halts, halts),
            known("stocks that were ST", self.st, st),
            known("dividends", self.dividends, dividends),
        ]
    }
}

/// What is said of facts that some files of prices have and some do not, whose stocks would pass for such that never had one; not of
/// what files beside them have.
pub(super) fn said_in_part(forms: &[SourceForm], [statuses, paid]: [bool; 2]) -> Vec<String> {
    let halts = &[Column::Suspended, Column::Trading][..];
    let facts = [
        (halts, false, "halts", "a day without volume is a halt"),
        (&[Column::St], statuses, "ST flags", "no stock is ST on any day"),
        (&[Column::Dividend], paid, "dividends", "no stock pays one"),
    ];
    let prices: Vec<&SourceForm> = forms
        .iter()
        .filter(|form| form.taken(Column::Close).is_some())
        .collect();
    let files = |forms: &mut dyn Iterator<Item = &&SourceForm>| forms.map(|form| form.files).sum::<usize>();
    let all = files(&mut prices.iter());
    let in_part = facts
        .into_iter()
        .filter_map(|(columns, is_beside, fact, instead)| {
            let has = |form: &SourceForm| columns.iter().any(|column| form.taken(*column).is_some());
            let with = files(&mut prices.iter().filter(|form| has(form)));
            (0 < with && with < all && !is_beside)
                .then(|| format!("{fact} are in {with} of {all} files: in the others {instead}"))
        });
    in_part.collect()
}
