//! `/heavy`: parses an XML file and walks its tree again and again, work with memory and a file
//! behind it.
//!
//! `pause-ms` sleeps at the end of each walk: the application-level scheduling by which heavy
//! requests leave room for light ones.

use std::hint::black_box;
use std::time::Duration;
use std::{fs, thread};

use roxmltree::{Document, Node};
use serde::Serialize;

use crate::content::Content;
use crate::http::{Number, Parameters, Response};

const WALKS: Number = Number {
    name: "walks",
    unit: "times",
    range: 1..=10_000,
    default: 100,
};
const PAUSE: Number = Number {
    name: "pause-ms",
    unit: "ms after each walk",
    range: 0..=60_000,
    default: 0,
};

/// What a walk counts.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
struct Tally {
    elements: u64,
    attributes: u64,
    text_bytes: u64,
}

/// The answer.
#[derive(Serialize)]
struct Walked {
    walks: u64,
    /// Of one walk.
    elements: u64,
    attributes: u64,
    text_bytes: u64,
}

pub(super) fn answer(content: &Content, parameters: &Parameters) -> Result<Response, Response> {
    parameters.expect_only(&[WALKS.name, PAUSE.name])?;
    let walks = parameters.number(&WALKS)?;
    let pause = Duration::from_millis(parameters.number(&PAUSE)?);

    let file = content.xml();
    let unreadable = |why: &dyn std::fmt::Display| {
        Response::refusal(500, format!("failed to read the XML file: {why}"))
    };
    let text = fs::read_to_string(file).map_err(|error| unreadable(&error))?;
    let document = Document::parse(&text).map_err(|error| unreadable(&error))?;
    let mut tally = Tally::default();
    for _ in 0..walks {
        tally = walk(black_box(document.root_element()));
        if !pause.is_zero() {
            thread::sleep(pause);
        }
    }
    let Tally {
        elements,
        attributes,
        text_bytes,
    } = tally;
    Ok(Response::json(&Walked {
        walks,
        elements,
        attributes,
        text_bytes,
    }))
}

/// Visits every node below `node`, depth first.
fn walk(node: Node<'_, '_>) -> Tally {
    let mut tally = Tally {
        elements: 1,
        attributes: node.attributes().len() as u64,
        text_bytes: 0,
    };
    for child in node.children() {
        if child.is_element() {
            let below = walk(child);
            tally.elements += below.elements;
            tally.attributes += below.attributes;
            tally.text_bytes += below.text_bytes;
        } else {
            tally.text_bytes += child.text().unwrap_or_default().len() as u64;
        }
    }
    tally
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_walk_visits_everything() {
        let document = Document::parse("<a x='1' y='2'>four<b>six<c z=''/></b>!</a>").unwrap();
        let tally = walk(document.root_element());
        assert_eq!(
            tally,
            Tally {
                elements: 3,
                attributes: 3,
                text_bytes: 8
            }
        );
    }
}
