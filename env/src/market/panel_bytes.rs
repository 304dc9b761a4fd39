//! Little-endian values of a panel file, one after the other.

use super::panel_format::PanelFormatError;
use crate::day::{DateSpan, TradeDate};
use crate::decimal::Decimal;
use crate::ticker::Ticker;

/// Where bytes go: into a file's buffer or straight into the hash.
pub(super) trait Sink {
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

/// Writes values to the end of a panel's bytes.
pub(super) struct Writer<'s>(pub(super) &'s mut dyn Sink);

impl Writer<'_> {
    pub(super) fn u8(&mut self, value: u8) {
        self.0.put(&[value]);
    }

    pub(super) fn u32(&mut self, value: u32) {
        self.0.put(&value.to_le_bytes());
    }

    pub(super) fn u64(&mut self, value: u64) {
        self.0.put(&value.to_le_bytes());
    }

    pub(super) fn len(&mut self, len: usize) {
        self.u64(u64::try_from(len).unwrap_or(u64::MAX));
    }

    pub(super) fn text(&mut self, text: &str) {
        self.len(text.len());
        self.0.put(text.as_bytes());
    }

    pub(super) fn date(&mut self, date: TradeDate) {
        self.0.put(&date.days_since_epoch().to_le_bytes());
    }

    pub(super) fn decimal(&mut self, decimal: Decimal) {
        let (mantissa, scale) = decimal.stored();
        self.u64(mantissa);
        self.u8(scale);
    }

    pub(super) fn spans(&mut self, spans: &[DateSpan]) {
        self.list(spans, |out, span| {
            out.date(span.start);
            out.date(span.end);
        });
    }

    pub(super) fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.len(items.len());
        for item in items {
            write(self, item);
        }
    }

    pub(super) fn column<T: Copy, const N: usize>(&mut self, values: &[T], encode: impl Fn(T) -> [u8; N]) {
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

/// Reads values off the front of a panel's bytes.
pub(super) struct Reader<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
    /// What is read now, for errors.
    pub(super) section: &'static str,
    /// The format that the file says it has.
    pub(super) format: u32,
}

impl<'a> Reader<'a> {
    pub(super) const fn damaged(&self) -> PanelFormatError {
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

    pub(super) fn u8(&mut self) -> Result<u8, PanelFormatError> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    /// One market has one file, and so one hash: a flag is nothing but 0 or 1.
    pub(super) fn flag(&mut self) -> Result<bool, PanelFormatError> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(self.damaged()),
        }
    }

    pub(super) fn u32(&mut self) -> Result<u32, PanelFormatError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(super) fn u64(&mut self) -> Result<u64, PanelFormatError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    pub(super) fn len(&mut self) -> Result<usize, PanelFormatError> {
        let len = self.u64()?;
        usize::try_from(len).map_err(|_| self.damaged())
    }

    pub(super) fn text(&mut self) -> Result<String, PanelFormatError> {
        let len = self.len()?;
        let bytes = self.take(len)?.to_vec();
        String::from_utf8(bytes).map_err(|_| self.damaged())
    }

    pub(super) fn date(&mut self) -> Result<TradeDate, PanelFormatError> {
        let days = i32::from_le_bytes(self.array()?);
        TradeDate::from_days_since_epoch(days).ok_or_else(|| self.damaged())
    }

    pub(super) fn decimal(&mut self) -> Result<Decimal, PanelFormatError> {
        let (mantissa, scale) = (self.u64()?, self.u8()?);
        Decimal::from_stored(mantissa, scale).ok_or_else(|| self.damaged())
    }

    pub(super) fn ticker(&mut self) -> Result<Ticker, PanelFormatError> {
        let code = self.take(8)?;
        std::str::from_utf8(code)
            .ok()
            .and_then(|code| Ticker::parse(code).ok())
            .ok_or_else(|| self.damaged())
    }

    pub(super) fn spans(&mut self) -> Result<Vec<DateSpan>, PanelFormatError> {
        self.list("names", |reader| {
            Ok(DateSpan {
                start: reader.date()?,
                end: reader.date()?,
            })
        })
    }

    pub(super) fn list<T>(
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

    pub(super) fn column<T, const N: usize>(
        &mut self,
        decode: impl Fn([u8; N]) -> T,
    ) -> Result<Vec<T>, PanelFormatError> {
        let len = self.len()?;
        let bytes = self.take(len.checked_mul(N).ok_or_else(|| self.damaged())?)?;
        let (chunks, _) = bytes.as_chunks::<N>();
        Ok(chunks.iter().map(|chunk| decode(*chunk)).collect())
    }
}
