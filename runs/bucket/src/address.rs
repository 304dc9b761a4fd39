//! Where the study of a bucket lies: `s3://BUCKET/PREFIX`.

use crate::objects::Objects;
use ktd_io::sha256::sha256_hex;
use ktd_study::StudyError;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::{ClientConfigKey, RetryConfig};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

const SCHEME: &str = "s3://";
/// How long a request to a store may take, and how long it is tried again: who waits longer has lost its lease.
const PATIENCE: Duration = Duration::from_secs(10);

/// Address of a study in a bucket, `s3://BUCKET/PREFIX`. Keys, region and endpoint are the environment's, as for all programs that use
/// S3: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_REGION`, `AWS_ENDPOINT_URL`, `AWS_ALLOW_HTTP`.
#[derive(Debug, Clone)]
pub struct BucketAddress(String);

impl BucketAddress {
    /// The address in a text; none where it is no address of a bucket.
    ///
    /// # Errors
    /// [`StudyError`] for an address without a bucket or a prefix.
    pub fn find(text: &str) -> Result<Option<Self>, StudyError> {
        let Some(rest) = text.strip_prefix(SCHEME) else {
            return Ok(None);
        };
        let (bucket, prefix) = rest.trim_end_matches('/').split_once('/').unwrap_or((rest, ""));
        let is_plain = |part: &str| !part.is_empty() && part != "." && part != "..";
        if !is_plain(bucket) || !prefix.split('/').all(is_plain) {
            return Err(StudyError::input(
                format_args!("{text}: no study in a bucket"),
                "write s3://BUCKET/NAME",
            ));
        }
        Ok(Some(Self(format!("{SCHEME}{bucket}/{prefix}"))))
    }

    /// The address one level up; none of a bucket's top.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        let (above, _) = self.0.rsplit_once('/')?;
        Self::find(above).ok().flatten()
    }

    /// What of this address lies below another one.
    #[must_use]
    pub fn below(&self, above: &Self) -> PathBuf {
        let rest = self.0.strip_prefix(&above.0).unwrap_or_default();
        PathBuf::from(rest.trim_start_matches('/'))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The folder of the copy of a reader or worker on this machine, below a folder of its user's.
    #[must_use]
    pub fn copy_folder(&self, cache: &Path, whose: &str) -> PathBuf {
        let hash = sha256_hex(self.0.as_bytes());
        let hash = hash.get(..16).unwrap_or(&hash);
        cache.join("buckets").join(hash).join(whose)
    }

    pub(crate) fn objects(&self) -> Result<Objects, StudyError> {
        // Whoever was first has installed the same.
        rustls::crypto::ring::default_provider().install_default().ok();
        let retry = RetryConfig {
            max_retries: 3,
            retry_timeout: PATIENCE,
            ..RetryConfig::default()
        };
        let timeout = AmazonS3ConfigKey::Client(ClientConfigKey::Timeout);
        let store = AmazonS3Builder::from_env()
            .with_config(timeout, format!("{} seconds", PATIENCE.as_secs()))
            .with_retry(retry)
            .with_url(&self.0)
            .build();
        let hint = "set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION, and AWS_ENDPOINT_URL of a store that is not Amazon's";
        let store = store.map_err(|error| StudyError::input(format_args!("{}: {error}", self.0), hint))?;
        let prefix = self.0.strip_prefix(SCHEME).and_then(|rest| rest.split_once('/'));
        let prefix = prefix.map_or("", |(_, prefix)| prefix);
        Ok(Objects::new(Arc::new(store), prefix, &self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_bucket_and_a_prefix() {
        let address = BucketAddress::find("s3://lab/season/").unwrap().unwrap();
        assert_eq!(address.as_str(), "s3://lab/season");
        assert!(BucketAddress::find("results/season").unwrap().is_none());
        for wrong in ["s3://", "s3://lab", "s3://lab/", "s3://lab/../x", "s3:///x"] {
            assert!(BucketAddress::find(wrong).is_err(), "{wrong}");
        }
        let cell = BucketAddress::find("s3://lab/season/cells/one").unwrap().unwrap();
        let study = cell.parent().and_then(|above| above.parent()).unwrap();
        assert_eq!(cell.below(&study), Path::new("cells/one"));
        assert!(study.parent().is_none(), "a bucket alone is no address");
    }
}
