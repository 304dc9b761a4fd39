//! A Python interpreter on this machine.

use crate::error::BoxError;
use crate::search::{closed_to, programs};
use ktd_sandbox::PYTHON_MINORS;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What an interpreter says of itself.
const QUESTION: &str = "import json, sys; print(json.dumps({'name': sys.implementation.name, \
    'major': sys.version_info[0], 'minor': sys.version_info[1], 'version': sys.version.replace(chr(10), ' '), \
    'prefix': sys.base_prefix}))";

#[derive(Deserialize)]
struct Answer {
    name: String,
    major: u32,
    minor: u32,
    version: String,
    prefix: PathBuf,
}

/// An interpreter that the packages are pinned for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interpreter {
    /// Where it is started.
    pub path: PathBuf,
    /// Its version and build.
    pub version: String,
    /// The folder that it is installed in.
    pub prefix: PathBuf,
}

impl Interpreter {
    /// The interpreter at a path.
    ///
    /// # Errors
    /// Where it does not start, is no `CPython`, or is too old or too new.
    pub fn ask(path: &Path) -> Result<Self, BoxError> {
        let output = Command::new(path)
            .args(["-I", "-c", QUESTION])
            .stdin(Stdio::null())
            .output()
            .map_err(BoxError::io("start", path))?;
        let answer: Answer = serde_json::from_slice(&output.stdout).map_err(|_| {
            let said = String::from_utf8_lossy(&output.stderr);
            let said = said.lines().next().unwrap_or("it does not answer").to_owned();
            BoxError::input(format!("{} is no Python: {said}", path.display()), PYTHON_HINT)
        })?;
        check(&answer).map_err(|what| BoxError::input(format!("{}: {what}", path.display()), PYTHON_HINT))?;
        Ok(Self {
            path: path.to_owned(),
            version: answer.version,
            prefix: answer.prefix,
        })
    }

    /// The newest on the path that a user of the box may read.
    ///
    /// # Errors
    /// Where none is there, with what was wrong with those that are.
    pub fn find(box_user: Option<u32>) -> Result<Self, BoxError> {
        let mut unfit = Vec::new();
        let names = PYTHON_MINORS.rev().map(|minor| format!("python3.{minor}"));
        for path in names
            .chain(["python3".to_owned()])
            .flat_map(|name| programs(&name))
        {
            let found = Self::ask(&path).and_then(|found| found.open_to(box_user));
            match found {
                Ok(found) => return Ok(found),
                Err(error) => unfit.push(error.to_string()),
            }
        }
        let mut what = format!("no CPython {} on the path", versions());
        if !unfit.is_empty() {
            what = format!("{what}: {}", unfit.join("; "));
        }
        Err(BoxError::input(what, PYTHON_HINT))
    }

    /// The same, where the user of the box may read it.
    pub(crate) fn open_to(self, box_user: Option<u32>) -> Result<Self, BoxError> {
        match box_user.and_then(|user| closed_to(user, &self.prefix)) {
            None => Ok(self),
            Some(closed) => Err(BoxError::input(
                format!(
                    "{}: the user of the box may not read {}",
                    self.path.display(),
                    closed.display()
                ),
                "name another interpreter with --python, or install one for all users",
            )),
        }
    }
}

const PYTHON_HINT: &str =
    "install CPython 3.11, 3.12 or 3.13 (Debian: apt-get install python3-venv), or name one with --python";

fn versions() -> String {
    let (first, last) = (PYTHON_MINORS.start(), PYTHON_MINORS.end());
    format!("3.{first} to 3.{last}")
}

fn check(answer: &Answer) -> Result<(), String> {
    let version = format!("{}.{}", answer.major, answer.minor);
    if answer.name != "cpython" {
        return Err(format!("it is {}, the packages need CPython", answer.name));
    }
    if answer.major < 3 || (answer.major == 3 && answer.minor < *PYTHON_MINORS.start()) {
        return Err(format!(
            "Python {version} is too old, the packages need {}",
            versions()
        ));
    }
    if answer.major != 3 || PYTHON_MINORS.end() < &answer.minor {
        return Err(format!(
            "Python {version} is too new, the packages need {}",
            versions()
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(name: &str, major: u32, minor: u32) -> Answer {
        Answer {
            name: name.to_owned(),
            major,
            minor,
            version: String::new(),
            prefix: PathBuf::new(),
        }
    }

    #[test]
    fn an_interpreter_is_neither_too_old_nor_too_new() {
        assert!(
            check(&answer("cpython", 2, 7))
                .unwrap_err()
                .contains("2.7 is too old")
        );
        assert!(
            check(&answer("cpython", 3, 10))
                .unwrap_err()
                .contains("3.10 is too old")
        );
        assert!(
            check(&answer("cpython", 3, 14))
                .unwrap_err()
                .contains("3.14 is too new")
        );
        assert!(
            check(&answer("cpython", 4, 11))
                .unwrap_err()
                .contains("4.11 is too new")
        );
        assert!(check(&answer("pypy", 3, 11)).unwrap_err().contains("pypy"));
        for minor in PYTHON_MINORS {
            assert!(check(&answer("cpython", 3, minor)).is_ok());
        }
    }

    #[test]
    fn what_is_no_python_is_named() {
        let fault = Interpreter::ask(Path::new("/bin/true")).unwrap_err();
        assert!(fault.to_string().contains("/bin/true is no Python"), "{fault}");
        assert!(Interpreter::ask(Path::new("/no/such/python")).is_err());
    }
}
