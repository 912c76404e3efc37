//! The processes that are run: every kind of step, rework, escalation, routes, events with and without timeout, due, and
//! branches of all of that; [`checked`] has those whose submissions are checked.

pub mod checked;

use checked::{REVIEWS, REVIEWS_FILE, SURVEY_FILE};

/// An organization of the simulation.
pub const ORGS: [&str; 2] = ["acme", "beta"];

/// Their PROCESS.md files, by name.
pub const PROCESSES: [(&str, &str); 11] = [
    ("letters", LETTERS),
    ("claims-desk", CLAIMS_DESK),
    ("deliveries", DELIVERIES),
    ("moving-in", MOVING_IN),
    ("everything", EVERYTHING),
    ("launch", LAUNCH),
    (TWO_DESKS, TWO_DESKS_FILE),
    ("stage", STAGE),
    ("album", ALBUM),
    (REVIEWS, REVIEWS_FILE),
    ("survey", SURVEY_FILE),
];

/// A process with two branches that two agents may finish at one moment.
pub const TWO_DESKS: &str = "two-desks";

/// Agent, approval with a way back, due times on both.
const LETTERS: &str = "---
name: letters
description: Write a letter and have it signed off.
inputs: { topic: string }
steps:
  - id: write
    agent: Write the letter.
    output: { text: string, pages: number }
    due: 30m
  - id: sign_off
    person: editor
    approve: Approve a letter that you would sign.
    due: 1h
    on_reject: write
  - id: sent
    finish: sent
---
Letters are written by agents and signed by editors.
";

/// Routes of agents and people, evidence, an approval that ends the run when rejected.
const CLAIMS_DESK: &str = "---
name: claims-desk
description: Look at a claim and settle or refuse it.
inputs: { claimant: string, amount: number }
steps:
  - id: look
    agent: Look at the claim.
    output:
      plausible: boolean
      grade: { type: string, one_of: [low, high] }
      notes: { type: list, items: string, optional: true }
    evidence: [file]
    next: [{ to: settle, when: plausible }, { to: visit, when: in doubt }, refuse]
  - id: visit
    person: adjuster
    task: Visit the claimant.
    output: { seen: boolean }
    evidence: [link]
    due: 2h
    next: [settle, refuse]
  - id: settle
    person: adjuster
    approve: Approve the payment.
    next: paid
  - id: refuse
    finish: refused
  - id: paid
    finish: paid
---
Claims.
";

/// Events: one that may be early, one that may never come, one name awaited twice; a wait.
const DELIVERIES: &str = "---
name: deliveries
description: Follow a delivery to the door.
steps:
  - id: shipped
    wait_for: scan
  - id: on_the_way
    wait_for: scan
    timeout: 2h
    on_timeout: trace
    next: arrived
  - id: trace
    agent: Find out where it is.
    output: { place: string }
  - id: arrived
    wait: 20m
  - id: greet
    agent: Write to the customer.
    due: 10m
  - id: over
    finish: delivered
---
";

/// Times and people from run data, the initiator, an approval that returns to itself.
const MOVING_IN: &str = "---
name: moving-in
description: Hand over a flat.
inputs: { from: datetime, tenant: person }
steps:
  - id: day
    wait_until: inputs.from
  - id: prepare
    person: initiator
    task: Prepare the flat.
    output: { keys: number, helper: { type: person, optional: true } }
  - id: help
    person: steps.prepare.output.helper
    approve: Say that you helped.
    on_reject: help
  - id: accept
    person: inputs.tenant
    approve: Accept the flat.
    on_reject: prepare
  - id: done
    finish: moved-in
---
";

/// All seven kinds, a way back over everything and one over half of it, a rejection straight into a finish.
const EVERYTHING: &str = "---
name: everything
description: All that a process can have.
inputs: { when: datetime, boss: person }
steps:
  - id: draft
    agent: Draft it.
    output: { title: string }
    due: 15m
  - id: pause
    wait: 5m
  - id: check
    person: editor
    approve: Is the draft good?
    on_reject: draft
    next: hear
  - id: hear
    wait_for: comment
    timeout: 1h
  - id: act
    agent: Act on the comment.
    output: { acted: boolean }
    next: [polish, wait_for_day]
  - id: polish
    person: editor
    task: Polish it.
    output: { words: number }
    next: wait_for_day
  - id: wait_for_day
    wait_until: inputs.when
  - id: last_word
    person: inputs.boss
    approve: Publish it?
    due: 3h
    on_reject: hear
    next: veto
  - id: veto
    person: editor
    approve: No objection?
    on_reject: dropped
    next: out
  - id: out
    finish: published
  - id: dropped
    finish: dropped
---
All of it.
";

/// Branches of several steps each: agents, tasks, an approval with a way back inside, waits, a timeout and a route to the
/// join; ways back to the parallel step and to a step before it.
const LAUNCH: &str = "---
name: launch
description: Prepare a launch, four things at once.
inputs: { boss: person }
steps:
  - id: plan
    agent: Plan it.
    output: { title: string }
  - id: prepare
    parallel: [rights, text, venue, posters]
    next: review
  - id: text
    agent: Write the text.
    output: { words: number }
    due: 15m
    next: proof
  - id: proof
    person: editor
    approve: Is the text right?
    due: 30m
    on_reject: text
    next: join
  - id: rights
    person: adjuster
    task: Clear the rights.
    output: { cleared: boolean }
    due: 1h
    next: [join, { to: pay, when: there is a fee }]
  - id: pay
    agent: Pay the fee.
    evidence: [file]
    next: join
  - id: venue
    wait: 10m
    next: hear
  - id: hear
    wait_for: comment
    timeout: 30m
    on_timeout: join
    next: answer
  - id: answer
    agent: Answer the venue.
    next: join
  - id: posters
    wait_for: comment
    timeout: 10m
    next: join
  - id: review
    person: inputs.boss
    approve: Is all of it ready?
    on_reject: prepare
    next: last_look
  - id: last_look
    person: editor
    approve: Shall we?
    on_reject: plan
    next: out
  - id: out
    finish: launched
---
Launch it.
";

/// Two branches of one step each, and a way back to both.
const TWO_DESKS_FILE: &str = "---
name: two-desks
description: Two desks look at the same thing, and somebody compares.
steps:
  - id: both
    parallel: [left, right]
    next: compare
  - id: left
    agent: Look from the left.
    output: { seen: string }
    next: join
  - id: right
    agent: Look from the right.
    output: { seen: string }
    next: join
  - id: compare
    person: editor
    approve: Do they agree?
    on_reject: both
  - id: over
    finish: compared
---
Two desks.
";

/// Every way in which a branch ends the run, the fork itself among them; two waits for one event.
const STAGE: &str = "---
name: stage
description: Set a stage, unless somebody calls it off.
inputs: { opening: { type: datetime, optional: true }, singer: { type: person, optional: true } }
steps:
  - id: rent
    agent: Rent the stage.
  - id: set
    parallel: [light, sound, song, doors, ticket]
    next: play
  - id: light
    agent: Hang the light.
    due: 20m
    next: safe
  - id: safe
    person: adjuster
    approve: Is it safe?
    next: join
  - id: sound
    wait_for: scan
    next: check
  - id: check
    agent: Check the sound.
    next: join
  - id: song
    person: inputs.singer
    task: Sing once.
    due: 30m
    next: join
  - id: doors
    wait: 40m
    next: opened
  - id: opened
    wait_until: inputs.opening
    next: join
  - id: ticket
    wait_for: scan
    timeout: 40m
    next: join
  - id: play
    finish: played
---
";

/// Branches that events may finish before they are there, and a way back over the whole region.
const ALBUM: &str = "---
name: album
description: Wait for the songs and the cover, and listen.
steps:
  - id: order
    agent: Order both.
  - id: arrive
    parallel: [songs, cover]
    next: listen
  - id: songs
    wait_for: scan
    timeout: 15m
    next: join
  - id: cover
    wait_for: comment
    timeout: 25m
    next: join
  - id: listen
    person: editor
    approve: Is it good?
    on_reject: order
  - id: out
    finish: released
---
";

/// The groups that roles are bound to, in every organization.
pub fn group(role: &str) -> String {
    format!("g_{role}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_process_is_right() {
        for (name, source) in PROCESSES {
            let reading = process::read(source.as_bytes());
            assert!(reading.document.is_some_and(|d| d.name == name), "{name}: {:?}", reading.problems);
        }
    }
}
