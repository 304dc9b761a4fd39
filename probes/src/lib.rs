//! De-anonymization probes: does what a model sees tell it which stock or which day it is?
//!
//! The room is empty. It will hold the pure sampling of probe questions from recorded episodes, the attacker's
//! prompts and answers, and the scoring of answers against chance with an upper bound (Wilson). The probe is the third
//! guard of a mask: types make a leak impossible to write, the scan of every request stops one that was written
//! all the same, and the probe measures what numbers alone give away.
//!
//! Knows (once it is furnished): `env`, `masking`, `prompts`, `tools`, `agents`. Never knows: `attribution`, `runs`,
//! files, clocks.
