//! Looks at the calls in progress, to find one that does not return.
//!
//! Looks are counted rather than time, so nothing has to read a clock, and a process that was paused has seen nothing hang. A look at a
//! thread that is ready to run and got no processor since the one before does not count either.

use crate::slot::all;
use crate::usage::ThreadUsage;

/// A step that a thread is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InProgress {
    /// The system's number of the thread.
    pub thread: i32,
    /// Number of the step among those of its thread.
    pub number: u64,
    /// True if the thread loads a profile beside the one that decides.
    pub is_loading: bool,
    /// Name of the plugin; empty for a library that is opened or that ends.
    pub plugin: &'static str,
    /// The step: an extension point, or words such as `its construction`.
    pub step: &'static str,
    /// The binding, or the path of the library; empty if the step concerns none.
    pub subject: String,
}

impl std::fmt::Display for InProgress {
    /// `` plugin `average` has not returned from Assign of binding `default/web` ``
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            plugin, step, subject, ..
        } = self;
        match (*plugin, subject.as_str()) {
            ("", "") => write!(formatter, "a library has not returned from {step}"),
            ("", path) => write!(formatter, "library `{path}` has not returned from {step}"),
            (_, "") => write!(formatter, "plugin `{plugin}` has not returned from {step}"),
            (_, binding) => write!(
                formatter,
                "plugin `{plugin}` has not returned from {step} of binding `{binding}`"
            ),
        }
    }
}

/// The steps that threads of this process are in.
pub fn in_progress() -> Vec<InProgress> {
    let steps = all().filter_map(|slot| {
        let step = slot.step()?;
        Some(InProgress {
            thread: slot.thread(),
            number: step.number,
            is_loading: slot.is_loading(),
            plugin: step.site.plugin(),
            step: step.site.step(),
            subject: String::from_utf8_lossy(step.subject()).into_owned(),
        })
    });
    steps.collect()
}

/// Looks at the calls in progress.
#[derive(Debug, Default)]
pub struct Looks {
    known: Vec<Known>,
}

/// A step that was seen.
#[derive(Debug, Clone, Copy)]
struct Known {
    thread: i32,
    number: u64,
    looks: u32,
    usage: Option<ThreadUsage>,
}

impl Looks {
    /// Looks once more, at steps that [`in_progress`] lists. Each comes with the number of earlier looks that counted and saw it.
    pub fn look(&mut self, steps: Vec<InProgress>) -> Vec<(u32, InProgress)> {
        self.look_with(steps, ThreadUsage::of)
    }

    fn look_with(
        &mut self,
        steps: Vec<InProgress>,
        usage: impl Fn(i32) -> Option<ThreadUsage>,
    ) -> Vec<(u32, InProgress)> {
        let before = std::mem::take(&mut self.known);
        let look = |step: InProgress| {
            let is_same = |known: &&Known| known.thread == step.thread && known.number == step.number;
            let mut known = Known {
                thread: step.thread,
                number: step.number,
                looks: 0,
                usage: None,
            };
            // Nearly every step is seen once: only of the others the system is asked.
            if let Some(seen) = before.iter().find(is_same) {
                known.usage = usage(step.thread);
                let has_starved = match (seen.usage, known.usage) {
                    (Some(before), Some(now)) => now.is_running() && before.ticks == now.ticks,
                    _ => false,
                };
                known.looks = seen.looks.saturating_add(u32::from(!has_starved));
            }
            self.known.push(known);
            (known.looks, step)
        };
        steps.into_iter().map(look).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(thread: i32, number: u64) -> InProgress {
        InProgress {
            thread,
            number,
            is_loading: false,
            plugin: "average",
            step: "Assign",
            subject: "default/web".to_owned(),
        }
    }

    #[test]
    fn the_looks_at_the_same_step_are_counted() {
        let mut looks = Looks::default();
        let mut look = |steps: &[(i32, u64)]| -> Vec<u32> {
            let steps = steps.iter().map(|(thread, number)| step(*thread, *number)).collect();
            let seen = looks.look_with(steps, |_| None);
            seen.into_iter().map(|(looks, _)| looks).collect()
        };
        assert_eq!(look(&[(1, 3)]), [0]);
        assert_eq!(look(&[(1, 3), (2, 3)]), [1, 0]);
        assert_eq!(look(&[(2, 3), (1, 3)]), [1, 2]);
        assert_eq!(look(&[(2, 5), (1, 3)]), [0, 3]);
        assert_eq!(look(&[(2, 5)]), [1]);
        assert_eq!(look(&[(1, 3)]), [0]);
    }

    #[test]
    fn a_look_at_a_starved_thread_does_not_count() {
        let mut looks = Looks::default();
        let mut look = |ticks: u64, is_ready: bool| {
            let state = if is_ready { 'R' } else { 'S' };
            let usage = |_| Some(ThreadUsage { ticks, state });
            looks.look_with(vec![step(1, 1)], usage)[0].0
        };
        assert_eq!(look(1, true), 0);
        assert_eq!(look(1, true), 1);
        // Ready to run, and it did not.
        assert_eq!(look(1, true), 1);
        assert_eq!(look(1, true), 1);
        // It ran; then it waits for something.
        assert_eq!(look(2, true), 2);
        assert_eq!(look(2, false), 3);
    }

    #[test]
    fn a_step_is_described() {
        let described = |plugin, step, subject: &str| {
            InProgress {
                plugin,
                step,
                subject: subject.to_owned(),
                ..self::step(1, 1)
            }
            .to_string()
        };
        assert_eq!(
            described("average", "Assign", "default/web"),
            "plugin `average` has not returned from Assign of binding `default/web`"
        );
        assert_eq!(
            described("average", "its construction", ""),
            "plugin `average` has not returned from its construction"
        );
        assert_eq!(
            described("", "its initialisation", "/p/a.so"),
            "library `/p/a.so` has not returned from its initialisation"
        );
    }
}
