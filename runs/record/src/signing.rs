//! Ed25519 keys as `openssl genpkey -algorithm ed25519` writes them, and signatures over canonical JSON (RFC 8785).

use crate::RecordError;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::read_input;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io::Write;
use std::path::Path;

/// DER of a private key before its 32 bytes: PKCS#8 version 1 (RFC 8410, section 7).
const PRIVATE_PREFIX: [u8; 16] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];
/// DER of a public key before its 32 bytes: `SubjectPublicKeyInfo` (RFC 8410, section 4).
const PUBLIC_PREFIX: [u8; 12] = [
    0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
];
const KEY_LEN: usize = 32;
const PRIVATE: &str = "PRIVATE KEY";
const PUBLIC: &str = "PUBLIC KEY";
const ALGORITHM: &str = "ed25519";

/// Private key that signs. `Debug` is redacted.
pub struct SigningKey(Ed25519KeyPair);

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKey(redacted)")
    }
}

/// Public key that checks signatures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicKey([u8; KEY_LEN]);

/// Signature as it is kept with what it signs.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signature {
    /// `ed25519`.
    pub algorithm: String,
    /// The signer's public key, 64 hexadecimal digits.
    pub public_key: String,
    /// SHA-256 of that key as DER, which is how people name it.
    pub fingerprint: String,
    /// The signature over the canonical JSON (RFC 8785) of what is signed, 128 hexadecimal digits.
    pub value: String,
}

/// The text of a key's file. Where it is missing the hint names the option of `ktd certify` that makes one.
///
/// # Errors
/// [`RecordError::File`] for a file that cannot be read.
pub fn read_key_file(path: &Path, made_by: &str) -> Result<String, RecordError> {
    read_input(path).map_err(|fault| {
        let is_missing = fault.is_missing();
        let fault = RecordError::from(fault);
        if is_missing {
            fault.with_hint(format_args!(
                "check the path, or make a key with `ktd certify {made_by} {}`",
                path.display()
            ))
        } else {
            fault
        }
    })
}

impl SigningKey {
    /// Draws a key from the system's entropy and writes it where only its owner may read it; an existing file stands.
    ///
    /// # Errors
    /// [`RecordError`] when there is a file, there is no entropy, or the disk refuses.
    pub fn draw(path: &Path) -> Result<Self, RecordError> {
        let mut seed = [0; KEY_LEN];
        getrandom::fill(&mut seed).map_err(|error| {
            RecordError::input(
                format!("the system gives no entropy: {error}"),
                "make a key with `openssl genpkey -algorithm ed25519`",
            )
        })?;
        let key = Self::of_seed(path, &seed)?;
        let text = pem(PRIVATE, &[&PRIVATE_PREFIX[..], &seed].concat());
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            const OWNER_READS_AND_WRITES: u32 = 0o600;
            options.mode(OWNER_READS_AND_WRITES);
        }
        options
            .open(path)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(RecordError::io("write the new key", path))?;
        Ok(key)
    }

    /// Reads a private key, PKCS#8 as PEM.
    ///
    /// # Errors
    /// [`RecordError::File`], or [`RecordError::Input`] for another kind of key.
    pub fn read(path: &Path) -> Result<Self, RecordError> {
        let text = read_key_file(path, "--new-key")?;
        let key = unpem(&text, PRIVATE).and_then(|der| Ed25519KeyPair::from_pkcs8_maybe_unchecked(&der).ok());
        key.map(Self).ok_or_else(|| {
            if unpem(&text, PUBLIC).is_some() {
                return RecordError::input(
                    format!("{}: it holds a public key, where the private one belongs", path.display()),
                    "name the private key; that of FILE.pub lies in FILE, where `ktd certify --new-key` made both",
                );
            }
            no_key(path)
        })
    }

    fn of_seed(path: &Path, seed: &[u8]) -> Result<Self, RecordError> {
        let key = Ed25519KeyPair::from_seed_unchecked(seed);
        key.map(Self).map_err(|_| no_key(path))
    }

    /// The public part.
    #[must_use]
    pub fn public(&self) -> PublicKey {
        let mut bytes = [0; KEY_LEN];
        for (byte, part) in bytes.iter_mut().zip(self.0.public_key().as_ref()) {
            *byte = *part;
        }
        PublicKey(bytes)
    }

    /// Signs the canonical JSON of a value.
    ///
    /// # Errors
    /// [`RecordError::Input`] when the value cannot be canonical JSON.
    pub fn sign(&self, value: &impl Serialize) -> Result<Signature, RecordError> {
        let message = canonical(value)?;
        let public = self.public();
        Ok(Signature {
            algorithm: ALGORITHM.to_owned(),
            public_key: ktd_io::sha256::hex(&public.0),
            fingerprint: public.fingerprint(),
            value: ktd_io::sha256::hex(self.0.sign(&message).as_ref()),
        })
    }
}

impl PublicKey {
    /// Reads a public key as PEM.
    ///
    /// # Errors
    /// [`RecordError::File`], or [`RecordError::Input`] for another kind of key: whoever holds a private one may sign what is checked
    /// with it.
    pub fn read(path: &Path) -> Result<Self, RecordError> {
        let text = read_input(path)?;
        let der = unpem(&text, PUBLIC);
        let bytes = der
            .as_deref()
            .and_then(|der| der.strip_prefix(&PUBLIC_PREFIX[..]))
            .and_then(|bytes| bytes.try_into().ok());
        bytes.map(Self).ok_or_else(|| {
            if unpem(&text, PRIVATE).is_some() {
                let file = path.display();
                return RecordError::input(
                    format!("{file}: it holds a private key, where the public one belongs"),
                    format!(
                        "name the public key, which `ktd certify --new-key FILE` wrote as FILE.pub; `openssl pkey -in {file} -pubout` \
                         prints that of any private key"
                    ),
                );
            }
            no_key(path)
        })
    }

    /// SHA-256 of the key as DER: `openssl pkey -pubin -outform DER | sha256sum` gives the same.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        sha256_hex(&[&PUBLIC_PREFIX[..], &self.0].concat())
    }

    /// The key as PEM.
    #[must_use]
    pub fn to_pem(&self) -> String {
        pem(PUBLIC, &[&PUBLIC_PREFIX[..], &self.0].concat())
    }
}

impl Signature {
    /// The signature of a key, both hexadecimal; its fingerprint is empty where the key is none.
    #[must_use]
    pub fn of_parts(public_key: &str, value: &str) -> Self {
        let key = unhex(public_key)
            .and_then(|bytes| bytes.try_into().ok())
            .map(PublicKey);
        Self {
            algorithm: ALGORITHM.to_owned(),
            public_key: public_key.to_owned(),
            fingerprint: key.map(|key| key.fingerprint()).unwrap_or_default(),
            value: value.to_owned(),
        }
    }

    /// Whose signature it says it is.
    #[must_use]
    pub fn signer(&self) -> Option<PublicKey> {
        unhex(&self.public_key)?.try_into().ok().map(PublicKey)
    }

    /// What is wrong with the signature of a value; none when it is its signer's own.
    ///
    /// # Errors
    /// [`RecordError::Input`] when the value cannot be canonical JSON.
    pub fn fault(&self, value: &impl Serialize) -> Result<Option<&'static str>, RecordError> {
        if self.algorithm != ALGORITHM {
            return Ok(Some("its algorithm is not ed25519"));
        }
        let Some(signer) = self.signer() else {
            return Ok(Some("its public key is invalid"));
        };
        if signer.fingerprint() != self.fingerprint {
            return Ok(Some("its fingerprint is not that of its public key"));
        }
        let message = canonical(value)?;
        let key = UnparsedPublicKey::new(&ED25519, signer.0);
        let is_good = unhex(&self.value).is_some_and(|value| key.verify(&message, &value).is_ok());
        Ok((!is_good).then_some("the signature does not fit what it signs"))
    }
}

fn canonical(value: &impl Serialize) -> Result<Vec<u8>, RecordError> {
    serde_json_canonicalizer::to_vec(value).map_err(|error| {
        RecordError::input(
            format!("what is signed cannot be canonical JSON: {error}"),
            "report this defect",
        )
    })
}

fn no_key(path: &Path) -> RecordError {
    RecordError::input(
        format!("{}: it holds no Ed25519 key as PEM", path.display()),
        "make one with `ktd certify --new-key FILE`, or with `openssl genpkey -algorithm ed25519`",
    )
}

/// PEM (RFC 7468): a key is short enough for one line.
fn pem(label: &str, der: &[u8]) -> String {
    let body = STANDARD.encode(der);
    format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----\n")
}

fn unpem(text: &str, label: &str) -> Option<Vec<u8>> {
    let (_, rest) = text.split_once(&format!("-----BEGIN {label}-----"))?;
    let (body, _) = rest.split_once(&format!("-----END {label}-----"))?;
    let body: String = body.split_whitespace().collect();
    STANDARD.decode(body).ok()
}

/// Bytes of lower-case hexadecimal digits.
fn unhex(text: &str) -> Option<Vec<u8>> {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if !text.len().is_multiple_of(2) || !text.bytes().all(is_digit) {
        return None;
    }
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    text.as_bytes().chunks(2).map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8410, section 10.3, and its public key of section 10.1.
    const PRIVATE_PEM: &str = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n-----END PRIVATE KEY-----\n";
    const PUBLIC_PEM: &str = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n";

    #[test]
    fn keys_of_other_programs_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let (private, public) = (folder.path().join("key.pem"), folder.path().join("key.pub"));
        std::fs::write(&private, PRIVATE_PEM).unwrap();
        std::fs::write(&public, PUBLIC_PEM).unwrap();
        let key = SigningKey::read(&private).unwrap();
        assert_eq!(key.public(), PublicKey::read(&public).unwrap());
        let swapped = PublicKey::read(&private).unwrap_err();
        assert!(swapped.to_string().contains("holds a private key"), "{swapped}");
        assert!(swapped.hint().contains("-pubout"), "{swapped}");
        assert_eq!(key.public().to_pem(), PUBLIC_PEM);
        std::fs::write(&public, "no key").unwrap();
        let error = PublicKey::read(&public).unwrap_err().to_string();
        assert!(error.contains("holds no Ed25519 key"), "{error}");
        let absent = SigningKey::read(&folder.path().join("absent.pem")).unwrap_err();
        assert!(absent.hint().contains("--new-key"), "{absent}");
    }

    #[test]
    fn a_new_key_is_its_owners_alone_and_replaces_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key.pem");
        let key = SigningKey::draw(&path).unwrap();
        assert_eq!(SigningKey::read(&path).unwrap().public(), key.public());
        assert!(SigningKey::draw(&path).is_err());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn another_value_or_another_key_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let key = |name: &str| SigningKey::draw(&folder.path().join(name)).unwrap();
        let (ours, theirs) = (key("ours"), key("theirs"));
        let signature = ours.sign(&serde_json::json!({ "b": 1, "a": [2.5] })).unwrap();
        // The order of keys is no part of canonical JSON.
        assert_eq!(
            signature
                .fault(&serde_json::json!({ "a": [2.5], "b": 1 }))
                .unwrap(),
            None
        );
        assert!(
            signature
                .fault(&serde_json::json!({ "a": [2.5], "b": 2 }))
                .unwrap()
                .is_some()
        );
        let forged = Signature {
            public_key: ktd_io::sha256::hex(&theirs.public().0),
            fingerprint: theirs.public().fingerprint(),
            ..signature.clone()
        };
        assert!(
            forged
                .fault(&serde_json::json!({ "a": [2.5], "b": 1 }))
                .unwrap()
                .is_some()
        );
        let renamed = Signature {
            fingerprint: theirs.public().fingerprint(),
            ..signature
        };
        assert!(
            renamed
                .fault(&serde_json::json!({ "a": [2.5], "b": 1 }))
                .unwrap()
                .is_some()
        );
    }
}
