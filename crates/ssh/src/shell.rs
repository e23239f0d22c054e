//! A shell at the other end that answers one script after the other.
//!
//! Each script is followed by a line that nothing else prints: a mark that is new for every shell,
//! and the script's number and status. A thread takes the answers apart and hands each to whoever
//! waits for it; one that nobody waits for any more is dropped there.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{Read, Write as _};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::SshError;
use crate::host::{command, last_words};

/// The largest answer; the connection ends at a larger one.
const LARGEST_ANSWER_BYTES: usize = 64 * 1024 * 1024;
/// What is kept of what ssh says beside the answers.
const SAID_BYTES: usize = 8 * 1024;
/// How long logging in may take.
const LOGIN: Duration = Duration::from_secs(30);
/// How long ssh may take to end by itself when nothing is asked any more.
const FAREWELL: Duration = Duration::from_millis(500);
/// How often its end is looked for.
const LOOK: Duration = Duration::from_millis(10);

/// What a script printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its exit status.
    pub status: i32,
}

impl Output {
    /// Whether its status is 0.
    pub fn succeeded(&self) -> bool {
        self.status == 0
    }

    /// Its standard output as text.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.stdout)
    }
}

/// The answer to a script, which may not be there yet.
#[derive(Debug)]
pub struct Pending {
    answer: Receiver<Output>,
    asked: Instant,
    host: String,
    said: Arc<Mutex<Vec<u8>>>,
}

impl Pending {
    /// Waits for it until a moment; may be asked again when it is late.
    ///
    /// # Errors
    /// It is not there by then, or the connection has ended.
    pub fn answer(&self, until: Instant) -> Result<Output, SshError> {
        let patience = until.saturating_duration_since(Instant::now());
        self.answer
            .recv_timeout(patience)
            .map_err(|error| match error {
                RecvTimeoutError::Timeout => SshError::Late {
                    host: self.host.clone(),
                    seconds: self.asked.elapsed().as_secs(),
                },
                RecvTimeoutError::Disconnected => ended(&self.host, &self.said),
            })
    }
}

/// A shell over ssh.
#[derive(Debug)]
pub(crate) struct Shell {
    host: String,
    mark: String,
    child: Child,
    stdin: Mutex<Questions>,
    waiting: Arc<Mutex<Waiting>>,
    said: Arc<Mutex<Vec<u8>>>,
}

/// The way there.
#[derive(Debug)]
struct Questions {
    pipe: Option<ChildStdin>,
    asked: u64,
}

/// Who waits for answers, first asked first.
#[derive(Debug)]
struct Waiting {
    is_open: bool,
    queue: VecDeque<Sender<Output>>,
}

impl Shell {
    /// Starts ssh and waits until the shell at the other end answers. What goes wrong is told by
    /// `explain` from ssh's words.
    pub(crate) fn start(
        host: &str,
        words: &[String],
        explain: impl Fn(&str) -> SshError,
    ) -> Result<Self, SshError> {
        let mut child = command(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(SshError::Program)?;
        let pipe = child.stdin.take();
        let stdout = child.stdout.take().expect("standard output is piped");
        let stderr = child.stderr.take().expect("standard error is piped");
        let mark = new_mark();
        let waiting = Arc::new(Mutex::new(Waiting {
            is_open: true,
            queue: VecDeque::new(),
        }));
        let said = Arc::new(Mutex::new(Vec::new()));
        let (of_reader, of_listener) = (Arc::clone(&waiting), Arc::clone(&said));
        let needle = mark.clone();
        // Both end with the process whose pipes they read.
        thread::spawn(move || read_answers(stdout, needle.as_bytes(), &of_reader));
        thread::spawn(move || listen(stderr, &of_listener));
        let mut shell = Self {
            host: host.to_owned(),
            mark,
            child,
            stdin: Mutex::new(Questions { pipe, asked: 0 }),
            waiting,
            said,
        };
        let greeted = shell
            .ask(":")
            .and_then(|pending| pending.answer(Instant::now() + LOGIN));
        if greeted.is_ok() {
            return Ok(shell);
        }
        shell.end();
        Err(explain(&shell.complaint()))
    }

    /// Whether it answers, as far as is known.
    pub(crate) fn is_open(&self) -> bool {
        locked(&self.waiting).is_open
    }

    /// Sends a script. It reads nothing, and what it complains about is dropped.
    pub(crate) fn ask(&self, script: &str) -> Result<Pending, SshError> {
        let mut questions = locked(&self.stdin);
        let (tell, answer) = mpsc::channel();
        {
            let mut waiting = locked(&self.waiting);
            if !waiting.is_open {
                return Err(ended(&self.host, &self.said));
            }
            waiting.queue.push_back(tell);
        }
        questions.asked += 1;
        let text = format!(
            "{{ :\n{script}\n}} </dev/null 2>/dev/null; printf '\\n{} %s %s.\\n' {} $?\n",
            self.mark, questions.asked
        );
        let sent = questions
            .pipe
            .as_mut()
            .map(|pipe| pipe.write_all(text.as_bytes()).and_then(|()| pipe.flush()));
        match sent {
            Some(Ok(())) => Ok(Pending {
                answer,
                asked: Instant::now(),
                host: self.host.clone(),
                said: Arc::clone(&self.said),
            }),
            _ => Err(ended(&self.host, &self.said)),
        }
    }

    /// What ssh said before it ended. It may still be on its way through the pipe.
    fn complaint(&self) -> String {
        let until = Instant::now() + FAREWELL;
        while locked(&self.said).is_empty() && Instant::now() < until {
            thread::sleep(LOOK);
        }
        String::from_utf8_lossy(&locked(&self.said)).into_owned()
    }

    /// Lets the other end go, and makes sure that ssh has ended.
    fn end(&mut self) {
        drop(locked(&self.stdin).pipe.take());
        let until = Instant::now() + FAREWELL;
        while Instant::now() < until {
            if matches!(self.child.try_wait(), Ok(Some(_)) | Err(_)) {
                return;
            }
            thread::sleep(LOOK);
        }
        // It may have ended in between.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        self.end();
    }
}

/// A word that nothing else prints: 128 bits of what the standard library seeds its hash maps with.
fn new_mark() -> String {
    let number = || RandomState::new().build_hasher().finish();
    format!("weir-{:016x}{:016x}", number(), number())
}

/// Whoever panicked had changed nothing or all.
fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

fn ended(host: &str, said: &Mutex<Vec<u8>>) -> SshError {
    SshError::Ended {
        host: host.to_owned(),
        says: last_words(&String::from_utf8_lossy(&locked(said))),
    }
}

/// Takes the answers apart until there are no more.
fn read_answers(mut from: impl Read, mark: &[u8], waiting: &Mutex<Waiting>) {
    let mut received = Vec::new();
    let mut chunk = vec![0; 64 * 1024];
    let mut searched = 0;
    while received.len() <= LARGEST_ANSWER_BYTES {
        let read = match from.read(&mut chunk) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        received.extend_from_slice(&chunk[..read]);
        while let Some(found) = end_of_answer(&received, mark, searched) {
            let rest = received.split_off(found.next);
            received.truncate(found.length);
            let stdout = std::mem::replace(&mut received, rest);
            let asker = locked(waiting).queue.pop_front();
            let status = found.status;
            // Nobody waits any more for one that was late.
            let _ = asker.map(|asker| asker.send(Output { stdout, status }));
            searched = 0;
        }
        // A mark may be cut in two.
        searched = received.len().saturating_sub(mark.len() + 64);
    }
    let mut waiting = locked(waiting);
    waiting.is_open = false;
    waiting.queue.clear();
}

/// Where an answer ends and the next begins.
#[derive(Debug, PartialEq, Eq)]
struct End {
    /// Bytes of the answer.
    length: usize,
    /// Where the next one begins.
    next: usize,
    status: i32,
}

/// The first line `MARK NUMBER STATUS.`, looked for from a place on.
fn end_of_answer(received: &[u8], mark: &[u8], from: usize) -> Option<End> {
    let at = received
        .get(from..)?
        .windows(mark.len())
        .position(|window| window == mark)?
        + from;
    let line = &received[at..];
    let length = line.iter().position(|&byte| byte == b'\n')?;
    let line = std::str::from_utf8(&line[..length]).unwrap_or_default();
    let status = line.trim_end_matches('.').rsplit(' ').next();
    Some(End {
        // The line break before the mark is not the answer's.
        length: at.saturating_sub(1),
        next: at + length + 1,
        status: status.and_then(|status| status.parse().ok()).unwrap_or(-1),
    })
}

/// Keeps the end of what ssh says.
fn listen(mut from: impl Read, said: &Mutex<Vec<u8>>) {
    let mut chunk = [0; 1024];
    while let Ok(read @ 1..) = from.read(&mut chunk) {
        let mut said = locked(said);
        said.extend_from_slice(&chunk[..read]);
        let excess = said.len().saturating_sub(SAID_BYTES);
        said.drain(..excess);
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    /// A shell without ssh: what is at the other end is the same.
    fn shell() -> Shell {
        let words = ["/bin/sh".to_owned()];
        Shell::start("here", &words, |says| panic!("{says}")).unwrap()
    }

    fn run(shell: &Shell, script: &str) -> (String, i32) {
        let pending = shell.ask(script).unwrap();
        let output = pending.answer(Instant::now() + LOGIN).unwrap();
        (output.text().into_owned(), output.status)
    }

    #[test]
    fn scripts_are_answered_one_after_the_other() {
        let shell = shell();
        assert_eq!(run(&shell, "echo a; echo b"), ("a\nb\n".to_owned(), 0));
        assert_eq!(run(&shell, "printf x; false"), ("x".to_owned(), 1));
        assert_eq!(run(&shell, ""), (String::new(), 0));
        assert_eq!(
            run(&shell, "cat; echo read nothing"),
            ("read nothing\n".to_owned(), 0)
        );
        assert_eq!(run(&shell, "(exit 7)"), (String::new(), 7));
    }

    #[test]
    fn questions_may_be_asked_before_the_answers_have_come() {
        let shell = shell();
        let pending: Vec<Pending> = (0..20)
            .map(|number| shell.ask(&format!("echo {number}")).unwrap())
            .collect();
        for (number, pending) in pending.iter().enumerate() {
            let output = pending.answer(Instant::now() + LOGIN).unwrap();
            assert_eq!(output.text(), format!("{number}\n"));
        }
    }

    #[test]
    fn a_late_answer_is_not_that_of_the_next_question() {
        let shell = shell();
        let late = shell.ask("sleep 1; echo late").unwrap();
        assert!(matches!(
            late.answer(Instant::now()),
            Err(SshError::Late { .. })
        ));
        drop(late);
        assert_eq!(run(&shell, "echo next").0, "next\n");
    }

    #[test]
    fn a_shell_that_ends_is_told() {
        let shell = shell();
        let pending = shell.ask("echo gone >&2; exit 3").unwrap();
        let error = pending.answer(Instant::now() + LOGIN).unwrap_err();
        assert!(matches!(error, SshError::Ended { .. }), "{error}");
        assert!(!shell.is_open());
        assert!(shell.ask("echo more").is_err());
    }

    #[test]
    fn what_does_not_start_says_why() {
        let words = ["/bin/sh", "-c", "echo no such host >&2; exit 255"].map(str::to_owned);
        let error = Shell::start("there", &words, |says| SshError::Unfit {
            host: "there".to_owned(),
            says: says.to_owned(),
        });
        let error = error.unwrap_err().to_string();
        assert!(error.contains("no such host"), "{error}");
    }

    #[test]
    fn a_mark_is_found_wherever_it_was_cut() {
        let text = b"all of it\nMARK 12 3.\nthe next";
        for cut in 0..text.len() {
            let found = end_of_answer(&text[..cut], b"MARK", 0);
            let whole = cut >= 21;
            assert_eq!(found.is_some(), whole, "{cut}");
        }
        let found = end_of_answer(text, b"MARK", 0).unwrap();
        assert_eq!(&text[..found.length], b"all of it");
        assert_eq!(&text[found.next..], b"the next");
        assert_eq!(found.status, 3);
    }
}
