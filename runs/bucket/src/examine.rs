//! Whether a store can be trusted with records.

use crate::address::BucketAddress;
use crate::objects::{Objects, Side};
use ktd_study::StudyError;

/// Whether a store does what finishing a unit needs: what is made once is not made again, and is read as it was written.
///
/// # Errors
/// [`StudyError`] for a store that does not answer, and one that overwrites.
pub async fn examine(address: &BucketAddress) -> Result<String, StudyError> {
    let objects = address.objects()?;
    let name = format!("doctor/{}", std::process::id());
    let tried = tried(&objects, &name).await;
    // It is away where the store does not answer at all.
    objects.delete(Side::Public, &name).await.ok();
    tried?;
    Ok(format!(
        "{}: what is written once stays as it is",
        address.as_str()
    ))
}

async fn tried(objects: &Objects, name: &str) -> Result<(), StudyError> {
    objects.put(Side::Public, name, b"first".to_vec()).await?;
    let again = objects.create(Side::Public, name, b"second").await;
    let kept = objects.get(Side::Public, name).await?;
    if again.is_ok() || kept.as_deref() != Some(b"first") {
        return Err(StudyError::input(
            format_args!(
                "{}: the store overwrites what was to be written once",
                objects.shown
            ),
            "use a store that honours `If-None-Match: *` when an object is put: two workers could else finish one unit",
        ));
    }
    Ok(())
}
