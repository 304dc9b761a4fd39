//! A group of processes whose memory, processes and processor the kernel counts and limits.

use ktd_io::FileError;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const ROOT: &str = "/sys/fs/cgroup";
const PREFIX: &str = "ktd-box-";
const PROCESSES: &str = "64";
/// One processor: a whole period of 0.1 s in each.
const PROCESSOR: &str = "100000 100000";
const REMOVE_MAX: Duration = Duration::from_secs(2);
const REMOVE_WAIT: Duration = Duration::from_millis(2);

/// How groups are made here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GroupKind {
    /// One tree of groups, below this folder.
    Unified(PathBuf),
    /// A tree a controller: memory, processes, and the processor where it is there.
    Separate {
        /// Where memory is counted.
        memory: PathBuf,
        /// Where processes are counted.
        processes: PathBuf,
        /// Where processor time is shared out.
        processor: Option<PathBuf>,
    },
    /// They cannot be made: limits of single processes alone.
    None,
}

impl GroupKind {
    /// Its name in records.
    #[must_use]
    pub const fn label(&self) -> &'static str {
        match self {
            Self::Unified(_) => "v2",
            Self::Separate { .. } => "v1",
            Self::None => "none",
        }
    }

    /// What this process may make: found by making one. Groups that killed programs left are removed.
    #[must_use]
    pub fn find() -> Self {
        let own = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let candidates = candidates(&own, Path::new(ROOT));
        for candidate in candidates {
            candidate.remove_stale();
            if let Some(group) = MemoryGroup::make(&candidate, 4_096) {
                group.remove();
                return candidate;
            }
        }
        Self::None
    }

    fn folders(&self) -> Vec<&PathBuf> {
        match self {
            Self::Unified(folder) => vec![folder],
            Self::Separate {
                memory,
                processes,
                processor,
            } => [Some(memory), Some(processes), processor.as_ref()]
                .into_iter()
                .flatten()
                .collect(),
            Self::None => Vec::new(),
        }
    }

    fn remove_stale(&self) {
        for folder in self.folders() {
            for path in ktd_io::whole_file::list_if_exists(folder).unwrap_or_default() {
                if maker(&path).is_some_and(|maker| !Path::new(&format!("/proc/{maker}")).exists()) {
                    std::fs::remove_dir(&path).ok();
                }
            }
        }
    }
}

/// The process that made a group, by its name.
fn maker(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_str()?.strip_prefix(PREFIX)?;
    name.split('-').next()?.parse().ok()
}

/// Where groups might be made, by what the kernel says of this process.
fn candidates(own: &str, root: &Path) -> Vec<GroupKind> {
    let place = |controller: &str| {
        own.lines().find_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            let is_it = parts.next()?.split(',').any(|name| name == controller);
            is_it.then(|| parts.next().unwrap_or("/").trim_start_matches('/').to_owned())
        })
    };
    let mut found = Vec::new();
    if root.join("cgroup.controllers").is_file() {
        if let Some(own) = place("") {
            found.push(GroupKind::Unified(root.join(own)));
        }
        found.push(GroupKind::Unified(root.to_owned()));
    }
    let below = |controller: &str| place(controller).map(|own| root.join(controller).join(own));
    if let (Some(memory), Some(processes)) = (below("memory"), below("pids")) {
        let processor = below("cpu");
        found.push(GroupKind::Separate {
            memory,
            processes,
            processor,
        });
    }
    found
}

/// One group, for one box.
#[derive(Debug)]
pub(crate) struct MemoryGroup {
    folders: Vec<PathBuf>,
    is_unified: bool,
}

impl MemoryGroup {
    /// Makes a group; none where the kernel or the machine's owner does not let it.
    pub(crate) fn make(kind: &GroupKind, memory_mb: u32) -> Option<Self> {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let name = format!(
            "{PREFIX}{}-{}",
            std::process::id(),
            MADE.fetch_add(1, Ordering::Relaxed)
        );
        let memory = (u64::from(memory_mb) << 20).to_string();
        let mut group = Self {
            folders: Vec::new(),
            is_unified: matches!(kind, GroupKind::Unified(_)),
        };
        let made = match kind {
            GroupKind::None => None,
            GroupKind::Unified(folder) => {
                let lacks = !std::fs::read_to_string(folder.join("cgroup.subtree_control"))
                    .is_ok_and(|given| given.contains("memory") && given.contains("pids"));
                if lacks {
                    write(&folder.join("cgroup.subtree_control"), "+memory +pids +cpu").ok();
                }
                let limits = [("memory.max", memory.as_str()), ("pids.max", PROCESSES)];
                let more = [("memory.swap.max", "0"), ("cpu.max", PROCESSOR)];
                group.add_folder(&folder.join(&name), &limits, &more)
            }
            GroupKind::Separate {
                memory: at,
                processes,
                processor,
            } => {
                let limits = [("memory.limit_in_bytes", memory.as_str())];
                let swap = [("memory.memsw.limit_in_bytes", memory.as_str())];
                let first = group.add_folder(&at.join(&name), &limits, &swap);
                let second = first
                    .and_then(|()| group.add_folder(&processes.join(&name), &[("pids.max", PROCESSES)], &[]));
                if let Some(processor) = processor {
                    let limits = [("cpu.cfs_period_us", "100000"), ("cpu.cfs_quota_us", "100000")];
                    group.add_folder(&processor.join(&name), &[], &limits);
                }
                second
            }
        };
        if made.is_none() {
            group.remove_folders();
        }
        made.map(|()| group)
    }

    /// Makes a folder, sets the limits that it must have and tries those that it may lack.
    fn add_folder(&mut self, folder: &Path, must: &[(&str, &str)], may: &[(&str, &str)]) -> Option<()> {
        std::fs::create_dir(folder).ok()?;
        self.folders.push(folder.to_owned());
        for (file, value) in must {
            write(&folder.join(file), value).ok()?;
        }
        for (file, value) in may {
            write(&folder.join(file), value).ok();
        }
        Some(())
    }

    /// Moves a process into the group; those that it starts later are in it from their beginning.
    pub(crate) fn add(&self, process: u32) -> Result<(), FileError> {
        for folder in &self.folders {
            let path = folder.join("cgroup.procs");
            write(&path, &process.to_string()).map_err(FileError::io("write", &path))?;
        }
        Ok(())
    }

    /// How many processes of it were killed for lack of memory so far.
    pub(crate) fn kills(&self) -> u64 {
        let file = if self.is_unified {
            "memory.events"
        } else {
            "memory.oom_control"
        };
        let text = self
            .folders
            .first()
            .map(|folder| std::fs::read_to_string(folder.join(file)));
        let text = text.and_then(Result::ok).unwrap_or_default();
        text.lines()
            .find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok())
            .unwrap_or(0)
    }

    /// Removes the group, once its processes are gone.
    pub(crate) fn remove(mut self) {
        self.remove_folders();
    }

    fn remove_folders(&mut self) {
        let until = Instant::now() + REMOVE_MAX;
        for folder in self.folders.drain(..) {
            while std::fs::remove_dir(&folder).is_err() && folder.exists() && Instant::now() < until {
                std::thread::sleep(REMOVE_WAIT);
            }
        }
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        self.remove_folders();
    }
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    std::fs::write(path, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_sought_where_this_process_is() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let own = "9:memory:/a/b\n5:pids:/\n4:cpu,cpuacct:/c\n1:name=systemd:/\n0::/own\n";
        let separate = GroupKind::Separate {
            memory: root.join("memory/a/b"),
            processes: root.join("pids"),
            processor: Some(root.join("cpu/c")),
        };
        let found = candidates(own, root);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].label(), "v1");
        assert_eq!(found[0].folders(), separate.folders());
        std::fs::write(root.join("cgroup.controllers"), "").unwrap();
        let found = candidates(own, root);
        assert_eq!(found[0], GroupKind::Unified(root.join("own")));
        assert_eq!(found[1].label(), "v2");
        assert_eq!(candidates("", Path::new("/no/such/folder")), []);
    }

    #[test]
    fn a_group_names_the_process_that_made_it() {
        assert_eq!(maker(Path::new("/x/ktd-box-17-3")), Some(17));
        assert_eq!(maker(Path::new("/x/ktd-box-a-3")), None);
        assert_eq!(maker(Path::new("/x/other-17-3")), None);
    }

    #[test]
    fn where_groups_cannot_be_made_there_is_none() {
        assert!(MemoryGroup::make(&GroupKind::None, 1).is_none());
        let folder = tempfile::tempdir().unwrap();
        let absent = GroupKind::Unified(folder.path().join("absent"));
        assert!(MemoryGroup::make(&absent, 1).is_none());
        assert_eq!(GroupKind::None.label(), "none");
    }
}
