//! The bytes of a job, as the runner reads them: a length, a head of JSON, the source, the columns.

use crate::jobs::{BoxJob, ColumnValues, JobColumn, JobData};
use crate::limits::BoxLimits;
use serde_json::{Value, json};

/// The longest head of any frame.
pub const HEAD_BYTES_MAX: usize = 65_536;

/// A job that fits in no frame: a defect of what asks for it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// The head, which names every column, is too long.
    #[error("the head of a job takes {bytes} bytes, at most {HEAD_BYTES_MAX}")]
    Head {
        /// How many it takes.
        bytes: usize,
    },
    /// Columns of one frame have different lengths.
    #[error("column {name:?} has {rows} rows, the first column {first}")]
    Rows {
        /// The column.
        name: String,
        /// Its rows.
        rows: usize,
        /// The rows of the first.
        first: usize,
    },
    /// A text is longer than a frame can say.
    #[error("column {name:?} holds a text of more than 4 GiB")]
    Text {
        /// The column.
        name: String,
    },
}

/// The bytes of a job.
///
/// # Errors
/// [`FrameError`] where it fits in no frame.
pub fn encode_job(id: u64, job: &BoxJob, source: &str, limits: &BoxLimits) -> Result<Vec<u8>, FrameError> {
    let mut body = source.as_bytes().to_vec();
    let mut columns = Vec::new();
    let mut frames = Vec::new();
    match &job.data {
        JobData::Nothing => {}
        JobData::Frame(own) => columns = encode_columns(own, &mut body)?,
        JobData::Frames(own) => {
            for (symbol, own) in own {
                frames.push(json!([symbol, encode_columns(own, &mut body)?]));
            }
        }
    }
    let mut head = json!({
        "id": id,
        "kind": job.kind.label(),
        "seed": job.seed,
        "cpu_s": limits.cpu_s,
        "out_max": limits.out_max_bytes(),
        "source_n": source.len(),
        "body_n": body.len(),
        "columns": columns,
        "frames": frames,
        "entry": job.entry,
        "config": job.config,
    });
    if let (true, Some(head)) = (job.is_counted, head.as_object_mut()) {
        head.insert("counted".to_owned(), true.into());
    }
    let head = head.to_string();
    let length = u32::try_from(head.len())
        .ok()
        .filter(|_| head.len() <= HEAD_BYTES_MAX);
    let length = length.ok_or(FrameError::Head { bytes: head.len() })?;
    let mut bytes = Vec::with_capacity(4 + head.len() + body.len());
    bytes.extend(length.to_le_bytes());
    bytes.extend(head.as_bytes());
    bytes.append(&mut body);
    Ok(bytes)
}

/// Appends the values of columns, and gives what the head says of them.
fn encode_columns(columns: &[JobColumn], body: &mut Vec<u8>) -> Result<Vec<Value>, FrameError> {
    let first = columns.first().map_or(0, |column| column.values.rows());
    let mut heads = Vec::with_capacity(columns.len());
    for column in columns {
        let rows = column.values.rows();
        if rows != first {
            let name = column.name.clone();
            return Err(FrameError::Rows { name, rows, first });
        }
        let kind = match &column.values {
            ColumnValues::F64(values) => {
                body.extend(values.iter().flat_map(|value| value.to_le_bytes()));
                "f64"
            }
            ColumnValues::I64(values) => {
                body.extend(values.iter().flat_map(|value| value.to_le_bytes()));
                "i64"
            }
            ColumnValues::Time(values) => {
                body.extend(values.iter().flat_map(|value| value.to_le_bytes()));
                "time"
            }
            ColumnValues::Text(values) => {
                encode_texts(&column.name, values, body)?;
                "text"
            }
        };
        heads.push(json!({"name": column.name, "type": kind, "n": rows}));
    }
    Ok(heads)
}

/// The lengths of all texts, and then their bytes.
fn encode_texts(name: &str, texts: &[String], body: &mut Vec<u8>) -> Result<(), FrameError> {
    for text in texts {
        let length = u32::try_from(text.len()).map_err(|_| FrameError::Text {
            name: name.to_owned(),
        })?;
        body.extend(length.to_le_bytes());
    }
    for text in texts {
        body.extend(text.as_bytes());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::JobKind;

    fn job(data: JobData) -> BoxJob {
        BoxJob {
            kind: JobKind::Series,
            entry: Some("alpha_x".to_owned()),
            data,
            ..BoxJob::script("a test")
        }
    }

    fn column(name: &str, values: ColumnValues) -> JobColumn {
        JobColumn {
            name: name.to_owned(),
            values,
        }
    }

    #[test]
    fn a_job_is_a_head_and_then_source_and_columns() {
        let columns = vec![
            column("time", ColumnValues::Time(vec![1, 2])),
            column("a", ColumnValues::F64(vec![f64::NAN, -0.0])),
            column("n", ColumnValues::I64(vec![-1, i64::MAX])),
            column("s", ColumnValues::Text(vec!["é".to_owned(), String::new()])),
        ];
        let bytes = encode_job(7, &job(JobData::Frame(columns)), "x = 1\n", &BoxLimits::FACTORS).unwrap();
        let length = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
        insta::assert_snapshot!(std::str::from_utf8(&bytes[4..4 + length]).unwrap());
        let body = &bytes[4 + length..];
        assert_eq!(&body[..6], b"x = 1\n");
        assert_eq!(body.len(), 6 + 16 + 16 + 16 + (8 + 2));
        assert_eq!(&body[22..30], &f64::NAN.to_le_bytes());
        assert_eq!(&body[54..], &[2, 0, 0, 0, 0, 0, 0, 0, 0xc3, 0xa9]);
    }

    #[test]
    fn columns_of_one_frame_have_one_length() {
        let columns = vec![
            column("a", ColumnValues::F64(vec![1.0])),
            column("b", ColumnValues::F64(vec![])),
        ];
        let fault = encode_job(1, &job(JobData::Frame(columns)), "", &BoxLimits::FACTORS).unwrap_err();
        assert_eq!(fault.to_string(), "column \"b\" has 0 rows, the first column 1");
    }

    #[test]
    fn a_head_beyond_the_most_is_refused() {
        let many = (0..2_000).map(|at| {
            (
                format!("symbol {at}"),
                vec![column("a", ColumnValues::F64(vec![]))],
            )
        });
        let fault = encode_job(1, &job(JobData::Frames(many.collect())), "", &BoxLimits::FACTORS);
        assert!(matches!(fault, Err(FrameError::Head { .. })));
    }
}
