//! The copy of a study in a bucket that a worker or a reader has on its machine.

use crate::address::BucketAddress;
use crate::objects::{Objects, Side};
use crate::pushed::{Pushed, files_below, segment_name, side_of};
use crate::segment::{Segment, make_folders};
use futures::{StreamExt, TryStreamExt, stream};
use ktd_io::FileError;
use ktd_io::sha256::sha256_file;
use ktd_io::whole_file::{
    json_bytes, parse_json, read_bounded, read_if_exists, remove_directory, remove_if_exists, write_whole,
};
use ktd_study::{StudyError, UnitId, is_not_pushed};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Where the folders of units lie in a study's folder.
const UNIT_FOLDERS: [&str; 3] = ["units", "cells", "private/cells"];
/// Where a copy notes which finished units it has.
const TAKEN: &str = ".taken";
/// Objects that are asked for at once.
const AT_ONCE: usize = 16;
/// The report of a finished study.
const REPORT: &str = "report.json";

/// What a finished unit is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FinishedUnit {
    unit: UnitId,
    epoch: u64,
    segments: u64,
    /// SHA-256 of each file, by its place in the study's folder.
    files: BTreeMap<String, String>,
}

/// Copy of a study's folder, and the bucket whose study it is.
#[derive(Debug, Clone)]
pub struct StudyCopy {
    objects: Objects,
    root: PathBuf,
}

pub(crate) fn belongs_to_unit(path: &str) -> bool {
    UNIT_FOLDERS.iter().any(|folder| {
        let rest = path.strip_prefix(folder);
        rest.is_some_and(|rest| rest.starts_with('/'))
    })
}

fn belongs_to_study(path: &str) -> bool {
    !belongs_to_unit(path)
}

fn folders_of(unit: &str) -> Vec<PathBuf> {
    UNIT_FOLDERS
        .iter()
        .map(|folder| Path::new(folder).join(unit))
        .collect()
}

impl StudyCopy {
    /// Takes what is of the study and of no unit into a folder; whether the bucket has a study at this address.
    ///
    /// # Errors
    /// [`StudyError`] for a store that does not answer, and a folder that cannot be written.
    pub async fn open(address: &BucketAddress, root: &Path) -> Result<(Self, bool), StudyError> {
        let this = Self {
            objects: address.objects()?,
            root: root.to_owned(),
        };
        let mut has_study = false;
        for side in Side::BOTH {
            let names = this.objects.list(side, "study/").await?;
            has_study |= !names.is_empty();
            let taking = stream::iter(names).map(|name| this.take_file(side, name));
            taking.buffer_unordered(AT_ONCE).try_collect::<Vec<()>>().await?;
        }
        Ok((this, has_study))
    }

    async fn take_file(&self, side: Side, place: String) -> Result<(), StudyError> {
        let Some(bytes) = self.objects.get(side, &format!("study/{place}")).await? else {
            return Ok(());
        };
        let names = Path::new(&place).components();
        let is_plain = names
            .into_iter()
            .all(|name| matches!(name, std::path::Component::Normal(_)));
        if !is_plain || belongs_to_unit(&place) || side_of(&place) != side {
            return Err(self
                .objects
                .error(format_args!("study/{place} is no file of a study")));
        }
        let path = self.root.join(&place);
        if read_if_exists(&path)?.as_deref() == Some(&bytes) {
            return Ok(());
        }
        make_folders(&self.root, Path::new(&place))?;
        Ok(write_whole(&path, &bytes)?)
    }

    /// Where it lies.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Puts what is of the study and of no unit into the bucket.
    ///
    /// # Errors
    /// [`StudyError`] for a store that does not answer, and files that cannot be read.
    pub async fn put_study(&self) -> Result<(), StudyError> {
        let files = files_below(&self.root, &[PathBuf::new()], &belongs_to_study)?;
        // The report last: who finds it finds all.
        let is_last = |place: &&String| place.as_str() == REPORT;
        let ordered = files
            .iter()
            .filter(|place| !is_last(place))
            .chain(files.iter().filter(is_last));
        for place in ordered {
            let bytes = read_bounded(&self.root.join(place), crate::objects::OBJECT_LIMIT_BYTES)?;
            self.objects
                .put(side_of(place), &format!("study/{place}"), bytes)
                .await?;
        }
        Ok(())
    }

    /// Whether so many units, all, are finished, and nobody has reported yet.
    pub(crate) async fn is_to_be_reported(&self, units: usize) -> Result<bool, StudyError> {
        let finished = self.objects.list(Side::Public, "finished/").await?;
        let report = self.objects.get(Side::Public, &format!("study/{REPORT}")).await?;
        Ok(finished.len() == units && report.is_none())
    }

    /// Forgets that the study was reported, because it is to be reported anew.
    ///
    /// # Errors
    /// [`StudyError`] for a store that does not answer, and a file that cannot be removed.
    pub async fn forget_report(&self) -> Result<(), StudyError> {
        remove_if_exists(&self.root.join(REPORT))?;
        self.objects
            .delete(Side::Public, &format!("study/{REPORT}"))
            .await
    }

    /// Takes every finished unit that it does not have.
    ///
    /// # Errors
    /// [`StudyError`] for a store that does not answer, and a unit that is not what it was when it was finished.
    pub async fn take_finished(&self) -> Result<(), StudyError> {
        self.take_units(self.objects.list(Side::Public, "finished/").await?)
            .await?;
        self.take_lines().await
    }

    /// Takes what there is of units that are not finished.
    ///
    /// # Errors
    /// [`StudyError`] for a store that does not answer, and a record that is not whole.
    pub async fn take_open(&self) -> Result<(), StudyError> {
        self.take_units(self.objects.folders("units/").await?).await
    }

    /// Takes those of these units that it does not have finished.
    async fn take_units(&self, names: Vec<String>) -> Result<(), StudyError> {
        let missing = names
            .into_iter()
            .filter(|name| !self.has_finished(&UnitId::from(name.clone())));
        let taking = stream::iter(missing).map(|name| self.take_unit_named(name));
        taking.buffer_unordered(AT_ONCE).try_collect().await
    }

    /// Whether it has a unit that was finished when it was taken.
    pub(crate) fn has_finished(&self, id: &UnitId) -> bool {
        self.root.join(TAKEN).join(id.as_str()).is_file()
    }

    async fn take_unit_named(&self, name: String) -> Result<(), StudyError> {
        self.take_unit(&UnitId::from(name)).await
    }

    /// Makes a unit's files what the bucket has of it.
    ///
    /// # Errors
    /// [`StudyError`] for a store that does not answer, and a unit that is not what it was when it was finished.
    pub async fn take_unit(&self, id: &UnitId) -> Result<(), StudyError> {
        let finished = self.finished(id).await?;
        for folder in folders_of(id.as_str()) {
            let folder = self.root.join(folder);
            if folder.is_dir() {
                remove_directory(&folder)?;
            }
        }
        let record = format!("units/{id}");
        let own = folders_of(id.as_str());
        let may_write = |path: &str| own.iter().any(|folder| Path::new(path).starts_with(folder));
        let latest = match &finished {
            Some(finished) => Some((finished.epoch, finished.segments)),
            None => self.latest(&record).await?,
        };
        if let Some((epoch, segments)) = latest {
            self.apply(&record, (epoch, segments), may_write).await?;
        }
        if let Some(finished) = &finished {
            self.check(finished)?;
            let path = self.root.join(TAKEN).join(id.as_str());
            make_folders(&self.root, &Path::new(TAKEN).join(id.as_str()))?;
            write_whole(&path, &json_bytes(&path, finished)?)?;
        }
        Ok(())
    }

    async fn finished(&self, id: &UnitId) -> Result<Option<FinishedUnit>, StudyError> {
        let name = format!("finished/{id}");
        let bytes = self.objects.get(Side::Public, &name).await?;
        let parsed = bytes.map(|bytes| parse_json::<FinishedUnit>(Path::new(&name), &bytes));
        Ok(parsed.transpose()?.filter(|finished| finished.unit == *id))
    }

    /// The latest epoch that has begun, and how many segments it has.
    async fn latest(&self, record: &str) -> Result<Option<(u64, u64)>, StudyError> {
        let names = self.objects.list(Side::Public, &format!("{record}/")).await?;
        let names: BTreeSet<(u64, u64)> = names.iter().filter_map(|name| numbers(name)).collect();
        let begun = names.iter().rev().find(|(_, number)| *number == 0);
        Ok(begun.map(|(epoch, _)| {
            let own = names.range((*epoch, 0)..=(*epoch, u64::MAX));
            let in_order = own
                .zip(0_u64..)
                .take_while(|((_, number), place)| number == place);
            (*epoch, u64::try_from(in_order.count()).unwrap_or(u64::MAX))
        }))
    }

    async fn apply(
        &self,
        record: &str,
        (epoch, segments): (u64, u64),
        may_write: impl Fn(&str) -> bool,
    ) -> Result<(), StudyError> {
        let private = self.objects.list(Side::Private, &format!("{record}/")).await?;
        for number in 0..segments {
            let name = segment_name(epoch, number);
            let whole = format!("{record}/{name}");
            for side in [Side::Private, Side::Public] {
                if side == Side::Private && !private.contains(&name) {
                    continue;
                }
                let Some(bytes) = self.objects.get(side, &whole).await? else {
                    return Err(self.objects.error(format_args!("{whole} is missing")));
                };
                let may_write = |path: &str| side_of(path) == side && may_write(path);
                Segment::unpack(Path::new(&whole), &bytes)?.apply(&self.root, may_write)?;
            }
        }
        Ok(())
    }

    fn check(&self, finished: &FinishedUnit) -> Result<(), StudyError> {
        for (place, known) in &finished.files {
            let path = self.root.join(place);
            // Who may not read what is private has what is public.
            if !path.is_file() && side_of(place) == Side::Private {
                continue;
            }
            if sha256_file(&path)? != *known {
                return Err(
                    FileError::damaged(&path, "it is not what it was when its unit was finished").into(),
                );
            }
        }
        Ok(())
    }

    /// Takes what workers wrote beside units, while the study has no report of its own that has it all.
    async fn take_lines(&self) -> Result<(), StudyError> {
        if self.root.join(REPORT).is_file() {
            return Ok(());
        }
        let names = self.objects.list(Side::Public, "workers/").await?;
        let workers: BTreeSet<&str> = names.iter().filter_map(|name| name.split('/').next()).collect();
        for worker in workers {
            let record = format!("workers/{worker}");
            if let Some(latest) = self.latest(&record).await? {
                self.apply(&record, latest, belongs_to_study).await?;
            }
        }
        Ok(())
    }

    /// What one writes of a unit in an epoch.
    pub(crate) fn pushed_unit(&self, id: &UnitId, epoch: u64) -> Pushed {
        Pushed::new(
            (&self.objects, &self.root),
            (folders_of(id.as_str()), Box::new(belongs_to_unit)),
            (format!("units/{id}"), epoch),
        )
    }

    /// What a worker writes beside units from now on.
    pub(crate) fn pushed_lines(&self, worker: &str) -> Result<Pushed, StudyError> {
        // Its copy has the journals of others as they were when it took them: they would hide what was added since.
        let of = worker.to_owned();
        let belongs = move |path: &str| belongs_to_study(path) && !is_not_pushed(path, &of);
        let beside = Pushed::new(
            (&self.objects, &self.root),
            (vec![PathBuf::new()], Box::new(belongs)),
            (format!("workers/{worker}"), 1),
        );
        Ok(beside.knows_all()?)
    }

    /// Says that a unit is finished, once.
    pub(crate) async fn finish(&self, id: &UnitId, epoch: u64, pushed: &Pushed) -> Result<(), StudyError> {
        let finished = FinishedUnit {
            unit: id.clone(),
            epoch,
            segments: pushed.segments(),
            files: pushed.hashes(),
        };
        let name = format!("finished/{id}");
        let bytes = json_bytes(Path::new(&name), &finished)?;
        let Err(error) = self.objects.create(Side::Public, &name, &bytes).await else {
            return Ok(());
        };
        // A worker that died before it could tell the server has finished the same.
        match self.finished(id).await? {
            Some(known) if known.files == finished.files => Ok(()),
            _ => Err(error),
        }
    }
}

/// Epoch and number of a segment's name.
fn numbers(name: &str) -> Option<(u64, u64)> {
    let (epoch, number) = name.split_once('-')?;
    Some((epoch.parse().ok()?, number.parse().ok()?))
}
