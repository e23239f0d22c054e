//! Bodies with files in them: multipart/form-data, or one file as it is.
//!
//! A file is never read here. What goes out is the bytes before it, its name with its length at
//! this moment, and the bytes after it; whoever sends reads the file piece by piece, so that its
//! size does not matter. The forms of the parts are those of Apache `HttpClient` 4.5 as JMeter
//! 5.6.3 drives it, measured byte by byte, also in other character sets.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use rand_xoshiro::rand_core::Rng as _;
use weir_charset::Charset;
use weir_plan::{Argument, FileUpload, HttpRequest};
use weir_reach::{Reach, is_refusal};

use crate::content_type::ContentType;
use crate::{Scope, Text, Unsendable};

/// A file that is sent, and what comes after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    /// The file.
    pub path: PathBuf,
    /// How many of its bytes are sent: as many as it had when the request was written.
    pub length: u64,
    /// What follows it.
    pub after: Vec<u8>,
    /// The files that the plan may touch.
    pub reach: Reach,
}

impl Upload {
    /// Opens the file.
    ///
    /// # Errors
    /// It is missing, out of the plan's reach, or no file.
    pub fn open(&self) -> io::Result<File> {
        self.reach.read(&self.path)
    }

    /// What JMeter says of a file that could not be opened.
    pub fn says(error: &io::Error) -> String {
        match error.kind() {
            io::ErrorKind::NotFound => "No such file or directory".to_owned(),
            io::ErrorKind::IsADirectory => "Is a directory".to_owned(),
            io::ErrorKind::PermissionDenied if !is_refusal(error) => "Permission denied".to_owned(),
            _ => error.to_string(),
        }
    }
}

/// A file of a sampler with its texts rendered.
#[derive(Debug)]
pub(crate) struct NamedFile {
    pub(crate) path: String,
    pub(crate) parameter: String,
    pub(crate) media_type: String,
}

/// The files of a request.
pub(crate) fn render_files(files: &[FileUpload<Text>], scope: &mut Scope) -> Vec<NamedFile> {
    let files = files.iter().map(|file| NamedFile {
        path: file.path.rendered(scope),
        parameter: file.parameter.rendered(scope),
        media_type: file.media_type.rendered(scope),
    });
    files.collect()
}

/// The one file that is the body as it is: it has no parameter's name.
pub(crate) fn whole_body(files: &[NamedFile]) -> Option<&NamedFile> {
    match files {
        [file] if file.parameter.is_empty() && !file.path.is_empty() => Some(file),
        _ => None,
    }
}

/// Whether the files make a form of parts by themselves: not if one has no path.
pub(crate) fn are_parts(files: &[NamedFile]) -> bool {
    !files.is_empty() && files.iter().all(|file| !file.path.is_empty())
}

/// The file with its length now; where it is missing, JMeter's failure.
pub(crate) fn file(file: &NamedFile, scope: &Scope) -> Result<Upload, Unsendable> {
    let reach = scope.live().reach();
    let path = reach.find(&file.path);
    let path = std::path::absolute(&path).unwrap_or(path);
    let length = reach.length(&path).map_err(|error| {
        let says = Upload::says(&error);
        Unsendable::file_not_found(format!("{} ({says})", path.display()))
    })?;
    Ok(Upload {
        length,
        path,
        after: Vec::new(),
        reach: reach.clone(),
    })
}

/// A multipart body: what comes before its first file, and its files.
#[derive(Debug)]
pub(crate) struct Multipart {
    pub(crate) content_type: String,
    pub(crate) start: Vec<u8>,
    pub(crate) uploads: Vec<Upload>,
}

/// Writes a multipart body; arguments come with their rendered names and values.
pub(crate) fn multipart<'a>(
    request: &HttpRequest<Text>,
    arguments: impl Iterator<Item = (&'a Argument<Text>, &'a (String, String))>,
    files: &[NamedFile],
    charset: Charset,
    scope: &mut Scope,
) -> Result<Multipart, Unsendable> {
    let boundary = boundary(scope);
    let mut writer = Parts {
        is_plain: request.browser_multipart,
        charset,
        boundary,
        start: Vec::new(),
        uploads: Vec::new(),
    };
    for (argument, (name, value)) in arguments {
        let media_type = argument.content_type.rendered(scope);
        writer.text(name, value, &media_type)?;
    }
    for named in files {
        let content_type = ContentType::parse(&named.media_type)?;
        if named.parameter.trim().is_empty() {
            return Err(Unsendable::illegal_state("Name is blank".to_owned()));
        }
        writer.file(named, &content_type, file(named, scope)?);
    }
    Ok(writer.end())
}

/// Writes one part after the other.
struct Parts {
    /// Only the fields that browsers write.
    is_plain: bool,
    charset: Charset,
    boundary: String,
    start: Vec<u8>,
    uploads: Vec<Upload>,
}

impl Parts {
    /// Where the next bytes go.
    fn out(&mut self) -> &mut Vec<u8> {
        match self.uploads.last_mut() {
            Some(upload) => &mut upload.after,
            None => &mut self.start,
        }
    }

    fn line(&mut self, bytes: &[u8]) {
        let out = self.out();
        out.extend_from_slice(bytes);
        out.extend_from_slice(b"\r\n");
    }

    /// A boundary is in the character set of all, which matters for those of more than one byte.
    fn delimiter(&mut self, end: &str) {
        let mut line = b"--".to_vec();
        line.extend_from_slice(&self.charset.encode(&self.boundary));
        line.extend_from_slice(end.as_bytes());
        self.line(&line);
    }

    /// What browsers write is in the character set of all; else fields are UTF-8.
    fn field(&mut self, name: &str, value: &str) {
        let charset = if self.is_plain {
            self.charset
        } else {
            Charset::UTF_8
        };
        let line = [&*charset.encode(name), b": ", &*charset.encode(value)].concat();
        self.line(&line);
    }

    fn begin(&mut self, disposition: &str) {
        self.delimiter("");
        self.field("Content-Disposition", &format!("form-data; {disposition}"));
    }

    fn text(&mut self, name: &str, value: &str, media_type: &str) -> Result<(), Unsendable> {
        self.begin(&format!("name=\"{}\"", escaped(name)));
        let content_type = if media_type.contains(';') {
            ContentType::parse(media_type)?
        } else {
            ContentType::of(media_type, self.charset)?
        };
        if !self.is_plain {
            self.field("Content-Type", &content_type.text);
            self.field("Content-Transfer-Encoding", "8bit");
        }
        self.line(b"");
        // Without a character set, ASCII.
        let bytes = match content_type.charset {
            Some(charset) => charset.encode(value),
            None => Charset::US_ASCII.encode(value),
        };
        self.line(&bytes);
        Ok(())
    }

    fn file(&mut self, named: &NamedFile, content_type: &ContentType, upload: Upload) {
        let file_name = upload.path.file_name().unwrap_or_default();
        let file_name = percent_encoded(&file_name.to_string_lossy());
        let file_name = if self.is_plain {
            numbered(&file_name, self.charset)
        } else {
            file_name
        };
        let disposition = format!(
            "name=\"{}\"; filename=\"{}\"",
            escaped(&named.parameter),
            escaped(&file_name)
        );
        self.begin(&disposition);
        self.field("Content-Type", &content_type.text);
        if !self.is_plain {
            self.field("Content-Transfer-Encoding", "binary");
        }
        self.line(b"");
        self.uploads.push(upload);
        self.line(b"");
    }

    fn end(mut self) -> Multipart {
        self.delimiter("--");
        Multipart {
            content_type: format!(
                "multipart/form-data; boundary={}; charset={}",
                self.boundary,
                self.charset.name()
            ),
            start: self.start,
            uploads: self.uploads,
        }
    }
}

/// A name inside quotation marks.
fn escaped(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        if matches!(c, '"' | '\\' | '\r') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// What the character set lacks as its number, without the semicolon that would end it.
fn numbered(name: &str, charset: Charset) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        if charset.has(c) {
            out.push(c);
        } else {
            out.extend(["&#", &u32::from(c).to_string()]);
        }
    }
    out
}

/// A file's name as forms on the web write it.
fn percent_encoded(name: &str) -> String {
    name.replace('"', "%22")
        .replace('\n', "%0A")
        .replace('\r', "%0D")
}

/// 36 characters that no body has by chance; the library takes 30 to 40 of the same set.
fn boundary(scope: &mut Scope) -> String {
    const CHARACTERS: &[u8] = b"-_1234567890abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let mut pick = || {
        let at = scope.random.next_u64() >> 58;
        char::from(CHARACTERS[at as usize % CHARACTERS.len()])
    };
    (0..36).map(|_| pick()).collect()
}
