//! `/static/{1,2,4,8,16}k.txt`: files of exactly that many KiB, read from the disk for each
//! request.

use std::fs;

use crate::content::{Content, STATIC_KIB};
use crate::http::{Parameters, Response};

pub(super) fn answer(
    content: &Content,
    name: &str,
    parameters: &Parameters,
) -> Result<Response, Response> {
    parameters.expect_only(&[])?;
    let kib = name
        .strip_suffix("k.txt")
        .and_then(|size| STATIC_KIB.into_iter().find(|kib| kib.to_string() == size));
    let Some(kib) = kib else {
        return Err(Response::refusal(
            404,
            "the files are 1k.txt, 2k.txt, 4k.txt, 8k.txt and 16k.txt",
        ));
    };
    match fs::read(content.static_file(kib)) {
        Ok(bytes) => Ok(Response::text(bytes)),
        Err(error) => Err(Response::refusal(
            500,
            format!("failed to read {name}: {error}"),
        )),
    }
}
