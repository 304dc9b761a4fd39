//! The box that an agent's program is started in, unless its experiment says otherwise.

use super::child::{ChildCommand, check_command};
use crate::ClientError;
use ktd_boxed::Bubblewrap;
use ktd_experiment::agent::ProgramAgent;
use ktd_sandbox::{AgentBoxPlan, agent_box_arguments};
use std::path::{Component, Path, PathBuf};

/// The machine's own programs and libraries.
const SYSTEM: &str = "/usr";
const OTHERWISE: &str = "or say `unboxed = true`: the program may then read what you can, and boards mark it";

impl ChildCommand {
    /// The program of an outside agent: in a box where nobody says otherwise. It starts in an empty folder, which shows the files that
    /// the command names and what `files` lists, each where its name leads from there; all else of the machine but its programs
    /// and libraries, the experiment's own folder among it, is not there, and the network only with `network`.
    ///
    /// # Errors
    /// [`ClientError::Input`] when a program, a file or a variable is missing, when `files` holds the experiment's folder, or where no
    /// box can be made here.
    pub fn of_agent(agent: &ProgramAgent, base: &Path) -> Result<Self, ClientError> {
        let plain = Self::new(&agent.command, &agent.pass_env, base)?;
        if agent.unboxed == Some(true) {
            return Ok(plain);
        }
        let bwrap = Bubblewrap::find().map_err(|error| {
            ClientError::input(error.to_string(), format!("{}; {OTHERWISE}", error.hint()))
        })?;
        let plan = plan_of(agent, base)?;
        Ok(plain.run_by(bwrap.path, agent_box_arguments(&plan)))
    }
}

/// What the box of an agent shows.
fn plan_of(agent: &ProgramAgent, base: &Path) -> Result<AgentBoxPlan, ClientError> {
    let mut shown: Vec<(PathBuf, PathBuf)> = Vec::new();
    for named in &agent.files {
        let path = real_path(base, named)?;
        if real_path(base, ".")?.starts_with(&path) {
            return Err(ClientError::input(
                format!("`files` names {named:?}, which holds the experiment's own folder"),
                format!(
                    "name a file or folder beside it: keys, prices and results stay out of an agent's sight; {OTHERWISE}"
                ),
            ));
        }
        show(&mut shown, path, place_of(named));
    }
    let found = check_command(&agent.command, base)?;
    let (name, arguments) = agent
        .command
        .split_first()
        .map_or(("", &[][..]), |(name, rest)| (name.as_str(), rest));
    if !name.contains('/') {
        check_system(name, &found)?;
    } else if !place_of(name).starts_with(SYSTEM) {
        show(&mut shown, real_path(base, name)?, place_of(name));
    }
    for named in arguments {
        if !named.is_empty() && base.join(named).is_file() {
            show(&mut shown, real_path(base, named)?, place_of(named));
        }
    }
    let text = |path: PathBuf| path.display().to_string();
    Ok(AgentBoxPlan {
        shown: shown
            .into_iter()
            .map(|(path, place)| (text(path), text(place)))
            .collect(),
        network: agent.network,
        has_lib64: Path::new("/lib64").exists(),
        command: agent.command.clone(),
    })
}

/// A bare name is looked up in the box again, where the machine's own programs are and no other.
fn check_system(name: &str, found: &Path) -> Result<(), ClientError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&path).filter_map(|folder| folder.canonicalize().ok());
    if folders.any(|folder| folder.starts_with(SYSTEM) && folder.join(name).is_file()) {
        return Ok(());
    }
    Err(ClientError::input(
        format!(
            "the program {name:?} is {}, which the box does not show",
            found.display()
        ),
        format!(
            "write its path and name its folder: command = [\"/opt/venv/bin/python\", ...], files = [\"/opt/venv\"]; {OTHERWISE}"
        ),
    ))
}

/// What is below a folder that is shown already stands there.
fn show(shown: &mut Vec<(PathBuf, PathBuf)>, path: PathBuf, place: PathBuf) {
    if !shown.iter().any(|(_, above)| place.starts_with(above)) {
        shown.push((path, place));
    }
}

fn real_path(base: &Path, named: &str) -> Result<PathBuf, ClientError> {
    let base = if base.as_os_str().is_empty() {
        Path::new(".")
    } else {
        base
    };
    base.join(named).canonicalize().map_err(|error| {
        ClientError::input(
            format!("an agent's file {named:?} cannot be found: {error}"),
            "give a path from the experiment file's directory, or an absolute one",
        )
    })
}

/// Where a name leads from the box's folder.
fn place_of(named: &str) -> PathBuf {
    let mut place = PathBuf::new();
    for part in Path::new(AgentBoxPlan::FOLDER).join(named).components() {
        match part {
            Component::ParentDir => {
                place.pop();
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => place.push(part),
        }
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(command: &[&str], files: &[&str]) -> ProgramAgent {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        ProgramAgent {
            command: owned(command),
            files: owned(files),
            ..ProgramAgent::default()
        }
    }

    #[test]
    fn what_the_command_names_is_shown_where_its_name_leads_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap().join("study");
        for below in ["lib", "out"] {
            ktd_io::whole_file::create_directory(&base.join(below)).unwrap();
        }
        for file in ["agent.py", "key.pem", "lib/a.py", "../other.py"] {
            ktd_io::whole_file::write_whole(&base.join(file), b"").unwrap();
        }
        let plan = plan_of(
            &agent(&["sh", "agent.py", "../other.py", "out", "--x"], &["lib"]),
            &base,
        )
        .unwrap();
        let text = |path: PathBuf| path.canonicalize().unwrap().display().to_string();
        let expected = [
            (text(base.join("lib")), "/agent/lib"),
            (text(base.join("agent.py")), "/agent/agent.py"),
            (text(base.join("../other.py")), "/other.py"),
        ]
        .map(|(path, place)| (path, place.to_owned()));
        assert_eq!(plan.shown, expected);
        let elsewhere =
            check_system("no-such-program", Path::new("/opt/lab/bin/no-such-program")).unwrap_err();
        assert!(elsewhere.to_string().contains("/opt/lab/bin"), "{elsewhere}");
    }

    #[test]
    fn the_folder_of_the_experiment_is_never_shown() {
        let folder = tempfile::tempdir().unwrap();
        for files in [".", "..", "/"] {
            let refused = plan_of(&agent(&["sh"], &[files]), folder.path()).unwrap_err();
            assert!(
                refused.to_string().contains("experiment's own folder"),
                "{refused}"
            );
        }
        let absent = plan_of(&agent(&["sh"], &["no"]), folder.path()).unwrap_err();
        assert!(absent.to_string().contains("cannot be found"), "{absent}");
    }
}
