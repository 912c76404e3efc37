//! The threads that run the embedded table.
//!
//! SQLite lets one connection write while others read what was committed before. So one thread writes and a few read,
//! each with a connection of its own: writers never fight over a lock, readers do not wait for a writer's disk, and the
//! async runtime never waits for either. A read that starts after a write was answered sees that write.
//!
//! Durability: the database is in WAL mode with `synchronous = NORMAL`. Killing the process loses nothing that was
//! answered; a power loss may lose the last moments, and never leaves the file damaged.
//!
//! Invariants: the queues are bounded; dropping the engine ends its threads, and closes the database, before it returns.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use aws_smithy_types::body::SdkBody;
use dynoxide::Database;
use tokio::sync::oneshot;

use super::operation::{Answer, Operation};
use crate::LocalError;
use crate::folder::Folder;

/// Threads that read.
const READER_THREADS: usize = 2;
/// Most requests that wait for one thread.
const QUEUE_REQUESTS: usize = 1_024;

/// The embedded table's threads.
#[derive(Debug)]
pub(super) struct Engine {
    writer: Lane,
    readers: Vec<Lane>,
    turn: AtomicUsize,
    /// Held for as long as the database is open: fields are dropped in this order.
    _folder: Arc<Folder>,
}

impl Engine {
    /// Opens the database of this folder.
    pub(super) fn open(folder: Arc<Folder>) -> Result<Self, LocalError> {
        let path = folder.table();
        let writer = Lane::open(&path, "table-write")?;
        let readers = (0..READER_THREADS).map(|_| Lane::open(&path, "table-read")).collect::<Result<_, _>>()?;
        Ok(Self { writer, readers, turn: AtomicUsize::new(0), _folder: folder })
    }

    /// Hands a request to a thread; the answer comes through the channel.
    pub(super) fn submit(&self, operation: Operation, body: SdkBody) -> Result<oneshot::Receiver<Answer>, Answer> {
        let lane = if operation.reads() {
            let turn = self.turn.fetch_add(1, Ordering::Relaxed);
            self.readers.get(turn % READER_THREADS).unwrap_or(&self.writer)
        } else {
            &self.writer
        };
        let (answer, receiver) = oneshot::channel();
        lane.submit(Job { operation, body, answer })?;
        Ok(receiver)
    }
}

struct Job {
    operation: Operation,
    body: SdkBody,
    answer: oneshot::Sender<Answer>,
}

/// One thread with its connection and its queue.
#[derive(Debug)]
struct Lane {
    jobs: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Lane {
    fn open(path: &Path, name: &str) -> Result<Self, LocalError> {
        let fault = |why: String| LocalError::Database { path: path.to_owned(), why };
        let text = path.to_str().ok_or_else(|| fault("the folder's name is not UTF-8".into()))?;
        let database = Database::new(text).map_err(|error| fault(error.to_string()))?;
        // The engine's only door to SQLite's settings: it sets `synchronous = NORMAL` and the default cache sizes.
        database.disable_bulk_loading().map_err(|error| fault(error.to_string()))?;
        let (jobs, queue) = sync_channel(QUEUE_REQUESTS);
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || serve(&database, &queue))
            .map_err(|error| fault(error.to_string()))?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread) })
    }

    fn submit(&self, job: Job) -> Result<(), Answer> {
        let Some(jobs) = &self.jobs else {
            return Err(Answer::error(500, "InternalServerError", "the table is closed"));
        };
        jobs.try_send(job).map_err(|error| match error {
            TrySendError::Full(_) => {
                Answer::error(400, "ThrottlingException", "too many requests wait for the embedded table")
            }
            TrySendError::Disconnected(_) => Answer::error(500, "InternalServerError", "the table's thread has ended"),
        })
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has closed its connection as well.
            let _ = thread.join();
        }
    }
}

fn serve(database: &Database, queue: &Receiver<Job>) {
    while let Ok(job) = queue.recv() {
        let answer = match job.body.bytes() {
            Some(body) => job.operation.run(database, body),
            None => Answer::error(400, "ValidationException", "a streamed body"),
        };
        // The caller may have given up; what was written stays written.
        let _ = job.answer.send(answer);
    }
}
