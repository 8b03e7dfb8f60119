//! How long the parts of a piece of work took.

use std::{
    fmt,
    time::{Duration, Instant},
};

/// Parts in the order in which they ran, each with its time. Printed as `parse 0.031, optimize 0.120`, in seconds.
#[derive(Clone, Debug, Default)]
pub struct Phases(Vec<(String, Instant, Duration)>);

impl Phases {
    /// Runs a part and adds its time, whatever it returns.
    pub fn time<T>(&mut self, name: &str, part: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = part();
        self.0.push((name.to_owned(), start, start.elapsed()));
        result
    }

    /// Adds a part that began at `start` and ends now.
    pub fn since(&mut self, name: &str, start: Instant) {
        self.0.push((name.to_owned(), start, start.elapsed()));
    }

    /// Adds a part that took `time` and ends now.
    pub fn took(&mut self, name: &str, time: Duration) {
        let now = Instant::now();
        self.0.push((name.to_owned(), now.checked_sub(time).unwrap_or(now), time));
    }

    /// Each part and its time.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Duration)> {
        self.spans().map(|(name, _, time)| (name, time))
    }

    /// Each part, when it began and how long it took.
    pub fn spans(&self) -> impl Iterator<Item = (&str, Instant, Duration)> {
        self.0.iter().map(|(name, start, time)| (name.as_str(), *start, *time))
    }

    /// Adds the parts of other work.
    pub fn append(&mut self, other: Phases) {
        self.0.extend(other.0);
    }
}

impl fmt::Display for Phases {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let parts: Vec<_> = self.iter().map(|(name, time)| format!("{name} {:.3}", time.as_secs_f64())).collect();
        f.write_str(&parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_timed_in_order() {
        let mut phases = Phases::default();
        assert_eq!(phases.time("a part", || 3), 3);
        let mut others = Phases::default();
        others.time("sleep", || std::thread::sleep(Duration::from_millis(2)));
        phases.append(others);
        let names: Vec<_> = phases.iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a part", "sleep"]);
        assert!(phases.iter().all(|(name, time)| (time >= Duration::from_millis(2)) == (name == "sleep")));
        assert!(phases.to_string().starts_with("a part 0.0"), "{phases}");
    }
}
