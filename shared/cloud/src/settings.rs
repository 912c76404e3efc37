//! What a function is told by its environment.
//!
//! Invariants: read through a lookup, so that nothing here knows where variables live; every problem is reported at once
//! and names its variable; no variable holds a secret.

use serde::de::DeserializeOwned;

/// How long a claim lasts when nothing else is said, in seconds.
pub const LEASE_SECONDS: u64 = 600;

/// Longest lease that may be set, in seconds.
pub const MOST_LEASE_SECONDS: u64 = 7 * 24 * 60 * 60;

/// Most bytes of one upload, and the most that may be set: in base64 and with its envelope it is near the 6 MB that a
/// function URL takes.
pub const UPLOAD_BYTES: usize = 4 * 1024 * 1024;

/// The group that escalations are assigned to when nothing else is said.
pub const OPERATORS_GROUP: &str = "operators";

/// What a function is told. Each field names its variable.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// `PROCESSION_TABLE`: the DynamoDB table.
    pub table: String,
    /// `PROCESSION_BUCKET`: the S3 bucket of evidence.
    pub bucket: String,
    /// `PROCESSION_SECRET`: name or ARN of the secret that claim tokens are sealed with.
    pub secret: String,
    /// `PROCESSION_SCHEDULE_GROUP`: the group that schedules are made in.
    pub schedule_group: String,
    /// `PROCESSION_SCHEDULE_ROLE`: ARN of the role by which schedules call the timer.
    pub schedule_role: String,
    /// `PROCESSION_TIMER`: ARN of the function that schedules call.
    pub timer: String,
    /// `PROCESSION_DEAD_LETTERS`: ARN of the queue for calls that never arrived.
    pub dead_letters: String,
    /// `PROCESSION_BUS`: name or ARN of the event bus of notices; without one, none leave.
    pub bus: Option<String>,
    /// `PROCESSION_ISSUERS`: the issuers whose tokens are taken, as JSON.
    pub issuers: identity::Config,
    /// `PROCESSION_URL`: the endpoint's one address; without one, the secret says it.
    pub url: Option<String>,
    /// `PROCESSION_OPERATORS_GROUP`: the group that escalations are assigned to; [`OPERATORS_GROUP`] by default.
    pub operators_group: String,
    /// `PROCESSION_LEASE_SECONDS`: how long a claim lasts; [`LEASE_SECONDS`] by default.
    pub lease_seconds: u64,
    /// `PROCESSION_UPLOAD_BYTES`: most bytes of one upload; [`UPLOAD_BYTES`] by default and at most.
    pub upload_bytes: usize,
    /// `PROCESSION_EVALUATOR`: who answers the questions of checks, as JSON; without it, processes with checks are refused.
    pub evaluator: Option<evaluator::Config>,
    /// `PROCESSION_EVALUATOR_SECRET`: name or ARN of the secret whose text is the evaluator's key.
    pub evaluator_secret: Option<String>,
    /// `AWS_REGION`, which Lambda sets.
    pub region: String,
    /// `AWS_ENDPOINT_URL`: another address than AWS's own.
    pub endpoint: Option<String>,
}

/// Everything that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.join("\n"))]
pub struct Problems(pub Vec<String>);

impl Settings {
    /// Reads and checks every variable. One that is blank counts as not set.
    ///
    /// # Errors
    ///
    /// Every problem, each naming its variable and what to do.
    pub fn read(lookup: impl Fn(&str) -> Option<String>) -> Result<Settings, Problems> {
        let mut reader = Reader { lookup, problems: Vec::new() };
        let settings = Settings {
            table: reader.needed("PROCESSION_TABLE", "the name of the DynamoDB table", is_table),
            bucket: reader.needed("PROCESSION_BUCKET", "the name of the S3 bucket", is_bucket),
            secret: reader.needed("PROCESSION_SECRET", "the name or ARN of the secret", is_word),
            schedule_group: reader.needed("PROCESSION_SCHEDULE_GROUP", "the name of the schedule group", is_group),
            schedule_role: reader.needed("PROCESSION_SCHEDULE_ROLE", "the ARN of an IAM role", |v| is_arn(v, "iam")),
            timer: reader.needed("PROCESSION_TIMER", "the ARN of the timer function", |v| is_arn(v, "lambda")),
            dead_letters: reader.needed("PROCESSION_DEAD_LETTERS", "the ARN of an SQS queue", |v| is_arn(v, "sqs")),
            bus: reader.checked("PROCESSION_BUS", "the name or ARN of an event bus", is_word),
            issuers: reader.issuers(),
            url: reader.checked("PROCESSION_URL", "a URL without query, such as https://p.example/mcp", is_url),
            operators_group: reader.text("PROCESSION_OPERATORS_GROUP").unwrap_or_else(|| OPERATORS_GROUP.to_owned()),
            lease_seconds: reader.number("PROCESSION_LEASE_SECONDS", LEASE_SECONDS, MOST_LEASE_SECONDS),
            upload_bytes: reader.upload_bytes(),
            evaluator: reader.evaluator(),
            evaluator_secret: reader.checked("PROCESSION_EVALUATOR_SECRET", "the name or ARN of a secret", is_word),
            region: reader.needed("AWS_REGION", "an AWS region, such as eu-central-1", is_region),
            endpoint: reader.checked("AWS_ENDPOINT_URL", "an http or https URL", is_http),
        };
        if settings.evaluator.is_none()
            && settings.evaluator_secret.is_some()
            && reader.text("PROCESSION_EVALUATOR").is_none()
        {
            let problem = "PROCESSION_EVALUATOR_SECRET: is set, and PROCESSION_EVALUATOR is not; set both or neither";
            reader.problems.push(problem.to_owned());
        }
        if reader.problems.is_empty() { Ok(settings) } else { Err(Problems(reader.problems)) }
    }
}

impl Settings {
    /// The same for a function that never asks an evaluator, and so may not be let near its key.
    #[must_use]
    pub fn without_evaluator(self) -> Settings {
        Settings { evaluator: None, evaluator_secret: None, ..self }
    }
}

/// Reads variables and collects what is wrong with them.
struct Reader<F> {
    lookup: F,
    problems: Vec<String>,
}

impl<F: Fn(&str) -> Option<String>> Reader<F> {
    fn text(&self, name: &str) -> Option<String> {
        (self.lookup)(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    fn checked(&mut self, name: &str, what: &str, is: impl Fn(&str) -> bool) -> Option<String> {
        let value = self.text(name)?;
        if !is(&value) {
            // Where the name of a secret belongs, somebody may have put the secret itself.
            let shown = if name.ends_with("_SECRET") { "the value".to_owned() } else { format!("`{value}`") };
            self.problems.push(format!("{name}: {shown} is not {what}"));
        }
        Some(value)
    }

    fn needed(&mut self, name: &str, what: &str, is: impl Fn(&str) -> bool) -> String {
        self.checked(name, what, is).unwrap_or_else(|| {
            self.problems.push(format!("{name}: is not set; give {what}"));
            String::new()
        })
    }

    fn number(&mut self, name: &str, otherwise: u64, most: u64) -> u64 {
        let Some(text) = self.text(name) else { return otherwise };
        match text.parse::<u64>() {
            Ok(number) if (1..=most).contains(&number) => number,
            _ => {
                self.problems.push(format!("{name}: `{text}` is not a whole number from 1 to {most}"));
                otherwise
            }
        }
    }

    fn upload_bytes(&mut self) -> usize {
        let most = u64::try_from(UPLOAD_BYTES).unwrap_or(u64::MAX);
        usize::try_from(self.number("PROCESSION_UPLOAD_BYTES", most, most)).unwrap_or(UPLOAD_BYTES)
    }

    fn issuers(&mut self) -> identity::Config {
        const NAME: &str = "PROCESSION_ISSUERS";
        let none = identity::Config { issuers: Vec::new() };
        let Some(text) = self.text(NAME) else {
            self.problems.push(format!("{NAME}: is not set; give the issuers whose tokens are taken, as JSON"));
            return none;
        };
        identity::Config::from_json(&text).unwrap_or_else(|problems| {
            self.problems.extend(problems.into_iter().map(|problem| format!("{NAME}: {problem}")));
            none
        })
    }

    fn evaluator(&mut self) -> Option<evaluator::Config> {
        const NAME: &str = "PROCESSION_EVALUATOR";
        let config: evaluator::Config = self.json(NAME)?;
        if let Err(evaluator::Problems(problems)) = config.check() {
            self.problems.extend(problems.into_iter().map(|problem| format!("{NAME}: {problem}")));
        }
        Some(config)
    }

    fn json<T: DeserializeOwned>(&mut self, name: &str) -> Option<T> {
        let read = serde_json::from_str(&self.text(name)?);
        read.map_err(|error| self.problems.push(format!("{name}: cannot be read as JSON of its kind: {error}"))).ok()
    }
}

fn is_name(text: &str, lengths: std::ops::RangeInclusive<usize>, also: &str) -> bool {
    lengths.contains(&text.len()) && text.chars().all(|c| c.is_ascii_alphanumeric() || also.contains(c))
}

fn is_table(text: &str) -> bool {
    is_name(text, 3..=255, "_.-")
}

fn is_bucket(text: &str) -> bool {
    is_name(text, 3..=63, ".-")
}

fn is_group(text: &str) -> bool {
    is_name(text, 1..=64, "_.-")
}

fn is_region(text: &str) -> bool {
    is_name(text, 1..=32, "-")
}

/// A name or an ARN.
fn is_word(text: &str) -> bool {
    is_name(text, 1..=512, "/_+=.@-:!")
}

fn is_arn(text: &str, service: &str) -> bool {
    let mut parts = text.splitn(6, ':');
    let (arn, partition, of) = (parts.next(), parts.next(), parts.next());
    let named = parts.nth(2).is_some_and(|name| !name.is_empty());
    arn == Some("arn")
        && partition.is_some_and(|p| p.starts_with("aws"))
        && of == Some(service)
        && named
        && is_word(text)
}

fn is_url(text: &str) -> bool {
    is_http(text) && !text.contains(['?', '#', '@'])
}

fn is_http(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, rest)| {
        matches!(scheme, "http" | "https")
            && !rest.starts_with('/')
            && !rest.is_empty()
            && rest.chars().all(|c| c.is_ascii_graphic())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    const ISSUERS: &str = r#"{"issuers":[{"issuer":"https://id.example","audiences":["procession"]}]}"#;

    /// The least that a function must be told.
    fn least() -> BTreeMap<&'static str, String> {
        [
            ("PROCESSION_TABLE", "procession-table"),
            ("PROCESSION_BUCKET", "procession-evidence"),
            ("PROCESSION_SECRET", "procession-claims"),
            ("PROCESSION_SCHEDULE_GROUP", "procession"),
            ("PROCESSION_SCHEDULE_ROLE", "arn:aws:iam::123456789012:role/procession-schedules"),
            ("PROCESSION_TIMER", "arn:aws:lambda:eu-central-1:123456789012:function:procession-timer"),
            ("PROCESSION_DEAD_LETTERS", "arn:aws:sqs:eu-central-1:123456789012:procession-dead"),
            ("PROCESSION_ISSUERS", ISSUERS),
            ("AWS_REGION", "eu-central-1"),
        ]
        .map(|(name, value)| (name, value.to_owned()))
        .into()
    }

    fn read(variables: &BTreeMap<&'static str, String>) -> Result<Settings, Problems> {
        Settings::read(|name| variables.get(name).cloned())
    }

    #[test]
    fn the_least_has_every_default() {
        let settings = read(&least()).expect("settings");
        assert_eq!((settings.lease_seconds, settings.upload_bytes), (600, 4_194_304));
        assert_eq!(settings.operators_group, "operators");
        let none = [&settings.bus, &settings.url, &settings.evaluator_secret, &settings.endpoint];
        assert_eq!(none, [&None; 4]);
        assert_eq!((settings.evaluator, settings.issuers.issuers.len()), (None, 1));
    }

    #[test]
    fn everything_can_be_said_and_blank_says_nothing() {
        let mut all = least();
        for (name, value) in [
            ("PROCESSION_BUS", "arn:aws:events:eu-central-1:123456789012:event-bus/p"),
            ("PROCESSION_URL", "https://p.example/mcp"),
            ("PROCESSION_OPERATORS_GROUP", "on-call"),
            ("PROCESSION_LEASE_SECONDS", " 60 "),
            ("PROCESSION_UPLOAD_BYTES", "1024"),
            ("PROCESSION_EVALUATOR", r#"{"kind":"bedrock","model":"m"}"#),
            ("PROCESSION_EVALUATOR_SECRET", "evaluator-key"),
            ("AWS_ENDPOINT_URL", "http://127.0.0.1:4566"),
        ] {
            all.insert(name, value.to_owned());
        }
        let settings = read(&all).expect("settings");
        assert_eq!((settings.lease_seconds, settings.upload_bytes), (60, 1_024));
        assert_eq!(settings.operators_group, "on-call");
        assert_eq!(settings.url.as_deref(), Some("https://p.example/mcp"));
        assert_eq!(settings.evaluator.map(|e| e.model).as_deref(), Some("m"));
        assert_eq!(settings.evaluator_secret.as_deref(), Some("evaluator-key"));
        assert_eq!(settings.endpoint.as_deref(), Some("http://127.0.0.1:4566"));
        assert!(settings.bus.is_some());
        for (name, value) in all.iter_mut().filter(|(name, _)| !least().contains_key(*name)) {
            *value = if *name == "PROCESSION_BUS" { String::new() } else { " ".to_owned() };
        }
        assert_eq!(read(&all), read(&least()));
    }

    #[test]
    fn all_that_is_missing_is_said_at_once() {
        let Problems(problems) = Settings::read(|_| None).expect_err("refused");
        let mut names: Vec<&str> = problems.iter().filter_map(|p| p.split(':').next()).collect();
        names.sort_unstable();
        let needed: Vec<&str> = least().into_keys().collect();
        assert_eq!(
            {
                let mut needed = needed;
                needed.sort_unstable();
                needed
            },
            names
        );
        assert!(problems.iter().all(|p| p.contains("is not set; give ")), "{problems:#?}");
    }

    #[test]
    fn all_that_is_wrong_is_said_at_once() {
        let wrong = [
            ("PROCESSION_TABLE", "a b"),
            ("PROCESSION_BUCKET", "s3://bucket"),
            ("PROCESSION_SECRET", "a secret"),
            ("PROCESSION_SCHEDULE_GROUP", "group/name"),
            ("PROCESSION_SCHEDULE_ROLE", "procession-schedules"),
            ("PROCESSION_TIMER", "arn:aws:iam::123456789012:role/procession-schedules"),
            ("PROCESSION_DEAD_LETTERS", "arn:aws:sqs:eu-central-1:123456789012:"),
            ("PROCESSION_BUS", "a bus"),
            ("PROCESSION_ISSUERS", r#"{"issuers":[]}"#),
            ("PROCESSION_URL", "p.example/mcp"),
            ("PROCESSION_LEASE_SECONDS", "0"),
            ("PROCESSION_UPLOAD_BYTES", "4194305"),
            ("PROCESSION_EVALUATOR", r#"{"kind":"bedrock","model":""}"#),
            ("PROCESSION_EVALUATOR_SECRET", "a secret"),
            ("AWS_REGION", "eu central"),
            ("AWS_ENDPOINT_URL", "localhost:4566"),
        ];
        let variables: BTreeMap<_, _> = wrong.map(|(name, value)| (name, value.to_owned())).into();
        let Problems(problems) = read(&variables).expect_err("refused");
        assert_eq!(problems.len(), wrong.len(), "{problems:#?}");
        assert!(!problems.join("\n").contains("a secret`"), "{problems:#?}");
        for ((name, _), problem) in wrong.iter().zip(&problems) {
            assert!(problem.starts_with(&format!("{name}: ")), "{name}: {problem}");
        }
    }

    #[test]
    fn json_that_cannot_be_read_is_said_beside_the_rest() {
        let mut variables = least();
        variables.insert("PROCESSION_ISSUERS", "issuers".into());
        variables.insert("PROCESSION_EVALUATOR", r#"{"kind":"oracle"}"#.into());
        variables.insert("PROCESSION_LEASE_SECONDS", "ten".into());
        let Problems(problems) = read(&variables).expect_err("refused");
        assert_eq!(problems.len(), 3, "{problems:#?}");
    }

    #[test]
    fn a_key_without_an_evaluator_is_a_mistake() {
        let mut variables = least();
        variables.insert("PROCESSION_EVALUATOR_SECRET", "key".into());
        let Problems(problems) = read(&variables).expect_err("refused");
        assert_eq!(problems.len(), 1);
        assert!(problems[0].contains("set both or neither"), "{problems:?}");
    }
}
