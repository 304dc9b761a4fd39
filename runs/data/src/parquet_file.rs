//! A Parquet file read column by column, a batch of rows at a time.

use super::parquet_values::{Kind, Values};
use crate::DataFileError;
use ktd_io::whole_file::open_regular;
use parquet::basic::{CompressionCodec, Repetition};
use parquet::column::reader::ColumnReader;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::Type;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Rows held in memory at a time.
const BATCH_ROWS: usize = 16 * 1024;

/// A Parquet file, its schema read.
pub(super) struct ParquetFile {
    /// The file as messages name it.
    pub(super) name: String,
    /// Names of the columns; a nested column is one.
    pub(super) columns: Vec<String>,
    pub(super) rows: u64,
    bytes: u64,
    reader: SerializedFileReader<std::fs::File>,
}

impl std::fmt::Debug for ParquetFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParquetFile")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl ParquetFile {
    pub(super) fn open(path: &Path) -> Result<Self, DataFileError> {
        let name = path.display().to_string();
        let file = open_regular(path)?;
        let bytes = file.metadata().map_err(DataFileError::io("read", path))?.len();
        let reader = caught(|| SerializedFileReader::new(file)).map_err(|error| {
            DataFileError::invalid(format_args!("{name}: not readable as Parquet: {error}"))
                .with_hint("the file may be cut short: copy or write it again")
        })?;
        let metadata = reader.metadata().file_metadata();
        let fields = metadata.schema_descr().root_schema().get_fields();
        let columns = fields.iter().map(|field| field.name().to_owned()).collect();
        let rows = u64::try_from(metadata.num_rows()).unwrap_or(0);
        Ok(Self {
            name,
            columns,
            rows,
            bytes,
            reader,
        })
    }

    /// The batches of these columns, by their places among [`Self::columns`].
    pub(super) fn batches(self, places: &[usize]) -> Result<Batches, DataFileError> {
        let leaves = places
            .iter()
            .map(|place| self.leaf(*place))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Batches {
            file: self,
            leaves,
            next_group: 0,
            readers: Vec::new(),
            left_in_group: 0,
            rows_read: 0,
        })
    }

    /// The column of plain values at a place.
    fn leaf(&self, place: usize) -> Result<Leaf, DataFileError> {
        let name = self.columns.get(place).map_or("", String::as_str);
        let schema = self.reader.metadata().file_metadata().schema_descr();
        let found = schema
            .columns()
            .iter()
            .enumerate()
            .find(|(index, _)| schema.get_column_root_idx(*index) == place);
        let field: Option<&Type> = schema.root_schema().get_fields().get(place).map(AsRef::as_ref);
        let (Some((index, column)), Some(field)) = (found, field) else {
            return Err(self.nested(name));
        };
        if !field.is_primitive() || field.get_basic_info().repetition() == Repetition::REPEATED {
            return Err(self.nested(name));
        }
        for group in self.reader.metadata().row_groups() {
            let chunk = group.column(index);
            // The library takes it for granted, and stops the program where it is not so.
            if !self.holds(chunk) {
                return Err(DataFileError::invalid(format_args!(
                    "{}: column {name} is said to lie outside of the file",
                    self.name
                ))
                .with_hint("the file is damaged: copy or write it again"));
            }
            let codec = chunk.compression_codec();
            if !is_read(codec) {
                return Err(DataFileError::invalid(format_args!(
                    "{}: column {name} is compressed with {codec}, which is not read",
                    self.name
                ))
                .with_hint("write the file with Snappy, with Zstandard or without compression"));
            }
        }
        Ok(Leaf {
            index,
            name: name.to_owned(),
            kind: Kind::of(column),
        })
    }

    /// Whether the bytes of a column lie in the file.
    fn holds(&self, chunk: &ColumnChunkMetaData) -> bool {
        let start = chunk
            .dictionary_page_offset()
            .unwrap_or_else(|| chunk.data_page_offset());
        let range = u64::try_from(start)
            .ok()
            .zip(u64::try_from(chunk.compressed_size()).ok());
        let end = range.and_then(|(start, length)| start.checked_add(length));
        end.is_some_and(|end| end <= self.bytes)
    }

    fn nested(&self, column: &str) -> DataFileError {
        DataFileError::invalid(format_args!("{}: column {column} is nested", self.name))
            .with_hint("write one plain value a row")
    }
}

/// What the library gives, where it panics an error: some kinds of damage stop it, and are damage like any other. What
/// it was reading is not used again.
fn caught<T>(read: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| {
        Err(ParquetError::General(
            "its parts contradict each other".to_owned(),
        ))
    })
}

/// Whether the decompressor is compiled in.
const fn is_read(codec: CompressionCodec) -> bool {
    matches!(
        codec,
        CompressionCodec::UNCOMPRESSED | CompressionCodec::SNAPPY | CompressionCodec::ZSTD
    )
}

struct Leaf {
    /// Place among all columns of plain values in the file.
    index: usize,
    name: String,
    kind: Kind,
}

/// Rows of some columns of a file, batch after batch.
pub(super) struct Batches {
    file: ParquetFile,
    leaves: Vec<Leaf>,
    next_group: usize,
    readers: Vec<ColumnReader>,
    left_in_group: usize,
    rows_read: u64,
}

/// Rows that follow each other, as columns in the order asked for.
pub(super) struct Batch {
    /// 1-based row of the first.
    pub(super) first_row: u64,
    pub(super) rows: usize,
    pub(super) columns: Vec<Values>,
}

impl Batches {
    /// The next batch, or `None` after the last.
    pub(super) fn next_batch(&mut self) -> Result<Option<Batch>, DataFileError> {
        caught(|| self.read_batch()).map_err(|error| {
            DataFileError::invalid(format_args!(
                "{}: damaged after row {}: {error}",
                self.file.name, self.rows_read
            ))
            .with_hint("copy or write the file again")
        })
    }

    fn read_batch(&mut self) -> Result<Option<Batch>, ParquetError> {
        while self.left_in_group == 0 {
            if self.next_group == self.file.reader.num_row_groups() {
                return Ok(None);
            }
            self.open_group()?;
        }
        let rows = self.left_in_group.min(BATCH_ROWS);
        let mut columns = Vec::with_capacity(self.leaves.len());
        for (leaf, reader) in self.leaves.iter().zip(&mut self.readers) {
            let values = leaf.kind.read(reader, rows)?;
            if values.len() != rows {
                return Err(ParquetError::General(format!(
                    "column {} has fewer values than its row group has rows",
                    leaf.name
                )));
            }
            columns.push(values);
        }
        let first_row = self.rows_read + 1;
        self.left_in_group -= rows;
        self.rows_read += u64::try_from(rows).unwrap_or(0);
        Ok(Some(Batch {
            first_row,
            rows,
            columns,
        }))
    }

    fn open_group(&mut self) -> Result<(), ParquetError> {
        let group = self.file.reader.get_row_group(self.next_group)?;
        self.left_in_group = usize::try_from(group.metadata().num_rows())
            .map_err(|_| ParquetError::General("a row group has less than no rows".to_owned()))?;
        self.readers = self
            .leaves
            .iter()
            .map(|leaf| group.get_column_reader(leaf.index))
            .collect::<Result<_, _>>()?;
        self.next_group += 1;
        Ok(())
    }
}
