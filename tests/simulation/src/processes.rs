//! The processes that are run: every kind of step, rework, escalation, routes, events with and without timeout, due.

/// An organization of the simulation.
pub const ORGS: [&str; 2] = ["acme", "beta"];

/// Their PROCESS.md files, by name.
pub const PROCESSES: [(&str, &str); 5] = [
    ("letters", LETTERS),
    ("claims-desk", CLAIMS_DESK),
    ("deliveries", DELIVERIES),
    ("moving-in", MOVING_IN),
    ("everything", EVERYTHING),
];

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

/// The groups that roles are bound to, in every organization.
pub fn group(role: &str) -> String {
    format!("g_{role}")
}
