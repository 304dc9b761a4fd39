//! Formats of the panel file, and why bytes are none.

/// The first format: no dated sector, no total-return index.
pub(super) const FIRST_FORMAT: u32 = 1;
/// The second: no other mark than ST, no dividend.
pub(super) const DATED_SECTORS: u32 = 2;
/// The newest format. A panel that needs nothing of it is written in the first one that can say it, and keeps its hash.
pub(super) const FORMAT_VERSION: u32 = 3;

/// Why bytes are not a panel.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PanelFormatError {
    /// Another kind of file.
    #[error("not a ktd panel (it does not start with KTDPANEL)")]
    Magic,
    /// Written by another version of the program.
    #[error("panel format {found}, but this program reads formats {FIRST_FORMAT} to {FORMAT_VERSION}")]
    Version {
        /// The version in the file.
        found: u32,
    },
    /// The bytes do not match the hash that closes the file.
    #[error("the panel's content does not match its hash: it was cut short or changed")]
    Hash,
    /// A section ends too early or holds what cannot be.
    #[error("the panel's {section} section is damaged at byte {at}")]
    Section {
        /// Which section.
        section: &'static str,
        /// Byte position.
        at: usize,
    },
}

impl PanelFormatError {
    /// How to fix it.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Magic => "make a panel from a data source with `ktd data import SRC --out PANEL`",
            Self::Version { .. } => "import the source again with this version of ktd",
            Self::Hash | Self::Section { .. } => "copy the file again or import the source again",
        }
    }
}
