//! The box of an outside agent's program: a clean folder, what it may read, and no network unless it is allowed.

/// What differs from agent to agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentBoxPlan {
    /// Files and folders of the machine, each with the place where the box shows it; folders before what lies in them.
    pub shown: Vec<(String, String)>,
    /// Whether the network of the machine is reachable.
    pub network: bool,
    /// Whether the machine has `/lib64`.
    pub has_lib64: bool,
    /// The program and its arguments, as the box sees them.
    pub command: Vec<String>,
}

impl AgentBoxPlan {
    /// The working directory: empty but for what is shown there, in memory, and gone with the process.
    pub const FOLDER: &'static str = "/agent";
    /// What programs need of the machine: its programs and libraries, and how names, clocks and certificates are looked up.
    const SYSTEM: [&'static str; 11] = [
        "/usr",
        "/etc/alternatives",
        "/etc/ca-certificates",
        "/etc/hosts",
        "/etc/ld.so.cache",
        "/etc/localtime",
        "/etc/nsswitch.conf",
        "/etc/pki/tls",
        "/etc/pki/ca-trust",
        "/etc/resolv.conf",
        "/etc/ssl",
    ];
}

/// The most that a program may keep in its folder, and in `/tmp`: 1 GiB each.
const WRITTEN_BYTES_MAX: &str = "1073741824";

/// The arguments of bubblewrap for the program of an outside agent. It sees no process, home or folder of the machine, and none of
/// the experiment's.
#[must_use]
pub fn agent_box_arguments(plan: &AgentBoxPlan) -> Vec<String> {
    let mut arguments = Vec::new();
    let mut add = |parts: &[&str]| arguments.extend(parts.iter().map(|part| (*part).to_owned()));
    add(&["--unshare-user", "--unshare-all", "--disable-userns"]);
    if plan.network {
        add(&["--share-net"]);
    }
    // No session of its own, and no death with the thread that started it: a signal to the process group ends the first process of
    // the box, and all others with it.
    add(&["--cap-drop", "ALL"]);
    for path in AgentBoxPlan::SYSTEM {
        add(&["--ro-bind-try", path, path]);
    }
    for link in ["bin", "sbin", "lib"] {
        add(&["--symlink", &format!("usr/{link}"), &format!("/{link}")]);
    }
    if plan.has_lib64 {
        add(&["--symlink", "usr/lib64", "/lib64"]);
    }
    add(&["--dev", "/dev", "--proc", "/proc"]);
    for folder in ["/tmp", AgentBoxPlan::FOLDER] {
        add(&["--size", WRITTEN_BYTES_MAX, "--tmpfs", folder]);
    }
    for (path, place) in &plan.shown {
        add(&["--ro-bind", path, place]);
    }
    add(&["--setenv", "HOME", AgentBoxPlan::FOLDER]);
    add(&[
        "--remount-ro",
        "/",
        "--chdir",
        AgentBoxPlan::FOLDER,
        "--hostname",
        "box",
        "--",
    ]);
    arguments.extend(plan.command.iter().cloned());
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_network_is_shared_where_it_is_allowed_and_nothing_is_writable_but_memory() {
        let plan = AgentBoxPlan {
            shown: vec![("/opt/lab/agent.py".to_owned(), "/agent/agent.py".to_owned())],
            network: false,
            has_lib64: true,
            command: vec!["python3".to_owned(), "agent.py".to_owned()],
        };
        let closed = agent_box_arguments(&plan);
        let has = |arguments: &[String], option: &str| arguments.iter().any(|part| part == option);
        assert!(!has(&closed, "--share-net") && !has(&closed, "--bind") && !has(&closed, "--dev-bind"));
        assert_eq!(closed.last().map(String::as_str), Some("agent.py"));
        let open = agent_box_arguments(&AgentBoxPlan {
            network: true,
            ..plan
        });
        assert!(has(&open, "--share-net"));
    }
}
