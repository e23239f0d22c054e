//! One sample of a group, prepared: what is known of it before the test.

use std::sync::Arc;
use std::time::Duration;

use weir_plan::{HttpRequest, PreProcessor, Sampler, SamplerKind, Script};
use weir_script::{SamplerName, ScriptRun, SentRequest, Text, finds_server, prepare_request};

use super::Work;
use crate::audience::{Audience, Wanted};
use crate::http::request::BODY_MAX;
use crate::pacing;
use crate::session::is_managed;
use crate::tree::{Around, Place, sees_parts};

/// One sample of a group.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says something else of the step"
)]
pub(crate) struct Step {
    pub(crate) source: Sampler<Text>,
    /// What its samples are called.
    pub(crate) name: SamplerName,
    /// Place of the label among [`Work::labels`], when it is always the same.
    pub(crate) label: Option<usize>,
    /// The request, when it is always the same.
    pub(crate) prepared: Option<Prepared>,
    pub(crate) waits: Waits,
    /// The controller that it stands in.
    pub(crate) parent: u32,
    /// Somebody in the plan looks at its samples.
    pub(crate) is_looked_at: bool,
    /// Some of its timers keep a schedule or wait for other users.
    pub(crate) is_paced: bool,
    /// Who is in earshot.
    pub(crate) audience: Audience,
    /// Who hears of its samples although they are parts of a transaction's.
    pub(crate) hears_part: Option<Audience>,
    /// What result files show of its samples beside their rows.
    pub(crate) wanted: Wanted,
    /// Who judges or hears of the transaction around it may look into its samples.
    pub(crate) is_seen_as_part: bool,
    /// Something may look at its response when the next sample begins.
    pub(crate) is_remembered: bool,
    /// It follows a link of the response before.
    pub(crate) follows_link: bool,
    /// Its server is known only when it is asked (see [`finds_server`]).
    pub(crate) finds_server: bool,
    /// Listeners that are scripts and hear of its samples, by their places in the plan.
    pub(crate) script_listeners: Arc<[usize]>,
    /// Those in whose scope it stands, also where they hear of the transaction around it instead.
    pub(crate) scripts_in_earshot: Arc<[usize]>,
    /// Its request has a manager of cookies, answers or logins.
    pub(crate) is_managed: bool,
    /// What it runs at once, as places among [`Work::groups`].
    pub(crate) branches: Vec<usize>,
}

impl Step {
    /// Whether it runs others at once.
    pub(crate) fn is_parallel(&self) -> bool {
        matches!(self.source.kind, SamplerKind::Parallel(_))
    }

    /// Whether it sends requests by itself, and waits for what comes back.
    pub(crate) fn sends(&self) -> bool {
        matches!(self.source.kind, SamplerKind::Http(_))
    }

    /// Whether this is the request of the plan, and not one that a script made of it.
    pub(crate) fn is_planned(&self, request: &HttpRequest<Text>) -> bool {
        matches!(&self.source.kind, SamplerKind::Http(planned)
            if std::ptr::eq(planned.as_ref(), request))
    }

    /// Whether somebody looks into its responses.
    pub(crate) fn looks_into(&self) -> bool {
        self.is_remembered
            || self.is_seen_as_part
            || !self.source.after.is_empty()
            || !self.source.assertions.is_empty()
    }

    /// How much of the bodies of its responses is kept; `None`: not even their heads.
    pub(crate) fn keeps(&self) -> Option<usize> {
        if self.looks_into() || self.wanted.any_body() {
            Some(BODY_MAX)
        } else {
            self.wanted.details.then_some(0)
        }
    }
}

/// The longest times that a request may take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Waits {
    pub(crate) connect: Option<Duration>,
    pub(crate) response: Option<Duration>,
}

impl Waits {
    /// The times of a request in which they do not change.
    fn of(request: &HttpRequest<Text>) -> Self {
        let milliseconds = |text: &Text| {
            let number = text.constant()?.parse::<i32>().ok()?;
            let milliseconds = u64::try_from(number).ok().filter(|ms| *ms > 0)?;
            Some(Duration::from_millis(milliseconds))
        };
        Self {
            connect: milliseconds(&request.connect_timeout_ms),
            response: milliseconds(&request.response_timeout_ms),
        }
    }
}

/// A request that is built before the test.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) sent: SentRequest,
    pub(crate) url: Arc<str>,
    /// Place of the server among [`Work::servers`].
    pub(crate) server: usize,
}

impl Work {
    /// Prepares a sampler.
    pub(super) fn step(&mut self, mut source: Sampler<Text>, place: Place) -> Step {
        let scripts_in_earshot = source.script_listeners.as_slice().into();
        let hears_part = place.around.whole.and_then(|whole| {
            // Whoever hears of the transaction hears of its parts with it.
            let only_part = |all: usize, whole: usize| all.saturating_sub(whole);
            let acting = only_part(source.on_failure.len(), whole.on_failure);
            source.on_failure.truncate(acting);
            let scripts = only_part(source.script_listeners.len(), whole.script_listeners);
            source.script_listeners.truncate(scripts);
            let listening = only_part(source.listeners.len(), whole.listeners);
            (listening > 0).then(|| self.audience(false, &source.listeners[..listening]))
        });
        let audience = self.audience(true, &source.listeners);
        let label = source.label.constant().map(|label| {
            let known = self.labels.iter().position(|known| **known == *label);
            known.unwrap_or_else(|| {
                self.labels.push(label.into());
                self.labels.len() - 1
            })
        });
        let name = match label {
            Some(class) => SamplerName::Known(Arc::clone(&self.labels[class])),
            None => SamplerName::Written(Arc::new(source.label.clone())),
        };
        let mut before = source.before.iter();
        let follows_link = before.any(|processor| matches!(processor, PreProcessor::Link));
        let request = match &source.kind {
            SamplerKind::Http(request) => Some(&**request),
            _ => None,
        };
        let prepared = request.filter(|_| !follows_link).and_then(|request| {
            let built = prepare_request(request, self.target.as_ref())?;
            // What cannot be sent fails again at each sample, and is not worth preparing.
            let sent = built.ok()?;
            Some(Prepared {
                url: sent.url.as_str().into(),
                server: self.server(&sent)?,
                sent,
            })
        });
        let waits = request.map(Waits::of).unwrap_or_default();
        let is_watched = !source.auto_stops.is_empty();
        let finds_server = self.target.is_none() && request.is_some_and(finds_server);
        let is_managed = request.is_some_and(is_managed);
        let mut step = Step {
            is_paced: pacing::paces(&source.timers),
            is_managed,
            source,
            name,
            label,
            prepared,
            waits,
            parent: place.parent,
            is_looked_at: place.around.transaction || is_watched,
            audience,
            hears_part,
            wanted: Wanted::default(),
            is_seen_as_part: self.is_seen_as_part(place.around),
            is_remembered: self.plan.reads_previous,
            follows_link,
            finds_server,
            script_listeners: Arc::default(),
            scripts_in_earshot,
            branches: Vec::new(),
        };
        step.script_listeners = step.source.script_listeners.as_slice().into();
        step.is_looked_at |= !step.script_listeners.is_empty();
        step.is_looked_at |= step.looks_into();
        step
    }
}

impl Work {
    /// Whether a sample inside these transactions is looked into once more with them.
    fn is_seen_as_part(&self, around: Around) -> bool {
        let hears = around.whole.is_some_and(|whole| whole.script_listeners > 0);
        around.judges_parts || hears && self.plan.script_listeners.iter().any(sees_parts)
    }
}

/// What a script's text has that looks at the sampler: `sampler`, `ctx.getCurrentSampler()`.
pub(crate) const SAMPLER: &str = "ampler";

/// Whether a script may look at the sampler.
pub(crate) fn sees_sampler(script: &Script<Text>) -> bool {
    ScriptRun::mentions(script, SAMPLER)
}
