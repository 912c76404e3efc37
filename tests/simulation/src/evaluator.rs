//! Who answers checks, by seed: says yes, no, something between, nothing, or what is no answer to the question, at once or
//! after a while in which others act, sometimes longer than anybody waits. It tells the checker of everything that it is
//! asked, and for which call.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use process::{Question, QuestionKind};
use run::{Answer, Inquiry};
use store::{Clock, Evaluator};

use crate::World;
use crate::check::Making;
use crate::server::Life;

/// The name that verdicts must record.
pub const MODEL: &str = "oracle";

/// A thought that nobody waits for, in seconds.
const TOO_LONG_SECONDS: u64 = 60;

tokio::task_local! {
    /// The making of a call that a server is at work on, on behalf of which it asks.
    static MAKING: Making;
}

/// Does the work of a call, so that whoever is asked meanwhile knows for which.
pub async fn on_behalf<T>(making: Making, work: impl Future<Output = T>) -> T {
    MAKING.scope(making, work).await
}

/// The evaluator of one server.
pub struct Oracle {
    pub(crate) world: Arc<World>,
    pub(crate) life: Life,
    pub(crate) clock: Arc<dyn Clock>,
}

/// How an answer comes out.
#[derive(Debug, Clone, Copy)]
enum Mood {
    Content,
    Displeased,
    Torn,
    Whimsical,
    Silent,
    Late,
    Rambling,
}

impl Oracle {
    fn mood(&self) -> Mood {
        use Mood::{Content, Displeased, Late, Rambling, Silent, Torn, Whimsical};
        let moods = [Content, Content, Content, Displeased, Torn, Whimsical, Silent, Late, Rambling];
        // Every run must reach its end once faults stop, and even then nobody is sure to be content.
        let calm = [Content, Content, Content, Displeased, Torn, Silent];
        *self.world.pick(if self.world.stormy() { &moods } else { &calm }).unwrap()
    }

    async fn think(&self) {
        match self.world.below(4) {
            0 => tokio::task::yield_now().await,
            1 => self.world.sleep(20).await,
            _ => self.world.sleep(9_000).await,
        }
    }

    fn answer_to(&self, question: &Question, mood: Mood) -> Answer {
        let mood = match mood {
            Mood::Whimsical => *self.world.pick(&[Mood::Content, Mood::Displeased, Mood::Torn]).unwrap(),
            // Some other question may settle it.
            Mood::Displeased | Mood::Torn if self.world.chance(300) => Mood::Content,
            mood => mood,
        };
        let between = |low: u64, high: u64| {
            let parts = low + self.world.below(high - low + 1);
            // Sometimes more digits than are told.
            let beyond = if self.world.chance(300) && parts < 10_000 { 0.2 } else { 0.0 };
            (f64::from(u32::try_from(parts).unwrap()) + beyond) / 10_000.0
        };
        let sure = |mood| if matches!(mood, Mood::Torn) { between(0, 5_500) } else { between(7_500, 10_000) };
        match &question.kind {
            QuestionKind::YesNo { .. } => Answer::Yes(match mood {
                Mood::Content => between(9_000, 10_000),
                Mood::Displeased => between(0, 3_500),
                _ => between(2_500, 8_500),
            }),
            QuestionKind::Choice { one_of, pass, .. } => {
                let liked = |name: &str| pass.iter().any(|p| p == name) == matches!(mood, Mood::Content);
                let names: Vec<&str> = one_of.iter().map(|(name, _)| name.as_str()).filter(|n| liked(n)).collect();
                Answer::Name { name: (*self.world.pick(&names).unwrap()).to_owned(), confidence: sure(mood) }
            }
            QuestionKind::Rubric { levels, pass, .. } => {
                let below = if matches!(mood, Mood::Content) { levels.len() - pass } else { *pass };
                let from = if matches!(mood, Mood::Content) { *pass } else { 0 };
                let level = from + usize::try_from(self.world.below(below as u64)).unwrap();
                Answer::Level { level, confidence: sure(mood) }
            }
        }
    }

    /// What is not an answer to these questions.
    fn ramble(&self, questions: &[Question]) -> Vec<Answer> {
        let mut answers: Vec<Answer> = questions.iter().map(|q| self.answer_to(q, Mood::Content)).collect();
        let place = usize::try_from(self.world.below(answers.len() as u64)).unwrap();
        let wrong = match (self.world.below(4), &questions[place].kind) {
            (0, _) => {
                answers.pop();
                return answers;
            }
            (1, QuestionKind::YesNo { .. }) => Answer::Name { name: "yes".to_owned(), confidence: 1.0 },
            (_, QuestionKind::YesNo { .. }) => Answer::Yes(*self.world.pick(&[1.01, -0.01, f64::NAN]).unwrap()),
            (1, QuestionKind::Choice { .. }) => Answer::Name { name: "neither".to_owned(), confidence: 1.0 },
            (1, QuestionKind::Rubric { levels, .. }) => Answer::Level { level: levels.len(), confidence: 1.0 },
            _ => Answer::Yes(1.0),
        };
        answers[place] = wrong;
        answers
    }
}

#[async_trait]
impl Evaluator for Oracle {
    fn model(&self) -> &str {
        MODEL
    }

    async fn answer(&self, inquiry: &Inquiry) -> Result<Vec<Answer>, String> {
        let making = MAKING.try_with(Clone::clone).ok();
        let found = self.world.checker().asked(making.as_ref(), self.clock.now(), inquiry);
        found.into_iter().for_each(|what| self.world.violated(what));
        let mood = self.mood();
        self.world.note(|| format!("  server {} asks about {}: {mood:?}", self.life.server, inquiry.step));
        self.think().await;
        if self.world.strikes(&format!("server {} crashes while it asks", self.life.server), |f| f.crash) {
            self.life.end();
            std::future::pending::<()>().await;
        }
        match mood {
            Mood::Silent => Err("simulated: no answer".to_owned()),
            Mood::Late => {
                tokio::time::sleep(Duration::from_secs(TOO_LONG_SECONDS)).await;
                self.world.violated("somebody waited too long for an evaluator".to_owned());
                Err("simulated: too late".to_owned())
            }
            Mood::Rambling => Ok(self.ramble(&inquiry.questions)),
            mood => {
                let answers: Vec<Answer> = inquiry.questions.iter().map(|q| self.answer_to(q, mood)).collect();
                if let Some(making) = &making {
                    self.world.checker().told(making, &answers);
                }
                Ok(answers)
            }
        }
    }
}
