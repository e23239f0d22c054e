//! Other rules while requests are in flight and wait.

use crate::admission::Admission;
use crate::class::Class;
use crate::gcra::Gcra;
use crate::moment::Moment;
use crate::rules::{ClassRules, MAX_QUEUE_DEFAULT, Rules};

impl Admission {
    /// Holds these rules from now on. What is in flight and what waits stays, in the class of the
    /// same name; a class that is no longer named has no caps of its own any more.
    pub fn set_rules(&mut self, rules: &Rules, now: Moment) {
        let now = self.advance(now);
        self.rate = Gcra::replaced(self.rate.take(), rules.rate, now);
        self.cap.set_rules(rules.concurrency.clone(), now);
        self.max_queue = rules.max_queue.unwrap_or(MAX_QUEUE_DEFAULT);
        self.order.clear();
        for of in &rules.classes {
            let index = self.class_named(of, rules, now);
            self.order.push(index);
        }
        if rules.classes.is_empty() {
            let index = self.class_named(&ClassRules::default(), rules, now);
            self.order.push(index);
        }
        for index in 0..self.classes.len() {
            if !self.order.contains(&index) {
                let name = self.classes[index].name.clone();
                let gone = ClassRules {
                    name,
                    ..ClassRules::default()
                };
                self.classes[index].set_rules(&gone, rules, now);
            }
        }
        self.settle(now);
        self.note(now);
    }

    /// The index of the class of this name, which is made if it is new.
    fn class_named(&mut self, of: &ClassRules, rules: &Rules, now: Moment) -> usize {
        if let Some(index) = self.classes.iter().position(|class| class.name == of.name) {
            self.classes[index].set_rules(of, rules, now);
            return index;
        }
        self.classes.push(Class::new(of, rules, now));
        self.classes.len() - 1
    }
}
