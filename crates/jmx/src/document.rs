//! A plan's file as checked XML in which every node knows its line.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use roxmltree::{Node, ParsingOptions};
use weir_plan::{ElementId, Position};
use weir_reach::Reach;

use crate::JmxError;
use crate::tags::{self, ATTRIBUTES_MAX};

/// Largest file; the largest real plans known have a few megabytes.
const BYTES_MAX: u64 = 100_000_000;
/// Most XML nodes; bounds the memory to about half a gigabyte.
const NODES_MAX: u32 = 5_000_000;
/// Deepest nesting; real plans stay far below 100.
const DEPTH_MAX: usize = 500;

/// Reads a whole file that the user names as text.
pub(crate) fn read_file(path: &Path) -> Result<String, JmxError> {
    let failed = |source| JmxError::Read {
        path: path.to_path_buf(),
        source,
    };
    // A pipe could keep the reader waiting for ever, and a device never ends.
    if !path.metadata().map_err(failed)?.is_file() {
        return Err(JmxError::NoFile {
            path: path.to_path_buf(),
        });
    }
    let file = File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    // One more than the bound, so that a file that grows or never ends is noticed too.
    let mut bounded = file.take(BYTES_MAX + 1);
    bounded.read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(JmxError::TooLarge {
            path: path.to_path_buf(),
            most: BYTES_MAX,
        });
    }
    text_of(bytes, path)
}

/// Reads a whole file that a plan names as text, if the plan may.
pub(crate) fn read_within(reach: &Reach, path: &Path) -> io::Result<Result<String, JmxError>> {
    let bytes = reach.read_whole(path, BYTES_MAX)?;
    Ok(text_of(bytes, path))
}

fn text_of(bytes: Vec<u8>, path: &Path) -> Result<String, JmxError> {
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let before = String::from_utf8_lossy(&error.as_bytes()[..valid]).into_owned();
        JmxError::Malformed {
            path: path.to_path_buf(),
            at: Lines::of(&before).position(&before, valid),
            found: format!("the byte 0x{:02x} is not UTF-8", error.as_bytes()[valid]),
            instead: "save the plan with JMeter, or convert the file to UTF-8".to_owned(),
        }
    })
}

/// The XML of a plan.
pub(crate) struct Document<'text> {
    text: &'text str,
    /// The file, when another plan includes it.
    included: Option<PathBuf>,
    first_id: u32,
    lines: Lines,
    xml: roxmltree::Document<'text>,
}

impl<'text> Document<'text> {
    /// Parses a plan and checks its bounds. Its nodes have the identities from `first_id`.
    pub(crate) fn parse(text: &'text str, path: &Path, first_id: u32) -> Result<Self, JmxError> {
        let options = ParsingOptions {
            allow_dtd: false,
            nodes_limit: NODES_MAX,
            ..ParsingOptions::default()
        };
        let lines = Lines::of(text);
        if let Some(start) = tags::first_overfull(text) {
            return Err(JmxError::Malformed {
                path: path.to_path_buf(),
                at: lines.position(text, start),
                found: format!("an element has more than {ATTRIBUTES_MAX} attributes"),
                instead: "no test plan needs that; save it with JMeter again".to_owned(),
            });
        }
        let xml = match roxmltree::Document::parse_with_options(text, options) {
            Ok(xml) => xml,
            Err(error) => return Err(malformed(&error, lines.end(text), path)),
        };
        let document = Self {
            text,
            included: None,
            first_id,
            lines,
            xml,
        };
        document.check_depth(path)?;
        Ok(document)
    }

    /// A document as a part of another plan.
    pub(crate) fn included_from(mut self, file: &Path) -> Self {
        self.included = Some(file.to_path_buf());
        self
    }

    pub(crate) fn included(&self) -> Option<&Path> {
        self.included.as_deref()
    }

    /// The `hashTree` below `jmeterTestPlan`.
    pub(crate) fn tree(&self, path: &Path) -> Result<Node<'_, 'text>, JmxError> {
        let root = self.xml.root_element();
        let refuse = |found: String, instead: &str| JmxError::Malformed {
            path: path.to_path_buf(),
            at: self.position(root),
            found,
            instead: instead.to_owned(),
        };
        if !root.has_tag_name("jmeterTestPlan") {
            return Err(refuse(
                format!("the root element is <{}>", root.tag_name().name()),
                "name a plan that was saved by JMeter (<jmeterTestPlan>)",
            ));
        }
        let tree = root.children().find(|node| node.has_tag_name("hashTree"));
        tree.ok_or_else(|| {
            refuse(
                "there is no <hashTree> in <jmeterTestPlan>".to_owned(),
                "save the plan with JMeter again",
            )
        })
    }

    /// An identity that no other node of any file of the plan has.
    pub(crate) fn id(&self, node: Node<'_, '_>) -> ElementId {
        ElementId(self.first_id.saturating_add(node.id().get()))
    }

    /// The first identity that is free after this document's.
    pub(crate) fn next_id(&self) -> u32 {
        let nodes = u32::try_from(self.text.len()).unwrap_or(u32::MAX);
        self.first_id.saturating_add(nodes)
    }

    /// Where a node starts.
    pub(crate) fn position(&self, node: Node<'_, '_>) -> Position {
        self.lines.position(self.text, node.range().start)
    }

    fn check_depth(&self, path: &Path) -> Result<(), JmxError> {
        let mut node = self.xml.root();
        let mut depth = 0_usize;
        loop {
            if let Some(child) = node.first_child() {
                node = child;
                depth += 1;
                if depth > DEPTH_MAX {
                    return Err(JmxError::Malformed {
                        path: path.to_path_buf(),
                        at: self.position(node),
                        found: format!("elements are nested deeper than {DEPTH_MAX}"),
                        instead: "no test plan needs that; save it with JMeter again".to_owned(),
                    });
                }
                continue;
            }
            while node.next_sibling().is_none() {
                let Some(parent) = node.parent() else {
                    return Ok(());
                };
                node = parent;
                depth = depth.saturating_sub(1);
            }
            if let Some(sibling) = node.next_sibling() {
                node = sibling;
            }
        }
    }
}

fn malformed(error: &roxmltree::Error, end: Position, path: &Path) -> JmxError {
    use roxmltree::Error;
    let place = error.pos();
    let mut at = Position {
        line: place.row,
        column: place.col,
    };
    let mut found = error.to_string();
    let mut instead = "save the plan with JMeter again, or mend the file at this place";
    match error {
        Error::UnclosedRootNode | Error::UnexpectedEndOfStream => {
            at = end;
            "the file ends in the middle of an element".clone_into(&mut found);
            instead = "it was cut off; take a whole copy";
        }
        Error::NoRootNode => {
            "there is no XML element".clone_into(&mut found);
            instead = "name a plan that was saved by JMeter (.jmx)";
        }
        Error::DtdDetected => {
            "a document type definition (DTD) is not accepted".clone_into(&mut found);
            instead = "JMeter does not write one; remove it";
        }
        Error::NodesLimitReached => {
            found = format!("there are more than {NODES_MAX} XML nodes");
            instead = "is it a result file?";
        }
        _ => {}
    }
    JmxError::Malformed {
        path: path.to_path_buf(),
        at,
        found,
        instead: instead.to_owned(),
    }
}

/// Where the lines of a text start. The XML library counts from the start for every question,
/// which takes minutes for a plan of some megabytes.
struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    fn of(text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self {
            starts: std::iter::once(0)
                .chain(ends.map(|(index, _)| index + 1))
                .collect(),
        }
    }

    fn position(&self, text: &str, offset: usize) -> Position {
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts[line - 1];
        // A plan may be one line of megabytes: counting characters is bounded like this.
        let column = match text.get(start..offset) {
            Some(before) if before.len() <= 10_000 => before.chars().count(),
            _ => offset - start,
        };
        Position {
            line: line as u32,
            column: column as u32 + 1,
        }
    }

    fn end(&self, text: &str) -> Position {
        self.position(text, text.len())
    }
}
