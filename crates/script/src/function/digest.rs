//! `__digest`: the digests that Java has, but for those that nobody should use or few do.

use md5::Digest as _;

use super::texts::push_hex;
use super::{Argument, Call, CallError, Known, Prepared};
use crate::Scope;

const UNSUPPORTED: [&str; 5] = ["MD2", "SHA3-224", "SHA3-256", "SHA3-384", "SHA3-512"];

/// A digest that Java has and we do not is a problem, as long as its name is known.
pub(super) fn prepare(arguments: &[Argument], _: &Known<'_>) -> Result<Prepared, CallError> {
    let name = arguments[0].constant().unwrap_or_default().to_uppercase();
    if UNSUPPORTED.contains(&&*name) {
        let says = format!("the digest {name} is not supported");
        return Err(CallError::new(says).instead("use MD5, SHA-1, SHA-256 or another SHA-2"));
    }
    Ok(Prepared::Nothing)
}

/// The digest of the text and the salt after it, as hexadecimal digits; `null` when Java does not
/// have the digest either.
pub(super) fn render(call: &Call, scope: &mut Scope, out: &mut String) {
    let name = call.argument(0, scope).to_uppercase();
    let mut text = call.argument(1, scope).into_owned();
    text.push_str(&call.argument(2, scope));
    let upper = call.argument(3, scope).eq_ignore_ascii_case("true");
    let start = out.len();
    if let Some(digest) = digest(&name, text.as_bytes()) {
        push_hex(out, &digest);
    } else if UNSUPPORTED.contains(&&*name) {
        scope.fail(format!("the digest {name} is not supported"));
    } else {
        out.push_str("null");
    }
    if upper {
        out[start..].make_ascii_uppercase();
    }
}

fn digest(name: &str, text: &[u8]) -> Option<Vec<u8>> {
    Some(match name {
        "MD5" => md5::Md5::digest(text).to_vec(),
        "SHA" | "SHA1" | "SHA-1" => sha1::Sha1::digest(text).to_vec(),
        "SHA-224" | "SHA224" => sha2::Sha224::digest(text).to_vec(),
        "SHA-256" | "SHA256" => sha2::Sha256::digest(text).to_vec(),
        "SHA-384" | "SHA384" => sha2::Sha384::digest(text).to_vec(),
        "SHA-512" | "SHA512" => sha2::Sha512::digest(text).to_vec(),
        "SHA-512/224" | "SHA512/224" => sha2::Sha512_224::digest(text).to_vec(),
        "SHA-512/256" | "SHA512/256" => sha2::Sha512_256::digest(text).to_vec(),
        _ => return None,
    })
}
