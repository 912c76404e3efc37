//! A materializer as a process: run, read within limits, and killed with everything it started.
//!
//! It leads a process group of its own. The group is killed whole when the time is up, when too much was written, when the
//! command is interrupted, and when the materializer has ended. It is only reaped after that: until then nobody else can be
//! given its number, so nobody else is killed. What leaves the group and keeps the pipes open is not waited for.

use std::io::{ErrorKind, Read};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use graph::Failure;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::plan::Plan;
use crate::limits::{CHUNK_BYTES, CHUNKS, DRAIN_MILLISECONDS, TOLD_ERROR_BYTES};

/// What a materializer may use.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// How long it may take.
    pub time: Duration,
    /// Most bytes on standard output.
    pub output_bytes: u64,
    /// Most bytes on standard error.
    pub error_bytes: u64,
}

/// What is heard of a materializer.
enum Event {
    Output(Vec<u8>),
    Error(Vec<u8>),
    /// One of the two pipes is at its end.
    Closed,
    /// It ended; it is not reaped yet.
    Ended,
    /// The command is to stop.
    Interrupted(i32),
}

/// Why a materializer is not listened to any longer.
enum Stop {
    Ended,
    Timeout,
    OutputLimit,
    ErrorLimit,
    Interrupted(i32),
}

/// Runs a materializer and returns what it wrote to standard output.
///
/// An interruption (SIGINT, SIGTERM, SIGHUP) ends the whole command, after the group was killed.
///
/// # Errors
///
/// `materializer-failed`, `materializer-timeout`, `materializer-output-limit`, `materializer-error-limit`.
pub fn capture(plan: &Plan, limits: Limits) -> Result<Vec<u8>, Failure> {
    let failed = |message: String| Failure::new("materializer-failed", message);
    // From here on an interruption is an event: there is no moment in which it would leave a process behind.
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])
        .map_err(|error| failed(format!("interruptions cannot be watched for: {error}")))?;
    let handle = signals.handle();
    let mut child = spawn(plan).map_err(|error| failed(not_started(plan, &error)))?;
    let (sender, events) = sync_channel(CHUNKS);
    listen(&mut child, &sender);
    thread::spawn(move || {
        for signal in signals.forever() {
            if sender.send(Event::Interrupted(signal)).is_err() {
                return;
            }
        }
    });
    let (stop, output, error) = follow(&events, limits, || kill(&child));
    kill(&child);
    let status = child.wait();
    // Whoever still waits to be heard is not.
    drop(events);
    handle.close();
    match stop {
        Stop::Ended => match status {
            Ok(status) if status.success() => Ok(output),
            Ok(status) => Err(failed(unsuccessful(plan, status, &error))),
            Err(error) => Err(failed(format!("it is not known how Action {} ended: {error}", plan.action))),
        },
        Stop::Timeout => {
            let milliseconds = limits.time.as_millis();
            let message = format!("Action {} was stopped after its time limit of {milliseconds} ms", plan.action);
            Err(Failure::new("materializer-timeout", message))
        }
        Stop::OutputLimit => {
            let bytes = limits.output_bytes;
            let message =
                format!("Action {} was stopped: it wrote more than {bytes} bytes to standard output", plan.action);
            Err(Failure::new("materializer-output-limit", message))
        }
        Stop::ErrorLimit => {
            let bytes = limits.error_bytes;
            let message =
                format!("Action {} was stopped: it wrote more than {bytes} bytes to standard error", plan.action);
            Err(Failure::new("materializer-error-limit", message))
        }
        Stop::Interrupted(signal) => {
            // The caller sees the signal, as if nothing had been in between.
            let _ = signal_hook::low_level::emulate_default_handler(signal);
            Err(failed(format!("Action {} was interrupted", plan.action)))
        }
    }
}

fn spawn(plan: &Plan) -> std::io::Result<Child> {
    Command::new(plan.program)
        .args(&plan.arguments)
        .current_dir(&plan.folder)
        .env_clear()
        .envs(plan.environment.iter().map(|(name, value)| (*name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
}

/// Starts the threads that hear of the materializer.
fn listen(child: &mut Child, sender: &SyncSender<Event>) {
    if let Some(pipe) = child.stdout.take() {
        let sender = sender.clone();
        thread::spawn(move || read(pipe, &sender, Event::Output));
    }
    if let Some(pipe) = child.stderr.take() {
        let sender = sender.clone();
        thread::spawn(move || read(pipe, &sender, Event::Error));
    }
    let (pid, sender) = (pid(child), sender.clone());
    thread::spawn(move || {
        // Waits without reaping: the number stays taken, and with it that of the group.
        while let Some(pid) = pid {
            match waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
                Err(rustix::io::Errno::INTR) => {}
                _ => break,
            }
        }
        let _ = sender.send(Event::Ended);
    });
}

fn read(mut pipe: impl Read, sender: &SyncSender<Event>, event: fn(Vec<u8>) -> Event) {
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let read = match pipe.read(&mut chunk) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        let bytes = chunk.get(..read).unwrap_or_default().to_vec();
        if sender.send(event(bytes)).is_err() {
            return;
        }
    }
    let _ = sender.send(Event::Closed);
}

/// Listens until both pipes are at their end and the materializer is at its own, or until a limit.
fn follow(events: &Receiver<Event>, limits: Limits, kill: impl Fn()) -> (Stop, Vec<u8>, Vec<u8>) {
    let (mut output, mut error) = (Vec::new(), Vec::new());
    let (mut open, mut ended) = (2, false);
    let mut until = Instant::now().checked_add(limits.time);
    let stop = loop {
        let event = match until.map(|until| until.saturating_duration_since(Instant::now())) {
            Some(left) => events.recv_timeout(left),
            None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match event {
            Ok(Event::Output(bytes)) if over(&output, &bytes, limits.output_bytes) => break Stop::OutputLimit,
            Ok(Event::Error(bytes)) if over(&error, &bytes, limits.error_bytes) => break Stop::ErrorLimit,
            Ok(Event::Output(bytes)) => output.extend(bytes),
            Ok(Event::Error(bytes)) => error.extend(bytes),
            Ok(Event::Closed) => open -= 1,
            Ok(Event::Ended) => {
                ended = true;
                // What it started ends with it, and with that the pipes; what got away is listened to a little longer.
                kill();
                until = Instant::now().checked_add(Duration::from_millis(DRAIN_MILLISECONDS));
            }
            Ok(Event::Interrupted(signal)) => break Stop::Interrupted(signal),
            Err(_) if ended => break Stop::Ended,
            Err(_) => break Stop::Timeout,
        }
        if ended && open == 0 {
            break Stop::Ended;
        }
    };
    (stop, output, error)
}

fn over(so_far: &[u8], more: &[u8], limit: u64) -> bool {
    (so_far.len() as u64).saturating_add(more.len() as u64) > limit
}

fn pid(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

/// Kills the whole group. That there is none any more is what is wanted.
fn kill(child: &Child) {
    if let Some(pid) = pid(child) {
        let _ = kill_process_group(pid, Signal::KILL);
    }
}

fn not_started(plan: &Plan, error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => format!("Action {} needs `{}`, which is not on the PATH", plan.action, plan.program),
        ErrorKind::ArgumentListTooLong => format!("Action {} cannot be given so much input: {error}", plan.action),
        _ => format!("Action {} cannot be started: {error}", plan.action),
    }
}

fn unsuccessful(plan: &Plan, status: ExitStatus, error: &[u8]) -> String {
    let start = error.len().saturating_sub(TOLD_ERROR_BYTES);
    let told = String::from_utf8_lossy(error.get(start..).unwrap_or_default()).trim().to_owned();
    let told = if told.is_empty() { String::new() } else { format!(": {told}") };
    format!("Action {} ended with {status}{told}", plan.action)
}
