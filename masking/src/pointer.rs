//! Place in a model's own JSON where something is wrong, without a byte of it.

use crate::Payload;

/// One step into a JSON document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PointerPart {
    /// A key that the harness knows, never one the model made up.
    Field(&'static str),
    /// A 0-based place in a list.
    Index(usize),
}

impl Payload {
    /// A JSON pointer (RFC 6901) such as `/orders/3/reason`; the empty text is the whole document.
    #[must_use]
    pub fn pointer(parts: &[PointerPart]) -> Self {
        let steps = parts.iter().map(|part| match part {
            PointerPart::Field(field) => format!("/{}", field.replace('~', "~0").replace('/', "~1")),
            PointerPart::Index(index) => format!("/{index}"),
        });
        Self::shown(steps.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_follow_rfc_6901() {
        let parts = [
            PointerPart::Field("orders"),
            PointerPart::Index(3),
            PointerPart::Field("a/b~c"),
        ];
        assert_eq!(Payload::pointer(&parts).to_inline(), "/orders/3/a~1b~0c");
        assert_eq!(Payload::pointer(&[]).to_inline(), "");
    }
}
