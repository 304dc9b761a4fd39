//! The Python environment: packages pinned by hash, in a folder of their own.

use crate::error::BoxError;
use crate::interpreter::Interpreter;
use crate::search::{closed_to, programs};
use ktd_io::whole_file::{
    create_directory, list, read_bounded, read_json, remove_directory, rename, write_whole,
};
use ktd_sandbox::{EnvironmentRecord, PackageSet, installed_sha256};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What the set-up leaves in the folder once all is installed.
const STAMP: &str = "ktd-environment.json";
const RECORD_BYTES_MAX: u64 = 64 << 20;
const SET_UP: &str = "run ktd box setup";

/// What was installed, as it was when the set-up ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stamp {
    #[serde(rename = "environment")]
    record: EnvironmentRecord,
    prefix: PathBuf,
}

/// A set-up environment that is as it was when it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PythonEnvironment {
    /// Its folder.
    pub folder: PathBuf,
    /// What must be shown of the interpreter besides the system's libraries.
    pub interpreter_paths: Vec<PathBuf>,
    /// What it is.
    pub record: EnvironmentRecord,
}

/// What an environment is made from.
#[derive(Debug, Clone, Default)]
pub struct EnvironmentPlan {
    /// The packages.
    pub set: PackageSet,
    /// Its folder; by default one of its own for each set.
    pub folder: Option<PathBuf>,
    /// The interpreter; by default the newest on the path.
    pub python: Option<PathBuf>,
    /// A folder of wheels that are taken instead of an index.
    pub wheels: Option<PathBuf>,
    /// The user that must be able to read it, where it is another.
    pub box_user: Option<u32>,
}

/// The folder of a set of packages: below the user's data, or the system's where root sets it up for another user.
#[must_use]
pub fn environment_folder(set: PackageSet) -> PathBuf {
    let data = std::env::var_os("XDG_DATA_HOME")
        .filter(|data| !data.is_empty())
        .map(PathBuf::from);
    let own = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".local/share"));
    let is_root = rustix::process::geteuid().is_root();
    let data = data.or_else(|| if is_root { None } else { own() });
    let data = data.unwrap_or_else(|| PathBuf::from("/var/lib"));
    let lock: String = set.lock_sha256().chars().take(12).collect();
    data.join("ktd/python").join(format!("{}-{lock}", set.label()))
}

impl PythonEnvironment {
    /// Opens an environment and checks that it is as it was made.
    ///
    /// # Errors
    /// Where it is missing, of another lock, changed, or closed to the user of the box.
    pub fn open(folder: &Path, set: PackageSet, box_user: Option<u32>) -> Result<Self, BoxError> {
        let at = folder.display();
        let stamp_path = folder.join(STAMP);
        if !stamp_path.is_file() {
            return Err(BoxError::input(
                format!("python environment is not set up: {at}"),
                SET_UP,
            ));
        }
        let stamp: Stamp = read_json(&stamp_path)?;
        if stamp.record.set != set || stamp.record.lock_sha256 != set.lock_sha256() {
            let what = format!(
                "python environment is of another lock: {at} holds {}",
                stamp.record.set.label()
            );
            return Err(BoxError::input(what, SET_UP));
        }
        let installed = installed(folder)?;
        let has_python = folder.join("bin/python3").is_file();
        if installed != stamp.record.installed_sha256 || !has_python {
            let what = format!("python environment was changed after it was set up: {at}");
            return Err(BoxError::input(what, "remove the folder and run ktd box setup"));
        }
        let interpreter_paths = shown_paths(&stamp.prefix, &started(&folder.join("bin/python3")));
        for place in std::iter::once(folder).chain(interpreter_paths.iter().map(PathBuf::as_path)) {
            if let Some(closed) = box_user.and_then(|user| closed_to(user, place)) {
                let what = format!("the user of the box may not read {}", closed.display());
                return Err(BoxError::input(
                    what,
                    "set it up in a folder that all users may read: ktd box setup --env DIR",
                ));
            }
        }
        Ok(Self {
            folder: folder.to_owned(),
            interpreter_paths,
            record: stamp.record,
        })
    }

    /// What a box shows of it.
    pub(crate) fn shown(&self) -> Vec<PathBuf> {
        let folder = std::iter::once(self.folder.clone());
        folder.chain(self.interpreter_paths.iter().cloned()).collect()
    }

    /// Makes an environment, or opens the one that is there.
    ///
    /// # Errors
    /// Where no interpreter fits, or the packages cannot be installed.
    pub fn set_up(plan: &EnvironmentPlan) -> Result<Self, BoxError> {
        let folder = plan
            .folder
            .clone()
            .unwrap_or_else(|| environment_folder(plan.set));
        if folder.join(STAMP).is_file() {
            return Self::open(&folder, plan.set, plan.box_user);
        }
        if folder.exists() && !list(&folder)?.is_empty() {
            let what = format!("{} holds something else", folder.display());
            return Err(BoxError::input(
                what,
                "remove it, or name another folder with --env",
            ));
        }
        let interpreter = match &plan.python {
            Some(path) => Interpreter::ask(path)?.open_to(plan.box_user)?,
            None => Interpreter::find(plan.box_user)?,
        };
        let mut unfinished = folder.clone().into_os_string();
        unfinished.push(".unfinished");
        let unfinished = PathBuf::from(unfinished);
        if unfinished.exists() {
            remove_directory(&unfinished)?;
        }
        install(plan, &interpreter, &unfinished)?;
        let stamp = Stamp {
            record: EnvironmentRecord {
                set: plan.set,
                lock_sha256: plan.set.lock_sha256(),
                python: interpreter.version.clone(),
                installed_sha256: installed(&unfinished)?,
            },
            prefix: interpreter.prefix,
        };
        let bytes = ktd_io::whole_file::json_bytes(&unfinished.join(STAMP), &stamp)?;
        write_whole(&unfinished.join(STAMP), &bytes)?;
        if folder.exists() {
            remove_directory(&folder)?;
        }
        rename(&unfinished, &folder)?;
        Self::open(&folder, plan.set, plan.box_user)
    }
}

/// The file that a link of an environment starts.
fn started(link: &Path) -> PathBuf {
    let Some(folder) = link.parent() else {
        return link.to_owned();
    };
    match std::fs::read_link(link) {
        // Links of an environment to each other are relative.
        Ok(target) if target.is_relative() => started(&folder.join(target)),
        Ok(target) => target,
        Err(_) => link.to_owned(),
    }
}

/// What a box shows of an interpreter: its file, and its libraries where they are not the system's. Beside it may lie this program,
/// which has the answers in it.
fn shown_paths(prefix: &Path, executable: &Path) -> Vec<PathBuf> {
    let prefix = std::fs::canonicalize(prefix).unwrap_or_else(|_| prefix.to_owned());
    let libraries = (prefix != Path::new("/usr")).then(|| prefix.join("lib"));
    libraries.into_iter().chain([executable.to_owned()]).collect()
}

/// The hash of the file lists of all that is installed in a folder.
fn installed(folder: &Path) -> Result<String, BoxError> {
    let mut records = Vec::new();
    for library in list(&folder.join("lib"))? {
        let packages = library.join("site-packages");
        if !packages.is_dir() {
            continue;
        }
        for package in list(&packages)? {
            let name = package
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            if name.ends_with(".dist-info") {
                records.push((name, read_bounded(&package.join("RECORD"), RECORD_BYTES_MAX)?));
            }
        }
    }
    Ok(installed_sha256(&records))
}

/// Makes the environment in a folder: the packages of the lock and nothing else, not even their installer.
fn install(plan: &EnvironmentPlan, interpreter: &Interpreter, folder: &Path) -> Result<(), BoxError> {
    if let Some(parent) = folder.parent() {
        std::fs::create_dir_all(parent).map_err(BoxError::io("make", parent))?;
    }
    let lock = ktd_io::whole_file::temporary_directory()?;
    let lock_path = lock.path().join("requirements.lock");
    write_whole(&lock_path, plan.set.lock().as_bytes())?;
    let mut source: Vec<std::ffi::OsString> = Vec::new();
    if let Some(wheels) = &plan.wheels {
        source.extend(["--no-index".into(), "--find-links".into(), wheels.into()]);
    }
    let mut pinned: Vec<std::ffi::OsString> =
        vec!["--require-hashes".into(), "--only-binary".into(), ":all:".into()];
    pinned.extend(source);
    pinned.extend(["-r".into(), lock_path.into()]);
    let python = folder.join("bin/python3");
    if let Some(uv) = programs("uv").into_iter().next() {
        run(Command::new(&uv)
            .args(["venv", "--quiet", "--python"])
            .arg(&interpreter.path)
            .arg(folder))?;
        run(Command::new(&uv)
            .args(["pip", "install", "--quiet", "--python"])
            .arg(&python)
            .args(&pinned))?;
    } else {
        run(Command::new(&interpreter.path).args(["-m", "venv"]).arg(folder))?;
        let pip = |arguments: &[&str]| {
            let mut pip = Command::new(&python);
            pip.args(["-m", "pip", "--disable-pip-version-check", "--no-input"])
                .args(arguments);
            pip
        };
        run(pip(&["install", "--quiet"]).args(&pinned))?;
        run(&mut pip(&["uninstall", "--quiet", "--yes", "setuptools", "pip"]))?;
    }
    create_directory(&folder.join("lib"))?;
    Ok(())
}

fn run(command: &mut Command) -> Result<(), BoxError> {
    let program = PathBuf::from(command.get_program());
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(BoxError::io("start", &program))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last: Vec<&str> = said
        .lines()
        .rev()
        .filter(|line| !line.trim().is_empty())
        .take(3)
        .collect();
    let last: Vec<&str> = last.into_iter().rev().collect();
    Err(BoxError::input(
        format!("{} failed: {}", program.display(), last.join(" | ")),
        "check the network or name a folder of wheels with --offline; Debian's Python needs python3-venv",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(folder: &Path, set: PackageSet) {
        let package = folder.join("lib/python3.11/site-packages/numpy-1.dist-info");
        std::fs::create_dir_all(&package).unwrap();
        std::fs::create_dir_all(folder.join("bin")).unwrap();
        std::fs::write(folder.join("bin/python3"), b"").unwrap();
        std::fs::write(package.join("RECORD"), b"numpy/__init__.py,sha256=x,1\n").unwrap();
        let stamp = Stamp {
            record: EnvironmentRecord {
                set,
                lock_sha256: set.lock_sha256(),
                python: "3.11".to_owned(),
                installed_sha256: installed(folder).unwrap(),
            },
            prefix: PathBuf::from("/usr"),
        };
        std::fs::write(folder.join(STAMP), serde_json::to_vec(&stamp).unwrap()).unwrap();
    }

    fn fault(folder: &Path, set: PackageSet) -> String {
        PythonEnvironment::open(folder, set, None)
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn an_environment_is_whole_unchanged_and_of_its_lock() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        assert!(fault(folder, PackageSet::Pandas2).contains("is not set up"));
        made(folder, PackageSet::Pandas2);
        let opened = PythonEnvironment::open(folder, PackageSet::Pandas2, None).unwrap();
        assert_eq!(opened.record.set, PackageSet::Pandas2);
        assert_eq!(opened.interpreter_paths.len(), 1);
        assert!(fault(folder, PackageSet::Pandas3).contains("of another lock"));
        let extra = folder.join("lib/python3.11/site-packages/more-1.dist-info");
        std::fs::create_dir_all(&extra).unwrap();
        std::fs::write(extra.join("RECORD"), b"").unwrap();
        assert!(fault(folder, PackageSet::Pandas2).contains("was changed"));
        std::fs::remove_dir_all(&extra).unwrap();
        std::fs::remove_file(folder.join("bin/python3")).unwrap();
        assert!(fault(folder, PackageSet::Pandas2).contains("was changed"));
    }

    #[test]
    fn a_folder_with_something_else_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("mine"), b"x").unwrap();
        let plan = EnvironmentPlan {
            folder: Some(folder.path().to_owned()),
            ..EnvironmentPlan::default()
        };
        let fault = PythonEnvironment::set_up(&plan).unwrap_err();
        assert!(fault.to_string().contains("holds something else"), "{fault}");
        assert!(folder.path().join("mine").is_file());
    }

    #[test]
    fn an_environment_of_another_user_must_be_open_to_it() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        made(folder.path(), PackageSet::Pandas2);
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
        let fault = PythonEnvironment::open(folder.path(), PackageSet::Pandas2, Some(65_534)).unwrap_err();
        assert!(fault.to_string().contains("may not read"), "{fault}");
    }
}
