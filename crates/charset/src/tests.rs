//! Java 17's own encoders and decoders, as sums of all that they answer.

use super::*;

/// A running FNV-1a sum, with a mark after each answer.
struct Sum(u64);

impl Sum {
    const PRIME: u64 = 0x100_0000_01b3;

    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, answer: &[u8]) {
        let marked = answer.iter().map(|byte| u64::from(*byte));
        for value in marked.chain([0xff00]) {
            self.0 = (self.0 ^ value).wrapping_mul(Self::PRIME);
        }
    }
}

/// Name; the sum of the bytes of all characters below U+10000 and of one above it with a letter;
/// the sums of the texts of all bytes, and of all pairs of bytes. UTF-8 is not here, as broken
/// sequences of it get as many replacement characters as on the web.
#[rustfmt::skip]
const OF_JAVA: &[(&str, u64, u64, u64)] = &[
    ("ISO-8859-1", 0x2ef9_b614_c727_67a7, 0x8f04_a9a7_a66c_bf25, 0xe3a9_67f7_4fd2_a925),
    ("US-ASCII", 0xb5db_1138_3080_1ea7, 0x83dd_f0ef_8c0e_f125, 0xe080_fd37_4758_c525),
    ("UTF-16", 0xebdb_4075_2954_2474, 0x7a02_078d_64ac_0125, 0xdf0a_fba0_d5f0_8e96),
    ("UTF-16BE", 0xd31c_86cc_938c_4f99, 0x7a02_078d_64ac_0125, 0xdf87_b7ae_6fad_b0a5),
    ("UTF-16LE", 0xb42b_6194_52bc_bef9, 0x7a02_078d_64ac_0125, 0xf812_48e6_6931_2765),
    ("UTF-32", 0xcbdb_93c7_b825_594d, 0x7a02_078d_64ac_0125, 0xd42f_4e9e_8f64_2325),
    ("UTF-32BE", 0xcbdb_93c7_b825_594d, 0x7a02_078d_64ac_0125, 0xd42f_4e9e_8f64_2325),
    ("UTF-32LE", 0x8cfd_217e_4321_ed31, 0x7a02_078d_64ac_0125, 0xd42f_4e9e_8f64_2325),
    ("ISO-8859-2", 0x734b_c0ad_58fc_b7e7, 0x42db_7365_83d2_f208, 0xeee8_26f3_3fa8_6c25),
    ("ISO-8859-3", 0x6a06_fbb8_4ddf_d239, 0xeb31_df8e_d65d_c525, 0xb5a0_cee6_f8b1_69b7),
    ("ISO-8859-4", 0xfe10_7766_138f_1fa7, 0x1f14_5127_f04f_25bd, 0x9964_6be7_1391_3105),
    ("ISO-8859-5", 0x45cf_05c9_e993_0167, 0x967a_6ad7_c986_2ba1, 0x1d5e_2d82_5e57_ad8b),
    ("ISO-8859-6", 0x11a6_ea8a_1bea_1bbd, 0xad9b_aadc_34a9_0974, 0x97e3_717f_e5f2_ef59),
    ("ISO-8859-7", 0x8319_1fb0_3729_5673, 0xeb40_deb8_9769_121d, 0xdff1_2450_2443_5e69),
    ("ISO-8859-8", 0x0a90_e3ab_021d_58d0, 0xd69d_9761_1756_a49d, 0x87f1_f9a2_5ed4_57b1),
    ("ISO-8859-9", 0x4834_432e_48fe_8387, 0xa7c7_5b14_9635_0f5c, 0x9b43_3a1b_f0da_80ad),
    ("ISO-8859-13", 0xa023_fcb7_4eb7_d687, 0x2ec0_04ec_d82e_265d, 0xd20c_2439_5c36_86f1),
    ("ISO-8859-15", 0x80e0_cab2_aef4_c7f7, 0x4431_b435_b854_0d56, 0x38e9_ba8c_0373_a2df),
    ("ISO-8859-16", 0x5d14_ca51_f389_7b07, 0x10ed_9e3e_0fa4_2d78, 0x49ba_1e82_d3fe_6a73),
    ("windows-1250", 0x0db2_ce48_30b4_ee04, 0x7b69_c789_74c0_f476, 0xbebc_a7f8_245b_e2b5),
    ("windows-1251", 0xd6e0_7948_6fde_0c5e, 0xabf7_b85f_e412_31a2, 0x0a49_109a_65c6_470b),
    ("windows-1252", 0xc023_5307_dac4_bae0, 0xbd9e_c898_b794_8dc1, 0xffa4_b2f6_03e4_9b85),
    ("windows-1253", 0x42eb_117a_4e59_7890, 0xeda9_de8d_c497_d847, 0x0d05_640a_341c_07fd),
    ("windows-1254", 0x12ea_c860_4d3f_24f8, 0x0962_8658_f342_9c6d, 0xb9c0_5edc_7895_f565),
    ("windows-1256", 0xfd4e_aec5_b20a_1867, 0xb5f3_6e5e_ac5d_fa93, 0xa1a8_2767_c945_a0d5),
    ("windows-1257", 0x5410_2086_d37b_8780, 0xff66_9c2c_2f05_3e65, 0xc8e0_4ca3_ee4d_95f9),
    ("windows-1258", 0x46aa_613f_51e2_d050, 0xd20c_3a6b_b86c_816c, 0xdea3_6943_c816_b6a5),
    ("KOI8-R", 0x25af_b2d3_a8da_fc8f, 0x15e4_7c8f_cdca_3595, 0x6b45_cbb5_2049_c5ad),
    ("IBM866", 0xa1ce_fd6b_4b9b_9fd7, 0x6a06_0d6d_dcd6_c82a, 0x39a4_70d3_c720_d1f1),
];

fn sums(charset: Charset) -> (u64, u64, u64) {
    let mut encoded = Sum::new();
    for c in (0..0x1_0000).filter_map(char::from_u32) {
        encoded.add(&charset.encode(&c.to_string()));
    }
    encoded.add(&charset.encode("😀a"));
    let mut bytes = Sum::new();
    let mut pairs = Sum::new();
    for first in 0..=255 {
        bytes.add(charset.decode(&[first]).as_bytes());
        for second in 0..=255 {
            pairs.add(charset.decode(&[first, second]).as_bytes());
        }
    }
    (encoded.0, bytes.0, pairs.0)
}

#[test]
fn all_characters_are_those_of_java() {
    let mut different = Vec::new();
    for (name, encoded, bytes, pairs) in OF_JAVA {
        let charset = Charset::named(name).expect(name);
        assert!(charset.is_exact(), "{name}");
        let sums = sums(charset);
        if sums != (*encoded, *bytes, *pairs) {
            different.push((name, sums.0 == *encoded, sums.1 == *bytes, sums.2 == *pairs));
        }
    }
    assert_eq!(different, []);
}

#[test]
fn names_are_java_s() {
    for (name, own) in [
        ("utf8", "UTF-8"),
        ("LATIN1", "ISO-8859-1"),
        ("default", "US-ASCII"),
        ("Cp1252", "windows-1252"),
        ("unicode", "UTF-16"),
        ("sjis", "Shift_JIS"),
    ] {
        assert_eq!(Charset::named(name).map(Charset::name), Ok(own), "{name}");
    }
    for name in ["", " UTF-8", "no such", "-a", "é"] {
        assert_eq!(Charset::named(name), Err(NoCharset::Illegal), "{name}");
    }
    assert_eq!(Charset::named("nosuch"), Err(NoCharset::Unsupported));
}

/// What JMeter 5.6.3 sent.
#[test]
fn common_letters_of_large_sets_are_java_s() {
    for (name, bytes) in [
        ("Shift_JIS", &b"a??\x93\xfa?"[..]),
        ("GBK", b"a\xa8\xa6\xa2\xe3\xc8\xd5?"),
    ] {
        let charset = Charset::named(name).expect(name);
        assert_eq!(*charset.encode("aé€日😀"), *bytes, "{name}");
        assert!(!charset.is_exact());
    }
    let gb2312 = Charset::named("GB2312").expect("known");
    assert_eq!(*gb2312.encode("日\u{2010}"), [0xc8, 0xd5, b'?']);
    assert!(gb2312.has('日') && !gb2312.has('\u{2010}') && gb2312.has('?'));
}
