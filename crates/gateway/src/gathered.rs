//! Small pieces of a body, passed on together.
//!
//! hyper hands a chunk on as it stands, one at a time from one task to another, and each becomes a
//! chunk and a write of its own behind. For chunks of a byte that is hundreds of times the work of
//! whoever sends them. Here what comes at once is gathered; nothing waits for what has not come.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};

/// Pieces as large as this go on as they are.
const SMALL: usize = 4 * 1024;
/// So much is gathered at most.
const MOST: usize = 16 * 1024;
/// How often those who bring the pieces are waited for: hyper asks twice in a turn of its task, and
/// the task that brings them has one in between.
const TURNS: u8 = 4;

type Next<E> = Option<Result<Frame<Bytes>, E>>;

/// What was gathered and has not gone on.
#[derive(Debug)]
pub(crate) struct Gathered<E> {
    held: BytesMut,
    /// What comes after it and is no small piece.
    next: Option<Box<Next<E>>>,
    /// How often it was waited since the last piece.
    waited: u8,
}

impl<E> Default for Gathered<E> {
    fn default() -> Self {
        Self {
            held: BytesMut::new(),
            next: None,
            waited: 0,
        }
    }
}

impl<E> Gathered<E> {
    /// What is held is still to come, too.
    pub(crate) fn with_held(&self, mut hint: SizeHint) -> SizeHint {
        let held = self.held.len() as u64;
        if let Some(upper) = hint.upper() {
            hint.set_upper(upper + held);
        }
        hint.set_lower(hint.lower() + held);
        hint
    }

    /// Whether nothing is held that still has to go on.
    pub(crate) fn is_empty(&self) -> bool {
        self.held.is_empty() && self.next.is_none()
    }

    /// The next frame of a body; small ones that come at once are one.
    pub(crate) fn poll<B>(&mut self, context: &mut Context<'_>, body: &mut B) -> Poll<Next<E>>
    where
        B: Body<Data = Bytes, Error = E> + Unpin,
    {
        if let Some(next) = self.next.take() {
            return Poll::Ready(*next);
        }
        loop {
            if self.held.len() >= MOST || (!self.held.is_empty() && body.is_end_stream()) {
                return self.give();
            }
            match Pin::new(&mut *body).poll_frame(context) {
                Poll::Ready(Some(Ok(frame))) => match small(frame) {
                    Ok(piece) if self.held.is_empty() && body.is_end_stream() => {
                        return Poll::Ready(Some(Ok(Frame::data(piece))));
                    }
                    Ok(piece) => {
                        self.held.extend_from_slice(&piece);
                        self.waited = 0;
                    }
                    Err(large) => return self.give_before(Some(Ok(large))),
                },
                Poll::Ready(end) => return self.give_before(end),
                Poll::Pending if self.held.is_empty() => return Poll::Pending,
                Poll::Pending if self.waited == TURNS => return self.give(),
                Poll::Pending => {
                    // The task that brings the pieces is woken by the taking of one, and is in the
                    // queue before this one.
                    self.waited += 1;
                    context.waker().wake_by_ref();
                    return Poll::Pending;
                }
            }
        }
    }

    fn give(&mut self) -> Poll<Next<E>> {
        self.waited = 0;
        Poll::Ready(Some(Ok(Frame::data(self.held.split().freeze()))))
    }

    /// What is held goes first.
    fn give_before(&mut self, next: Next<E>) -> Poll<Next<E>> {
        if self.held.is_empty() {
            return Poll::Ready(next);
        }
        self.next = Some(Box::new(next));
        self.give()
    }
}

fn small(frame: Frame<Bytes>) -> Result<Bytes, Frame<Bytes>> {
    let is_small = frame.data_ref().is_some_and(|data| data.len() < SMALL);
    if is_small {
        frame.into_data()
    } else {
        Err(frame)
    }
}
