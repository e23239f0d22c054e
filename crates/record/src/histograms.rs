//! Response times of each second, mergeable over any window.

use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, SystemTime};

use hdrhistogram::Histogram;
use hdrhistogram::serialization::interval_log::{
    IntervalLogIterator, IntervalLogWriterBuilder, LogEntry, Tag,
};
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer, V2Serializer};

use weir_stats::BinShare;

use crate::load_second::LoadSecond;
use crate::response_histogram::response_histogram;

/// Response times in microseconds, by second and sample label.
///
/// Kept serialised, because most buckets of a second are empty. The text form (`responses.hlog`)
/// is HdrHistogram's interval log: one line per second and label, the label as tag.
#[derive(Debug, Clone, Default)]
pub struct IntervalHistograms {
    seconds: Vec<BTreeMap<String, Vec<u8>>>,
}

impl IntervalHistograms {
    /// Adds what ended in one second.
    pub fn add(&mut self, load: &LoadSecond) -> Result<(), HistogramError> {
        let at = load.second as usize;
        if self.seconds.len() <= at {
            self.seconds.resize(at + 1, BTreeMap::new());
        }
        for class in load.classes.iter().filter(|class| class.completed() > 0) {
            let mut bytes = Vec::new();
            V2Serializer::new()
                .serialize(&class.response_us, &mut bytes)
                .map_err(|error| HistogramError::Encode(error.to_string()))?;
            self.seconds[at].insert(class.label.clone(), bytes);
        }
        Ok(())
    }

    /// All response times of a range of seconds, of one label or of all.
    pub fn merged(
        &self,
        seconds: std::ops::Range<usize>,
        label: Option<&str>,
    ) -> Result<Histogram<u64>, HistogramError> {
        let mut sum = response_histogram();
        let mut reader = Deserializer::new();
        let end = seconds.end.min(self.seconds.len());
        for second in self.seconds.get(seconds.start.min(end)..end).unwrap_or(&[]) {
            for (_, bytes) in second
                .iter()
                .filter(|(name, _)| label.is_none_or(|label| label == name.as_str()))
            {
                let part: Histogram<u64> = reader
                    .deserialize(&mut bytes.as_slice())
                    .map_err(|error| HistogramError::Decode(error.to_string()))?;
                sum.add(part)
                    .map_err(|error| HistogramError::Decode(error.to_string()))?;
            }
        }
        Ok(sum)
    }

    /// For each of these values, how many responses of each second are at most as long, of how
    /// many; of one label or of all. Seconds without a response are left out. The values
    /// ascend.
    pub fn shares_below(
        &self,
        seconds: std::ops::Range<usize>,
        label: Option<&str>,
        values_us: &[u64],
    ) -> Result<Vec<Vec<BinShare>>, HistogramError> {
        let mut shares = vec![Vec::new(); values_us.len()];
        for second in seconds {
            let histogram = self.merged(second..second + 1, label)?;
            if histogram.is_empty() {
                continue;
            }
            let mut below = vec![0; values_us.len()];
            for bucket in histogram.iter_recorded() {
                let first = values_us.partition_point(|value| *value < bucket.value_iterated_to());
                for count in &mut below[first..] {
                    *count += bucket.count_at_value();
                }
            }
            for (share, below) in shares.iter_mut().zip(below) {
                share.push(BinShare {
                    below,
                    of: histogram.len(),
                });
            }
        }
        Ok(shares)
    }

    /// How many samples ended in each of these seconds, of one label or of all.
    pub fn counts(
        &self,
        seconds: std::ops::Range<usize>,
        label: Option<&str>,
    ) -> Result<Vec<u64>, HistogramError> {
        seconds
            .map(|second| Ok(self.merged(second..second + 1, label)?.len()))
            .collect()
    }

    /// The label under which a log that was read back has the samples of this one: a tag holds
    /// neither commas nor blanks.
    pub fn tag(label: &str) -> String {
        let replaced = |c: char| {
            if c == ',' || c.is_whitespace() {
                '_'
            } else {
                c
            }
        };
        label.chars().map(replaced).collect()
    }

    /// Every label that has response times.
    pub fn labels(&self) -> Vec<&str> {
        let mut labels: Vec<&str> = Vec::new();
        for name in self.seconds.iter().flat_map(BTreeMap::keys) {
            if !labels.contains(&name.as_str()) {
                labels.push(name);
            }
        }
        labels
    }

    /// Writes an interval log; `start` is the wall-clock time of the time origin.
    pub fn write_hlog(
        &self,
        out: &mut impl io::Write,
        start: SystemTime,
    ) -> Result<(), HistogramError> {
        let mut serializer = V2DeflateSerializer::new();
        let mut log = IntervalLogWriterBuilder::new()
            .add_comment("response times in microseconds, one line per second and label")
            .with_start_time(start)
            .with_base_time(start)
            .with_max_value_divisor(1_000.0)
            .begin_log_with(out, &mut serializer)?;
        let mut reader = Deserializer::new();
        for (second, classes) in self.seconds.iter().enumerate() {
            for (label, bytes) in classes {
                let histogram: Histogram<u64> = reader
                    .deserialize(&mut bytes.as_slice())
                    .map_err(|error| HistogramError::Decode(error.to_string()))?;
                let tag = Self::tag(label);
                log.write_histogram(
                    &histogram,
                    Duration::from_secs(second as u64),
                    Duration::from_secs(1),
                    Tag::new(&tag),
                )
                .map_err(|error| HistogramError::Encode(format!("{error:?}")))?;
            }
        }
        Ok(())
    }

    /// The wall-clock time of the time origin of a log; `None` where it does not say.
    pub fn start_of_hlog(text: &[u8]) -> Result<Option<SystemTime>, HistogramError> {
        for entry in IntervalLogIterator::new(text) {
            let entry = entry.map_err(|error| HistogramError::Decode(format!("{error:?}")))?;
            if let LogEntry::StartTime(since_epoch) = entry {
                return Ok(SystemTime::UNIX_EPOCH.checked_add(since_epoch));
            }
        }
        Ok(None)
    }

    /// Reads a log that [`Self::write_hlog`] wrote; labels are their tags.
    pub fn read_hlog(text: &[u8]) -> Result<Self, HistogramError> {
        let mut read = Self::default();
        for entry in IntervalLogIterator::new(text) {
            let entry = entry.map_err(|error| HistogramError::Decode(format!("{error:?}")))?;
            let LogEntry::Interval(interval) = entry else {
                continue;
            };
            let second = interval.start_timestamp().as_secs() as usize;
            let packed = decode_base64(interval.encoded_histogram())?;
            let histogram: Histogram<u64> = Deserializer::new()
                .deserialize(&mut packed.as_slice())
                .map_err(|error| HistogramError::Decode(error.to_string()))?;
            if read.seconds.len() <= second {
                read.seconds.resize(second + 1, BTreeMap::new());
            }
            let mut bytes = Vec::new();
            V2Serializer::new()
                .serialize(&histogram, &mut bytes)
                .map_err(|error| HistogramError::Encode(error.to_string()))?;
            let label = interval.tag().map_or("", |tag| tag.as_str()).to_owned();
            read.seconds[second].insert(label, bytes);
        }
        Ok(read)
    }
}

fn decode_base64(text: &str) -> Result<Vec<u8>, HistogramError> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD
        .decode(text)
        .map_err(|error| HistogramError::Decode(error.to_string()))
}

/// Why histograms cannot be stored or read back.
#[derive(Debug, thiserror::Error)]
pub enum HistogramError {
    /// A histogram cannot be serialised.
    #[error("store a histogram: {0}")]
    Encode(String),
    /// A stored histogram cannot be read.
    #[error("read a stored histogram: {0}")]
    Decode(String),
    /// Writing failed.
    #[error("write the histogram log")]
    Io(#[from] io::Error),
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;
    use crate::load_second::ClassSecond;

    fn second(second: u64, label: &str, times_us: &[u64]) -> LoadSecond {
        let mut response_us = response_histogram();
        for time in times_us {
            response_us.record(*time).unwrap();
        }
        LoadSecond {
            second,
            classes: vec![ClassSecond {
                label: label.to_owned(),
                succeeded: times_us.len() as u64,
                failed: 0,
                succeeded_by_code: BTreeMap::new(),
                failed_by_code: BTreeMap::new(),
                response_us,
            }],
            users: 1,
            in_flight: None,
            sockets: None,
            lateness_us: response_histogram(),
            redirected: None,
            resent: None,
            connects: None,
            open: None,
        }
    }

    #[test]
    fn merges_seconds_instead_of_averaging_percentiles() {
        let mut all = IntervalHistograms::default();
        all.add(&second(0, "slow", &[9_000_000])).unwrap();
        all.add(&second(1, "fast", &[1_000; 99])).unwrap();
        all.add(&second(2, "slow", &[50_000])).unwrap();
        let merged = all.merged(1..3, None).unwrap();
        assert_eq!(merged.len(), 100);
        assert_eq!(merged.value_at_quantile(0.5), 1_000);
        assert!(merged.max() >= 50_000 && merged.max() < 51_000);
        assert_eq!(all.merged(0..3, Some("slow")).unwrap().len(), 2);
        assert_eq!(all.merged(7..9, None).unwrap().len(), 0);
    }

    #[test]
    fn the_log_can_be_read_back() {
        let mut all = IntervalHistograms::default();
        all.add(&second(0, "a, b", &[10, 20, 30])).unwrap();
        all.add(&second(4, "c", &[1_000_000])).unwrap();
        let mut text = Vec::new();
        all.write_hlog(
            &mut text,
            SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000),
        )
        .unwrap();
        let read = IntervalHistograms::read_hlog(&text).unwrap();
        assert_eq!(read.labels(), vec!["a__b", "c"]);
        assert_eq!(read.merged(0..1, None).unwrap().len(), 3);
        assert_eq!(
            read.merged(4..5, None).unwrap().max(),
            all.merged(4..5, None).unwrap().max()
        );
    }
}
