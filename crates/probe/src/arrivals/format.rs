//! What a tracepoint tells, as the kernel describes it in tracefs: fields move from kernel to
//! kernel.

use super::error::TraceError;

/// The number of a tracepoint and where its fields stand in its records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EventFormat {
    event: String,
    id: u16,
    fields: Vec<(String, Field)>,
}

/// A number in a record, in the byte order of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Field {
    offset: usize,
    size: usize,
}

impl EventFormat {
    /// Reads the file `format`; `event` is what it is called in messages.
    pub(crate) fn parse(event: &str, text: &str) -> Result<Self, TraceError> {
        let id = text
            .lines()
            .find_map(|line| line.strip_prefix("ID:")?.trim().parse().ok());
        let fields = text.lines().filter_map(parse_field).collect();
        let lacks = |field: &str| TraceError::NoField {
            event: event.to_owned(),
            field: field.to_owned(),
        };
        Ok(Self {
            event: event.to_owned(),
            id: id.ok_or_else(|| lacks("ID"))?,
            fields,
        })
    }

    /// Its name, group first.
    pub(crate) fn event(&self) -> &str {
        &self.event
    }

    /// Its number, which stands in the first two bytes of each of its records.
    pub(crate) fn id(&self) -> u16 {
        self.id
    }

    /// Where a field stands.
    pub(crate) fn field(&self, name: &str) -> Result<Field, TraceError> {
        let found = self.fields.iter().find(|(field, _)| field == name);
        found
            .map(|(_, field)| *field)
            .ok_or_else(|| TraceError::NoField {
                event: self.event.clone(),
                field: name.to_owned(),
            })
    }
}

impl Field {
    /// Its value in a record; `None` when the record ends before it. Negative numbers come as their
    /// low bits.
    pub(crate) fn value(self, record: &[u8]) -> Option<u64> {
        let bytes = record.get(self.offset..self.offset + self.size)?;
        Some(match bytes.len() {
            1 => u64::from(bytes[0]),
            2 => u64::from(u16::from_ne_bytes(bytes.try_into().ok()?)),
            4 => u64::from(u32::from_ne_bytes(bytes.try_into().ok()?)),
            8 => u64::from_ne_bytes(bytes.try_into().ok()?),
            _ => return None,
        })
    }
}

/// A line such as `field:pid_t next_pid; offset:56; size:4; signed:1;`, with tabs between.
fn parse_field(line: &str) -> Option<(String, Field)> {
    let mut parts = line.trim().split(';').map(str::trim);
    let declared = parts.next()?.strip_prefix("field:")?;
    let name = declared.rsplit([' ', '*']).next()?;
    let offset = parts.next()?.strip_prefix("offset:")?.parse().ok()?;
    let size = parts.next()?.strip_prefix("size:")?.parse().ok()?;
    Some((name.to_owned(), Field { offset, size }))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RECEIVED: &str = "name: sock_recv_length\nID: 2283\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
        \tfield:void * sk;\toffset:8;\tsize:8;\tsigned:0;\n\
        \tfield:char comm[16];\toffset:20;\tsize:16;\tsigned:0;\n\nprint fmt: \"x\", REC->sk\n";

    #[test]
    fn fields_are_found_where_the_kernel_says() {
        let format = EventFormat::parse("sock:sock_recv_length", RECEIVED).unwrap();
        assert_eq!(format.id(), 2283);
        let socket = format.field("sk").unwrap();
        let mut record = vec![0; 8];
        record.extend(0xffff_8881_0000_1234_u64.to_ne_bytes());
        assert_eq!(socket.value(&record), Some(0xffff_8881_0000_1234));
        assert_eq!(socket.value(&record[..15]), None, "cut short");
        assert_eq!(format.field("comm[16]").unwrap().value(&[0; 64]), None);
    }

    #[test]
    fn what_this_kernel_does_not_tell_is_named() {
        let format = EventFormat::parse("sock:sock_recv_length", RECEIVED).unwrap();
        let error = format.field("ret").unwrap_err().to_string();
        assert!(error.contains("sock:sock_recv_length"), "{error}");
        assert!(error.contains("`ret`"), "{error}");
        assert!(EventFormat::parse("a:b", "nothing").is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_taken(text: String) {
            let _ = EventFormat::parse("a:b", &text);
        }
    }
}
