//! What of some files lies in the bucket, and putting there what is new of them.

use crate::objects::{Objects, Side};
use crate::segment::{PRIVATE, Part, Segment};
use ktd_io::FileError;
use ktd_io::sha256::{hex, sha256_hex};
use ktd_io::whole_file::{list_if_exists, open_regular};
use ktd_study::StudyError;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Whether a file belongs to a record.
pub(crate) type Belongs = Box<dyn Fn(&str) -> bool + Send + Sync>;

/// Files of a record as one process writes them, and their segments.
pub(crate) struct Pushed {
    objects: Objects,
    root: PathBuf,
    /// Folders below the root, all of whose files it is that belong to it.
    folders: Vec<PathBuf>,
    belongs: Belongs,
    /// Where its segments lie.
    name: String,
    epoch: u64,
    next: u64,
    files: BTreeMap<String, PushedFile>,
    /// The next segment, private and public, where the bucket has not yet said that it has it.
    pending: Option<[Option<Vec<u8>>; 2]>,
}

/// A file as the bucket has it.
#[derive(Debug, Clone)]
struct PushedFile {
    bytes: u64,
    modified: SystemTime,
    hash: Sha256,
}

/// The side that a file belongs to.
pub(crate) fn side_of(path: &str) -> Side {
    if path.split('/').any(|name| name == PRIVATE) {
        Side::Private
    } else {
        Side::Public
    }
}

/// The files below folders of a root, by their places below it; what only this machine needs is left out.
pub(crate) fn files_below(
    root: &Path,
    folders: &[PathBuf],
    belongs: &dyn Fn(&str) -> bool,
) -> Result<BTreeSet<String>, FileError> {
    let mut open: Vec<PathBuf> = folders.iter().map(|folder| root.join(folder)).collect();
    let mut files = BTreeSet::new();
    while let Some(folder) = open.pop() {
        for path in list_if_exists(&folder)? {
            let Some(place) = path.strip_prefix(root).ok().and_then(Path::to_str) else {
                continue;
            };
            let name = place.rsplit('/').next().unwrap_or(place);
            let is_of_machine = name == "lock"
                || place == "private/report.lock"
                || name.starts_with('.')
                || place == "private/leases";
            if is_of_machine || path.is_symlink() {
                continue;
            }
            if path.is_dir() {
                open.push(path);
            } else if belongs(place) {
                files.insert(place.to_owned());
            }
        }
    }
    Ok(files)
}

impl fmt::Debug for Pushed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Pushed");
        shown.field("name", &self.name).field("epoch", &self.epoch);
        shown.finish_non_exhaustive()
    }
}

impl Pushed {
    pub(crate) fn new(
        (objects, root): (&Objects, &Path),
        (folders, belongs): (Vec<PathBuf>, Belongs),
        (name, epoch): (String, u64),
    ) -> Self {
        Self {
            objects: objects.clone(),
            root: root.to_owned(),
            folders,
            belongs,
            name,
            epoch,
            next: 0,
            files: BTreeMap::new(),
            pending: None,
        }
    }

    /// Takes all that lies there now as what the bucket has already.
    pub(crate) fn knows_all(mut self) -> Result<Self, FileError> {
        self.parts(false)?;
        Ok(self)
    }

    /// Segments that the bucket has.
    pub(crate) const fn segments(&self) -> u64 {
        self.next
    }

    /// SHA-256 of each file as the bucket has it.
    pub(crate) fn hashes(&self) -> BTreeMap<String, String> {
        let hash = |(path, file): (&String, &PushedFile)| (path.clone(), hex(&file.hash.clone().finalize()));
        self.files.iter().map(hash).collect()
    }

    /// Puts what is new into the bucket; at the last time until nothing is, every byte compared. Given again after an error it goes on.
    pub(crate) async fn push(&mut self, is_last: bool) -> Result<(), StudyError> {
        loop {
            if self.pending.is_none() {
                let [public, private] = self.parts(is_last)?;
                // The first segment says that the epoch has begun.
                if 0 < self.next && public.0.is_empty() && private.0.is_empty() {
                    return Ok(());
                }
                let name = Path::new(&self.name);
                let private = (!private.0.is_empty()).then(|| private.pack(name)).transpose()?;
                self.pending = Some([private, Some(public.pack(name)?)]);
            }
            let name = format!("{}/{}", self.name, segment_name(self.epoch, self.next));
            // The public one last: it says that the other is there.
            let sides = [Side::Private, Side::Public].into_iter();
            for (side, bytes) in sides.zip(self.pending.iter().flatten()) {
                if let Some(bytes) = bytes {
                    self.objects.create(side, &name, bytes).await?;
                }
            }
            self.pending = None;
            self.next += 1;
            if !is_last {
                return Ok(());
            }
        }
    }

    /// What is new, and from now on known.
    fn parts(&mut self, compares_all: bool) -> Result<[Segment; 2], FileError> {
        let mut parts = [Segment::default(), Segment::default()];
        let mut add = |part: Part, bytes: Vec<u8>| {
            let place = usize::from(side_of(&part.path) == Side::Private);
            if let Some(segment) = parts.get_mut(place) {
                segment.0.push((part, bytes));
            }
        };
        let present = files_below(&self.root, &self.folders, &self.belongs)?;
        for path in &present {
            let known = self.files.get(path);
            if let Some((part, bytes, file)) = new_of(&self.root, path, known, compares_all)? {
                self.files.insert(path.clone(), file);
                if let Some(part) = part {
                    add(part, bytes);
                }
            }
        }
        let gone: Vec<String> = self
            .files
            .keys()
            .filter(|path| !present.contains(*path))
            .cloned()
            .collect();
        for path in gone {
            self.files.remove(&path);
            let part = Part {
                path,
                offset: 0,
                bytes: 0,
                is_gone: true,
            };
            add(part, Vec::new());
        }
        Ok(parts)
    }
}

/// The name of a segment within its record: in the order of the alphabet they are in their order.
pub(crate) fn segment_name(epoch: u64, number: u64) -> String {
    format!("{epoch:010}-{number:010}")
}

type NewOf = (Option<Part>, Vec<u8>, PushedFile);

/// What is new of a file; nothing where it is as it was.
fn new_of(
    root: &Path,
    path: &str,
    known: Option<&PushedFile>,
    compares_all: bool,
) -> Result<Option<NewOf>, FileError> {
    let place = root.join(path);
    let io = |action| FileError::io(action, &place);
    let mut file = open_regular(&place)?;
    let meta = file.metadata().map_err(io("read"))?;
    let (length, modified) = (meta.len(), meta.modified().map_err(io("read"))?);
    let is_same = known.is_some_and(|known| (known.bytes, known.modified) == (length, modified));
    if is_same && !compares_all {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    // What is added from now on is the next segment's.
    file.by_ref()
        .take(length)
        .read_to_end(&mut bytes)
        .map_err(io("read"))?;
    let read = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    if let Some(known) = known {
        let old = usize::try_from(known.bytes).unwrap_or(usize::MAX);
        let is_kept = bytes
            .get(..old)
            .is_some_and(|old| sha256_hex(old) == hex(&known.hash.clone().finalize()));
        if is_kept {
            let new = bytes.split_off(old);
            let mut hash = known.hash.clone();
            hash.update(&new);
            let part = (!new.is_empty()).then(|| Part {
                path: path.to_owned(),
                offset: known.bytes,
                bytes: read - known.bytes,
                is_gone: false,
            });
            let file = PushedFile {
                bytes: read,
                modified,
                hash,
            };
            return Ok(Some((part, new, file)));
        }
    }
    let part = Part {
        path: path.to_owned(),
        offset: 0,
        bytes: read,
        is_gone: false,
    };
    let file = PushedFile {
        bytes: read,
        modified,
        hash: Sha256::new_with_prefix(&bytes),
    };
    Ok(Some((Some(part), bytes, file)))
}
