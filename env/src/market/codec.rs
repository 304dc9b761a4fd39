//! The panel file: one little-endian block that is read in one go, closed by its BLAKE3.

use super::builder::PriceBasis;
use super::{AbsentMember, Columns, DayIndex, IndexSeries, Market, NameInfo, PriceGrid};
use crate::day::{DateSpan, TradeDate};
use crate::decimal::Decimal;
use crate::ticker::Ticker;

const MAGIC: &[u8; 8] = b"KTDPANEL";
const FORMAT_VERSION: u32 = 1;
const HASH_LEN: usize = 32;

/// Why bytes are not a panel.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PanelFormatError {
    /// Another kind of file.
    #[error("not a ktd panel (it does not start with KTDPANEL)")]
    Magic,
    /// Written by another version of the program.
    #[error("panel format {found}, but this program reads format {FORMAT_VERSION}")]
    Version {
        /// The version in the file.
        found: u32,
    },
    /// The bytes do not match the hash that closes the file.
    #[error("the panel's content does not match its hash: it was cut short or changed")]
    Hash,
    /// A section ends too early or holds what cannot be.
    #[error("the panel's {section} section is damaged at byte {at}")]
    Section {
        /// Which section.
        section: &'static str,
        /// Byte position.
        at: usize,
    },
}

impl PanelFormatError {
    /// How to fix it.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Magic => "make a panel from a data source with `ktd data import SRC --out PANEL`",
            Self::Version { .. } => "import the source again with this version of ktd",
            Self::Hash | Self::Section { .. } => "copy the file again or import the source again",
        }
    }
}

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
        };
        let version = reader.u32()?;
        if version != FORMAT_VERSION {
            return Err(PanelFormatError::Version { found: version });
        }
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

/// Where bytes go: into a file's buffer or straight into the hash.
trait Sink {
    fn put(&mut self, bytes: &[u8]);
}

impl Sink for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

impl Sink for blake3::Hasher {
    fn put(&mut self, bytes: &[u8]) {
        self.update(bytes);
    }
}

fn write_body(market: &Market, sink: &mut dyn Sink) {
    let mut out = Writer(sink);
    out.0.put(MAGIC);
    out.u32(FORMAT_VERSION);
    out.u8(match market.basis {
        PriceBasis::Raw => 0,
        PriceBasis::Adjusted => 1,
    });
    out.u8(u8::from(market.amount_declared));
    out.u8(u8::from(market.calendar_declared));
    out.list(&market.calendar, |out, date| out.date(*date));
    out.list(&market.sectors, |out, sector| out.text(sector));
    out.list(&market.notes, |out, note| out.text(note));
    out.list(&market.factors, |out, factor| {
        let (mantissa, scale) = factor.stored();
        out.u64(mantissa);
        out.u8(scale);
    });
    out.list(&market.indices, |out, index| {
        out.text(&index.code);
        out.column(&index.open, f64::to_le_bytes);
        out.column(&index.close, f64::to_le_bytes);
    });
    out.u64(market.price_grid.prices);
    out.u64(market.price_grid.off_grid);
    out.list(&market.absent_members, |out, absent| {
        out.0.put(&absent.ticker.bytes());
        out.spans(&absent.member);
    });
    out.list(&market.names, write_name);
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

fn write_name(out: &mut Writer<'_>, info: &NameInfo) {
    out.0.put(&info.ticker.bytes());
    out.list(&info.company_names, |out, name| out.text(name));
    out.u32(info.sector.map_or(0, |sector| u32::from(sector) + 1));
    out.u8(u8::from(info.listed.is_some()));
    if let Some(listed) = info.listed {
        out.date(listed);
    }
    out.spans(&info.st);
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
    let factors = reader.list("factors", |reader| {
        let (mantissa, scale) = (reader.u64()?, reader.u8()?);
        Decimal::from_stored(mantissa, scale).ok_or_else(|| reader.damaged())
    })?;
    let indices = reader.list("indices", |reader| {
        Ok(IndexSeries {
            code: reader.text()?,
            open: reader.column(f64::from_le_bytes)?,
            close: reader.column(f64::from_le_bytes)?,
        })
    })?;
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
        factors,
        factors_f64,
        columns,
        notes,
        price_grid,
        absent_members,
        content_hash,
    };
    if is_coherent(&market, offset) {
        Ok(market)
    } else {
        Err(reader.damaged())
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
    let listed = if reader.flag()? {
        Some(reader.date()?)
    } else {
        None
    };
    let st = reader.spans()?;
    let member = reader.spans()?;
    Ok(NameInfo {
        ticker,
        company_names,
        sector,
        listed,
        st,
        member,
        last_row: DayIndex(reader.u32()?),
        first: DayIndex(reader.u32()?),
        offset,
        len: reader.len()?,
    })
}

struct Writer<'s>(&'s mut dyn Sink);

impl Writer<'_> {
    fn u8(&mut self, value: u8) {
        self.0.put(&[value]);
    }

    fn u32(&mut self, value: u32) {
        self.0.put(&value.to_le_bytes());
    }

    fn u64(&mut self, value: u64) {
        self.0.put(&value.to_le_bytes());
    }

    fn len(&mut self, len: usize) {
        self.u64(u64::try_from(len).unwrap_or(u64::MAX));
    }

    fn text(&mut self, text: &str) {
        self.len(text.len());
        self.0.put(text.as_bytes());
    }

    fn date(&mut self, date: TradeDate) {
        self.0.put(&date.days_since_epoch().to_le_bytes());
    }

    fn spans(&mut self, spans: &[DateSpan]) {
        self.list(spans, |out, span| {
            out.date(span.start);
            out.date(span.end);
        });
    }

    fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.len(items.len());
        for item in items {
            write(self, item);
        }
    }

    fn column<T: Copy, const N: usize>(&mut self, values: &[T], encode: impl Fn(T) -> [u8; N]) {
        const CHUNK: usize = 4096;
        self.len(values.len());
        let mut buffer = Vec::with_capacity(CHUNK * N);
        for chunk in values.chunks(CHUNK) {
            buffer.clear();
            buffer.extend(chunk.iter().flat_map(|&value| encode(value)));
            self.0.put(&buffer);
        }
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    section: &'static str,
}

impl<'a> Reader<'a> {
    const fn damaged(&self) -> PanelFormatError {
        PanelFormatError::Section {
            section: self.section,
            at: self.at,
        }
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], PanelFormatError> {
        let end = self.at.checked_add(len).ok_or_else(|| self.damaged())?;
        let taken = self.bytes.get(self.at..end).ok_or_else(|| self.damaged())?;
        self.at = end;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], PanelFormatError> {
        let taken = self.take(N)?;
        taken.try_into().map_err(|_| self.damaged())
    }

    fn u8(&mut self) -> Result<u8, PanelFormatError> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    /// One market has one file, and so one hash: a flag is nothing but 0 or 1.
    fn flag(&mut self) -> Result<bool, PanelFormatError> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(self.damaged()),
        }
    }

    fn u32(&mut self) -> Result<u32, PanelFormatError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> Result<u64, PanelFormatError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    fn len(&mut self) -> Result<usize, PanelFormatError> {
        let len = self.u64()?;
        usize::try_from(len).map_err(|_| self.damaged())
    }

    fn text(&mut self) -> Result<String, PanelFormatError> {
        let len = self.len()?;
        let bytes = self.take(len)?.to_vec();
        String::from_utf8(bytes).map_err(|_| self.damaged())
    }

    fn date(&mut self) -> Result<TradeDate, PanelFormatError> {
        let days = i32::from_le_bytes(self.array()?);
        TradeDate::from_days_since_epoch(days).ok_or_else(|| self.damaged())
    }

    fn ticker(&mut self) -> Result<Ticker, PanelFormatError> {
        let code = self.take(8)?;
        std::str::from_utf8(code)
            .ok()
            .and_then(|code| Ticker::parse(code).ok())
            .ok_or_else(|| self.damaged())
    }

    fn spans(&mut self) -> Result<Vec<DateSpan>, PanelFormatError> {
        self.list("names", |reader| {
            Ok(DateSpan {
                start: reader.date()?,
                end: reader.date()?,
            })
        })
    }

    fn list<T>(
        &mut self,
        section: &'static str,
        mut read: impl FnMut(&mut Self) -> Result<T, PanelFormatError>,
    ) -> Result<Vec<T>, PanelFormatError> {
        self.section = section;
        let len = self.len()?;
        // Every item takes at least one byte, so a damaged length cannot ask for endless memory.
        if len > self.bytes.len().saturating_sub(self.at) {
            return Err(self.damaged());
        }
        (0..len).map(|_| read(self)).collect()
    }

    fn column<T, const N: usize>(
        &mut self,
        decode: impl Fn([u8; N]) -> T,
    ) -> Result<Vec<T>, PanelFormatError> {
        let len = self.len()?;
        let bytes = self.take(len.checked_mul(N).ok_or_else(|| self.damaged())?)?;
        let (chunks, _) = bytes.as_chunks::<N>();
        Ok(chunks.iter().map(|chunk| decode(*chunk)).collect())
    }
}
