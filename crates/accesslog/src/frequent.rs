//! The paths of a pattern that are asked for most, in little space: the counters of Misra and Gries
//! (*Finding repeated elements*, 1982). A path of more than the part 1 / ([`KEPT`] + 1) of all is
//! among them, with a count that is too small by that part at most.

/// Paths that are kept.
const KEPT: usize = 15;
/// Part of all requests from which on a path is hot.
const HOT: f64 = 0.2;

#[derive(Debug, Default)]
pub(crate) struct Frequent(Vec<(String, u64)>);

impl Frequent {
    pub(crate) fn add(&mut self, path: &str) {
        if let Some((_, count)) = self.0.iter_mut().find(|(known, _)| known == path) {
            *count += 1;
        } else if self.0.len() < KEPT {
            self.0.push((path.to_owned(), 1));
        } else {
            for (_, count) in &mut self.0 {
                *count -= 1;
            }
            self.0.retain(|(_, count)| *count > 0);
        }
    }

    /// The path that is asked for most, if it is a large part of so many requests, and how often at
    /// least.
    pub(crate) fn most(self, requests: u64) -> Option<(String, u64)> {
        let is_only = self.0.len() == 1 && self.0[0].1 == requests;
        let most = self
            .0
            .into_iter()
            .max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(&a.0)));
        most.filter(|(_, count)| !is_only && *count as f64 >= HOT * requests as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_many_ask_for_is_found_among_many() {
        let mut frequent = Frequent::default();
        for of in 0..1_000 {
            frequent.add(&format!("/boards/{of}"));
            if of % 2 == 0 {
                frequent.add("/boards/2");
            }
        }
        let (path, count) = frequent.most(1_500).unwrap_or_default();
        assert_eq!(path, "/boards/2");
        assert!((400..=501).contains(&count), "{count}");
    }

    #[test]
    fn where_all_are_alike_none_is_hot() {
        let mut frequent = Frequent::default();
        (0..1_000).for_each(|of| frequent.add(&format!("/boards/{of}")));
        assert_eq!(frequent.most(1_000), None);
        let mut one = Frequent::default();
        (0..5).for_each(|_| one.add("/boards/2"));
        assert_eq!(one.most(5), None, "there is no other");
    }
}
