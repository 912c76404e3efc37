//! One start of a function in surroundings like Lambda's, on loopback: the runtime API that it asks for an event, and the
//! service that it reads its secret from.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{get, post};
use serde_json::{Value, json};
use tokio::process::{Child, Command};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// What a function is told by its environment, but for where everything is. Nothing of it exists.
const SETTINGS: [(&str, &str); 18] = [
    ("AWS_ACCESS_KEY_ID", "id"),
    ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "512"),
    ("AWS_LAMBDA_FUNCTION_NAME", "function"),
    ("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST"),
    ("AWS_LAMBDA_LOG_GROUP_NAME", "group"),
    ("AWS_LAMBDA_LOG_STREAM_NAME", "stream"),
    ("AWS_REGION", "us-east-1"),
    ("AWS_SECRET_ACCESS_KEY", "secret"),
    ("PROCESSION_BUCKET", "procession-evidence"),
    ("PROCESSION_BUS", "procession"),
    ("PROCESSION_DEAD_LETTERS", "arn:aws:sqs:us-east-1:123456789012:dead-letters"),
    ("PROCESSION_ISSUERS", r#"{"issuers":[{"issuer":"https://id.example","audiences":["procession"]}]}"#),
    ("PROCESSION_SCHEDULE_GROUP", "procession"),
    ("PROCESSION_SCHEDULE_ROLE", "arn:aws:iam::123456789012:role/schedules"),
    ("PROCESSION_SECRET", "procession-claims"),
    ("PROCESSION_TABLE", "procession-table"),
    ("PROCESSION_TIMER", "arn:aws:lambda:us-east-1:123456789012:function:timer"),
    ("TZ", ":UTC"),
];

/// What the secret holds.
const SECRET: &str =
    r#"{"key":"kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk","publicUrl":"https://processes.example/mcp"}"#;

/// Most bytes of a function's words that are shown: its last.
const SAID_BYTES: usize = 2_000;
/// Most tries at a program whose file another process still holds open for writing.
const BUSY_TRIES: u32 = 20;
/// The pause between them.
const BUSY_PAUSE: Duration = Duration::from_millis(50);

/// What the runtime API was told.
enum Told {
    /// It asks for an event.
    Ready(Instant),
    /// It cannot start, and why.
    Failed(String),
}

/// Everything that a function meets when it starts.
pub(super) struct Surroundings {
    told: mpsc::UnboundedReceiver<Told>,
    runtime: String,
    aws: String,
    log: PathBuf,
    limit: Duration,
    serving: [JoinHandle<()>; 2],
}

impl Drop for Surroundings {
    fn drop(&mut self) {
        self.serving.iter().for_each(JoinHandle::abort);
    }
}

impl Surroundings {
    /// Serves on loopback; what functions say goes to a file in `dir`.
    pub(super) async fn open(dir: &Path, limit: Duration) -> anyhow::Result<Surroundings> {
        let (send, told) = mpsc::unbounded_channel();
        let ready = send.clone();
        let next = move || {
            let _ = ready.send(Told::Ready(Instant::now()));
            // There never is an event: being asked for one is all that is waited for.
            std::future::pending::<StatusCode>()
        };
        let failed = move |body: Bytes| {
            let _ = send.send(Told::Failed(String::from_utf8_lossy(&body).into_owned()));
            std::future::ready(StatusCode::ACCEPTED)
        };
        let runtime = Router::new()
            .route("/2018-06-01/runtime/invocation/next", get(next))
            .route("/2018-06-01/runtime/init/error", post(failed));
        let (runtime, serving_runtime) = serve(runtime).await?;
        let aws = Router::new().fallback(|headers: HeaderMap, body: Bytes| std::future::ready(aws(&headers, &body)));
        let (aws, serving_aws) = serve(aws).await?;
        let serving = [serving_runtime, serving_aws];
        Ok(Surroundings { told, runtime, aws, log: dir.join("said"), limit, serving })
    }

    /// Starts the program, and ends it once it is ready. Returns how long that took, or why it never was.
    ///
    /// # Errors
    ///
    /// What of this machine does not work.
    pub(super) async fn start(&mut self, program: &Path) -> anyhow::Result<Result<Duration, String>> {
        while self.told.try_recv().is_ok() {}
        let (began, mut child) = match self.spawn(program).await? {
            Ok(started) => started,
            Err(error) => {
                let why = "it cannot be run here; a zip for another processor is measured on a machine that has it";
                return Ok(Err(format!("{why} ({error})")));
            }
        };
        let outcome = tokio::select! {
            biased;
            told = self.told.recv() => match told {
                Some(Told::Ready(at)) => Ok(at.duration_since(began)),
                Some(Told::Failed(why)) => Err(format!("it says that it cannot start: {why}")),
                None => Err("nobody listens to it".to_owned()),
            },
            ended = child.wait() => Err(match ended {
                Ok(status) => format!("it ended before it was ready, {status}"),
                Err(error) => format!("it was lost: {error}"),
            }),
            () = tokio::time::sleep(self.limit) => {
                Err(format!("it was not ready within {} seconds", self.limit.as_secs_f64()))
            }
        };
        child.kill().await.context("a function cannot be ended")?;
        Ok(outcome.map_err(|why| self.with_words(why)))
    }

    /// The program's process and when it began; the inner error is the program's own.
    async fn spawn(&self, program: &Path) -> anyhow::Result<std::io::Result<(Instant, Child)>> {
        let mut tries = 0;
        loop {
            let words = File::create(&self.log).with_context(|| self.log.display().to_string())?;
            let mut command = Command::new(program);
            command
                .env_clear()
                .envs(SETTINGS)
                .env("AWS_ENDPOINT_URL", format!("http://{}", self.aws))
                .env("AWS_LAMBDA_RUNTIME_API", &self.runtime)
                .stdin(Stdio::null())
                .stdout(words.try_clone()?)
                .stderr(words)
                .kill_on_drop(true);
            let began = Instant::now();
            tries += 1;
            match command.spawn() {
                // A process that was forked while the program was being written holds it open until it runs its own.
                Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy && tries < BUSY_TRIES => {
                    tokio::time::sleep(BUSY_PAUSE).await;
                }
                spawned => return Ok(spawned.map(|child| (began, child))),
            }
        }
    }

    fn with_words(&self, why: String) -> String {
        let said = std::fs::read(&self.log).unwrap_or_default();
        let last = said.get(said.len().saturating_sub(SAID_BYTES)..).unwrap_or_default();
        let last = String::from_utf8_lossy(last);
        match last.trim() {
            "" => why,
            last => format!("{why}; it said:\n{last}"),
        }
    }
}

/// Serves on a free port of this machine until the task is ended.
async fn serve(router: Router) -> anyhow::Result<(String, JoinHandle<()>)> {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.context("no port on loopback")?;
    let address = listener.local_addr()?.to_string();
    let serving = tokio::spawn(async move {
        // It ends with the task.
        let _ = axum::serve(listener, router).await;
    });
    Ok((address, serving))
}

/// Secrets Manager with one version of every secret; everything else is not there.
fn aws(headers: &HeaderMap, body: &[u8]) -> (StatusCode, [(&'static str, &'static str); 1], String) {
    let asked = headers.get("x-amz-target").and_then(|target| target.to_str().ok());
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let stage = body.get("VersionStage").and_then(Value::as_str);
    let (status, answer) = match (asked, stage) {
        (Some("secretsmanager.GetSecretValue"), None | Some("AWSCURRENT")) => {
            (StatusCode::OK, json!({ "VersionId": "0aaaaaaa-1", "SecretString": SECRET, "CreatedDate": 1 }))
        }
        _ => (StatusCode::BAD_REQUEST, json!({ "__type": "ResourceNotFoundException", "message": "there is none" })),
    };
    (status, [("content-type", "application/x-amz-json-1.1")], answer.to_string())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The rest of a script for `bash` that asks for an event and waits for it.
    pub(in crate::bench::functions) const CALLS_FOR_AN_EVENT: &str = "\
exec 3<>\"/dev/tcp/${AWS_LAMBDA_RUNTIME_API/://}\"
printf 'GET /2018-06-01/runtime/invocation/next HTTP/1.1\\r\\nHost: runtime\\r\\n\\r\\n' >&3
read -r line <&3
";

    const LIMIT: Duration = Duration::from_secs(20);

    async fn outcome(script: &str, limit: Duration) -> Result<Duration, String> {
        let dir = tempfile::tempdir().expect("a folder");
        let program = dir.path().join("bootstrap");
        std::fs::write(&program, script).expect("written");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).expect("runnable");
        }
        let mut around = Surroundings::open(dir.path(), limit).await.expect("open");
        around.start(&program).await.expect("started")
    }

    #[tokio::test]
    async fn asking_for_an_event_is_being_ready() {
        let took = outcome(&format!("#!/bin/bash\n{CALLS_FOR_AN_EVENT}"), LIMIT).await.expect("ready");
        assert!(took > Duration::ZERO && took < LIMIT);
    }

    #[tokio::test]
    async fn it_is_told_what_it_needs_and_nothing_else() {
        let script = format!(
            "#!/bin/bash\nset -u\n: \"$PROCESSION_TABLE\" \"$PROCESSION_ISSUERS\" \"$AWS_REGION\" \"$AWS_ENDPOINT_URL\"\n\
             [ -z \"${{HOME-}}\" ] || exit 4\n{CALLS_FOR_AN_EVENT}"
        );
        outcome(&script, LIMIT).await.expect("ready");
    }

    #[tokio::test]
    async fn one_that_ends_is_said_with_its_words() {
        let why = outcome("#!/bin/bash\necho no table >&2\nexit 3\n", LIMIT).await.expect_err("it ends");
        assert!(why.contains("exit status: 3") && why.ends_with("it said:\nno table"), "{why}");
    }

    #[tokio::test]
    async fn one_that_says_that_it_cannot_start_is_believed() {
        let script = "#!/bin/bash
exec 3<>\"/dev/tcp/${AWS_LAMBDA_RUNTIME_API/://}\"
printf 'POST /2018-06-01/runtime/init/error HTTP/1.1\\r\\nHost: runtime\\r\\nContent-Length: 8\\r\\n\\r\\nno table' >&3
read -r line <&3
sleep 60
";
        let why = outcome(script, LIMIT).await.expect_err("it fails");
        assert!(why.contains("cannot start: no table"), "{why}");
    }

    #[tokio::test]
    async fn one_that_never_gets_ready_is_ended() {
        let began = Instant::now();
        let script = "#!/bin/bash\necho waiting\nexec sleep 600\n";
        let why = outcome(script, Duration::from_millis(500)).await.expect_err("it waits");
        assert!(why.contains("not ready within 0.5 seconds") && why.contains("waiting"), "{why}");
        assert!(began.elapsed() < LIMIT);
    }

    #[tokio::test]
    async fn one_of_another_processor_is_said() {
        let why = outcome("\u{7f}ELF no program of any processor", LIMIT).await.expect_err("it cannot be run");
        assert!(why.contains("it cannot be run here"), "{why}");
    }
}
