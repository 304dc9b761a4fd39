//! Publishing finished bundles: copies with the private part that ranking again needs, and a signed manifest.
//!
//! A mask's key opens the aliases of every episode that shares it, so it is given away when all of them have ended. What is
//! published is the episode's own key, a hash of the experiment's key: nobody goes back from it to the key that other
//! windows, seeds and certificates hang on.

use crate::bundle_ref::BundleRef;
use crate::bundle_set::BundleSet;
use crate::event::publishes_account;
use crate::finished_episode::{FinishedEpisode, OpenedBundle};
use crate::header::PrivateEpisode;
use crate::open::read_private;
use crate::publication::{
    PUBLICATION_FORMAT, PUBLISHED_FILES, Publication, PublicationManifest, PublishedBundle,
};
use crate::{BundlePaths, CELLS, PRIVATE, results_of};
use ktd_io::file_set::copy_whole;
use ktd_io::sha256::sha256_file;
use ktd_io::whole_file::{create_directory, json_bytes, list_if_exists, remove_directory, write_whole};
use ktd_io::whole_folder::{WholeFolder, check_vacant, sweep};
use ktd_record::RecordError;
use ktd_record::signed_folder::PUBLICATION;
use ktd_record::signing::SigningKey;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf, absolute};

/// Publishes the finished episodes that were named into a new folder `out`. `opens_mask` is the owner's consent that
/// stocks and days of masked episodes become public.
///
/// # Errors
/// [`RecordError`] when an episode has not ended, is damaged, was published by somebody, or hides what `opens_mask` does not
/// give away; when an episode that has not ended shares a mask key; and when `out` holds anything.
pub fn publish(
    found: &BundleSet,
    out: &Path,
    key: &SigningKey,
    opens_mask: bool,
) -> Result<Publication, RecordError> {
    check_out(out)?;
    sweep_unpublished(out);
    check_ended(found)?;
    check_own(&found.named)?;
    let masked: Vec<&BundleRef> = found.named.iter().filter(|found| is_masked(found)).collect();
    if !opens_mask && let Some(first) = masked.first() {
        return Err(consent(first, masked.len()));
    }
    check_shared_keys(&masked)?;
    let aside = WholeFolder::begin(out)?;
    let publication = write_aside(found, masked.len(), &aside, key)?;
    aside.finish()?;
    Ok(publication)
}

/// Removes what killed processes left of publications beside `folder`: opened private parts in hidden folders. What cannot
/// be removed stays.
pub fn sweep_unpublished(folder: &Path) {
    let Some(parent) = absolute(folder)
        .ok()
        .and_then(|path| path.parent().map(Path::to_owned))
    else {
        return;
    };
    sweep(&parent);
    for path in list_if_exists(&parent).unwrap_or_default() {
        if !path.is_symlink() && is_left_of_earlier_versions(&path) {
            remove_directory(&path).ok();
        }
    }
}

/// Whether a folder is `.NAME.PROCESS.part` and holds experiments with cells alone, as earlier versions left it.
fn is_left_of_earlier_versions(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let process = name.strip_suffix(".part").and_then(|name| name.rsplit_once('.'));
    let has_name =
        name.starts_with('.') && process.is_some_and(|(_, process)| process.parse::<u32>().is_ok());
    let of_experiment = |path: &PathBuf| {
        let cells = list_if_exists(path).unwrap_or_default();
        path.ends_with(PUBLICATION) || cells == [path.join("cells")]
    };
    let inside = if has_name {
        list_if_exists(folder).unwrap_or_default()
    } else {
        Vec::new()
    };
    !inside.is_empty() && inside.iter().all(of_experiment)
}

/// Whether publishing opens something: what the mask hides, or the key of all windows of its draw.
fn is_masked(found: &BundleRef) -> bool {
    !publishes_account(found.header.mask.level) || found.header.window.draw.is_some()
}

fn check_out(out: &Path) -> Result<(), RecordError> {
    if out.join(PUBLICATION).exists() {
        return Err(RecordError::input(
            format!("{} holds a publication already", out.display()),
            "name a new folder: what was signed and given away is not replaced",
        ));
    }
    Ok(check_vacant(out)?)
}

fn check_ended(found: &BundleSet) -> Result<(), RecordError> {
    let Some(first) = found.unfinished.first() else {
        return Ok(());
    };
    let what = match found.unfinished.len() {
        1 => format!("{} has not ended", first.display()),
        count => format!(
            "{} and {} more episodes have not ended",
            first.display(),
            count - 1
        ),
    };
    Err(RecordError::input(
        what,
        "continue them with `ktd run`, or close those of an agent that is gone with `ktd run FILE --withdraw AGENT`: publishing opens their mask",
    ))
}

/// A publication says who made its episodes: nobody signs those that somebody published.
fn check_own(named: &[BundleRef]) -> Result<(), RecordError> {
    match named.iter().find(|found| found.signer.fingerprint.is_some()) {
        None => Ok(()),
        Some(found) => Err(RecordError::input(
            format!(
                "{} is published already, signed by {}",
                found.root.display(),
                found.signer
            ),
            "publish from the results directory of the run: a signature says who made the episodes",
        )),
    }
}

fn consent(first: &BundleRef, count: usize) -> RecordError {
    let mask = &first.header.mask;
    let what = format!(
        "{} is under the mask {}/{}, as {count} of the named episodes are masked: publishing them opens their mask{} for \
         everybody, for good",
        first.root.display(),
        mask.level.label(),
        mask.numeric.label(),
        if first.header.window.draw.is_some() {
            " and all windows of the draw"
        } else {
            ""
        },
    );
    RecordError::input(
        what,
        "when no run under these mask keys is to come any more, pass --open-mask; without publishing, share the bundles \
         without private/, which `ktd verify` checks and nobody can rank",
    )
}

/// Refuses while an episode that shares a key is running: its alias map would be public before it ends.
fn check_shared_keys(masked: &[&BundleRef]) -> Result<(), RecordError> {
    let opened: BTreeMap<&str, &BundleRef> = masked
        .iter()
        .flat_map(|found| secrets(found).map(|secret| (secret, *found)))
        .collect();
    for root in neighbours(masked)? {
        // What cannot be read is of another format or damaged: no episode of this program continues there.
        let Ok(other) = BundleRef::read(&root) else {
            continue;
        };
        let shared = secrets(&other).find_map(|secret| opened.get(secret));
        if let Some(found) = shared.filter(|_| !other.is_finished()) {
            let what = format!(
                "{} has not ended, and {} has the same mask key, or its window is of the same draw: publishing it would tell what the other one hides",
                other.root.display(),
                found.root.display()
            );
            return Err(RecordError::input(
                what,
                "continue it with `ktd run` first, or remove it if it is never to be continued",
            ));
        }
    }
    Ok(())
}

/// What binds the secrets that publishing an episode opens: its mask key, and the key of all windows of its draw.
fn secrets(found: &BundleRef) -> impl Iterator<Item = &str> {
    let draw = found.header.window.draw.as_ref();
    let window = draw.map(|draw| draw.commitment.as_str());
    std::iter::once(found.header.mask.commitment.as_str()).chain(window)
}

/// The bundles beside these, and those of the experiments beside theirs.
fn neighbours(masked: &[&BundleRef]) -> Result<BTreeSet<PathBuf>, RecordError> {
    let mut folders = BTreeSet::new();
    for found in masked {
        let root = &found.root;
        let real = root.canonicalize().map_err(RecordError::io("read", root))?;
        folders.extend(real.parent().map(Path::to_owned));
        let results = results_of(&real);
        let experiments = results.parent().map_or_else(|| Ok(Vec::new()), list_if_exists)?;
        for experiment in experiments {
            folders.insert(experiment.join(CELLS));
            folders.insert(experiment.join(PRIVATE).join(CELLS));
        }
    }
    let mut bundles = BTreeSet::new();
    for folder in folders.iter().filter(|folder| folder.is_dir()) {
        let inside = list_if_exists(folder)?;
        bundles.extend(
            inside
                .into_iter()
                .filter(|root| root.join("header.json").is_file()),
        );
    }
    Ok(bundles)
}

fn write_aside(
    found: &BundleSet,
    masked: usize,
    aside: &WholeFolder,
    key: &SigningKey,
) -> Result<Publication, RecordError> {
    let mut bundles = BTreeMap::new();
    let is_drawn = |bundle: &&BundleRef| bundle.header.window.draw.is_some();
    let draws = found.named.iter().filter(is_drawn).count();
    for bundle in &found.named {
        let header = &bundle.header;
        let place = format!("{}/cells/{}", header.experiment, header.cell);
        if bundles.contains_key(&place) {
            let what = format!(
                "{} is a second episode {:?} of the experiment {:?}",
                bundle.root.display(),
                header.cell,
                header.experiment
            );
            return Err(RecordError::input(
                what,
                "name one of the two, or publish them apart",
            ));
        }
        let published = copy(bundle, &aside.at(&place)?)?;
        bundles.insert(place, published);
    }
    let manifest = PublicationManifest {
        format: PUBLICATION_FORMAT,
        ktd: env!("CARGO_PKG_VERSION").to_owned(),
        opens: opens(masked, draws),
        kept_back: found.siblings.len() + found.damaged.len(),
        bundles,
    };
    Publication::write(manifest, key, &aside.at(PUBLICATION)?)
}

/// What publishing opens, for the manifest and for the owner.
fn opens(masked: usize, draws: usize) -> Vec<String> {
    if masked == 0 {
        return Vec::new();
    }
    let windows = (0 < draws).then(|| {
        "all windows of the draw, those that nobody has played yet among them: the next season draws with a new mask key".to_owned()
    });
    let opened = [
        format!(
            "the mask of {masked} episodes: their keys, days, orders, fills and holdings are here, so that everybody can name \
             every stock and day that they showed, and so can a model that is trained on these files"
        ),
        "the aliases of every other episode with one of these mask keys, which is that of one window, mask, decision mode and \
         seed under one experiment key: run no agent there any more"
            .to_owned(),
    ];
    opened.into_iter().chain(windows).collect()
}

/// Copies a finished bundle whose files agree with each other; its own maker's paths stay at home.
fn copy(bundle: &BundleRef, target: &Path) -> Result<PublishedBundle, RecordError> {
    FinishedEpisode::read(OpenedBundle::read(bundle.clone())?, &mut ())?;
    let (from, to) = (BundlePaths::new(&bundle.root), BundlePaths::new(target));
    let header = &bundle.header;
    let (private, _) = read_private(&from, header)?;
    let private = PrivateEpisode {
        panel: None,
        ..private
    };
    create_directory(&to.private())?;
    let mut files = BTreeMap::new();
    for file in PUBLISHED_FILES {
        let source = bundle.root.join(file);
        if !source.exists() {
            continue;
        }
        let copied = target.join(file);
        if source == from.episode() {
            write_whole(&copied, &json_bytes(&copied, &private.clone().sealed())?)?;
        } else {
            copy_whole(&source, &copied)?;
        }
        files.insert(file.to_owned(), sha256_file(&copied)?);
    }
    Ok(PublishedBundle {
        ktd: header.ktd.clone(),
        program: header.program.clone(),
        experiment: header.experiment.clone(),
        cell: header.cell.clone(),
        level: header.mask.level,
        numeric: header.mask.numeric,
        mask_commitment: header.mask.commitment.clone(),
        files,
    })
}
