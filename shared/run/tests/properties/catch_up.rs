//! Time alone: what wakes a run, and that it does not matter when somebody looks.

use run::{Command, Run, Time, decide, timers};

use crate::common::{Play, agent};

fn tick(play: &Play, run: &Run, clock: Time) -> run::Change {
    decide(play.world.context(), run, &play.attempts, &agent(run::SERVER), &Command::Tick, clock).unwrap()
}

/// The first wake-up is the first instant at which time alone changes the run; without one, time never does.
pub fn wakes_when_it_must(play: &Play) {
    let run = &play.run;
    match timers(run).into_iter().map(|(at, _)| at).min() {
        None => assert!(tick(play, run, Time::from_millis(i64::MAX)).is_empty(), "it would have slept for ever"),
        Some(first) => {
            if first > run.updated_at {
                assert!(tick(play, run, Time::from_millis(first.millis() - 1)).is_empty(), "it woke too late");
            }
            assert!(!tick(play, run, first).events.is_empty(), "it woke for nothing");
        }
    }
}

/// What is shown is what the next write finds: the same as when time alone had been written, but for the writing.
pub fn shown_is_what_a_tick_makes(play: &Play) {
    let (shown, attempts) = play.caught_up();
    let ticked = tick(play, &play.run, play.clock);
    assert!(shown.updated_at >= play.run.updated_at && shown.updated_at <= ticked.run.updated_at);
    assert_eq!(shown.rev, play.run.rev);
    let kept = |step: &String| !matches!(ticked.attempts.get(step), Some(None));
    assert!(play.attempts.keys().filter(|s| kept(s)).eq(attempts.keys()), "attempts that are over are not there");
    if ticked.is_empty() {
        assert_eq!(shown, play.run);
    }
    let unwritten = |run: Run| Run { rev: 0, updated_at: play.clock, ..run };
    assert_eq!(unwritten(shown), unwritten(ticked.run));
}

/// One late look leads to the same run as a look at every due time, but for how the writes were grouped.
pub fn late_or_step_by_step(play: &Play) {
    for minutes in [1, 61, 3_000, 100_000_000] {
        let late = Time::from_millis(play.clock.millis().saturating_add(minutes * 60_000));
        let once = tick(play, &play.run, late).run;
        let mut stepwise = play.run.clone();
        while let Some(due) = timers(&stepwise).into_iter().map(|(at, _)| at).min().filter(|at| *at <= late) {
            let change = tick(play, &stepwise, due);
            assert!(!change.events.is_empty());
            stepwise = change.run;
        }
        let grouped = |run: &Run| Run { rev: 0, updated_at: late, ..run.clone() };
        assert_eq!(grouped(&once), grouped(&stepwise), "at {late}");
    }
}
