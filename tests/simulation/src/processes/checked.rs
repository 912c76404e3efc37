//! Processes whose submissions are checked: work of agents and of people, blocking and advisory, in a branch and outside.

/// A process whose first step is an agent's and is checked.
pub const REVIEWS: &str = "reviews";

/// A blocking check with questions of every kind, an advisory one, a person's checked task, and a way back over all of it.
pub(super) const REVIEWS_FILE: &str = "---
name: reviews
description: Write a review, and have it read against what was seen.
steps:
  - id: write
    agent: Write the review.
    output: { text: string, stars: number }
    due: 30m
    check:
      - { ask: Does the text say why?, pass: 0.8, fail: 0.3 }
      - ask: |
          Which tone
          has it?
        one_of: { kind: It is kind., dry: Nobody can tell., rude: It is rude. }
        pass: [kind]
        unsure: [dry]
        confidence: 0.6
      - { ask: How much was seen?, levels: [Nothing., Half of it., All of it.], pass: 1 }
    next: tag
  - id: tag
    agent: Tag the review.
    output: { tag: string }
    advisory: true
    check:
      - ask: Does the tag fit?
      - { ask: Is the tag in use?, fail: 0.5 }
    next: read
  - id: read
    person: editor
    task: Read the review against what was seen.
    output: { remark: string }
    evidence: [link]
    due: 1h
    check: [{ ask: Does the remark say what is wrong?, pass: 0.7, fail: 0.4 }]
    next: [sign, { to: over, when: nobody needs to sign }]
  - id: sign
    person: editor
    approve: Would you sign it?
    on_reject: write
  - id: over
    finish: reviewed
---
Reviews.
";

/// Checked steps of both kinds in branches: with routes, files and a server's own thresholds; waits beside them.
pub(super) const SURVEY_FILE: &str = "---
name: survey
description: Survey a house from all sides.
inputs: { owner: person }
steps:
  - id: look
    parallel: [roof, cellar, street]
    next: settle
  - id: roof
    agent: Survey the roof.
    output: { tiles: number, note: string }
    evidence: [file]
    check: [{ ask: Was every tile counted?, pass: 0.75, fail: 0.25 }]
    next: [{ to: repair, when: tiles are missing }, join]
  - id: repair
    agent: Order the tiles.
    output: { order: string }
    check: Is the order complete?
    next: join
  - id: cellar
    person: inputs.owner
    task: Say what is in the cellar.
    output: { things: string }
    check:
      - ask: How much of it is told?
        levels: [Nothing., Some., All.]
        pass: 2
        confidence: 0.5
    next: join
  - id: street
    wait_for: scan
    timeout: 20m
    next: join
  - id: settle
    person: adjuster
    approve: Is that all?
    on_reject: look
  - id: out
    finish: surveyed
---
";
