//! Boxes on this machine, once one was seen to hold.

use crate::answers::file_with_an_answer;
use crate::bwrap::{Bubblewrap, NAMESPACES_HINT};
use crate::environment::PythonEnvironment;
use crate::error::BoxError;
use crate::landlock_version::landlock_version;
use crate::memory_group::{GroupKind, MemoryGroup};
use crate::places::{Place, Places};
use crate::process::{BoxProcess, Given};
use crate::setup::BoxSetup;
use ktd_io::parallel::available_threads;
use ktd_sandbox::{
    BoxHeader, BwrapPlan, FilterHashes, FilterStage, Isolation, ModuleName, RUNNER, RunnerPolicy, SelfTest,
    SwitchedOff, TargetMachine, bwrap_arguments, filter_bytes, runner_sha256, system_call_filter,
};
use std::collections::BTreeMap;
use std::io::{PipeReader, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Descriptors of bubblewrap besides those of the control.
const RUNNER_TEXT: i32 = 5;
const INFO: i32 = 6;
const BLOCK: i32 = 7;
/// How long bubblewrap may take to say what it made.
const INFO_WAIT: Duration = Duration::from_secs(30);
/// Landlock as the only layer must keep a program from the network.
const LANDLOCK_ALONE: u32 = 4;

/// Boxes of one setup on this machine.
#[derive(Debug)]
pub struct BoxLauncher {
    setup: BoxSetup,
    bwrap: Option<Bubblewrap>,
    environment: PythonEnvironment,
    groups: GroupKind,
    header: BoxHeader,
    places: Places,
}

/// What a box says of the namespaces that it made, by their names.
pub(crate) type Namespaces = BTreeMap<String, u64>;

impl BoxLauncher {
    /// Looks at the machine and tests a box. Nothing runs in a box that lets something through.
    ///
    /// # Errors
    /// What the machine lacks, or what the box let through.
    pub fn prove(setup: BoxSetup) -> Result<Self, BoxError> {
        let mut launcher = Self::look(setup)?;
        let test = launcher.self_test()?;
        if !test.passes() {
            return Err(BoxError::SelfTest {
                failures: test.failures(),
            });
        }
        launcher.header.self_test = test;
        Ok(launcher)
    }

    /// As [`Self::prove`], for programs that are judged: before, the Python environment is searched for answers.
    ///
    /// # Errors
    /// As there, or the file with an answer.
    pub(crate) fn prove_without_answers(setup: BoxSetup) -> Result<Self, BoxError> {
        let folder = setup.environment_folder();
        let shown = PythonEnvironment::open(&folder, setup.set, setup.box_user())?.shown();
        match file_with_an_answer(&shown, &setup.answers)? {
            Some(file) => Err(answer_lies_in(&file)),
            None => Self::prove(setup),
        }
    }

    /// Looks at the machine: all but the test.
    fn look(setup: BoxSetup) -> Result<Self, BoxError> {
        let bwrap = (setup.isolation == Isolation::Bwrap)
            .then(Bubblewrap::find)
            .transpose()?;
        let landlock_abi = landlock_version();
        if setup.isolation == Isolation::Landlock && landlock_abi < LANDLOCK_ALONE {
            return Err(BoxError::input(
                format!(
                    "Landlock of this kernel is version {landlock_abi}, as the only layer it must be 4 or newer"
                ),
                "use Linux 6.7 or newer with Landlock switched on, or bubblewrap",
            ));
        }
        let filters = setup.isolation.counts().then(filter_hashes).transpose()?;
        let groups = if setup.isolation == Isolation::Bwrap {
            GroupKind::find()
        } else {
            GroupKind::None
        };
        let limits = setup.limits.checked(groups != GroupKind::None)?;
        let environment = PythonEnvironment::open(&setup.environment_folder(), setup.set, setup.box_user())?;
        let header = BoxHeader {
            isolation: setup.isolation,
            bwrap_path: bwrap.as_ref().map(|found| found.path.display().to_string()),
            bwrap_version: bwrap.as_ref().map(|found| found.version.clone()),
            kernel: rustix::system::uname().release().to_string_lossy().into_owned(),
            landlock_abi,
            cgroup: groups.label().to_owned(),
            filters,
            runner_sha256: runner_sha256(),
            environment: environment.record.clone(),
            limits,
            self_test: SelfTest::default(),
        };
        let side_by_side = match setup.side_by_side {
            0 => available_threads().saturating_sub(1).max(1),
            some => some,
        };
        Ok(Self {
            bwrap,
            environment,
            groups,
            header,
            places: Places::new(side_by_side),
            setup,
        })
    }

    /// What every run has in common, for the record.
    #[must_use]
    pub const fn header(&self) -> &BoxHeader {
        &self.header
    }

    /// How boxes are.
    #[must_use]
    pub const fn setup(&self) -> &BoxSetup {
        &self.setup
    }

    /// How many boxes may be side by side.
    #[must_use]
    pub const fn side_by_side(&self) -> usize {
        self.places.working()
    }

    /// A place for a box, once one is free.
    pub(crate) fn place(&self) -> Place<'_> {
        self.places.take()
    }

    pub(crate) fn environment_folder(&self) -> &Path {
        &self.environment.folder
    }

    pub(crate) const fn isolation(&self) -> Isolation {
        self.setup.isolation
    }

    fn policy(&self, hash_seed: u32, modules: &[ModuleName]) -> RunnerPolicy {
        let is_alone = self.setup.isolation == Isolation::Bwrap;
        let environment = if is_alone {
            BwrapPlan::ENVIRONMENT.to_owned()
        } else {
            self.environment.folder.display().to_string()
        };
        let system = BwrapPlan::SYSTEM
            .into_iter()
            .chain(["/usr/lib64", "/lib", "/lib64", "/dev/urandom"]);
        let box_folder = is_alone.then(|| "/box".to_owned());
        RunnerPolicy {
            isolation: self.setup.isolation,
            limits: self.header.limits,
            jobs: self.setup.jobs,
            python: format!("{environment}/bin/python3"),
            readable: system
                .map(str::to_owned)
                .chain([environment])
                .chain(self.interpreter_paths())
                .chain(box_folder)
                .collect(),
            modules: modules.to_vec(),
            hash_seed,
            switched_off: self.setup.switched_off,
        }
    }

    fn interpreter_paths(&self) -> Vec<String> {
        let paths = self.environment.interpreter_paths.iter();
        paths.map(|path| path.display().to_string()).collect()
    }

    /// The filter of a stage; none where nothing is filtered.
    fn filter(&self, stage: FilterStage) -> Result<Vec<u8>, BoxError> {
        let left_out = match stage {
            FilterStage::Box => SwitchedOff::BoxFilter,
            FilterStage::Job => SwitchedOff::JobFilter,
        };
        if !self.setup.isolation.counts() || self.setup.switched_off == Some(left_out) {
            return Ok(Vec::new());
        }
        let machine = TargetMachine::own()
            .ok_or_else(|| BoxError::invalid("no filter of system calls is known for this processor"))?;
        Ok(filter_bytes(&system_call_filter(stage, machine)?))
    }

    /// Starts a box; what it says of its namespaces comes with it.
    pub(crate) fn start(
        &self,
        hash_seed: u32,
        modules: &[ModuleName],
    ) -> Result<(BoxProcess, Namespaces), BoxError> {
        let policy = self.policy(hash_seed, modules);
        let (of_box, of_job) = (self.filter(FilterStage::Box)?, self.filter(FilterStage::Job)?);
        let arguments = policy.python_arguments(RUNNER, (&of_box, &of_job));
        let Some(bwrap) = &self.bwrap else {
            let mut command = Command::new(&policy.python);
            command.args(arguments);
            let environment = policy.environment();
            let process = BoxProcess::start((command, environment), self.setup.box_user(), Given::new())?;
            return Ok((process, Namespaces::new()));
        };
        let plan = BwrapPlan {
            environment: self.environment.folder.display().to_string(),
            interpreter_paths: self.interpreter_paths(),
            python: std::iter::once(policy.python).chain(arguments).collect(),
            has_lib64: Path::new("/lib64").exists(),
            hash_seed,
            runner_descriptor: RUNNER_TEXT,
            info_descriptor: INFO,
            block_descriptor: BLOCK,
            switched_off: self.setup.switched_off,
        };
        let mut command = Command::new(&bwrap.path);
        command.args(bwrap_arguments(&plan));
        let pipe =
            || std::io::pipe().map_err(|error| BoxError::invalid(format!("no pipe for a box: {error}")));
        let ((text, mut text_end), (info, info_end), (block, mut block_end)) = (pipe()?, pipe()?, pipe()?);
        // The runner is shorter than what a pipe holds.
        text_end.write_all(RUNNER.as_bytes()).map_err(BoxError::invalid)?;
        drop(text_end);
        let given: [(i32, OwnedFd); 3] = [
            (RUNNER_TEXT, text.into()),
            (INFO, info_end.into()),
            (BLOCK, block.into()),
        ];
        let mut process = BoxProcess::start((command, Vec::new()), self.setup.box_user(), given.into())?;
        let made = read_info(info).ok_or_else(|| blocked(&process.last_words()))?;
        let (first, namespaces) = made;
        if let Some(group) = MemoryGroup::make(&self.groups, self.header.limits.memory_mb) {
            let processes = [process.id(), first];
            process.join(group, &processes)?;
        } else if self.groups != GroupKind::None {
            return Err(BoxError::invalid(
                "a group of processes can no longer be made for a box",
            ));
        }
        block_end.write_all(b"1").map_err(BoxError::invalid)?;
        Ok((process, namespaces))
    }
}

/// A file that every job could read holds an answer.
pub(crate) fn answer_lies_in(file: &Path) -> BoxError {
    BoxError::input(
        format!(
            "programs in the box could read an answer: it stands in {}",
            file.display()
        ),
        "remove the file, or set up another environment: ktd box setup --env DIR",
    )
}

/// What bubblewrap says of a box: its first process, seen from outside, and its namespaces.
fn read_info(mut info: PipeReader) -> Option<(u32, Namespaces)> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut text = Vec::new();
    let mut chunk = [0; 1_024];
    loop {
        let rest = Timespec::try_from(INFO_WAIT).ok();
        let descriptor = info.as_fd();
        let is_ready = poll(&mut [PollFd::new(&descriptor, PollFlags::IN)], rest.as_ref());
        if !matches!(is_ready, Ok(1)) {
            return None;
        }
        let read = info.read(&mut chunk).ok()?;
        if read == 0 {
            return None;
        }
        text.extend(chunk.get(..read)?);
        if let Ok(values) = serde_json::from_slice::<Namespaces>(&text) {
            let first = values.get("child-pid").and_then(|pid| u32::try_from(*pid).ok())?;
            return Some((first, values));
        }
    }
}

/// Why bubblewrap made no box.
fn blocked(said: &str) -> BoxError {
    let marks = [
        "namespace",
        "uid map",
        "Operation not permitted",
        "No permissions",
    ];
    if marks.iter().any(|mark| said.contains(mark)) {
        return BoxError::input(
            format!("user namespaces are blocked here: {said}"),
            NAMESPACES_HINT,
        );
    }
    BoxError::input(format!("bubblewrap made no box: {said}"), "see `ktd box doctor`")
}

fn filter_hashes() -> Result<FilterHashes, BoxError> {
    let machine = TargetMachine::own();
    let machine = machine.ok_or_else(|| {
        BoxError::input(
            "no filter of system calls is known for this processor",
            "use a machine with x86-64 or aarch64",
        )
    })?;
    let hash = |stage: FilterStage| -> Result<String, BoxError> {
        Ok(ktd_io::sha256::sha256_hex(&filter_bytes(&system_call_filter(
            stage, machine,
        )?)))
    };
    Ok(FilterHashes {
        box_sha256: hash(FilterStage::Box)?,
        job_sha256: hash(FilterStage::Job)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocked_namespaces_are_told_from_other_faults() {
        for said in [
            "bwrap: No permissions to create new namespace, likely because the kernel does not allow it",
            "bwrap: Creating new namespace failed: Operation not permitted",
            "bwrap: setting up uid map: Permission denied",
        ] {
            let fault = blocked(said);
            assert!(
                fault.to_string().starts_with("user namespaces are blocked here"),
                "{said}"
            );
            assert!(fault.hint().contains("unprivileged_userns"), "{said}");
        }
        assert!(
            blocked("bwrap: Can't find source path /x")
                .to_string()
                .starts_with("bubblewrap made no box")
        );
    }

    #[test]
    fn what_bubblewrap_says_is_read_or_refused() {
        let say = |text: &str| {
            let (info, mut end) = std::io::pipe().unwrap();
            end.write_all(text.as_bytes()).unwrap();
            drop(end);
            read_info(info)
        };
        let (first, namespaces) = say("{\"child-pid\": 17, \"net-namespace\": 5}\n").unwrap();
        assert_eq!((first, namespaces["net-namespace"]), (17, 5));
        for text in ["", "{", "{\"net-namespace\": 5}", "{\"child-pid\": -1}"] {
            assert!(say(text).is_none(), "{text}");
        }
    }
}
