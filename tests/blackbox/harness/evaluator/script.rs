//! What a scenario wants answered, and what it finds out afterwards.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;

use crate::harness::{eventually, fresh};

/// Longest that an answer is held back, in seconds: longer than any server waits for it.
const HOLD_SECONDS: u64 = 60;

/// What goes wrong with one answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// This status, with a message that repeats the key and the whole prompt, as careless services do.
    Status(u16),
    /// An answer in words that answer nothing.
    Prose,
    /// A body that is not what the protocol says.
    Garbage,
    /// The model declines.
    Refusal,
    /// An answer that the question does not have.
    Stranger,
}

/// One request that the endpoint had.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The request's body as it came.
    pub raw: String,
    /// All that the model is to read.
    pub prompt: String,
    /// The same without the submission.
    pub around: String,
    /// The submission.
    pub submission: Value,
}

/// What the evaluator is to answer about the submissions of one scenario, and what it was asked about them.
pub struct Script {
    id: String,
    marks: String,
    known: Arc<Known>,
}

/// What is known of a script on both sides: the scenario's and the endpoint's.
pub(super) struct Known {
    asked: Mutex<Vec<Asked>>,
    troubles: Mutex<VecDeque<Trouble>>,
    held: watch::Sender<bool>,
}

/// Whose request is whose, by the script's mark.
static SCRIPTS: LazyLock<Mutex<HashMap<String, Arc<Known>>>> = LazyLock::new(Mutex::default);

impl Script {
    /// The best answer to everything.
    pub fn new() -> Script {
        let known =
            Arc::new(Known { asked: Mutex::default(), troubles: Mutex::default(), held: watch::Sender::new(false) });
        let id = fresh().get(..12).unwrap().to_owned();
        SCRIPTS.lock().unwrap().insert(id.clone(), known.clone());
        Script { marks: format!("[[id={id}]]"), id, known }
    }

    /// To yes/no questions: yes, with this probability.
    pub fn yes(self, p: f64) -> Script {
        self.mark(&format!("p={p}"))
    }

    /// To choices: this name.
    pub fn name(self, name: &str, confidence: f64) -> Script {
        self.mark(&format!("name={name}:{confidence}"))
    }

    /// To rubrics: this level.
    pub fn level(self, level: usize, confidence: f64) -> Script {
        self.mark(&format!("level={level}:{confidence}"))
    }

    /// To the yes/no question that has this text in it.
    pub fn yes_to(self, question: &str, p: f64) -> Script {
        self.mark(&format!("{question}|p={p}"))
    }

    /// Without the probabilities of tokens.
    pub fn without_logprobs(self) -> Script {
        self.mark("no-logprobs")
    }

    fn mark(mut self, mark: &str) -> Script {
        self.marks.push_str(&format!(" [[{mark}]]"));
        self
    }

    /// A summary that carries all of it.
    pub fn summary(&self) -> String {
        format!("Done as asked. {}", self.marks)
    }

    /// Spoils the next answers, one each.
    pub fn spoil(&self, troubles: &[Trouble]) {
        self.known.troubles.lock().unwrap().extend(troubles);
    }

    /// Holds answers back until [`Script::release`].
    pub fn hold(&self) {
        self.known.held.send_replace(true);
    }

    /// Lets held answers go.
    pub fn release(&self) {
        self.known.held.send_replace(false);
    }

    /// How many requests there were.
    pub fn asked(&self) -> usize {
        self.known.asked.lock().unwrap().len()
    }

    /// The requests, in the order they came.
    pub fn requests(&self) -> Vec<Asked> {
        self.known.asked.lock().unwrap().clone()
    }

    /// Returns once there were so many requests.
    #[track_caller]
    pub fn wait_asked(&self, count: usize) {
        eventually("the evaluator is asked", || (self.asked() >= count).then_some(()));
    }

    /// The text that no other submission has in it.
    pub fn id(&self) -> &str {
        &self.id
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        self.release();
    }
}

impl Known {
    /// The script whose mark is among these.
    pub fn of(marks: &[String]) -> Option<Arc<Known>> {
        let id = marks.iter().find_map(|m| m.strip_prefix("id="))?;
        SCRIPTS.lock().unwrap().get(id).cloned()
    }

    /// Notes a request, keeps its answer back while it is held, and says what is to go wrong with it.
    pub async fn note(&self, asked: Asked) -> Option<Trouble> {
        self.asked.lock().unwrap().push(asked);
        let trouble = self.troubles.lock().unwrap().pop_front();
        let mut held = self.held.subscribe();
        let released = held.wait_for(|held| !held);
        let _ = tokio::time::timeout(Duration::from_secs(HOLD_SECONDS), released).await;
        trouble
    }
}
