//! The panel file: one little-endian block that is read in one go, closed by its BLAKE3.

use super::basis::PriceBasis;
use super::panel_bytes::{Reader, Sink, Writer};
use super::panel_format::{DATED_SECTORS, FIRST_FORMAT, FORMAT_VERSION, PanelFormatError};
use super::{
    AbsentMember, CashDividend, Columns, DatedSector, DatedStatus, DayIndex, IndexSeries, Market, NameInfo,
    PriceGrid, TradingStatus,
};
use crate::day::DateSpan;

const MAGIC: &[u8; 8] = b"KTDPANEL";
const HASH_LEN: usize = 32;

impl Market {
    /// The panel file's bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        // Prices, volume, amount, factor and change of one cell take 44 bytes; the head is small beside them.
        const CELL_BYTES: usize = 44;
        let mut bytes = Vec::with_capacity(self.columns.close.len().saturating_mul(CELL_BYTES));
        write_body(self, &mut bytes);
        bytes.extend_from_slice(&self.content_hash);
        bytes
    }

    /// Reads a panel file.
    ///
    /// # Errors
    /// [`PanelFormatError`] when the bytes are no panel, of another version, or damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, PanelFormatError> {
        if !bytes.starts_with(MAGIC) {
            return Err(PanelFormatError::Magic);
        }
        let body_len = bytes.len().checked_sub(HASH_LEN).ok_or(PanelFormatError::Hash)?;
        let (body, hash) = bytes.split_at(body_len);
        let mut reader = Reader {
            bytes: body,
            at: MAGIC.len(),
            section: "head",
            format: FORMAT_VERSION,
        };
        let version = reader.u32()?;
        if !(FIRST_FORMAT..=FORMAT_VERSION).contains(&version) {
            return Err(PanelFormatError::Version { found: version });
        }
        reader.format = version;
        let content_hash = blake3::hash(body);
        if content_hash.as_bytes() != hash {
            return Err(PanelFormatError::Hash);
        }
        read_body(&mut reader, *content_hash.as_bytes())
    }
}

pub(super) fn content_hash(market: &Market) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    write_body(market, &mut hasher);
    *hasher.finalize().as_bytes()
}

/// The oldest format that can say all of a panel.
fn format_of(market: &Market) -> u32 {
    let any = |has: fn(&NameInfo) -> bool| market.names.iter().any(has);
    if any(|info| !info.statuses.is_empty() || !info.dividends.is_empty()) {
        FORMAT_VERSION
    } else if any(|info| !info.dated_sectors.is_empty()) || market.total_return_index.is_some() {
        DATED_SECTORS
    } else {
        FIRST_FORMAT
    }
}

fn write_index(out: &mut Writer<'_>, index: &IndexSeries) {
    out.text(&index.code);
    out.column(&index.open, f64::to_le_bytes);
    out.column(&index.close, f64::to_le_bytes);
}

fn write_body(market: &Market, sink: &mut dyn Sink) {
    let format = format_of(market);
    let mut out = Writer(sink);
    out.0.put(MAGIC);
    out.u32(format);
    out.u8(match market.basis {
        PriceBasis::Raw => 0,
        PriceBasis::Adjusted => 1,
    });
    out.u8(u8::from(market.amount_declared));
    out.u8(u8::from(market.calendar_declared));
    out.list(&market.calendar, |out, date| out.date(*date));
    out.list(&market.sectors, |out, sector| out.text(sector));
    out.list(&market.notes, |out, note| out.text(note));
    out.list(&market.factors, |out, factor| out.decimal(*factor));
    out.list(&market.indices, write_index);
    if format > FIRST_FORMAT {
        out.list(market.total_return_index.as_slice(), write_index);
    }
    out.u64(market.price_grid.prices);
    out.u64(market.price_grid.off_grid);
    out.list(&market.absent_members, |out, absent| {
        out.0.put(&absent.ticker.bytes());
        out.spans(&absent.member);
    });
    out.list(&market.names, |out, info| write_name(out, info, format));
    let columns = &market.columns;
    for prices in [&columns.open, &columns.high, &columns.low, &columns.close] {
        out.column(prices, i32::to_le_bytes);
    }
    out.column(&columns.volume, u64::to_le_bytes);
    out.column(&columns.amount, f64::to_le_bytes);
    out.column(&columns.factor, u32::to_le_bytes);
    out.u8(u8::from(columns.change.is_some()));
    if let Some(change) = &columns.change {
        out.column(change, i32::to_le_bytes);
    }
}

fn write_name(out: &mut Writer<'_>, info: &NameInfo, format: u32) {
    out.0.put(&info.ticker.bytes());
    out.list(&info.company_names, |out, name| out.text(name));
    out.u32(info.sector.map_or(0, |sector| u32::from(sector) + 1));
    if format > FIRST_FORMAT {
        out.list(&info.dated_sectors, |out, dated| {
            out.date(dated.span.start);
            out.date(dated.span.end);
            out.u32(u32::from(dated.sector));
        });
    }
    out.u8(u8::from(info.listed.is_some()));
    if let Some(listed) = info.listed {
        out.date(listed);
    }
    out.spans(&info.st);
    if format > DATED_SECTORS {
        out.list(&info.statuses, |out, dated| {
            out.date(dated.span.start);
            out.date(dated.span.end);
            out.u8(match dated.status {
                TradingStatus::Unreformed => 0,
                TradingStatus::DelistingPeriod => 1,
            });
        });
        out.list(&info.dividends, |out, dividend| {
            out.date(dividend.ex_day);
            out.decimal(dividend.yuan_per_share);
        });
    }
    out.spans(&info.member);
    out.u32(info.last_row.0);
    out.u32(info.first.0);
    out.len(info.len);
}

fn read_body(reader: &mut Reader<'_>, content_hash: [u8; 32]) -> Result<Market, PanelFormatError> {
    let basis = match reader.u8()? {
        0 => PriceBasis::Raw,
        1 => PriceBasis::Adjusted,
        _ => return Err(reader.damaged()),
    };
    let amount_declared = reader.flag()?;
    let calendar_declared = reader.flag()?;
    let calendar = reader.list("calendar", Reader::date)?;
    let sectors = reader.list("sectors", Reader::text)?;
    let notes = reader.list("notes", Reader::text)?;
    let factors = reader.list("factors", Reader::decimal)?;
    let indices = reader.list("indices", read_index)?;
    let total_return_index = read_total_return_index(reader)?;
    let price_grid = PriceGrid {
        prices: reader.u64()?,
        off_grid: reader.u64()?,
    };
    let absent_members = reader.list("members", |reader| {
        Ok(AbsentMember {
            ticker: reader.ticker()?,
            member: reader.spans()?,
        })
    })?;
    let mut offset = 0_usize;
    let names = reader.list("names", |reader| {
        let info = read_name(reader, offset)?;
        offset = offset.saturating_add(info.len);
        Ok(info)
    })?;
    let columns = read_columns(reader)?;
    if reader.at != reader.bytes.len() {
        return Err(reader.damaged());
    }
    let factors_f64 = factors.iter().map(|factor| factor.to_f64()).collect();
    let market = Market {
        basis,
        amount_declared,
        calendar_declared,
        calendar,
        names,
        sectors,
        indices,
        total_return_index,
        factors,
        factors_f64,
        columns,
        notes,
        price_grid,
        absent_members,
        content_hash,
    };
    // One market has one file: what an earlier format can say is not written in a later one.
    if is_coherent(&market, offset) && format_of(&market) == reader.format {
        Ok(market)
    } else {
        Err(reader.damaged())
    }
}

fn read_index(reader: &mut Reader<'_>) -> Result<IndexSeries, PanelFormatError> {
    Ok(IndexSeries {
        code: reader.text()?,
        open: reader.column(f64::from_le_bytes)?,
        close: reader.column(f64::from_le_bytes)?,
    })
}

fn read_total_return_index(reader: &mut Reader<'_>) -> Result<Option<IndexSeries>, PanelFormatError> {
    if reader.format == FIRST_FORMAT {
        return Ok(None);
    }
    let mut found = reader.list("indices", read_index)?;
    match (found.pop(), found.is_empty()) {
        (index, true) => Ok(index),
        (_, false) => Err(reader.damaged()),
    }
}

fn read_columns(reader: &mut Reader<'_>) -> Result<Columns, PanelFormatError> {
    reader.section = "prices";
    let mut columns = Columns {
        open: reader.column(i32::from_le_bytes)?,
        high: reader.column(i32::from_le_bytes)?,
        low: reader.column(i32::from_le_bytes)?,
        close: reader.column(i32::from_le_bytes)?,
        volume: reader.column(u64::from_le_bytes)?,
        amount: reader.column(f64::from_le_bytes)?,
        factor: reader.column(u32::from_le_bytes)?,
        change: None,
    };
    if reader.flag()? {
        columns.change = Some(reader.column(i32::from_le_bytes)?);
    }
    Ok(columns)
}

/// Whether the sections fit each other, so that no later look-up can miss.
fn is_coherent(market: &Market, cells: usize) -> bool {
    let days = market.calendar.len();
    let columns = &market.columns;
    let prices = [&columns.open, &columns.high, &columns.low, &columns.close];
    let change_len = columns.change.as_ref().map_or(cells, Vec::len);
    let lens = [
        columns.volume.len(),
        columns.amount.len(),
        columns.factor.len(),
        change_len,
    ];
    let name_fits = |info: &NameInfo| {
        info.first.index().saturating_add(info.len) <= days
            && info.last_row.index() < days
            && info.len > 0
            && info
                .sector
                .is_none_or(|sector| usize::from(sector) < market.sectors.len())
            && info
                .dated_sectors
                .iter()
                .all(|dated| usize::from(dated.sector) < market.sectors.len())
            && info
                .dated_sectors
                .is_sorted_by(|earlier, later| earlier.span.end < later.span.start)
            && info.statuses.is_sorted()
            && info
                .dividends
                .is_sorted_by(|earlier, later| earlier.ex_day < later.ex_day)
            && info
                .dividends
                .iter()
                .all(|dividend| !dividend.yuan_per_share.is_zero())
    };
    let factor_fits = |place: &u32| usize::try_from(*place).is_ok_and(|place| place < market.factors.len());
    market.calendar.is_sorted_by(|earlier, later| earlier < later)
        && market
            .names
            .is_sorted_by(|left, right| left.ticker < right.ticker)
        && market.names.iter().all(name_fits)
        && market
            .indices
            .iter()
            .chain(&market.total_return_index)
            .all(|index| index.open.len() == days && index.close.len() == days)
        && prices
            .iter()
            .all(|column| column.len() == cells && column.iter().all(|&fen| fen >= 0))
        && lens.iter().all(|&len| len == cells)
        && columns.factor.iter().all(factor_fits)
}

fn read_name(reader: &mut Reader<'_>, offset: usize) -> Result<NameInfo, PanelFormatError> {
    let ticker = reader.ticker()?;
    let company_names = reader.list("names", Reader::text)?;
    let sector = match reader.u32()? {
        0 => None,
        place => Some(u16::try_from(place - 1).map_err(|_| reader.damaged())?),
    };
    let dated_sectors = read_dated_sectors(reader)?;
    let listed = if reader.flag()? {
        Some(reader.date()?)
    } else {
        None
    };
    let st = reader.spans()?;
    let (statuses, dividends) = read_dated_facts(reader)?;
    let member = reader.spans()?;
    Ok(NameInfo {
        ticker,
        company_names,
        sector,
        dated_sectors,
        listed,
        st,
        statuses,
        dividends,
        member,
        last_row: DayIndex(reader.u32()?),
        first: DayIndex(reader.u32()?),
        offset,
        len: reader.len()?,
    })
}

fn read_dated_facts(
    reader: &mut Reader<'_>,
) -> Result<(Vec<DatedStatus>, Vec<CashDividend>), PanelFormatError> {
    if reader.format <= DATED_SECTORS {
        return Ok((Vec::new(), Vec::new()));
    }
    let statuses = reader.list("names", |reader| {
        let span = DateSpan {
            start: reader.date()?,
            end: reader.date()?,
        };
        let status = match reader.u8()? {
            0 => TradingStatus::Unreformed,
            1 => TradingStatus::DelistingPeriod,
            _ => return Err(reader.damaged()),
        };
        Ok(DatedStatus { span, status })
    })?;
    let dividends = reader.list("names", |reader| {
        Ok(CashDividend {
            ex_day: reader.date()?,
            yuan_per_share: reader.decimal()?,
        })
    })?;
    Ok((statuses, dividends))
}

fn read_dated_sectors(reader: &mut Reader<'_>) -> Result<Vec<DatedSector>, PanelFormatError> {
    if reader.format == FIRST_FORMAT {
        return Ok(Vec::new());
    }
    reader.list("names", |reader| {
        let span = DateSpan {
            start: reader.date()?,
            end: reader.date()?,
        };
        let sector = u16::try_from(reader.u32()?).map_err(|_| reader.damaged())?;
        Ok(DatedSector { span, sector })
    })
}
