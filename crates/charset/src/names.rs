//! The names: Java 17's, with all by which it knows a set.

use crate::wide::Wide;
use crate::{Charset, Form, Unlike};

/// The set of a name, in any case.
pub(crate) fn find(name: &str) -> Option<Charset> {
    let is = |known: &str| known.eq_ignore_ascii_case(name);
    let found = SETS
        .iter()
        .find(|(own, _, others)| is(own) || others.iter().any(|other| is(other)))?;
    Some(Charset {
        name: found.0,
        form: found.1,
    })
}

#[rustfmt::skip]
const SETS: &[(&str, Form, &[&str])] = &[
    ("UTF-8", Form::Utf8, &["unicode-1-1-utf-8", "utf8"]),
    ("ISO-8859-1", Form::First(0xff), &["819", "8859_1", "cp819", "csisolatin1", "ibm-819", "ibm819", "iso-ir-100", "iso8859-1", "iso8859_1", "iso_8859-1", "iso_8859-1:1987", "iso_8859_1", "l1", "latin1"]),
    ("US-ASCII", Form::First(0x7f), &["646", "ansi_x3.4-1968", "ansi_x3.4-1986", "ascii", "ascii7", "cp367", "csascii", "default", "ibm367", "iso-ir-6", "iso646-us", "iso_646.irv:1983", "iso_646.irv:1991", "us"]),
    ("UTF-16", Form::Wide(Wide::Utf16Marked), &["unicode", "unicodebig", "utf16", "utf_16"]),
    ("UTF-16BE", Form::Wide(Wide::Utf16Be), &["iso-10646-ucs-2", "unicodebigunmarked", "utf_16be", "x-utf-16be"]),
    ("UTF-16LE", Form::Wide(Wide::Utf16Le), &["unicodelittleunmarked", "utf_16le", "x-utf-16le"]),
    ("UTF-32", Form::Wide(Wide::Utf32), &["utf32", "utf_32"]),
    ("UTF-32BE", Form::Wide(Wide::Utf32Be), &["utf_32be", "x-utf-32be"]),
    ("UTF-32LE", Form::Wide(Wide::Utf32Le), &["utf_32le", "x-utf-32le"]),
    ("ISO-8859-2", Form::Table(encoding_rs::ISO_8859_2, Unlike::Not), &["8859_2", "912", "cp912", "csisolatin2", "ibm-912", "ibm912", "iso-ir-101", "iso8859-2", "iso8859_2", "iso_8859-2", "iso_8859-2:1987", "l2", "latin2"]),
    ("ISO-8859-3", Form::Table(encoding_rs::ISO_8859_3, Unlike::Not), &["8859_3", "913", "cp913", "csisolatin3", "ibm-913", "ibm913", "iso-ir-109", "iso8859-3", "iso8859_3", "iso_8859-3", "iso_8859-3:1988", "l3", "latin3"]),
    ("ISO-8859-4", Form::Table(encoding_rs::ISO_8859_4, Unlike::Not), &["8859_4", "914", "cp914", "csisolatin4", "ibm-914", "ibm914", "iso-ir-110", "iso8859-4", "iso8859_4", "iso_8859-4", "iso_8859-4:1988", "l4", "latin4"]),
    ("ISO-8859-5", Form::Table(encoding_rs::ISO_8859_5, Unlike::Not), &["8859_5", "915", "cp915", "csisolatincyrillic", "cyrillic", "ibm-915", "ibm915", "iso-ir-144", "iso8859-5", "iso8859_5", "iso_8859-5", "iso_8859-5:1988"]),
    ("ISO-8859-6", Form::Table(encoding_rs::ISO_8859_6, Unlike::Not), &["1089", "8859_6", "arabic", "asmo-708", "cp1089", "csisolatinarabic", "ecma-114", "ibm-1089", "ibm1089", "iso-ir-127", "iso8859-6", "iso8859_6", "iso_8859-6", "iso_8859-6:1987"]),
    ("ISO-8859-7", Form::Table(encoding_rs::ISO_8859_7, Unlike::Not), &["813", "8859_7", "cp813", "csisolatingreek", "ecma-118", "elot_928", "greek", "greek8", "ibm-813", "ibm813", "iso-ir-126", "iso8859-7", "iso8859_7", "iso_8859-7", "iso_8859-7:1987", "sun_eu_greek"]),
    ("ISO-8859-8", Form::Table(encoding_rs::ISO_8859_8, Unlike::Not), &["8859_8", "916", "cp916", "csisolatinhebrew", "hebrew", "ibm-916", "ibm916", "iso-ir-138", "iso8859-8", "iso8859_8", "iso_8859-8", "iso_8859-8:1988"]),
    ("ISO-8859-9", Form::Table(encoding_rs::WINDOWS_1254, Unlike::WithControls), &["8859_9", "920", "cp920", "csisolatin5", "ibm-920", "ibm920", "iso-ir-148", "iso8859-9", "iso8859_9", "iso_8859-9", "iso_8859-9:1989", "l5", "latin5"]),
    ("ISO-8859-13", Form::Table(encoding_rs::ISO_8859_13, Unlike::Not), &["8859_13", "iso8859-13", "iso8859_13", "iso_8859-13"]),
    ("ISO-8859-15", Form::Table(encoding_rs::ISO_8859_15, Unlike::Not), &["8859_15", "923", "cp923", "csiso885915", "csisolatin0", "csisolatin9", "ibm-923", "ibm923", "iso8859-15", "iso8859_15", "iso8859_15_fdis", "iso_8859-15", "l9", "latin-9", "latin0", "latin9"]),
    ("ISO-8859-16", Form::Table(encoding_rs::ISO_8859_16, Unlike::Not), &["csiso885916", "iso-ir-226", "iso8859_16", "iso_8859-16", "iso_8859-16:2001", "l10", "latin10"]),
    ("windows-1250", Form::Table(encoding_rs::WINDOWS_1250, Unlike::WithoutControls), &["cp1250", "cp5346"]),
    ("windows-1251", Form::Table(encoding_rs::WINDOWS_1251, Unlike::WithoutControls), &["ansi-1251", "cp1251", "cp5347"]),
    ("windows-1252", Form::Table(encoding_rs::WINDOWS_1252, Unlike::WithoutControls), &["cp1252", "cp5348", "ibm-1252", "ibm1252"]),
    ("windows-1253", Form::Table(encoding_rs::WINDOWS_1253, Unlike::WithoutControls), &["cp1253", "cp5349"]),
    ("windows-1254", Form::Table(encoding_rs::WINDOWS_1254, Unlike::WithoutControls), &["cp1254", "cp5350"]),
    ("windows-1255", Form::Table(encoding_rs::WINDOWS_1255, Unlike::Rarely), &["cp1255"]),
    ("windows-1256", Form::Table(encoding_rs::WINDOWS_1256, Unlike::WithoutControls), &["cp1256"]),
    ("windows-1257", Form::Table(encoding_rs::WINDOWS_1257, Unlike::WithoutControls), &["cp1257", "cp5353"]),
    ("windows-1258", Form::Table(encoding_rs::WINDOWS_1258, Unlike::WithoutControls), &["cp1258"]),
    ("KOI8-R", Form::Table(encoding_rs::KOI8_R, Unlike::Not), &["cskoi8r", "koi8", "koi8_r"]),
    ("IBM866", Form::Table(encoding_rs::IBM866, Unlike::Not), &["866", "cp866", "csibm866", "ibm-866"]),
    ("Shift_JIS", Form::Table(encoding_rs::SHIFT_JIS, Unlike::Rarely), &["csshiftjis", "ms_kanji", "shift-jis", "sjis", "x-sjis"]),
    ("windows-31j", Form::Table(encoding_rs::SHIFT_JIS, Unlike::Rarely), &["cswindows31j", "ms932", "windows-932"]),
    ("EUC-JP", Form::Table(encoding_rs::EUC_JP, Unlike::Rarely), &["cseucpkdfmtjapanese", "euc_jp", "eucjis", "eucjp", "extended_unix_code_packed_format_for_japanese", "x-euc-jp", "x-eucjp"]),
    ("EUC-KR", Form::Table(encoding_rs::EUC_KR, Unlike::HighPairs), &["5601", "cseuckr", "euc_kr", "euckr", "ks_c_5601-1987", "ksc5601", "ksc5601-1987", "ksc5601_1987", "ksc_5601"]),
    ("x-windows-949", Form::Table(encoding_rs::EUC_KR, Unlike::Rarely), &["ms949", "ms_949", "windows-949", "windows949"]),
    ("GBK", Form::Table(encoding_rs::GBK, Unlike::LongEuro), &["cp936", "windows-936"]),
    ("GB2312", Form::Table(encoding_rs::GBK, Unlike::HighPairs), &["euc-cn", "euc_cn", "euccn", "gb2312-1980", "gb2312-80", "x-euc-cn"]),
    ("GB18030", Form::Table(encoding_rs::GB18030, Unlike::Rarely), &["gb18030-2022"]),
    ("Big5", Form::Table(encoding_rs::BIG5, Unlike::Rarely), &["csbig5"]),
];
