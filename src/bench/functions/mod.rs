//! The two Lambda functions: how large their zips are, and how soon they are ready for a first event.
//!
//! Invariants: a function is started with nothing but what Lambda and the template would tell it, and reaches nothing but
//! this machine; every start is bounded in time; a function that does not get ready is reported with what it said.

mod start;

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use serde::Serialize;

use start::Surroundings;

/// The functions, as their folders are called.
pub const FUNCTIONS: [&str; 2] = [ENDPOINT, "timer-function"];
/// How often each is started and measured.
pub const STARTS: usize = 20;
/// Longest that a function may take to be ready.
pub const LIMIT: Duration = Duration::from_secs(10);
/// Most bytes that the endpoint's zip should have.
pub const ZIP_BYTES: u64 = 6_600_000;
/// Longest that half the starts of a function should take, in milliseconds.
pub const READY_MILLIS: f64 = 10.0;

/// The endpoint, whose zip has a target.
const ENDPOINT: &str = "mcp-function";
/// What Lambda starts.
const BOOTSTRAP: &str = "bootstrap";
/// Most bytes of a program: Lambda takes no more than 250 MiB, unzipped.
const PROGRAM_BYTES: u64 = 250 * 1_024 * 1_024;

/// A function that was found.
#[derive(Debug, Clone)]
pub struct Found {
    /// Its name.
    pub name: &'static str,
    file: PathBuf,
    zipped: bool,
}

/// A function that was measured.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// The zip as it is uploaded, in bytes; nothing where there is only a program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zip_bytes: Option<u64>,
    /// The program in it, in bytes.
    pub program_bytes: u64,
    /// From the start of its process to its first call for an event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready: Option<Ready>,
    /// Why it was not ready, and what it said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// Whether it starts and is over none of the targets that it was measured by; a program without its zip is not
    /// measured by [`ZIP_BYTES`].
    pub within_target: bool,
    /// Each target that it is over, with what was found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub over: Vec<String>,
}

/// How long starts took, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Ready {
    /// How many starts.
    pub starts: usize,
    /// Half were faster.
    pub median_ms: f64,
    /// The fastest.
    pub least_ms: f64,
    /// The slowest.
    pub most_ms: f64,
}

impl Function {
    /// Why it was not ready, in one message with its name.
    pub fn failure(&self) -> Option<String> {
        self.failed.as_ref().map(|why| format!("{} does not start: {why}", self.name))
    }

    /// Compares what was found with the targets. Only said, no failure: a busy machine is no defect of a function.
    fn judge(&mut self) {
        let zip = self.zip_bytes.filter(|bytes| ENDPOINT == self.name && *bytes > ZIP_BYTES);
        let median = self.ready.map(|ready| ready.median_ms).filter(|ms| *ms > READY_MILLIS);
        self.over = [
            zip.map(|bytes| format!("a zip of {bytes} bytes, not {ZIP_BYTES}")),
            median.map(|ms| format!("a median of {ms:.3} ms, not {READY_MILLIS}")),
        ]
        .into_iter()
        .flatten()
        .collect();
        self.within_target = self.over.is_empty() && self.ready.is_some();
    }
}

/// Finds both functions in a folder.
///
/// # Errors
///
/// Every function that is not there, and how they are built.
pub fn find(dir: &Path) -> anyhow::Result<Vec<Found>> {
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for name in FUNCTIONS {
        let files = [(format!("{BOOTSTRAP}.zip"), true), (BOOTSTRAP.to_owned(), false)];
        let file =
            files.into_iter().map(|(file, zipped)| (dir.join(name).join(file), zipped)).find(|(f, _)| f.is_file());
        match file {
            Some((file, zipped)) => found.push(Found { name, file, zipped }),
            None => missing.push(format!("{}.zip", dir.join(name).join(BOOTSTRAP).display())),
        }
    }
    ensure!(
        missing.is_empty(),
        "there is no {}; give the folder that `cargo lambda build` fills, such as target/lambda; how they are built \
         stands in infra/README.md",
        missing.join(", and no ")
    );
    Ok(found)
}

/// Starts a function so many times, one after the other, once more before them to have the program in memory.
///
/// # Errors
///
/// A zip that cannot be read, and anything of this machine that does not work; not a function that does not start.
pub async fn measure(found: &Found, starts: usize, limit: Duration) -> anyhow::Result<Function> {
    let dir = tempfile::Builder::new().prefix("procession-bench-").tempdir().context("no temporary folder")?;
    let file_bytes =
        |path: &Path| anyhow::Ok(std::fs::metadata(path).with_context(|| path.display().to_string())?.len());
    let program = match found.zipped {
        true => unzip(&found.file, dir.path())?,
        false => found.file.canonicalize().with_context(|| found.file.display().to_string())?,
    };
    let mut function = Function {
        name: found.name,
        zip_bytes: if found.zipped { Some(file_bytes(&found.file)?) } else { None },
        program_bytes: file_bytes(&program)?,
        ready: None,
        failed: None,
        within_target: false,
        over: Vec::new(),
    };
    let mut around = Surroundings::open(dir.path(), limit).await?;
    let mut taken = Vec::with_capacity(starts);
    for at in 0..=starts {
        match around.start(&program).await? {
            Ok(_) if at == 0 => {}
            Ok(took) => taken.push(took),
            Err(why) => {
                function.failed = Some(why);
                break;
            }
        }
    }
    if function.failed.is_none() {
        function.ready = ready(taken);
    }
    function.judge();
    dir.close().context("the temporary folder cannot be removed")?;
    Ok(function)
}

/// Takes the program out of a zip.
fn unzip(zip: &Path, into: &Path) -> anyhow::Result<PathBuf> {
    let reading = || format!("{} cannot be read as a function's zip", zip.display());
    let mut archive = zip::ZipArchive::new(File::open(zip).with_context(reading)?).with_context(reading)?;
    let entry = archive.by_name(BOOTSTRAP).with_context(reading)?;
    if entry.size() > PROGRAM_BYTES {
        bail!("{}: its {BOOTSTRAP} has {} bytes; Lambda takes at most {PROGRAM_BYTES}", zip.display(), entry.size());
    }
    let path = into.join(BOOTSTRAP);
    let mut file = File::create(&path).with_context(|| path.display().to_string())?;
    std::io::copy(&mut entry.take(PROGRAM_BYTES), &mut file).with_context(reading)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        file.set_permissions(std::fs::Permissions::from_mode(0o700)).with_context(|| path.display().to_string())?;
    }
    Ok(path)
}

fn ready(mut taken: Vec<Duration>) -> Option<Ready> {
    taken.sort_unstable();
    let ms = |time: &Duration| time.as_secs_f64() * 1e3;
    let median = taken.get(taken.len() / 2)?;
    Some(Ready { starts: taken.len(), median_ms: ms(median), least_ms: ms(taken.first()?), most_ms: ms(taken.last()?) })
}

/// The functions as a table.
pub(super) fn text(functions: &[Function]) -> String {
    let mut out = String::from(
        "Measured: the functions, from the start of the process to its first call for an event, on this machine; the secret\n\
         is answered at once. What Lambda needs to bring the zip and the process up comes on top.\n\n",
    );
    let _ = writeln!(
        out,
        "{:<18}{:>10}{:>12}{:>8}{:>12}{:>10}{:>10}",
        "function", "zip", "program", "starts", "median ms", "least", "most"
    );
    let megabytes = |bytes: u64| format!("{:.2} MB", bytes as f64 / 1e6);
    for function in functions {
        let zip = function.zip_bytes.map_or_else(|| "no zip".to_owned(), megabytes);
        let _ = write!(out, "{:<18}{zip:>10}{:>12}", function.name, megabytes(function.program_bytes));
        match (&function.ready, &function.failed) {
            (Some(Ready { starts, median_ms, least_ms, most_ms }), _) => {
                let _ = writeln!(out, "{starts:>8}{median_ms:>12.2}{least_ms:>10.2}{most_ms:>10.2}");
            }
            (None, why) => {
                let first = why.as_deref().unwrap_or_default().lines().next().unwrap_or_default();
                let _ = writeln!(out, "  does not start: {first}");
            }
        }
        for over in &function.over {
            let _ = writeln!(out, "  OVER THE TARGET: {over}");
        }
    }
    let _ = writeln!(
        out,
        "\nTargets: a zip of {} for {ENDPOINT}, and a median of {READY_MILLIS} ms.",
        megabytes(ZIP_BYTES)
    );
    out
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// A folder with two functions that are zipped shell scripts.
    fn folder(mcp: &str, timer: &str) -> tempfile::TempDir {
        let dir = tempfile::tempdir().expect("a folder");
        for (name, script) in FUNCTIONS.into_iter().zip([mcp, timer]) {
            std::fs::create_dir(dir.path().join(name)).expect("made");
            let file = File::create(dir.path().join(name).join("bootstrap.zip")).expect("made");
            let mut zip = zip::ZipWriter::new(file);
            let options = zip::write::SimpleFileOptions::default();
            zip.start_file(BOOTSTRAP, options).expect("begun");
            zip.write_all(script.as_bytes()).expect("written");
            zip.finish().expect("done");
        }
        dir
    }

    #[tokio::test]
    async fn zipped_programs_are_measured_or_said_to_fail() {
        let ready = format!("#!/bin/bash\n{}", start::tests::CALLS_FOR_AN_EVENT);
        let dir = folder(&ready, "#!/bin/bash\necho PROCESSION_TABLE: is not set >&2\nexit 3\n");
        let found = find(dir.path()).expect("both");
        let mcp = measure(&found[0], 3, LIMIT).await.expect("measured");
        let times = mcp.ready.expect("ready");
        assert_eq!((times.starts, mcp.program_bytes, mcp.failure()), (3, ready.len() as u64, None));
        assert!(mcp.zip_bytes > Some(0));
        assert!(0.0 < times.least_ms && times.least_ms <= times.median_ms && times.median_ms <= times.most_ms);
        let timer = measure(&found[1], 3, LIMIT).await.expect("measured");
        let why = timer.failure().expect("it fails");
        assert!(why.contains("timer-function does not start") && why.contains("exit status: 3"), "{why}");
        assert!(why.contains("PROCESSION_TABLE: is not set"), "{why}");
        assert!(!timer.within_target, "what does not start meets no target");
        assert_eq!(mcp.within_target, times.median_ms <= READY_MILLIS, "{times:?}");
        let text = text(&[mcp, timer]);
        assert!(text.contains("timer-function") && text.contains("does not start: it ended"), "{text}");
    }

    #[test]
    fn all_that_is_missing_is_said_with_what_to_do() {
        let dir = tempfile::tempdir().expect("a folder");
        let error = find(dir.path()).expect_err("nothing is there").to_string();
        for part in ["mcp-function/bootstrap.zip", "timer-function/bootstrap.zip", "cargo lambda build"] {
            assert!(error.contains(part), "{error}");
        }
        std::fs::create_dir(dir.path().join("mcp-function")).expect("made");
        std::fs::write(dir.path().join("mcp-function/bootstrap"), "no zip").expect("written");
        let error = find(dir.path()).expect_err("one is missing").to_string();
        assert!(!error.contains("mcp-function") && error.contains("timer-function"), "{error}");
    }

    #[tokio::test]
    async fn what_is_no_zip_is_said() {
        let dir = folder("", "");
        std::fs::write(dir.path().join("mcp-function/bootstrap.zip"), "not a zip").expect("written");
        let error = measure(&find(dir.path()).expect("both")[0], 1, LIMIT).await.expect_err("no zip");
        assert!(format!("{error:#}").contains("cannot be read as a function's zip"), "{error:#}");
    }

    fn measured(name: &'static str, zip_bytes: Option<u64>, median_ms: f64) -> Function {
        let ready = Some(Ready { starts: 3, median_ms, least_ms: 1.0, most_ms: 99.0 });
        let (failed, over) = (None, Vec::new());
        let mut function = Function { name, zip_bytes, program_bytes: 1, ready, failed, within_target: false, over };
        function.judge();
        function
    }

    #[test]
    fn what_is_over_a_target_is_marked_and_no_failure() {
        let [endpoint, timer] = FUNCTIONS;
        let within = [
            measured(endpoint, Some(ZIP_BYTES), READY_MILLIS),
            measured(endpoint, None, READY_MILLIS),
            // The timer's zip has no target.
            measured(timer, Some(ZIP_BYTES + 1), READY_MILLIS),
        ];
        for function in &within {
            let json = serde_json::to_value(function).expect("JSON");
            assert_eq!((&json["withinTarget"], json.get("over")), (&true.into(), None), "{json}");
        }
        assert!(!text(&within).contains("OVER"), "{}", text(&within));
        let zip = "a zip of 6600001 bytes, not 6600000";
        let median = "a median of 10.001 ms, not 10";
        for (function, over) in [
            (measured(endpoint, Some(ZIP_BYTES + 1), READY_MILLIS), vec![zip]),
            (measured(timer, Some(ZIP_BYTES + 1), 10.001), vec![median]),
            (measured(endpoint, Some(ZIP_BYTES + 1), 10.001), vec![zip, median]),
        ] {
            let json = serde_json::to_value(&function).expect("JSON");
            assert_eq!((&json["withinTarget"], &json["over"]), (&false.into(), &serde_json::json!(over)), "{json}");
            assert_eq!(function.failure(), None);
            let text = text(&[function]);
            assert_eq!(text.matches("OVER THE TARGET: ").count(), over.len(), "{text}");
            for over in over {
                assert!(text.contains(&format!("OVER THE TARGET: {over}\n")), "{text}");
            }
        }
    }

    #[test]
    fn the_median_is_the_one_in_the_middle() {
        let taken = [5, 1, 9].map(Duration::from_millis).to_vec();
        let expected = Ready { starts: 3, median_ms: 5.0, least_ms: 1.0, most_ms: 9.0 };
        assert_eq!(ready(taken), Some(expected));
        assert_eq!(ready(Vec::new()), None);
    }
}
