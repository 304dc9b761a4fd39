//! The program that runs, as records name it.

use ktd_record::program_record::ProgramRecord;

/// This program.
pub(super) fn this_program() -> ProgramRecord {
    ProgramRecord {
        source_sha256: ktd_program::SOURCE_SHA256.to_owned(),
        commit: ktd_program::commit().map(str::to_owned),
    }
}
