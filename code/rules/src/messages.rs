//! What the runner in the box answers: one frame when it is ready, one for each job.

use crate::frames::HEAD_BYTES_MAX;
use serde::Deserialize;

/// The most that the runner may pass on of one job: its result, one byte more where it was too long, and diagnostics.
const BODY_BYTES_MAX: u64 = (1_024 << 20) + (1 << 20);

/// What a counted job ran in Python.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunSteps {
    /// Calls and turns of loops.
    pub steps: u64,
    /// Those inside functions that windows of pandas call.
    pub window_steps: u64,
    /// Whether it reached for what counts, or did not come to the counter's end.
    pub has_tampered: bool,
    /// Whether it made code while it ran.
    pub has_made_code: bool,
}

impl RunSteps {
    const fn of([steps, window_steps, tampered, made_code, ended]: [u64; 5]) -> Self {
        Self {
            steps,
            window_steps,
            has_tampered: 0 < tampered || ended != 1,
            has_made_code: 0 < made_code,
        }
    }
}

/// How a job's process ended, as the runner reports it.
#[derive(Debug, Clone, PartialEq)]
pub struct JobReport {
    /// The job.
    pub id: u64,
    /// Its exit status; the negative number of the signal that ended it.
    pub exit: i32,
    /// Whether it was limited and filtered before foreign code was read.
    pub is_armed: bool,
    /// Whether the runner ended it because it wrote too much: to its diagnostics.
    pub is_flood: bool,
    /// Its processor time.
    pub cpu_ms: u64,
    /// The most memory that it held.
    pub memory_kb: u64,
    /// The bytes of its result.
    pub result: Vec<u8>,
    /// The first bytes of what it printed.
    pub diagnostics: Vec<u8>,
    /// How many bytes it printed.
    pub diagnostics_bytes: u64,
    /// What it ran, where that was counted.
    pub steps: Option<RunSteps>,
}

/// One frame of the runner.
#[derive(Debug, Clone, PartialEq)]
pub enum RunnerMessage {
    /// Everything is imported; jobs may come.
    Ready {
        /// The version of the interpreter.
        python: String,
        /// What the runner's own attempt at a forbidden call was answered with; 0 where it was allowed.
        refusal: i32,
        /// Whether it has a process namespace of its own.
        is_alone: bool,
    },
    /// Something could not be imported.
    Failed {
        /// What was wrong.
        message: String,
    },
    /// A job ended.
    Done(JobReport),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, tag = "kind", rename_all = "kebab-case")]
enum Head {
    Ready {
        python: String,
        refusal: i32,
        alone: bool,
    },
    Failed {
        message: String,
    },
    Done {
        id: u64,
        exit: i32,
        armed: bool,
        flood: bool,
        cpu_ms: u64,
        memory_kb: u64,
        result_n: u64,
        diagnostics_n: u64,
        diagnostics_all: u64,
        #[serde(default)]
        steps: Option<[u64; 5]>,
    },
}

/// The first frame of some bytes and how many it takes; `None` while it is not whole.
///
/// # Errors
/// What is wrong with it: then the box is no longer to be believed.
pub fn decode_message(bytes: &[u8]) -> Result<Option<(RunnerMessage, usize)>, String> {
    let Some((length, rest)) = bytes.split_first_chunk::<4>() else {
        return Ok(None);
    };
    let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
    if HEAD_BYTES_MAX < length {
        return Err(format!("a head of {length} bytes"));
    }
    let Some((head, body)) = rest.split_at_checked(length) else {
        return Ok(None);
    };
    let head: Head = serde_json::from_slice(head).map_err(|error| format!("an invalid head: {error}"))?;
    let taken = 4 + length;
    Ok(match head {
        Head::Ready {
            python,
            refusal,
            alone,
        } => {
            let ready = RunnerMessage::Ready {
                python,
                refusal,
                is_alone: alone,
            };
            Some((ready, taken))
        }
        Head::Failed { message } => Some((RunnerMessage::Failed { message }, taken)),
        Head::Done {
            id,
            exit,
            armed,
            flood,
            cpu_ms,
            memory_kb,
            result_n,
            diagnostics_n,
            diagnostics_all,
            steps,
        } => {
            let body_bytes = result_n.saturating_add(diagnostics_n);
            if BODY_BYTES_MAX < body_bytes {
                return Err(format!("a body of {body_bytes} bytes"));
            }
            let split = |bytes: &'_ [u8], at: u64| -> Option<(Vec<u8>, Vec<u8>)> {
                let (head, tail) = bytes.split_at_checked(usize::try_from(at).ok()?)?;
                Some((head.to_vec(), tail.to_vec()))
            };
            let body_length = usize::try_from(body_bytes).unwrap_or(usize::MAX);
            let Some(body) = body.get(..body_length) else {
                return Ok(None);
            };
            let Some((result, diagnostics)) = split(body, result_n) else {
                return Ok(None);
            };
            let report = JobReport {
                id,
                exit,
                is_armed: armed,
                is_flood: flood,
                cpu_ms,
                memory_kb,
                result,
                diagnostics,
                diagnostics_bytes: diagnostics_all,
                steps: steps.map(RunSteps::of),
            };
            Some((RunnerMessage::Done(report), taken + body_length))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(head: &str, body: &[u8]) -> Vec<u8> {
        let mut bytes = u32::try_from(head.len()).unwrap().to_le_bytes().to_vec();
        bytes.extend(head.as_bytes());
        bytes.extend(body);
        bytes
    }

    const DONE: &str = r#"{"kind":"done","id":3,"exit":0,"armed":true,"flood":false,"cpu_ms":12,"memory_kb":9,"result_n":2,"diagnostics_n":1,"diagnostics_all":70000}"#;

    #[test]
    fn a_message_is_read_once_it_is_whole() {
        let bytes = frame(DONE, b"abc");
        for length in 0..bytes.len() {
            assert_eq!(decode_message(&bytes[..length]), Ok(None), "{length}");
        }
        let mut more = bytes.clone();
        more.extend(b"next");
        let (message, taken) = decode_message(&more).unwrap().unwrap();
        assert_eq!(taken, bytes.len());
        let RunnerMessage::Done(report) = message else {
            panic!("{message:?}");
        };
        assert_eq!(
            (report.result.as_slice(), report.diagnostics.as_slice()),
            (&b"ab"[..], &b"c"[..])
        );
    }

    #[test]
    fn a_message_that_cannot_be_is_refused() {
        for head in [
            "{}",
            "[1]",
            r#"{"kind":"other"}"#,
            r#"{"kind":"failed","message":"x","more":1}"#,
            &DONE.replace("\"result_n\":2", "\"result_n\":99999999999"),
            &DONE.replace("\"result_n\":2", "\"result_n\":-2"),
        ] {
            assert!(decode_message(&frame(head, b"")).is_err(), "{head}");
        }
        assert!(decode_message(&[0xff; 8]).is_err());
    }
}
