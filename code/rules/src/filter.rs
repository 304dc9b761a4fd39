//! The filters of system calls, compiled for the kernel.
//!
//! Lists of what is allowed. Anything else is answered with `EPERM`, so that Python raises an error instead of dying; a
//! program of another architecture is killed. `clone3` is answered with `ENOSYS`: the C library then uses `clone`, whose
//! flags a filter can see.

use crate::calls::{JOB_CALLS, RUNNER_CALLS};
use seccompiler::{BpfProgram, TargetArch, compile_from_json, sock_filter};
use serde_json::{Value, json};

/// Which of the two filters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilterStage {
    /// Of the whole box, the runner included.
    Box,
    /// Of one job, on top of it, before foreign code is read.
    Job,
}

/// A machine that the box runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetMachine {
    /// 64-bit Intel and AMD.
    X86_64,
    /// 64-bit Arm.
    Aarch64,
}

impl TargetMachine {
    /// The machine that this program was compiled for; `None` where there are no lists for it.
    #[must_use]
    pub const fn own() -> Option<Self> {
        if cfg!(target_arch = "x86_64") {
            Some(Self::X86_64)
        } else if cfg!(target_arch = "aarch64") {
            Some(Self::Aarch64)
        } else {
            None
        }
    }

    const fn architecture(self) -> TargetArch {
        match self {
            Self::X86_64 => TargetArch::x86_64,
            Self::Aarch64 => TargetArch::aarch64,
        }
    }

    /// Calls that it lacks: newer ones with more arguments took their places.
    const fn lacks(self) -> &'static [&'static str] {
        match self {
            Self::X86_64 => &[],
            Self::Aarch64 => &[
                "access",
                "arch_prctl",
                "dup2",
                "epoll_wait",
                "fork",
                "getdents",
                "getpgrp",
                "lstat",
                "open",
                "pipe",
                "poll",
                "readlink",
                "select",
                "stat",
                "time",
                "vfork",
            ],
        }
    }
}

/// A list that cannot be compiled: a defect of the program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the filter of system calls cannot be compiled: {what}")]
pub struct FilterError {
    /// What the compiler answered.
    pub what: String,
}

/// `EPERM`.
const NOT_PERMITTED: u32 = 1;
/// `SECCOMP_RET_ERRNO` with `ENOSYS`, which is 38.
const ANSWER_NO_SUCH_CALL: u32 = 0x0005_0026;
/// `clone3` has one number on every machine.
const CLONE3: u32 = 435;
/// Requests of `ioctl` that change nothing outside the process: TCGETS, FIOCLEX, FIONCLEX, FIONREAD.
const REQUESTS: [u32; 4] = [0x5401, 0x5451, 0x5450, 0x541B];

/// Commands of `fcntl`, and the flag of a descriptor that signals its owner.
const F_DUPFD: u32 = 0;
const F_GETFD: u32 = 1;
const F_SETFD: u32 = 2;
const F_GETFL: u32 = 3;
const F_SETFL: u32 = 4;
const F_DUPFD_CLOEXEC: u32 = 1_030;
const O_ASYNC: u32 = 0x2000;

/// Instructions of the kernel's filter language: load a word, jump where equal, return.
const LOAD: u16 = 0x20;
const JUMP_EQUAL: u16 = 0x15;
const RETURN: u16 = 0x06;
/// Instructions before the number of the call is known: three that check the machine, one that loads the number.
const PREFIX: usize = 4;

/// The filter of a stage for a machine.
///
/// # Errors
/// [`FilterError`] where a call of the lists is unknown for the machine.
pub fn system_call_filter(stage: FilterStage, machine: TargetMachine) -> Result<BpfProgram, FilterError> {
    let fault = |what: String| FilterError { what };
    let text = json!({"box": {
        "mismatch_action": {"errno": NOT_PERMITTED},
        "match_action": "allow",
        "filter": rules(stage, machine),
    }})
    .to_string();
    let mut programs = compile_from_json(text.as_bytes(), machine.architecture())
        .map_err(|error| fault(error.to_string()))?;
    let mut program = programs
        .remove("box")
        .ok_or_else(|| fault("the compiler gave nothing".to_owned()))?;
    // The compiler knows one answer a list; this one is between the check of the machine and the list.
    let loads_number = |at: &sock_filter| at.code == LOAD && at.k == 0;
    if !PREFIX
        .checked_sub(1)
        .and_then(|at| program.get(at))
        .is_some_and(loads_number)
    {
        return Err(fault("its beginning is another than expected".to_owned()));
    }
    let no_clone3 = [
        instruction(JUMP_EQUAL, 1, CLONE3),
        instruction(RETURN, 0, ANSWER_NO_SUCH_CALL),
    ];
    program.splice(PREFIX..PREFIX, no_clone3);
    Ok(program)
}

/// An instruction that jumps over `skip` others where it is a comparison that fails.
const fn instruction(code: u16, skip: u8, k: u32) -> sock_filter {
    sock_filter {
        code,
        jt: 0,
        jf: skip,
        k,
    }
}

fn rules(stage: FilterStage, machine: TargetMachine) -> Vec<Value> {
    let runner = match stage {
        FilterStage::Box => RUNNER_CALLS.as_slice(),
        FilterStage::Job => &[],
    };
    let mut rules: Vec<Value> = JOB_CALLS
        .iter()
        .chain(runner)
        .filter(|call| !machine.lacks().contains(call))
        .map(|call| json!({"syscall": call}))
        .collect();
    let argument =
        |index: u8, kind: &str, value: u32| json!({"index": index, "type": kind, "op": "eq", "val": value});
    for request in REQUESTS {
        rules.push(json!({"syscall": "ioctl", "args": [argument(1, "dword", request)]}));
    }
    // Copies, and flags without signals: no owner, lease, notice or lock, and no other size of a pipe.
    for command in [F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC] {
        rules.push(json!({"syscall": "fcntl", "args": [argument(1, "dword", command)]}));
    }
    let no_signal = json!({"index": 2, "type": "dword", "op": {"masked_eq": O_ASYNC}, "val": 0});
    rules.push(json!({"syscall": "fcntl", "args": [argument(1, "dword", F_SETFL), no_signal]}));
    if stage == FilterStage::Job {
        // Reading a limit: the new one, which is the third argument, is absent.
        rules.push(json!({"syscall": "prlimit64", "args": [argument(2, "qword", 0)]}));
    }
    rules
}

/// The bytes of a filter, as the kernel of either machine reads them.
#[must_use]
pub fn filter_bytes(program: &[sock_filter]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(program.len() * 8);
    for at in program {
        bytes.extend(at.code.to_le_bytes());
        bytes.extend([at.jt, at.jf]);
        bytes.extend(at.k.to_le_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};
    use std::fmt::Write as _;

    const STAGES: [FilterStage; 2] = [FilterStage::Box, FilterStage::Job];
    const MACHINES: [TargetMachine; 2] = [TargetMachine::X86_64, TargetMachine::Aarch64];
    const X86_64: u32 = 0xC000_003E;
    const AARCH64: u32 = 0xC000_00B7;
    const I386: u32 = 0x4000_0003;
    const ALLOW: u32 = 0x7fff_0000;
    const KILL: u32 = 0x8000_0000;
    const DENY: u32 = 0x0005_0001;

    /// What the kernel would answer: the few instructions that the compiler uses.
    fn answer(program: &[sock_filter], machine: u32, call: u32, arguments: [u64; 6]) -> u32 {
        let mut data = Vec::new();
        data.extend(call.to_le_bytes());
        data.extend(machine.to_le_bytes());
        data.extend(0u64.to_le_bytes());
        for argument in arguments {
            data.extend(argument.to_le_bytes());
        }
        let (mut at, mut register) = (0usize, 0u32);
        loop {
            let step = &program[at];
            at += 1;
            let jump = |is: bool| usize::from(if is { step.jt } else { step.jf });
            match step.code {
                LOAD => {
                    let from = step.k as usize;
                    register = u32::from_le_bytes(data[from..from + 4].try_into().unwrap());
                }
                JUMP_EQUAL => at += jump(register == step.k),
                // The bits of a mask.
                0x54 => register &= step.k,
                0x05 => at += step.k as usize,
                RETURN => return step.k,
                other => panic!("instruction {other:#x}"),
            }
        }
    }

    fn call(stage: FilterStage, call: u32, arguments: [u64; 6]) -> u32 {
        let program = system_call_filter(stage, TargetMachine::X86_64).unwrap();
        answer(&program, X86_64, call, arguments)
    }

    #[test]
    fn filters_are_pinned_byte_by_byte() {
        let mut text = String::new();
        for machine in MACHINES {
            for stage in STAGES {
                let program = system_call_filter(stage, machine).unwrap();
                let hash = Sha256::digest(filter_bytes(&program));
                let hex: String = hash
                    .iter()
                    .fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
                writeln!(
                    text,
                    "{machine:?} {stage:?}: {} instructions, {hex}",
                    program.len()
                )
                .unwrap();
                for at in &program {
                    writeln!(text, "  {:04x} {} {} {:08x}", at.code, at.jt, at.jf, at.k).unwrap();
                }
            }
        }
        insta::assert_snapshot!(text);
    }

    #[test]
    fn a_job_makes_no_process_and_no_socket() {
        // fork, clone, vfork, execve, kill, tgkill, socket, socketpair, memfd_create, shmget, mq_open, io_uring_setup,
        // mount, unshare, seccomp, prctl, ptrace
        for number in [
            57, 56, 58, 59, 62, 234, 41, 53, 319, 29, 240, 425, 165, 272, 317, 157, 101,
        ] {
            assert_eq!(call(FilterStage::Job, number, [0; 6]), DENY, "{number}");
        }
        // read, openat, mmap, futex
        for number in [0, 257, 9, 202] {
            assert_eq!(call(FilterStage::Job, number, [0; 6]), ALLOW, "{number}");
        }
    }

    #[test]
    fn the_runner_forks_and_a_job_does_not() {
        for number in [56, 57, 59, 61, 62, 157, 160, 302, 317] {
            assert_eq!(call(FilterStage::Box, number, [1; 6]), ALLOW, "{number}");
            assert_eq!(call(FilterStage::Job, number, [1; 6]), DENY, "{number}");
        }
        for number in [41, 165, 272, 101, 319] {
            assert_eq!(call(FilterStage::Box, number, [0; 6]), DENY, "{number}");
        }
    }

    #[test]
    fn a_job_reads_limits_and_sets_none() {
        assert_eq!(call(FilterStage::Job, 302, [0, 7, 0, 99, 0, 0]), ALLOW);
        assert_eq!(call(FilterStage::Job, 302, [0, 7, 1, 0, 0, 0]), DENY);
        assert_eq!(call(FilterStage::Job, 302, [0, 7, 1 << 32, 0, 0, 0]), DENY);
    }

    #[test]
    fn few_requests_of_ioctl_are_allowed() {
        for stage in STAGES {
            for request in REQUESTS {
                assert_eq!(call(stage, 16, [0, request.into(), 0, 0, 0, 0]), ALLOW);
            }
            // TIOCSTI types into a terminal, TIOCLINUX pastes into one.
            for request in [0x5412, 0x541C] {
                assert_eq!(call(stage, 16, [0, request, 0, 0, 0, 0]), DENY);
            }
        }
    }

    #[test]
    fn descriptors_are_copied_and_signal_nobody() {
        for stage in STAGES {
            for command in [F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC] {
                assert_eq!(call(stage, 72, [3, command.into(), 0, 0, 0, 0]), ALLOW);
            }
            // O_NONBLOCK, and with it O_ASYNC.
            assert_eq!(call(stage, 72, [3, F_SETFL.into(), 0x800, 0, 0, 0]), ALLOW);
            assert_eq!(call(stage, 72, [3, F_SETFL.into(), 0x2800, 0, 0, 0]), DENY);
            // F_SETLK, F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETLEASE, F_NOTIFY, F_SETPIPE_SZ
            for command in [6, 8, 10, 15, 1_024, 1_026, 1_031] {
                assert_eq!(call(stage, 72, [3, command, 1, 0, 0, 0]), DENY, "{command}");
            }
            // preadv2, fadvise64: what lies in the cache of pages is another job's.
            for number in [327, 221] {
                assert_eq!(call(stage, number, [3, 0, 0, 0, 0, 0]), DENY, "{number}");
            }
        }
    }

    #[test]
    fn clone3_looks_absent_and_other_machines_are_killed() {
        for stage in STAGES {
            assert_eq!(call(stage, CLONE3, [0; 6]), ANSWER_NO_SUCH_CALL);
            let program = system_call_filter(stage, TargetMachine::X86_64).unwrap();
            assert_eq!(answer(&program, I386, 0, [0; 6]), KILL);
            // The calls of the 32-bit pointers' interface have another number on the same machine.
            assert_eq!(answer(&program, X86_64, 0x4000_0000, [0; 6]), DENY);
            let arm = system_call_filter(stage, TargetMachine::Aarch64).unwrap();
            assert_eq!(answer(&arm, AARCH64, CLONE3, [0; 6]), ANSWER_NO_SUCH_CALL);
            // read, socket
            assert_eq!(answer(&arm, AARCH64, 63, [0; 6]), ALLOW);
            assert_eq!(answer(&arm, AARCH64, 198, [0; 6]), DENY);
        }
    }

    #[test]
    fn what_a_machine_lacks_is_in_the_lists() {
        for call in TargetMachine::Aarch64.lacks() {
            assert!(JOB_CALLS.contains(call) || RUNNER_CALLS.contains(call), "{call}");
        }
    }
}
