//! Records of a study in a bucket, for workers on machines that share no folder.
//!
//! Knows: files of a study, segments, objects of a store. Never knows: a market, a mask's key, who runs a unit, what it asks or is paid
//! with.
//!
//! A worker has a copy of the study's folder of its own, in which a unit runs by the code of one machine. Before each call that is
//! paid, and at the end of a unit, what is new of the unit's files goes into the bucket as a *segment*; a unit is finished by one object
//! that nobody can write twice. Below the address of a study lie `public/` and, with rights of its own, `private/`:
//!
//! - `study/PATH`: files of the study that belong to no unit, whole;
//! - `units/NAME/EPOCH-NUMBER`: segments of a unit. The first of an epoch has all that the unit was when the epoch began, so that the
//!   latest epoch alone says what a unit is, and what a worker that lost its lease still writes is read by nobody;
//! - `workers/NAME/1-NUMBER`: segments of what a worker writes beside units;
//! - `finished/NAME`: how many segments of which epoch a finished unit is, and the hash of each of its files.

mod address;
mod claims;
mod copy;
mod examine;
mod objects;
mod pushed;
mod segment;

pub use address::BucketAddress;
pub use claims::BucketClaims;
pub use copy::StudyCopy;
pub use examine::examine;
