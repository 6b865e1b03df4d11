//! Headroom agrees with forecasts: a binding scaled to what is reported schedules, and with one more it does not.

use divvy_forecast::change::Changes;
use divvy_forecast::future::{Future, Options};
use divvy_forecast::headroom::document::HeadroomRow;
use divvy_forecast::headroom::hypothetical::Hypothetical;
use divvy_forecast::headroom::{Subject, headroom, is_measurable};
use divvy_forecast::situation::Situation;
use divvy_scheduler::search::REPLICAS_MAX;

use super::fleets::FleetManifests;
use super::{changed, side, situation, threads};

/// Random fleets per property.
fn fleets() -> u64 {
    divvy_built::cases(50, 150)
}

fn measured(original: &Situation, future: &Future, options: Options) -> Vec<HeadroomRow> {
    let entries = future.entries.iter().filter(|entry| is_measurable(&entry.binding));
    let subjects: Vec<Subject<'_>> = entries.map(Subject::existing).collect();
    assert!(subjects.len() <= original.bindings.len());
    let rows = headroom(&subjects, future, &side(), options);
    rows.into_iter().map(|(row, _)| row).collect()
}

/// True if a forecast of this number of replicas schedules the binding.
fn schedules(original: &Situation, row: &HeadroomRow, replicas: i64, options: Options) -> bool {
    let count = replicas.to_string().parse().expect("it is a number of replicas");
    let changes = Changes {
        replicas: vec![(row.binding.parse().expect("a key is a pattern"), count)],
        ..Changes::default()
    };
    let future = Future::decide(&changed(original, &changes), &side(), options);
    let entry = future.entries.iter().find(|entry| entry.binding.key() == row.binding);
    entry.expect("the binding is there").error().is_none()
}

#[test]
fn the_number_reported_schedules_in_a_forecast_and_the_next_one_does_not() {
    let (mut bounded, mut unbounded, mut none) = (0_u64, 0_u64, 0_u64);
    for number in 0..fleets() {
        let original = situation(&FleetManifests::numbered(number).objects());
        let alone = Options {
            assumes: false,
            ..threads(1)
        };
        let future = Future::decide(&original, &side(), alone);
        for row in measured(&original, &future, alone) {
            let case = format!("fleet {number}: {row:?}");
            match (row.result.as_str(), row.is_unbounded, row.most) {
                ("Skipped", ..) => {}
                (_, true, _) => {
                    unbounded += 1;
                    assert!(schedules(&original, &row, i64::from(REPLICAS_MAX), alone), "{case}");
                }
                (_, false, Some(most)) => {
                    bounded += 1;
                    assert!(schedules(&original, &row, most, alone), "{case}");
                    assert!(!schedules(&original, &row, most + 1, alone), "{case}");
                    assert!(row.stop.is_some_and(|stop| stop.replicas == most + 1), "{case}");
                    let sum: i64 = row.clusters.iter().map(|target| target.replicas).sum();
                    assert_eq!(sum, most, "{case}");
                }
                (_, false, None) => {
                    none += 1;
                    assert!(!schedules(&original, &row, 1, alone), "{case}");
                }
            }
        }
    }
    assert!(
        bounded * 3 > 2 * fleets() && unbounded * 3 > fleets() && none > 0,
        "{bounded} {unbounded} {none}"
    );
}

#[test]
fn what_others_take_is_not_free_and_what_the_binding_takes_itself_is() {
    for number in 0..fleets() {
        let original = situation(&FleetManifests::numbered(number).objects());
        let future = Future::decide(&original, &side(), threads(1));
        let alone = Options {
            assumes: false,
            ..threads(1)
        };
        let rows_alone = measured(&original, &Future::decide(&original, &side(), alone), alone);
        for row in measured(&original, &future, threads(1)) {
            let entry = future.entries.iter().find(|entry| entry.binding.key() == row.binding);
            let fails = entry.is_none_or(|entry| entry.error().is_some());
            // Replicas that the future leaves in place are within the headroom, even where others exceed what fits.
            if let (false, Some(most)) = (fails, row.most) {
                assert!(most >= row.replicas, "fleet {number}: {row:?}");
            }
            // With less room, it is never more.
            let alone = rows_alone.iter().find(|alone| alone.binding == row.binding);
            if let Some((alone, most)) = alone.and_then(|alone| alone.most).zip(row.most) {
                assert!(most <= alone.max(row.replicas), "fleet {number}: {row:?}");
            }
        }
    }
}

#[test]
fn threads_do_not_affect_the_result() {
    for number in 0..20 {
        let original = situation(&FleetManifests::numbered(number).objects());
        let future = Future::decide(&original, &side(), threads(1));
        let one = measured(&original, &future, threads(1));
        assert_eq!(one, measured(&original, &future, threads(3)), "fleet {number}");
    }
}

#[test]
fn a_hypothetical_workload_has_the_headroom_of_a_real_one() {
    for number in 0..fleets() {
        let original = situation(&FleetManifests::numbered(number).objects());
        let future = Future::decide(&original, &side(), threads(1));
        for binding in original.bindings.iter().filter(|binding| is_measurable(binding)) {
            let hypothetical = Hypothetical {
                placed_as: Some(binding.key().parse().expect("a key is a pattern")),
                ..Hypothetical::default()
            };
            let made = hypothetical.binding(&original).expect("it can be placed so");
            assert_eq!(made.object.spec.placement, binding.object.spec.placement);
            assert_eq!(made.last().len(), 0);
            let rows = headroom(&[Subject::hypothetical(made)], &future, &side(), threads(1));
            let row = &rows[0].0;
            if let Some(most) = row.most {
                assert!(most >= 1 && row.stop.is_some(), "fleet {number}: {row:?}");
            }
        }
    }
}
