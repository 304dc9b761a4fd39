//! The inner stage: a process gives up what it could do harm with, and becomes Python.

use crate::error::BoxError;
use ktd_sandbox::{
    FilterStage, InnerPolicy, Isolation, RUNNER, SwitchedOff, TargetMachine, filter_bytes, system_call_filter,
};
use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, LandlockStatus, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};
use rustix::process::{Resource, Rlimit, Signal, getuid, set_parent_process_death_signal, setrlimit};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// The newest rules that are asked for; what an older kernel lacks is left out, where another layer does the same.
const NEWEST: ABI = ABI::V6;
/// The oldest rules that suffice where nothing else keeps a program from the network.
const OLDEST_ALONE: ABI = ABI::V4;
const OPEN_FILES: u64 = 256;
const PROCESSES: u64 = 64;

/// Applies a policy to this process and replaces it by Python: what comes back is why it could not.
#[must_use]
pub fn box_inner(policy: &str) -> BoxError {
    match become_python(policy) {
        Ok(never) => match never {},
        Err(error) => error,
    }
}

/// What is never made: the process is another program by then.
enum Never {}

fn become_python(policy: &str) -> Result<Never, BoxError> {
    let policy: InnerPolicy = serde_json::from_str(policy)
        .map_err(|error| BoxError::invalid(format!("invalid policy of a box: {error}")))?;
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(system("end with its parent"))?;
    rustix::thread::set_no_new_privs(true).map_err(system("give up new privileges"))?;
    limit_resources(&policy)?;
    let machine = TargetMachine::own();
    let mut job_filter = Vec::new();
    if policy.isolation.counts() {
        if policy.switched_off != Some(SwitchedOff::Landlock) {
            restrict(&policy)?;
        }
        let machine = machine
            .ok_or_else(|| BoxError::invalid("no filter of system calls is known for this processor"))?;
        if policy.switched_off != Some(SwitchedOff::JobFilter) {
            job_filter = filter_bytes(&system_call_filter(FilterStage::Job, machine)?);
        }
        if policy.switched_off != Some(SwitchedOff::BoxFilter) {
            let filter = system_call_filter(FilterStage::Box, machine)?;
            seccompiler::apply_filter(&filter).map_err(|error| {
                BoxError::invalid(format!("the filter of system calls is refused: {error}"))
            })?;
        }
    }
    let error = Command::new(&policy.python)
        .args(policy.python_arguments(RUNNER, &job_filter))
        .env_clear()
        .envs(policy.environment())
        .exec();
    Err(BoxError::io("start", Path::new(&policy.python))(error))
}

fn system(what: &'static str) -> impl FnOnce(rustix::io::Errno) -> BoxError {
    move |error| BoxError::invalid(format!("the box cannot {what}: {error}"))
}

fn limit_resources(policy: &InnerPolicy) -> Result<(), BoxError> {
    let mut limits = vec![
        (Resource::Cpu, policy.box_cpu_s()),
        (Resource::Core, 0),
        (Resource::Nofile, OPEN_FILES),
    ];
    if policy.isolation.counts() {
        limits.extend([
            (Resource::As, policy.limits.address_space_bytes()),
            (Resource::Fsize, 0),
            (Resource::Memlock, 0),
            (Resource::Msgqueue, 0),
        ]);
    }
    // Counted for a user: without a user namespace the processes outside the box would count too.
    if policy.isolation == Isolation::Bwrap && !getuid().is_root() {
        limits.push((Resource::Nproc, PROCESSES));
    }
    for (resource, most) in limits {
        // A limit that is lower already stays: it cannot be raised, and is no less strict.
        let allowed = rustix::process::getrlimit(resource).maximum.unwrap_or(u64::MAX);
        let most = Some(most.min(allowed));
        let limit = Rlimit {
            current: most,
            maximum: most,
        };
        setrlimit(resource, limit).map_err(system("limit its resources"))?;
    }
    Ok(())
}

/// Reading beneath a few folders, and nothing else of the file system, the network, or processes outside.
fn restrict(policy: &InnerPolicy) -> Result<(), BoxError> {
    let status = rules(policy).and_then(RulesetCreated::restrict_self);
    let status = status
        .map_err(|error| BoxError::invalid(format!("Landlock refuses the rules of the box: {error}")))?;
    let is_alone = policy.isolation == Isolation::Landlock;
    if is_alone && status.ruleset == RulesetStatus::NotEnforced {
        return Err(BoxError::invalid(
            "Landlock is not enforced, and the box has no other layer",
        ));
    }
    Ok(())
}

fn rules(policy: &InnerPolicy) -> Result<RulesetCreated, RulesetError> {
    let is_alone = policy.isolation == Isolation::Landlock;
    let required = |at_least: bool| {
        if is_alone && at_least {
            CompatLevel::HardRequirement
        } else {
            CompatLevel::BestEffort
        }
    };
    let mut ruleset = Ruleset::default()
        .set_compatibility(required(true))
        .handle_access(AccessFs::from_all(OLDEST_ALONE))?
        .handle_access(AccessNet::from_all(OLDEST_ALONE))?
        .set_compatibility(required(false))
        .handle_access(AccessFs::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?
        .set_compatibility(CompatLevel::BestEffort);
    let read = AccessFs::from_read(NEWEST);
    for path in &policy.readable {
        // What a machine lacks needs no rule.
        let Ok(opened) = PathFd::new(path) else { continue };
        let is_folder = Path::new(path).is_dir();
        let access = if is_folder {
            read
        } else {
            read & AccessFs::from_file(NEWEST)
        };
        ruleset = ruleset.add_rule(PathBeneath::new(opened, access))?;
    }
    if let Ok(null) = PathFd::new("/dev/null") {
        ruleset = ruleset.add_rule(PathBeneath::new(null, AccessFs::ReadFile | AccessFs::WriteFile))?;
    }
    Ok(ruleset)
}

/// The version of Landlock in the kernel; 0 where it has none. Rules bind the thread that asks for them alone, so a thread
/// that ends asks.
#[must_use]
pub fn landlock_version() -> u32 {
    let ask = || {
        let made = Ruleset::default()
            .handle_access(AccessFs::MakeSock)
            .and_then(Ruleset::create);
        made.and_then(RulesetCreated::restrict_self).ok()
    };
    let status = std::thread::scope(|scope| scope.spawn(ask).join().ok().flatten());
    match status.map(|status| status.landlock) {
        Some(LandlockStatus::Available {
            effective_abi,
            kernel_abi,
        }) => kernel_abi
            .and_then(|version| u32::try_from(version).ok())
            .unwrap_or(effective_abi as u32),
        _ => 0,
    }
}
