//! Objects of a study in a bucket: made once, read, listed.

use futures::TryStreamExt;
use ktd_study::StudyError;
use object_store::path::Path as ObjectPath;
use object_store::{Error, ObjectStore, ObjectStoreExt, PutMode, PutPayload};
use std::sync::Arc;

/// The most that one object may hold, 256 MiB: a segment has what is new of one unit.
pub(crate) const OBJECT_LIMIT_BYTES: u64 = 256 << 20;

/// Whom an object is for: two prefixes, which a store may give rights of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Public,
    Private,
}

impl Side {
    pub(crate) const BOTH: [Self; 2] = [Self::Public, Self::Private];

    const fn label(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Private => "private",
        }
    }
}

/// Objects below an address.
#[derive(Debug, Clone)]
pub(crate) struct Objects {
    store: Arc<dyn ObjectStore>,
    prefix: String,
    pub(crate) shown: String,
}

impl Objects {
    pub(crate) fn new(store: Arc<dyn ObjectStore>, prefix: &str, shown: &str) -> Self {
        Self {
            store,
            prefix: prefix.to_owned(),
            shown: shown.to_owned(),
        }
    }

    fn at(&self, side: Side, name: &str) -> ObjectPath {
        ObjectPath::from(format!("{}/{}/{name}", self.prefix, side.label()))
    }

    pub(crate) fn error(&self, what: impl std::fmt::Display) -> StudyError {
        StudyError::input(
            format_args!("{}: {what}", self.shown),
            "look at the address, at its keys in the environment, and at `ktd doctor --bucket ADDRESS`",
        )
    }

    /// What a store said: what it may answer later is waited for.
    fn failed(&self, error: &Error) -> StudyError {
        let is_final = matches!(
            error,
            Error::PermissionDenied { .. }
                | Error::Unauthenticated { .. }
                | Error::NotFound { .. }
                | Error::InvalidPath { .. }
                | Error::NotSupported { .. }
                | Error::NotImplemented { .. }
        );
        if is_final {
            return self.error(error);
        }
        let hint = "the store does not answer: look at AWS_ENDPOINT_URL and at the network";
        StudyError::waiting(format_args!("{}: {error}", self.shown), hint)
    }

    /// Makes an object that nobody makes twice; the same bytes again are the same object.
    pub(crate) async fn create(&self, side: Side, name: &str, bytes: &[u8]) -> Result<(), StudyError> {
        let (at, payload) = (self.at(side, name), PutPayload::from(bytes.to_vec()));
        match self.store.put_opts(&at, payload, PutMode::Create.into()).await {
            Ok(_) => Ok(()),
            // It was written, and the answer was lost; or by another.
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => {
                match self.get(side, name).await?.as_deref() {
                    Some(known) if known == bytes => Ok(()),
                    _ => Err(StudyError::difference(
                        format_args!("{}: another process has written {name}", self.shown),
                        "another worker goes on with it",
                    )),
                }
            }
            Err(error) => Err(self.failed(&error)),
        }
    }

    /// Writes an object, over what was there.
    pub(crate) async fn put(&self, side: Side, name: &str, bytes: Vec<u8>) -> Result<(), StudyError> {
        let at = self.at(side, name);
        let put = self.store.put(&at, PutPayload::from(bytes)).await;
        put.map(drop).map_err(|error| self.failed(&error))
    }

    /// The bytes of an object; none where there is none, and of a private one that one may not read.
    pub(crate) async fn get(&self, side: Side, name: &str) -> Result<Option<Vec<u8>>, StudyError> {
        let found = match self.store.get(&self.at(side, name)).await {
            Ok(found) => found,
            Err(error) if is_absent(side, &error) => return Ok(None),
            Err(error) => return Err(self.failed(&error)),
        };
        if OBJECT_LIMIT_BYTES < found.meta.size {
            return Err(self.error(format_args!("{name} has more than {OBJECT_LIMIT_BYTES} bytes")));
        }
        let bytes = found.bytes().await.map_err(|error| self.failed(&error))?;
        Ok(Some(bytes.to_vec()))
    }

    /// The names of the objects below a name that ends with `/`, without it, in their order; none of a private side that one may not list.
    pub(crate) async fn list(&self, side: Side, below: &str) -> Result<Vec<String>, StudyError> {
        let root = self.at(side, below.trim_end_matches('/'));
        let found = self.store.list(Some(&root));
        let found: Vec<_> = match found.try_collect().await {
            Ok(found) => found,
            Err(error) if is_absent(side, &error) => Vec::new(),
            Err(error) => return Err(self.failed(&error)),
        };
        let mut names: Vec<String> = found
            .iter()
            .filter_map(|meta| {
                let parts = meta.location.prefix_match(&root)?;
                Some(
                    parts
                        .map(|part| part.as_ref().to_owned())
                        .collect::<Vec<_>>()
                        .join("/"),
                )
            })
            // A folder that a console has made is an object of its own name.
            .filter(|name| !name.is_empty())
            .collect();
        names.sort_unstable();
        Ok(names)
    }

    /// The names of what lies below a name that ends with `/`, one level deep.
    pub(crate) async fn folders(&self, below: &str) -> Result<Vec<String>, StudyError> {
        let root = self.at(Side::Public, below.trim_end_matches('/'));
        let found = self.store.list_with_delimiter(Some(&root)).await;
        let found = found.map_err(|error| self.failed(&error))?.common_prefixes;
        let names = found
            .iter()
            .filter_map(|folder| Some(folder.filename()?.to_owned()));
        Ok(names.collect())
    }

    pub(crate) async fn delete(&self, side: Side, name: &str) -> Result<(), StudyError> {
        let deleted = self.store.delete(&self.at(side, name)).await;
        deleted.map_err(|error| self.failed(&error))
    }
}

fn is_absent(side: Side, error: &Error) -> bool {
    let is_refused = matches!(
        error,
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. }
    );
    matches!(error, Error::NotFound { .. }) || side == Side::Private && is_refused
}
