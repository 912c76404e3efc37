//! Every key of the table, and the one place that knows how one is spelled.
//!
//! A key is segments joined by `/`. Segments that come from outside (organizations, request ids, groups) are escaped,
//! so that no two different things ever share a key. Numbers and times are written so that the order of their text is
//! their order.
//!
//! | partition | sort | holds |
//! | --- | --- | --- |
//! | `run/ORG/RUN` | `j/REV` | the journal, one entry an accepted write |
//! | | `a/STEP` | the working state of a step's attempt |
//! | `request/ORG/ID` | `-` | what a `requestId` did |
//! | `ready/ORG/SHARD` | `TIME/RUN/STEP` | agent steps nobody has claimed, by `readySince` |
//! | `leased/ORG/SHARD` | `TIME/RUN/STEP` | agent steps that were claimed, by the end of the lease |
//! | `inbox/ORG/group/G`, `inbox/ORG/person/P` | `TIME/ITEM` | open work items, by when they were made |
//! | `runs/ORG/PROCESS/open/SHARD`, `…/ended` | `TIME/RUN` | runs, by when they started |
//! | `timer/SHARD` | `TIME/ORG/RUN/KIND/STEP` | what wakes an idle run, by when |
//! | `outbox/SHARD` | `TIME/ORG/RUN/REV` | notices that were not sent yet |
//! | `notices/ORG` | `TIME/RUN/REV` | notices that were sent |
//! | `catalogue/ORG` | `PROCESS` | the latest published version of each process |
//! | `process/ORG/PROCESS` | `v/NUMBER` | published versions |
//! | | `draft` | the draft that was imported last |
//! | `file/ORG` | `ID` | uploads, with their SHA-256 |
//! | `providers/ORG` | `ID` | the latest published version of each Provider of agent-graph |
//! | `provider/ORG/ID` | `v/VERSION` | published versions |
//! | | `d/DIGEST` | the same by the digest of the bundle |
//! | `graphrun/ORG/RUN` | `j/SEQUENCE` | the journal of a Graph's run, one entry an accepted write |

use run::{Assigned, Time, person_key};
use sha2::{Digest, Sha256};

use crate::context::base32;
use crate::table::Key;

/// How many partitions a list that every run writes to is spread over, by run id. Fixed for a table's life.
pub const SHARDS: u8 = 4;

/// Most bytes of a segment that comes from outside. Nothing is ever stored under a longer one, so it is not looked for:
/// a key has room for a few such segments, escaped.
pub const SEGMENT_BYTES: usize = 512;

/// Whether something may be stored under this segment.
pub fn storable(segment: &str) -> bool {
    segment.len() <= SEGMENT_BYTES
}

/// Longest segment that is spelled out, in bytes: a sort key of several of them stays below 1,024 bytes.
const SPELLED_BYTES: usize = 160;

/// What every key segment sorts before.
const END: &str = "~";

fn escaped(segment: &str) -> String {
    let mut out = String::with_capacity(segment.len());
    for c in segment.chars() {
        match c {
            '/' => out.push_str("%2F"),
            '%' => out.push_str("%25"),
            '~' => out.push_str("%7E"),
            c => out.push(c),
        }
    }
    if out.len() <= SPELLED_BYTES {
        return out;
    }
    // A long name is named by its hash, with its beginning for those who look. No other segment has a `~`.
    let kept: String = out.chars().take(SPELLED_BYTES / 8).collect();
    format!("{kept}~{}", run::hex(&Sha256::digest(segment.as_bytes())))
}

fn key(partition: String, sort: String) -> Key {
    Key { partition, sort }
}

/// The shard of a run's list entries.
pub fn shard(run: &str) -> u8 {
    Sha256::digest(run.as_bytes()).first().copied().unwrap_or(0) % SHARDS
}

/// A run's partition.
pub fn run(org: &str, run: &str) -> String {
    format!("run/{}/{}", escaped(org), escaped(run))
}

/// A journal entry.
pub fn journal(org: &str, id: &str, rev: u64) -> Key {
    key(run(org, id), format!("j/{rev:010}"))
}

/// The working state of a step's attempt.
pub fn attempt(org: &str, id: &str, step: &str) -> Key {
    key(run(org, id), format!("a/{step}"))
}

/// The step of an attempt's sort key, `None` for another kind of item.
pub fn attempt_step(sort: &str) -> Option<&str> {
    sort.strip_prefix("a/")
}

/// What a request id did.
pub fn request(org: &str, id: &str) -> Key {
    key(format!("request/{}/{}", escaped(org), escaped(id)), "-".to_owned())
}

/// A partition of ready agent steps.
pub fn ready_partition(org: &str, shard: u8) -> String {
    format!("ready/{}/{shard}", escaped(org))
}

/// A ready agent step.
pub fn ready(org: &str, id: &str, step: &str, since: Time) -> Key {
    key(ready_partition(org, shard(id)), format!("{since}/{}/{step}", escaped(id)))
}

/// A partition of leased agent steps.
pub fn leased_partition(org: &str, shard: u8) -> String {
    format!("leased/{}/{shard}", escaped(org))
}

/// A leased agent step.
pub fn leased(org: &str, id: &str, step: &str, expires: Time) -> Key {
    key(leased_partition(org, shard(id)), format!("{expires}/{}/{step}", escaped(id)))
}

/// The last sort key of everything up to and including an instant, in a list that is ordered by time.
pub fn until(time: Time) -> String {
    format!("{time}{END}")
}

/// The partition of a group's open work items.
pub fn group_inbox(org: &str, group: &str) -> String {
    format!("inbox/{}/group/{}", escaped(org), escaped(group))
}

/// The partition of a person's own open work items.
pub fn person_inbox(org: &str, person: &str) -> String {
    format!("inbox/{}/person/{}", escaped(org), escaped(&person_key(person)))
}

/// An open work item.
pub fn inbox(org: &str, assigned: &Assigned, item: &str, since: Time) -> Key {
    let partition = match assigned {
        Assigned::Group(group) => group_inbox(org, group),
        Assigned::Person(person) => person_inbox(org, person),
    };
    key(partition, format!("{since}/{item}"))
}

/// The partitions of a process's open or ended runs, all of which a list of them is read from. Every write that moves a
/// run on rewrites its entry among the open ones, so those are spread; an ended run is written there once.
pub fn runs_partitions(org: &str, process: &str, ended: bool) -> Vec<String> {
    match ended {
        false => (0..SHARDS).map(|shard| open_runs(org, process, shard)).collect(),
        true => vec![ended_runs(org, process)],
    }
}

fn open_runs(org: &str, process: &str, shard: u8) -> String {
    format!("runs/{}/{}/open/{shard}", escaped(org), escaped(process))
}

fn ended_runs(org: &str, process: &str) -> String {
    format!("runs/{}/{}/ended", escaped(org), escaped(process))
}

/// A run's entry in the lists of runs.
pub fn runs(org: &str, process: &str, ended: bool, started: Time, id: &str) -> Key {
    let partition = if ended { ended_runs(org, process) } else { open_runs(org, process, shard(id)) };
    key(partition, format!("{started}/{}", escaped(id)))
}

/// A partition of timers.
pub fn timer_partition(shard: u8) -> String {
    format!("timer/{shard}")
}

/// A timer of a run. `kind` tells an overdue mark from a wait's end.
pub fn timer(org: &str, id: &str, at: Time, kind: &str, step: &str) -> Key {
    key(timer_partition(shard(id)), format!("{at}/{}/{}/{kind}/{step}", escaped(org), escaped(id)))
}

/// A partition of notices that were not sent yet.
pub fn outbox_partition(shard: u8) -> String {
    format!("outbox/{shard}")
}

/// The notices of one write.
pub fn outbox(org: &str, id: &str, at: Time, rev: u64) -> Key {
    key(outbox_partition(shard(id)), format!("{at}/{}/{}/{rev:010}", escaped(org), escaped(id)))
}

/// The partition of the notices that were sent.
pub fn notices_partition(org: &str) -> String {
    format!("notices/{}", escaped(org))
}

/// The notices of one write, sent.
pub fn notices(org: &str, id: &str, at: Time, rev: u64) -> Key {
    key(notices_partition(org), format!("{at}/{}/{rev:010}", escaped(id)))
}

/// The partition of an organization's published processes.
pub fn catalogue_partition(org: &str) -> String {
    format!("catalogue/{}", escaped(org))
}

/// The latest published version of a process.
pub fn catalogue(org: &str, process: &str) -> Key {
    key(catalogue_partition(org), escaped(process))
}

/// A published version.
pub fn version(org: &str, process: &str, number: u64) -> Key {
    key(format!("process/{}/{}", escaped(org), escaped(process)), format!("v/{number:010}"))
}

/// The draft of a process.
pub fn draft(org: &str, process: &str) -> Key {
    key(format!("process/{}/{}", escaped(org), escaped(process)), "draft".to_owned())
}

/// An upload.
pub fn file(org: &str, id: &str) -> Key {
    key(format!("file/{}", escaped(org)), escaped(id))
}

/// The partition of an organization's published Providers.
pub fn providers_partition(org: &str) -> String {
    format!("providers/{}", escaped(org))
}

/// The latest published version of a Provider.
pub fn listed_provider(org: &str, id: &str) -> Key {
    key(providers_partition(org), escaped(id))
}

fn provider(org: &str, id: &str) -> String {
    format!("provider/{}/{}", escaped(org), escaped(id))
}

/// A published version of a Provider.
pub fn provider_version(org: &str, id: &str, version: &str) -> Key {
    key(provider(org, id), format!("v/{}", escaped(version)))
}

/// A published version of a Provider, by the digest of its bundle.
pub fn provider_digest(org: &str, id: &str, digest: &str) -> Key {
    key(provider(org, id), format!("d/{}", escaped(digest)))
}

/// The partition of a Graph's run.
pub fn graph_run(org: &str, id: &str) -> String {
    format!("graphrun/{}/{}", escaped(org), escaped(id))
}

/// A journal entry of a Graph's run.
pub fn graph_journal(org: &str, id: &str, sequence: u64) -> Key {
    key(graph_run(org, id), format!("j/{sequence:010}"))
}

/// The object that holds a whole bundle, by its digest.
pub fn bundle_object(org: &str, digest: &str) -> String {
    object(org, &named("b_", digest))
}

/// The object that holds one file of bundles, by its digest.
pub fn bundle_file_object(org: &str, digest: &str) -> String {
    object(org, &named("p_", digest))
}

/// As long as the id of an upload: what may read and write a bucket is told by the shape of its keys.
fn named(kind: &str, digest: &str) -> String {
    let hash = base32(&Sha256::digest(digest.as_bytes()));
    kind.chars().chain(hash.chars().take(20)).collect()
}

/// The object that holds an upload's bytes.
pub fn object(org: &str, id: &str) -> String {
    // Object keys show in links, so an organization's name does not stand there.
    let org: String = run::hex(&Sha256::digest(org.as_bytes())).chars().take(20).collect();
    format!("{org}/{id}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_organizations_share_a_key() {
        assert_ne!(request("a/b", "c"), request("a", "b/c"));
        assert_ne!(request("a%2Fb", "c"), request("a/b", "c"));
        assert_ne!(run("a", "b"), run("a/b", ""));
    }

    #[test]
    fn no_name_makes_a_key_too_long_or_shares_another_ones() {
        let (slashes, t) = ("/".repeat(512), Time::from_millis(0));
        let long = format!("{slashes}x");
        let key = timer(&slashes, "r_1", t, "due", "step");
        assert!(key.sort.len() <= 1_024 && key.partition.len() <= 2_048, "{key:?}");
        let person = Assigned::Person(format!("{}@example.com", "ä".repeat(5_000)));
        assert!(inbox(&slashes, &person, "w_1", t).partition.len() <= 2_048);
        assert_ne!(run(&slashes, "r"), run(&long, "r"));
    }

    #[test]
    fn objects_have_the_shape_that_functions_may_read_and_write() {
        let digest = format!("sha256:{}", "0".repeat(64));
        let (whole, one) = (bundle_object("acme", &digest), bundle_file_object("acme", &digest));
        assert_ne!(whole, one);
        assert_ne!(whole, bundle_object("other", &digest));
        for object in [whole, one, object("acme", "f_aaaaaaaaaaaaaaaaaaaa")] {
            let (org, id) = object.split_once('/').unwrap();
            assert_eq!((org.len(), id.len()), (20, 22), "{object}");
        }
    }

    #[test]
    fn versions_digests_and_organizations_share_no_key() {
        let (version, digest) = (provider_version("o", "a/b", "d/1"), provider_digest("o", "a/b", "1"));
        assert_ne!(version, digest);
        assert_ne!(provider_version("o/a", "b", "1"), provider_version("o", "a/b", "1"));
        assert_ne!(listed_provider("o", "a/b").sort, listed_provider("o", "a%2Fb").sort);
        assert_ne!(graph_run("a/b", "c"), graph_run("a", "b/c"));
        assert!(graph_journal("o", "g", 9).sort < graph_journal("o", "g", 10).sort);
        let long = "/".repeat(SEGMENT_BYTES);
        let key = provider_version(&long, &long, &long);
        assert!(key.sort.len() <= 1_024 && key.partition.len() <= 2_048, "{key:?}");
    }

    #[test]
    fn keys_sort_as_numbers_and_times_do() {
        assert!(journal("o", "r", 9).sort < journal("o", "r", 10).sort);
        let t = Time::from_millis(1_000);
        assert!(ready("o", "r", "s", t).sort <= until(t));
        assert!(ready("o", "r", "s", Time::from_millis(1_001)).sort > until(t));
        assert!(attempt("o", "r", "s").sort < journal("o", "r", 1).sort);
    }

    #[test]
    fn a_run_is_in_one_of_the_partitions_that_its_list_is_read_from() {
        let t = Time::from_millis(0);
        for ended in [false, true] {
            let read = runs_partitions("o", "p", ended);
            assert!(
                (0..100).all(|n| read.contains(&runs("o", "p", ended, t, &format!("r_{n}")).partition)),
                "{read:?}"
            );
        }
    }

    #[test]
    fn a_person_is_one_person_whatever_the_case() {
        let t = Time::from_millis(0);
        assert_eq!(
            inbox("o", &Assigned::Person("Ann@Example.com".into()), "w", t).partition,
            person_inbox("o", "ann@example.COM")
        );
    }
}
