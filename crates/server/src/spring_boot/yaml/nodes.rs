//! All names in a YAML file with their values and where these stand.

use std::ops::Range;

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

use crate::spring_boot::property::canonical;

/// Deepest nesting that is read.
const DEPTH_MAX: usize = 64;

/// Something that has a name in a file.
#[derive(Debug, Clone)]
pub(super) struct Node {
    /// Which document of the file it stands in.
    pub(super) document: usize,
    /// Its whole name, as Spring Boot compares names.
    pub(super) name: String,
    /// Where its key ends.
    pub(super) key: Range<usize>,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    /// A value in one piece.
    Scalar { span: Range<usize>, value: String },
    /// Nothing.
    Empty,
    /// A mapping in lines, whose keys stand this far from the left.
    Mapping { column: usize, end: usize },
    /// Anything else: lists, mappings in braces, references.
    Other { end: usize, value: String },
}

impl Node {
    /// Where it ends with all that is in it.
    pub(super) fn end(&self) -> usize {
        match &self.kind {
            Kind::Scalar { span, .. } => span.end,
            Kind::Empty => self.key.end,
            Kind::Mapping { end, .. } | Kind::Other { end, .. } => *end,
        }
    }

    /// Its name and what it is, without where it stands.
    pub(super) fn content(&self) -> Option<((usize, &str), &str)> {
        let value = match &self.kind {
            Kind::Scalar { value, .. } | Kind::Other { value, .. } => value,
            Kind::Empty | Kind::Mapping { .. } => return None,
        };
        Some(((self.document, &self.name), value))
    }
}

/// Reads all names of a file with their values.
pub(super) fn read(text: &str) -> Result<Vec<Node>, String> {
    match read_as_far(text) {
        (nodes, None) => Ok(nodes),
        (_, Some(says)) => Err(says),
    }
}

/// As `read`, up to what cannot be read, and why that cannot.
pub(super) fn read_as_far(text: &str) -> (Vec<Node>, Option<String>) {
    let mut reader = Reader {
        text,
        nodes: Vec::new(),
        open: Vec::new(),
        documents: 0,
    };
    let stopped = reader.run().err();
    (reader.nodes, stopped)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Mapping,
    List,
}

/// A mapping or list that is not read to its end.
struct Frame {
    form: Form,
    /// Its whole name.
    name: String,
    /// The key that waits for its value.
    key: Option<(String, Range<usize>)>,
    /// How many values it has.
    count: usize,
    /// The node that it is, if it is one.
    node: Option<usize>,
    /// Where what was last in it ends.
    end: usize,
}

struct Reader<'a> {
    text: &'a str,
    nodes: Vec<Node>,
    open: Vec<Frame>,
    documents: usize,
}

impl Reader<'_> {
    fn run(&mut self) -> Result<(), String> {
        let places = Places::of(self.text);
        for event in Parser::new_from_str(self.text) {
            let (event, span) = event.map_err(|error| error.to_string())?;
            let span = places.range(span);
            match event {
                Event::DocumentStart(_) => self.documents += 1,
                Event::MappingStart(anchor, tag) => {
                    self.opens(Form::Mapping, anchor, tag.is_some(), &span)?;
                }
                Event::SequenceStart(anchor, tag) => {
                    self.opens(Form::List, anchor, tag.is_some(), &span)?;
                }
                Event::MappingEnd | Event::SequenceEnd => self.closes(&span)?,
                Event::Scalar(value, ..) if self.wants_key() => self.key(value.into_owned(), span),
                Event::Scalar(value, style, anchor, tag) => {
                    let is_plain = anchor == 0 && tag.is_none();
                    self.scalar(value.into_owned(), style, is_plain, span);
                }
                Event::Alias(_) => self.reference(&span),
                Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
            }
        }
        Ok(())
    }

    fn opens(
        &mut self,
        form: Form,
        anchor: usize,
        has_tag: bool,
        span: &Range<usize>,
    ) -> Result<(), String> {
        if self.open.len() >= DEPTH_MAX {
            return Err(format!("it nests deeper than {DEPTH_MAX}"));
        }
        let (name, node) = self.begin();
        let is_in_lines = form == Form::Mapping && !self.text[span.start..].starts_with('{');
        if let Some(node) = node {
            // What is referred to from elsewhere would change there, too.
            self.nodes[node].kind = if is_in_lines && anchor == 0 && !has_tag {
                Kind::Mapping {
                    column: column_of(self.text, span.start),
                    end: span.end,
                }
            } else {
                Kind::Other {
                    end: span.end,
                    value: String::new(),
                }
            };
        }
        self.open.push(Frame {
            form,
            name,
            key: None,
            count: 0,
            node,
            end: span.start,
        });
        Ok(())
    }

    fn closes(&mut self, span: &Range<usize>) -> Result<(), String> {
        let frame = self.open.pop().ok_or("an end without a beginning")?;
        let end = if self.text[..span.end].ends_with(['}', ']']) {
            span.end
        } else {
            frame.end
        };
        if let Some(Node {
            kind: Kind::Mapping { end: at, .. } | Kind::Other { end: at, .. },
            ..
        }) = frame.node.map(|node| &mut self.nodes[node])
        {
            *at = end;
        }
        self.ended(end);
        Ok(())
    }

    /// Whether what comes next is a key.
    fn wants_key(&self) -> bool {
        let frame = self.open.last();
        frame.is_some_and(|frame| frame.form == Form::Mapping && frame.key.is_none())
    }

    fn key(&mut self, key: String, span: Range<usize>) {
        if let Some(frame) = self.open.last_mut() {
            frame.end = span.end;
            frame.key = Some((key, span));
        }
    }

    fn scalar(&mut self, value: String, style: ScalarStyle, is_plain: bool, span: Range<usize>) {
        let (_, node) = self.begin();
        let is_nothing = is_plain && style == ScalarStyle::Plain && value.is_empty();
        let is_in_lines = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
        let end = match self.open.last() {
            Some(frame) if is_nothing => frame.end,
            _ => span.end,
        };
        if let Some(node) = node {
            self.nodes[node].kind = match (is_nothing, is_plain && !is_in_lines) {
                (true, _) => Kind::Empty,
                (false, true) => Kind::Scalar { span, value },
                (false, false) => Kind::Other { end, value },
            };
        }
        self.ended(end);
    }

    fn reference(&mut self, span: &Range<usize>) {
        let (_, node) = self.begin();
        if let Some(node) = node {
            self.nodes[node].kind = Kind::Other {
                end: span.end,
                value: self.text[span.clone()].to_owned(),
            };
        }
        self.ended(span.end);
    }

    /// A value begins: its name, and the node that it becomes.
    fn begin(&mut self) -> (String, Option<usize>) {
        let Some(frame) = self.open.last_mut() else {
            return (String::new(), None);
        };
        let (name, key) = match frame.form {
            Form::Mapping => {
                let (key, span) = frame.key.take().unwrap_or_default();
                let dot = if frame.name.is_empty() { "" } else { "." };
                (format!("{}{dot}{}", frame.name, canonical(&key)), span)
            }
            Form::List => (
                format!("{}[{}]", frame.name, frame.count),
                frame.end..frame.end,
            ),
        };
        frame.count += 1;
        self.nodes.push(Node {
            document: self.documents.max(1) - 1,
            name: name.clone(),
            key,
            kind: Kind::Empty,
        });
        (name, Some(self.nodes.len() - 1))
    }

    /// A value has ended: so far goes what it is in.
    fn ended(&mut self, end: usize) {
        if let Some(frame) = self.open.last_mut() {
            frame.end = frame.end.max(end);
        }
    }
}

/// How far from the left a place is.
pub(super) fn column_of(text: &str, at: usize) -> usize {
    let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
    text[line..at].chars().count()
}

/// From the parser's lines and columns to bytes.
struct Places<'a> {
    text: &'a str,
    lines: Vec<usize>,
}

impl<'a> Places<'a> {
    fn of(text: &'a str) -> Self {
        // To the parser a carriage return by itself ends a line, too.
        let ends = text
            .match_indices(['\n', '\r'])
            .map(|(at, end)| (at + 1, end))
            .filter(|(next, end)| *end == "\n" || !text[*next..].starts_with('\n'))
            .map(|(next, _)| next);
        Self {
            text,
            lines: std::iter::once(0).chain(ends).collect(),
        }
    }

    fn range(&self, span: Span) -> Range<usize> {
        let start = self.byte(span.start.line(), span.start.col());
        start..self.byte(span.end.line(), span.end.col()).max(start)
    }

    fn byte(&self, line: usize, column: usize) -> usize {
        let Some(start) = self.lines.get(line.max(1) - 1) else {
            return self.text.len();
        };
        let rest = &self.text[*start..];
        let offset = rest.char_indices().nth(column).map(|(offset, _)| offset);
        start + offset.unwrap_or(rest.len())
    }
}
