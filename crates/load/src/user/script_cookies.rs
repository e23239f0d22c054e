//! The cookies of a request as scripts see and change them.

use std::cell::RefCell;
use std::rc::Rc;

use weir_plan::SamplerKind;
use weir_script::{CookieJar, CookieView, ScriptRun};

use crate::user::User;
use crate::work::Step;

/// What a script says that asks for the Cookie Manager: its getter, or Groovy's short form.
const MANAGER: &[&str] = &["ookieManager"];

impl User {
    /// Shows the cookies of a step's request to a script that asks for them.
    pub(crate) fn show_cookies(&mut self, step: &Step, run: &mut ScriptRun) {
        let SamplerKind::Http(request) = &step.source.kind else {
            return;
        };
        let Some(place) = request.cookies.filter(|_| run.says(MANAGER)) else {
            return;
        };
        let work = std::sync::Arc::clone(&self.core.work);
        self.open_session(&work);
        let Some(session) = &self.session else {
            return;
        };
        let mut session = session.borrow_mut();
        let same_user = work.groups[self.group].same_user;
        session.in_iteration(self.data.group_iterations(), &work.plan, same_user);
        let held = session.cookies_now(&work.plan, place, &mut self.scope);
        let properties = &work.plan.session;
        run.bindings.cookies = Some(CookieJar {
            cookies: held
                .into_iter()
                .map(|cookie| Rc::new(RefCell::new(cookie)))
                .collect(),
            drops_empty: properties.drops_empty_cookies,
            saved_prefix: properties.saved_cookie_prefix.clone(),
        });
    }

    /// Keeps what a script made of the cookies that it was shown.
    pub(crate) fn keep_cookies(&mut self, step: &Step, run: &mut ScriptRun) {
        let (Some(jar), SamplerKind::Http(request)) =
            (run.bindings.cookies.take(), &step.source.kind)
        else {
            return;
        };
        if let (Some(place), Some(session)) = (request.cookies, &self.session) {
            let cookies = jar.cookies.iter().map(|cookie| cookie.borrow().clone());
            let cookies: Vec<CookieView> = cookies.collect();
            session.borrow_mut().set_cookies(place, cookies);
        }
    }
}
