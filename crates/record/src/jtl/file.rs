//! A result file that is being written.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write};
use std::path::Path;

use super::JtlError;
use super::configuration::{Field, JtlFormat, SaveConfiguration};
use super::{csv, xml};
use crate::sample::SampleRow;

/// Bytes that are collected before they go to the file.
const BUFFER_BYTES: usize = 64 * 1024;

/// Writes samples as JMeter does.
#[derive(Debug)]
pub struct JtlWriter<W: Write> {
    out: W,
    configuration: SaveConfiguration,
    /// What is written next; kept so that it is allocated once.
    line: Vec<u8>,
    element: String,
}

impl<W: Write> JtlWriter<W> {
    /// Starts a file: a CSV file with its header unless that is switched off.
    pub fn new(out: W, configuration: SaveConfiguration) -> Result<Self, JtlError> {
        let mut writer = Self::continued(out, configuration);
        match writer.configuration.format {
            JtlFormat::Csv => {
                if writer.configuration.has(Field::FieldNames) {
                    csv::header(&writer.configuration, &mut writer.line);
                    let written = writer.out.write_all(&writer.line);
                    written.map_err(JtlError::Write)?;
                }
            }
            JtlFormat::Xml => {
                let beginning = xml::beginning(&writer.configuration);
                let written = writer.out.write_all(beginning.as_bytes());
                written.map_err(JtlError::Write)?;
            }
        }
        Ok(writer)
    }

    /// Goes on with a file that has begun.
    pub fn continued(out: W, configuration: SaveConfiguration) -> Self {
        Self {
            out,
            configuration,
            line: Vec::new(),
            element: String::new(),
        }
    }

    /// What this file says of each sample.
    pub fn configuration(&self) -> &SaveConfiguration {
        &self.configuration
    }

    /// Writes one sample.
    pub fn write(&mut self, sample: &SampleRow) -> Result<(), JtlError> {
        let configuration = &self.configuration;
        let text = text(configuration, sample, &mut self.line, &mut self.element);
        self.out.write_all(text).map_err(JtlError::Write)?;
        if self.configuration.flush_each {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes one sample as another configuration says: in JMeter, several listeners may name one
    /// file, and each writes its samples in its own way.
    pub fn write_as(
        &mut self,
        configuration: &SaveConfiguration,
        sample: &SampleRow,
    ) -> Result<(), JtlError> {
        let text = text(configuration, sample, &mut self.line, &mut self.element);
        self.out.write_all(text).map_err(JtlError::Write)
    }

    /// Hands everything to the operating system.
    pub fn flush(&mut self) -> Result<(), JtlError> {
        self.out.flush().map_err(JtlError::Write)
    }

    /// Ends the file.
    pub fn finish(mut self) -> Result<(), JtlError> {
        if self.configuration.format == JtlFormat::Xml {
            let written = self.out.write_all(xml::END.as_bytes());
            written.map_err(JtlError::Write)?;
        }
        self.flush()
    }
}

/// A sample as a file has it, in one of the two buffers.
fn text<'a>(
    configuration: &SaveConfiguration,
    sample: &SampleRow,
    line: &'a mut Vec<u8>,
    element: &'a mut String,
) -> &'a [u8] {
    match configuration.format {
        JtlFormat::Csv => {
            line.clear();
            csv::rows(configuration, sample, line);
            line
        }
        JtlFormat::Xml => {
            element.clear();
            xml::element(configuration, sample, element);
            element.as_bytes()
        }
    }
}

/// Opens a file for results, and its folder if need be. As with JMeter, a CSV file that has rows is
/// continued without a second header; an XML file that was ended is reopened, and one that was not
/// is written anew.
pub fn open_jtl(
    path: &Path,
    configuration: SaveConfiguration,
) -> Result<JtlWriter<BufWriter<File>>, JtlError> {
    let opened = |source| JtlError::Open {
        path: path.to_owned(),
        source,
    };
    if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        fs::create_dir_all(folder).map_err(opened)?;
    }
    // An XML file is cut, which a file that is only appended to cannot be.
    let xml = configuration.format == JtlFormat::Xml;
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(xml)
        .write(xml)
        .append(!xml)
        .open(path)
        .map_err(opened)?;
    continue_jtl(file, path, configuration)
}

/// Continues a file that was opened for results: to append rows to it, or, for XML, to read it and
/// write over its end.
pub fn continue_jtl(
    mut file: File,
    path: &Path,
    configuration: SaveConfiguration,
) -> Result<JtlWriter<BufWriter<File>>, JtlError> {
    let opened = |source| JtlError::Open {
        path: path.to_owned(),
        source,
    };
    let continues = if configuration.format == JtlFormat::Xml {
        reopen(&mut file).map_err(opened)?
    } else {
        file.metadata().map_err(opened)?.len() > 0
    };
    let out = BufWriter::with_capacity(BUFFER_BYTES, file);
    if continues {
        Ok(JtlWriter::continued(out, configuration))
    } else {
        JtlWriter::new(out, configuration)
    }
}

/// Takes the end of an XML file away; what has no end is emptied.
fn reopen(file: &mut File) -> io::Result<bool> {
    const LOOK_BYTES: u64 = 64;
    const CLOSE: &[u8] = b"</testResults>";
    // A device such as /dev/null has no end to look at.
    if !file.metadata()?.is_file() {
        return Ok(false);
    }
    let length = file.metadata()?.len();
    let from = length.saturating_sub(LOOK_BYTES);
    file.seek(SeekFrom::Start(from))?;
    let mut end = Vec::new();
    file.take(LOOK_BYTES).read_to_end(&mut end)?;
    let close = end.windows(CLOSE.len()).rposition(|part| part == CLOSE);
    let keep = close.map_or(0, |at| from + at as u64);
    file.set_len(keep)?;
    file.seek(SeekFrom::Start(keep))?;
    Ok(keep > 0)
}
