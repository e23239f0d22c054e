//! UUIDs, digests, Base64, URL encoding.

use std::cell::RefCell;
use std::rc::Rc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE, URL_SAFE_NO_PAD};
use md5::Digest as _;
use weir_charset::{Charset, DecodeError, decode_form};

use super::charsets::{charset_of, encoded};
use super::{bytes_of, made_bytes, text_of, thing};
use crate::Value;
use crate::class::{Answer, Class, Routine, between, routine};
use crate::machine::{Machine, Stop};
use crate::value::Thing;

pub(super) const CLASSES: &[&Class] = &[
    &UUID,
    &DIGEST,
    &BASE64_OF_COMMONS,
    &BASE64_OF_JAVA,
    &ENCODER,
    &URL_ENCODER_OF_BASE64,
    &BARE_URL_ENCODER_OF_BASE64,
    &DECODER,
    &URL_ENCODER,
    &URL_DECODER,
    &DIGEST_UTILS,
    &HEX,
    &STRING_UTILS,
    &RANDOM_STRING_UTILS,
];

pub(super) static UUID: Class = Class {
    statics: &[
        routine("randomUUID", 0, |machine, _, _| {
            let high = machine.host.random();
            let low = machine.host.random();
            // Version 4 and variant 2 of RFC 4122.
            let high = (high & !0xF000) | 0x4000;
            let low = (low & !(3 << 62)) | (2 << 62);
            let text = format!(
                "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
                high >> 32,
                (high >> 16) & 0xFFFF,
                high & 0xFFFF,
                low >> 48,
                low & 0xFFFF_FFFF_FFFF
            );
            Ok(Value::thing(Thing::Uuid(text.into())))
        }),
        routine("fromString", 1, |_, _, arguments| {
            Ok(Value::thing(Thing::Uuid(text_of(&arguments[0])?)))
        }),
    ],
    ..Class::named("java.util.UUID")
};

pub(super) fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or_default();
    let digits = bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]);
    digits.collect()
}

pub(super) fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

pub(super) fn digest(algorithm: &str, bytes: &[u8]) -> Result<Vec<u8>, Stop> {
    Ok(match &*algorithm.to_uppercase() {
        "MD5" => md5::Md5::digest(bytes).to_vec(),
        "SHA-1" | "SHA1" | "SHA" => sha1::Sha1::digest(bytes).to_vec(),
        "SHA-256" => sha2::Sha256::digest(bytes).to_vec(),
        "SHA-384" => sha2::Sha384::digest(bytes).to_vec(),
        "SHA-512" => sha2::Sha512::digest(bytes).to_vec(),
        _ => {
            return Err(Stop::thrown(
                "java.security.NoSuchAlgorithmException",
                format!("{algorithm} MessageDigest not available"),
            ));
        }
    })
}

pub(super) static DIGEST: Class = Class {
    statics: &[routine("getInstance", 1, |_, _, arguments| {
        let algorithm = text_of(&arguments[0])?;
        digest(&algorithm, &[])?;
        let digest = (algorithm, RefCell::new(Vec::new()));
        Ok(Value::thing(Thing::Digest(Rc::new(digest))))
    })],
    methods: &[&[
        routine("update", 1, |machine, of, arguments| {
            let bytes = bytes_of(&arguments[0])?;
            machine.takes_bytes(bytes.len())?;
            thing!(of, Digest).1.borrow_mut().extend(bytes);
            Ok(Value::Void)
        }),
        between("digest", 0, 1, |machine, of, arguments| {
            let (algorithm, waiting) = &**thing!(of, Digest);
            let mut bytes = waiting.take();
            if let Some(more) = arguments.first() {
                bytes.extend(bytes_of(more)?);
            }
            machine.takes_bytes(bytes.len())?;
            Ok(Value::bytes(&digest(algorithm, &bytes)?))
        }),
        routine("reset", 0, |_, of, _| {
            thing!(of, Digest).1.borrow_mut().clear();
            Ok(Value::Void)
        }),
    ]],
    ..Class::named("java.security.MessageDigest")
};

fn decoded(text: &str) -> Result<Vec<u8>, Stop> {
    let bare: String = text
        .chars()
        .filter(|c| !c.is_whitespace() && *c != '=')
        .map(|c| match c {
            '+' => '-',
            '/' => '_',
            c => c,
        })
        .collect();
    URL_SAFE_NO_PAD.decode(bare).map_err(|_| {
        Stop::thrown(
            "java.lang.IllegalArgumentException",
            "Illegal base64 character",
        )
    })
}

/// The bytes behind a text in Base64.
pub(super) fn from_base64(machine: &mut Machine<'_>, text: &str) -> Answer {
    let bytes = decoded(text)?;
    made_bytes(machine, &bytes)
}

fn decode(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Answer {
    let bytes = bytes_of(&arguments[0])?;
    let bytes = decoded(&String::from_utf8_lossy(&bytes))?;
    made_bytes(machine, &bytes)
}

static BASE64_OF_COMMONS: Class = Class {
    statics: &[
        routine("encodeBase64", 1, |machine, _, arguments| {
            let text = base64(&bytes_of(&arguments[0])?);
            made_bytes(machine, text.as_bytes())
        }),
        routine("encodeBase64String", 1, |machine, _, arguments| {
            machine.text(base64(&bytes_of(&arguments[0])?))
        }),
        routine("encodeBase64URLSafeString", 1, |machine, _, arguments| {
            machine.text(URL_SAFE_NO_PAD.encode(bytes_of(&arguments[0])?))
        }),
        routine("decodeBase64", 1, decode),
        // A script that imports the other class of this name says only "Base64" too.
        OF_BASE64[0],
        OF_BASE64[1],
        OF_BASE64[2],
        OF_BASE64[3],
    ],
    ..Class::named("org.apache.commons.codec.binary.Base64")
};

/// What `java.util.Base64` gives.
const OF_BASE64: [Routine; 4] = [
    routine("getEncoder", 0, |_, _, _| {
        Ok(super::names::single(&ENCODER))
    }),
    routine("getUrlEncoder", 0, |_, _, _| {
        Ok(super::names::single(&URL_ENCODER_OF_BASE64))
    }),
    routine("getDecoder", 0, |_, _, _| {
        Ok(super::names::single(&DECODER))
    }),
    routine("getUrlDecoder", 0, |_, _, _| {
        Ok(super::names::single(&DECODER))
    }),
];

static BASE64_OF_JAVA: Class = Class {
    statics: &OF_BASE64,
    ..Class::named("java.util.Base64")
};

static ENCODER: Class = Class {
    methods: &[&[
        routine("encodeToString", 1, |machine, _, arguments| {
            machine.text(base64(&bytes_of(&arguments[0])?))
        }),
        routine("encode", 1, |machine, _, arguments| {
            let text = base64(&bytes_of(&arguments[0])?);
            made_bytes(machine, text.as_bytes())
        }),
    ]],
    ..Class::named("java.util.Base64.Encoder")
};

static URL_ENCODER_OF_BASE64: Class = Class {
    methods: &[&[
        routine("encodeToString", 1, |machine, _, arguments| {
            machine.text(URL_SAFE.encode(bytes_of(&arguments[0])?))
        }),
        routine("withoutPadding", 0, |_, _, _| {
            Ok(super::names::single(&BARE_URL_ENCODER_OF_BASE64))
        }),
    ]],
    ..Class::named("java.util.Base64.UrlEncoder")
};

static BARE_URL_ENCODER_OF_BASE64: Class = Class {
    methods: &[&[routine("encodeToString", 1, |machine, _, arguments| {
        machine.text(URL_SAFE_NO_PAD.encode(bytes_of(&arguments[0])?))
    })]],
    ..Class::named("java.util.Base64.BareUrlEncoder")
};

static DECODER: Class = Class {
    methods: &[&[routine("decode", 1, decode)]],
    ..Class::named("java.util.Base64.Decoder")
};

static URL_ENCODER: Class = Class {
    statics: &[between("encode", 1, 2, |machine, _, arguments| {
        let text = text_of(&arguments[0])?;
        let bytes = encoded(&text, arguments.get(1))?;
        machine.text(form_urlencoded::byte_serialize(&bytes).collect())
    })],
    ..Class::named("java.net.URLEncoder")
};

/// A text without the escapes of forms.
pub(super) fn url_decoded(text: &str) -> Result<String, Stop> {
    decode_form(text, Charset::UTF_8).map_err(|error| not_decoded(&error))
}

/// A percent sign that begins no escape.
pub(super) fn not_decoded(error: &DecodeError) -> Stop {
    Stop::thrown("java.lang.IllegalArgumentException", error.to_string())
}

static URL_DECODER: Class = Class {
    statics: &[between("decode", 1, 2, |machine, _, arguments| {
        let text = text_of(&arguments[0])?;
        let text = decode_form(&text, charset_of(arguments.get(1))?);
        machine.text(text.map_err(|error| not_decoded(&error))?)
    })],
    ..Class::named("java.net.URLDecoder")
};

const OF_DIGEST_UTILS: &[Routine] = &[
    routine("md5Hex", 1, |machine, _, arguments| {
        machine.text(hex(&digest("MD5", &bytes_of(&arguments[0])?)?))
    }),
    routine("sha1Hex", 1, |machine, _, arguments| {
        machine.text(hex(&digest("SHA-1", &bytes_of(&arguments[0])?)?))
    }),
    routine("sha256Hex", 1, |machine, _, arguments| {
        machine.text(hex(&digest("SHA-256", &bytes_of(&arguments[0])?)?))
    }),
    routine("sha512Hex", 1, |machine, _, arguments| {
        machine.text(hex(&digest("SHA-512", &bytes_of(&arguments[0])?)?))
    }),
];

static DIGEST_UTILS: Class = Class {
    statics: OF_DIGEST_UTILS,
    ..Class::named("org.apache.commons.codec.digest.DigestUtils")
};

static HEX: Class = Class {
    statics: &[routine("encodeHexString", 1, |machine, _, arguments| {
        machine.text(hex(&bytes_of(&arguments[0])?))
    })],
    ..Class::named("org.apache.commons.codec.binary.Hex")
};

static STRING_UTILS: Class = Class {
    statics: &[
        routine("isEmpty", 1, |_, _, arguments| {
            Ok(Value::Bool(super::is_empty(&arguments[0])))
        }),
        routine("isNotEmpty", 1, |_, _, arguments| {
            Ok(Value::Bool(!super::is_empty(&arguments[0])))
        }),
        routine("isBlank", 1, |_, _, arguments| {
            Ok(Value::Bool(is_blank(&arguments[0])))
        }),
        routine("isNotBlank", 1, |_, _, arguments| {
            Ok(Value::Bool(!is_blank(&arguments[0])))
        }),
        routine("substringBetween", 3, |machine, _, arguments| {
            let text = text_of(&arguments[0])?;
            let (left, right) = (text_of(&arguments[1])?, text_of(&arguments[2])?);
            let found = text
                .split_once(&*left)
                .and_then(|(_, rest)| rest.split_once(&*right))
                .map(|(between, _)| between.to_owned());
            match found {
                Some(between) => machine.text(between),
                None => Ok(Value::Null),
            }
        }),
    ],
    ..Class::named("org.apache.commons.lang3.StringUtils")
};

fn is_blank(value: &Value) -> bool {
    value.is_null() || value.to_text().trim().is_empty()
}

const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const DIGITS: &str = "0123456789";

static RANDOM_STRING_UTILS: Class = Class {
    statics: &[
        routine("randomAlphanumeric", 1, |machine, _, arguments| {
            random_text(machine, &arguments[0], &format!("{LETTERS}{DIGITS}"))
        }),
        routine("randomAlphabetic", 1, |machine, _, arguments| {
            random_text(machine, &arguments[0], LETTERS)
        }),
        routine("randomNumeric", 1, |machine, _, arguments| {
            random_text(machine, &arguments[0], DIGITS)
        }),
    ],
    ..Class::named("org.apache.commons.lang3.RandomStringUtils")
};

fn random_text(machine: &mut Machine<'_>, length: &Value, of: &str) -> Answer {
    let length = usize::try_from(super::integer(length)?).unwrap_or(0);
    machine.takes_bytes(length)?;
    let letters = of.as_bytes();
    let mut text = String::with_capacity(length);
    for _ in 0..length {
        let at = machine.host.random() % letters.len() as u64;
        text.push(char::from(letters[at as usize]));
    }
    Ok(Value::text(text))
}
