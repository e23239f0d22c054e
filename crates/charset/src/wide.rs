//! UTF-16 and UTF-32 in both orders of bytes.

/// Bytes of a unit and their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wide {
    /// UTF-16: a mark is written, and decides when reading.
    Utf16Marked,
    Utf16Be,
    Utf16Le,
    /// UTF-32: no mark is written, but one decides when reading.
    Utf32,
    Utf32Be,
    Utf32Le,
}

impl Wide {
    pub(crate) fn encode(self, text: &str) -> Vec<u8> {
        match self {
            Self::Utf16Marked if text.is_empty() => Vec::new(),
            Self::Utf16Marked => {
                let units = std::iter::once(0xfeff).chain(text.encode_utf16());
                units.flat_map(u16::to_be_bytes).collect()
            }
            Self::Utf16Be => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
            Self::Utf16Le => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            Self::Utf32 | Self::Utf32Be => text
                .chars()
                .flat_map(|c| u32::from(c).to_be_bytes())
                .collect(),
            Self::Utf32Le => text
                .chars()
                .flat_map(|c| u32::from(c).to_le_bytes())
                .collect(),
        }
    }

    pub(crate) fn decode(self, bytes: &[u8]) -> String {
        match self {
            Self::Utf16Marked => match bytes {
                [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
                [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
                _ => utf16(bytes, u16::from_be_bytes),
            },
            Self::Utf16Be => utf16(bytes, u16::from_be_bytes),
            Self::Utf16Le => utf16(bytes, u16::from_le_bytes),
            Self::Utf32 => match bytes {
                [0, 0, 0xfe, 0xff, rest @ ..] => utf32(rest, u32::from_be_bytes),
                [0xff, 0xfe, 0, 0, rest @ ..] => utf32(rest, u32::from_le_bytes),
                _ => utf32(bytes, u32::from_be_bytes),
            },
            Self::Utf32Be => utf32(bytes, u32::from_be_bytes),
            Self::Utf32Le => utf32(bytes, u32::from_le_bytes),
        }
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let mut text: String = char::decode_utf16(pairs.iter().map(|pair| unit(*pair)))
        .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect();
    if !rest.is_empty() {
        text.push(char::REPLACEMENT_CHARACTER);
    }
    text
}

fn utf32(bytes: &[u8], unit: fn([u8; 4]) -> u32) -> String {
    let (units, rest) = bytes.as_chunks::<4>();
    let mut text: String = units
        .iter()
        .map(|bytes| char::from_u32(unit(*bytes)).unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect();
    if !rest.is_empty() {
        text.push(char::REPLACEMENT_CHARACTER);
    }
    text
}
