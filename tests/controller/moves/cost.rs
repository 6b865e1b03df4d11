//! Processor time of a step beside that of a first decision, in one run: everything that a status update causes in the scheduler, with the
//! looks that end in a wait, the pace, and the bodies of both patches. `--nocapture` prints it.

use std::time::Duration;

use serde_json::Value;

use super::super::simulation::Simulation;
use super::{SURGE, binding, mark, place, ready_cluster, report_ready};

/// Clusters of the fleet.
const CLUSTERS: usize = 50;
/// Moves that are measured.
const MOVES: usize = 40;

/// Processor time of this thread.
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux counts the time of threads");
    let nanoseconds = text.split(' ').next().and_then(|first| first.parse().ok());
    Duration::from_nanos(nanoseconds.expect("the first number is the time"))
}

/// The processor time of an action.
fn time_of(action: impl FnOnce()) -> Duration {
    let start = processor_time();
    action();
    processor_time() - start
}

/// A scheduler over fifty clusters, `a` and `b` among them.
fn fleet() -> Simulation {
    let others = (0..CLUSTERS - 2).map(|number| format!("c{number:02}"));
    let names = ["a".to_owned(), "b".to_owned()].into_iter().chain(others);
    let clusters: Vec<Value> = names.map(|name| ready_cluster(&name)).collect();
    Simulation::with_profile(SURGE, &clusters)
}

#[test]
#[cfg(target_os = "linux")]
fn a_step_costs_no_more_than_a_few_first_decisions() {
    let mut simulation = fleet();
    let mut decisions = Duration::ZERO;
    for number in 0..MOVES {
        let name = format!("other-{number}");
        decisions += time_of(|| simulation.create(&name, binding(10, &[("a", 1), ("b", 1)])));
        assert_eq!(simulation.writes(&name).0, 1);
    }
    simulation.create("web", binding(10, &[("a", 1)]));
    report_ready(&mut simulation);
    let (mut steps, mut spent) = (0, Duration::ZERO);
    for number in 0..MOVES {
        let writes = simulation.writes("web").0;
        let target = if number % 2 == 0 { "b" } else { "a" };
        spent += time_of(|| place(&mut simulation, &[(target, 1)]));
        for _ in 0..8 {
            spent += time_of(|| report_ready(&mut simulation));
        }
        simulation.pass(Duration::from_secs(61));
        assert_eq!(mark(&simulation), None, "{:?}", simulation.result("web"));
        steps += simulation.writes("web").0 - writes;
    }
    let per = |time: Duration, count: usize| time.as_secs_f64() * 1e6 / f64::from(u32::try_from(count).expect("a few"));
    let (decision, step) = (per(decisions, MOVES), per(spent, steps));
    println!("processor time: first decision {decision:.0} µs, step of a move {step:.0} µs, {steps} steps");
    assert!(steps >= 4 * MOVES, "{steps}");
    assert!(
        step < 6.0 * decision,
        "a step takes {step} µs, a first decision {decision} µs"
    );
    // What is kept of moves does not grow with their number.
    simulation.publish();
    for state in ["under_way", "waiting"] {
        let line = format!("divvy_moves{{state=\"{state}\"}} 0");
        assert!(simulation.scraped("divvy_moves{").contains(&line), "{state}");
    }
}
