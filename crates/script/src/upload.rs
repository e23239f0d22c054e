//! Bodies with files in them: multipart/form-data, or one file as it is.
//!
//! A file is never read here. What goes out is the bytes before it, its name with its length at
//! this moment, and the bytes after it; whoever sends reads the file piece by piece, so that its
//! size does not matter. The forms of the parts are those of Apache `HttpClient` 4.5 as JMeter 5.6.3
//! drives it, measured byte by byte; all of it is UTF-8, as other encodings are refused before the test.

use std::path::PathBuf;

use rand_xoshiro::rand_core::Rng as _;
use weir_plan::{Argument, FileUpload, HttpRequest};

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
}

/// A file of a sampler with its texts rendered.
#[derive(Debug)]
pub(crate) struct NamedFile {
    pub(crate) path: String,
    pub(crate) parameter: String,
    pub(crate) media_type: String,
}

/// The files of a request; an entry without a path is none.
pub(crate) fn render_files(files: &[FileUpload<Text>], scope: &mut Scope) -> Vec<NamedFile> {
    let files = files.iter().map(|file| NamedFile {
        path: file.path.rendered(scope),
        parameter: file.parameter.rendered(scope),
        media_type: file.media_type.rendered(scope),
    });
    files.filter(|file| !file.path.is_empty()).collect()
}

/// The one file that is the body as it is: it has no parameter's name.
pub(crate) fn whole_body(files: &[NamedFile]) -> Option<&NamedFile> {
    match files {
        [file] if file.parameter.is_empty() => Some(file),
        _ => None,
    }
}

/// The file with its length now; where it is missing, JMeter's failure.
pub(crate) fn file(file: &NamedFile, scope: &Scope) -> Result<Upload, Unsendable> {
    let path = scope.live().in_plan_directory(&file.path);
    let path = std::path::absolute(&path).unwrap_or(path);
    let failed = |says: &str| Unsendable::file_not_found(format!("{} ({says})", path.display()));
    let metadata = std::fs::metadata(&path).map_err(|error| match error.kind() {
        std::io::ErrorKind::PermissionDenied => failed("Permission denied"),
        _ => failed("No such file or directory"),
    })?;
    if metadata.is_dir() {
        return Err(failed("Is a directory"));
    }
    Ok(Upload {
        length: metadata.len(),
        path,
        after: Vec::new(),
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
    scope: &mut Scope,
) -> Result<Multipart, Unsendable> {
    let boundary = boundary(scope);
    let mut writer = Parts {
        is_plain: request.browser_multipart,
        boundary,
        start: Vec::new(),
        uploads: Vec::new(),
    };
    for (argument, (name, value)) in arguments {
        let media_type = argument.content_type.rendered(scope);
        if media_type.trim().is_empty() {
            let says = "MIME type may not be blank";
            return Err(Unsendable::illegal_argument(says.to_owned()));
        }
        writer.text(name, value, &media_type);
    }
    for named in files {
        if named.media_type.trim().is_empty() {
            let says = format!("Invalid content type: {}", named.media_type);
            return Err(Unsendable::parse(says));
        }
        if named.parameter.is_empty() {
            return Err(Unsendable::illegal_state("Name is blank".to_owned()));
        }
        writer.file(named, file(named, scope)?);
    }
    Ok(writer.end())
}

/// Writes one part after the other.
struct Parts {
    /// Only the fields that browsers write.
    is_plain: bool,
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

    fn line(&mut self, text: &str) {
        let out = self.out();
        out.extend_from_slice(text.as_bytes());
        out.extend_from_slice(b"\r\n");
    }

    fn begin(&mut self, disposition: &str) {
        let delimiter = format!("--{}", self.boundary);
        self.line(&delimiter);
        self.line(&format!("Content-Disposition: form-data; {disposition}"));
    }

    fn text(&mut self, name: &str, value: &str, media_type: &str) {
        self.begin(&format!("name=\"{}\"", escaped(name)));
        if !self.is_plain {
            if media_type.contains(';') {
                self.line(&format!("Content-Type: {media_type}"));
            } else {
                self.line(&format!("Content-Type: {media_type}; charset=UTF-8"));
            }
            self.line("Content-Transfer-Encoding: 8bit");
        }
        self.line("");
        self.line(value);
    }

    fn file(&mut self, named: &NamedFile, upload: Upload) {
        let file_name = upload.path.file_name().unwrap_or_default();
        let disposition = format!(
            "name=\"{}\"; filename=\"{}\"",
            escaped(&named.parameter),
            escaped(&percent_encoded(&file_name.to_string_lossy()))
        );
        self.begin(&disposition);
        self.line(&format!("Content-Type: {}", named.media_type));
        if !self.is_plain {
            self.line("Content-Transfer-Encoding: binary");
        }
        self.line("");
        self.uploads.push(upload);
        self.line("");
    }

    fn end(mut self) -> Multipart {
        let delimiter = format!("--{}--", self.boundary);
        self.line(&delimiter);
        Multipart {
            content_type: format!(
                "multipart/form-data; boundary={}; charset=UTF-8",
                self.boundary
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
