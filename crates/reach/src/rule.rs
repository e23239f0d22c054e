//! The rule, and what it has refused.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::place;

/// Most places that are remembered as refused; names made of variables have no end.
const REFUSALS_MAX: usize = 100;
/// What takes everything and gives nothing.
const NOTHING: &str = "/dev/null";
/// What holds no files of users, and shows what processes hold.
const NOT_FILES: [&str; 2] = ["/proc", "/sys"];

/// What is done with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// It is read.
    Read,
    /// It is written.
    Write,
}

/// What the rule says of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// Where the name leads.
    pub place: PathBuf,
    /// Whether that is within reach.
    pub is_allowed: bool,
}

/// A file that a plan asked for and did not get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Where it lies.
    pub place: PathBuf,
    /// What was to be done with it.
    pub access: Access,
    /// How often.
    pub times: u64,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let does = match self.access {
            Access::Read => "read",
            Access::Write => "write",
        };
        let place = self.place.display();
        write!(f, "{does} {place} (refused {} times", self.times)?;
        write!(f, "; allow it with --allow-files {place})")
    }
}

/// The files that a plan may touch; clones share what was refused.
#[derive(Debug, Clone, Default)]
pub struct Reach {
    rule: Arc<Rule>,
    refused: Arc<Mutex<Vec<Refusal>>>,
}

/// Equal rules are equal reach, whatever was refused.
impl PartialEq for Reach {
    fn eq(&self, other: &Self) -> bool {
        self.rule == other.rule
    }
}

impl Eq for Reach {}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Rule {
    /// The plan's folder as it is named.
    folder: PathBuf,
    /// Folders that are within reach unasked.
    roots: Vec<Root>,
    /// What the user named.
    words: Vec<Word>,
    /// Nothing is written.
    is_read_only: bool,
    /// The folder that Weir is run in is out of reach.
    is_sandbox: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Root {
    place: PathBuf,
    /// What lies in it, but not what lies below.
    is_flat: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Word {
    place: PathBuf,
    /// Device and number of what is no file: a pipe of the user's shell has no place.
    special: Option<(u64, u64)>,
    /// What lies below it is allowed as well.
    is_deep: bool,
}

impl Reach {
    /// A plan's folder with what is below it, and the folder that Weir is run in.
    ///
    /// Of a plan in `/` only what lies beside it: everything is below.
    pub fn of_plan(plan: Option<&Path>) -> Self {
        let mut reach = Self::default();
        let rule = Arc::make_mut(&mut reach.rule);
        if let Some(plan) = plan {
            rule.add_folder_of(plan);
        }
        rule.add_root(Path::new("."), false);
        reach
    }

    /// A plan's folder with what is below it, and not the folder that Weir is run in.
    pub fn sandbox(plan: &Path) -> Self {
        let mut reach = Self::default();
        let rule = Arc::make_mut(&mut reach.rule);
        rule.add_folder_of(plan);
        rule.is_sandbox = true;
        reach
    }

    /// One more folder that is within reach unasked.
    #[must_use]
    pub fn with_folder(mut self, folder: &Path) -> Self {
        Arc::make_mut(&mut self.rule).add_root(folder, false);
        self
    }

    /// What the user allows: a file, or a folder with all that is below it.
    #[must_use]
    pub fn allow(mut self, path: &Path) -> Self {
        Arc::make_mut(&mut self.rule).add_word(path, true);
        self
    }

    /// A file that the user named; of a folder, nothing that lies in it.
    ///
    /// A link below the folders of plan and run may have come with the plan: the user named what
    /// seems to lie there, not what the link leads to.
    #[must_use]
    pub fn allow_file(mut self, name: &Path) -> Self {
        let rule = Arc::make_mut(&mut self.rule);
        let beside_plan = name.is_relative().then(|| rule.folder.join(name));
        for name in [Some(name), beside_plan.as_deref()].into_iter().flatten() {
            if !rule.is_led_out(name) {
                rule.add_word(name, false);
            }
        }
        self
    }

    /// This reach without writing, for looking at a plan.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        Arc::make_mut(&mut self.rule).is_read_only = true;
        self
    }

    /// Whether the folder that Weir is run in is out of reach.
    pub fn is_sandbox(&self) -> bool {
        self.rule.is_sandbox
    }

    /// What is within reach unasked, in words.
    pub fn bounds(&self) -> &'static str {
        if self.rule.is_sandbox {
            "the plan's folder (--sandbox)"
        } else {
            "the folders of plan and run"
        }
    }

    /// The plan's folder as it is named; empty where Weir is run in it, or where there is none.
    pub fn folder(&self) -> &Path {
        &self.rule.folder
    }

    /// A file that a plan names: from the folder that Weir is run in if it is there, else from the
    /// plan's own, as JMeter does.
    pub fn find(&self, name: &str) -> PathBuf {
        let here = Path::new(name);
        let beside_plan = self.rule.folder.join(here);
        if here == beside_plan {
            return beside_plan;
        }
        // What is here but out of reach does not hide what is beside the plan; where nothing is, it
        // is refused rather than missing.
        let is_here = here.exists() && (self.judge(here).is_allowed || !beside_plan.exists());
        if is_here {
            here.to_owned()
        } else {
            beside_plan
        }
    }

    /// What the rule says of a name; nothing is opened or remembered.
    pub fn judge(&self, path: &Path) -> Judgement {
        let place = place::of_name(path);
        let is_special =
            fs::metadata(path).is_ok_and(|found| self.rule.is_special((found.dev(), found.ino())));
        Judgement {
            is_allowed: is_special || self.rule.allows(&place),
            place,
        }
    }

    /// What was refused since the last call, in the order in which it was asked for.
    pub fn take_refused(&self) -> Vec<Refusal> {
        let refused = self.refused.lock();
        std::mem::take(&mut refused.unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether something may be done with what lies at a place.
    pub(crate) fn permit(&self, place: &Path, access: Access) -> io::Result<()> {
        if !self.rule.allows(place) {
            return Err(self.refuse(place, access));
        }
        if access == Access::Write && self.rule.is_read_only && place != Path::new(NOTHING) {
            return Err(io::ErrorKind::ReadOnlyFilesystem.into());
        }
        Ok(())
    }

    /// Whether this is a pipe or device that the user named.
    pub(crate) fn is_special(&self, identity: (u64, u64)) -> bool {
        self.rule.is_special(identity)
    }

    fn refuse(&self, place: &Path, access: Access) -> io::Error {
        let refused = self.refused.lock();
        let mut refused = refused.unwrap_or_else(PoisonError::into_inner);
        let at = refused
            .iter()
            .position(|known| known.place == place && known.access == access);
        match at {
            Some(at) => refused[at].times += 1,
            None if refused.len() < REFUSALS_MAX => refused.push(Refusal {
                place: place.to_owned(),
                access,
                times: 1,
            }),
            None => {}
        }
        drop(refused);
        let out_of_reach = OutOfReach {
            place: place.to_owned(),
            bounds: self.bounds(),
        };
        io::Error::new(io::ErrorKind::PermissionDenied, out_of_reach)
    }
}

/// Whether a file was not opened because it is out of reach.
pub fn is_refusal(error: &io::Error) -> bool {
    error
        .get_ref()
        .is_some_and(<dyn std::error::Error + Send + Sync>::is::<OutOfReach>)
}

#[derive(Debug, thiserror::Error)]
#[error(
    "outside {bounds}, so Weir refuses it; --allow-files {}",
    place.display()
)]
struct OutOfReach {
    place: PathBuf,
    bounds: &'static str,
}

impl Rule {
    fn add_folder_of(&mut self, plan: &Path) {
        let Some(folder) = plan.parent() else {
            return;
        };
        folder.clone_into(&mut self.folder);
        let named = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        self.add_root(named, true);
    }

    fn add_root(&mut self, folder: &Path, is_of_plan: bool) {
        let Ok(place) = folder.canonicalize() else {
            return;
        };
        let is_top = place.parent().is_none();
        let is_no_place = NOT_FILES.iter().any(|top| place.starts_with(top));
        if is_no_place || (is_top && !is_of_plan) {
            return;
        }
        let root = Root {
            place,
            is_flat: is_top,
        };
        if !self.roots.contains(&root) {
            self.roots.push(root);
        }
    }

    fn add_word(&mut self, name: &Path, is_deep: bool) {
        if name.as_os_str().is_empty() {
            return;
        }
        let found = fs::metadata(name).ok();
        let special = found.filter(|found| !found.is_file() && !found.is_dir());
        self.words.push(Word {
            place: place::of_name(name),
            special: special.map(|found| (found.dev(), found.ino())),
            is_deep,
        });
    }

    /// Whether a link that lies within reach leads a name out of it.
    fn is_led_out(&self, name: &Path) -> bool {
        let Ok(name) = std::path::absolute(name) else {
            return true;
        };
        let mut there = PathBuf::new();
        for part in name.components() {
            if part == Component::ParentDir {
                there.pop();
                continue;
            }
            let is_inside = self.allows(&there);
            let next = there.join(part);
            let is_link = next.is_symlink();
            there = place::of_name(&next);
            if is_inside && is_link && !self.allows(&there) {
                return true;
            }
        }
        false
    }

    fn allows(&self, place: &Path) -> bool {
        place == Path::new(NOTHING)
            || self.words.iter().any(|word| word.allows(place))
            || self.roots.iter().any(|root| root.allows(place))
    }

    fn is_special(&self, identity: (u64, u64)) -> bool {
        let mut words = self.words.iter();
        words.any(|word| word.special == Some(identity))
    }
}

impl Root {
    fn allows(&self, place: &Path) -> bool {
        let Ok(below) = place.strip_prefix(&self.place) else {
            return false;
        };
        let is_open = below.components().all(|part| match part {
            Component::Normal(name) => !name.as_encoded_bytes().starts_with(b"."),
            _ => false,
        });
        is_open && !(self.is_flat && below.components().nth(1).is_some())
    }
}

impl Word {
    fn allows(&self, place: &Path) -> bool {
        place == self.place || (self.is_deep && place.starts_with(&self.place))
    }
}
