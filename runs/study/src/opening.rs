//! Where a study lies while its world is read.

use crate::inputs::Inputs;
use crate::{StudyError, StudySecret};
use ktd_io::whole_file::read_if_exists;
use ktd_record::program_record::ProgramRecord;
use std::path::Path;

/// Where a study lies while its world is read.
#[derive(Debug, Clone, Copy)]
pub struct Opening<'o> {
    /// Where relative paths of the file start.
    pub base: &'o Path,
    /// The folder of the study, in which other studies may lie.
    pub out: &'o Path,
    /// Threads.
    pub threads: usize,
    /// The program, which every record names; none where nothing is kept.
    pub program: Option<&'o ProgramRecord>,
    pub(crate) inputs: &'o Inputs,
}

/// Of worlds that no study holds.
static UNKEPT: Inputs = Inputs::Unkept;

impl<'o> Opening<'o> {
    /// Where a world is read of which nothing is kept.
    #[must_use]
    pub const fn unkept(base: &'o Path, out: &'o Path, threads: usize) -> Self {
        Self {
            base,
            out,
            threads,
            program: None,
            inputs: &UNKEPT,
        }
    }

    /// The bytes of a file that the keys name; none where there is none. The folder of the study keeps them, and a record is made
    /// again from what it has kept: what is too large for that, such as a panel, is read below [`Opening::base`].
    ///
    /// # Errors
    /// [`StudyError`] for a link, a file that cannot be read, and a kept one that is missing or was changed.
    pub fn input(&self, path: &Path) -> Result<Option<Vec<u8>>, StudyError> {
        let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
        self.kept(&parts.join("/"), || {
            let path = self.base.join(path);
            // It may have come from others, and what it leads to would go to models and into the record.
            if path.is_symlink() {
                return Err(StudyError::input(
                    format_args!("{} is a link, and links are not followed", path.display()),
                    "replace it with the file itself",
                ));
            }
            Ok(read_if_exists(&path)?)
        })
    }

    /// The secret of the study: drawn when it begins, or that of a file that the keys name, and the same whenever it goes on or is made again. A kind that draws from it says
    /// [`StudySecret::commitment`] in [`crate::StudyKind::decides`], so that it is committed to before anybody is asked; a finished
    /// study opens it in `secret.json`.
    ///
    /// # Errors
    /// [`StudyError`] where there is no entropy, for a file that holds no secret, and for a record that never opened its own.
    pub fn secret(&self, file: Option<&Path>) -> Result<StudySecret, StudyError> {
        self.inputs.secret(self.out, || match file {
            Some(file) => StudySecret::read(&self.base.join(file)),
            None => StudySecret::drawn(),
        })
    }

    /// What is read of something else than a file, kept in the same way under a name.
    ///
    /// # Errors
    /// Those of `read`, and as [`Opening::input`].
    pub fn kept(
        &self,
        name: &str,
        read: impl FnOnce() -> Result<Option<Vec<u8>>, StudyError>,
    ) -> Result<Option<Vec<u8>>, StudyError> {
        self.inputs.bytes(name, read)
    }
}

/// Where files of a study lie that do not lie any more where they were when it was run.
#[derive(Debug, Clone, Copy, Default)]
pub struct MovedFiles<'f> {
    /// Where the paths of its file start.
    pub base: Option<&'f Path>,
    /// Its panel.
    pub panel: Option<&'f Path>,
}
