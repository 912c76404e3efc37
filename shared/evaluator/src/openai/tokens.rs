//! The probability of yes, from the probabilities of tokens. Pure.
//!
//! The answer's field has the value `yes` or `no`. At the token where that value begins, the endpoint says how probable
//! the tokens were that could have stood there: those that begin a yes are weighed against those that begin a no.
//! Tokenizers differ: the value may share a token with the quote before it, or be cut into several; what begins it
//! counts. Invariant: a number from 0 to 1, or nothing when the probabilities do not tell.

use serde::Deserialize;
use serde_json::Value;

use crate::schema;

/// Most bytes of generated text, thinking included, in which the answer is looked for.
const GENERATED_BYTES: usize = 65_536;

/// The least that yes and no must weigh together, for the probabilities to be about them.
const WEIGHT: f64 = 0.5;

#[derive(Deserialize)]
struct Logprobs {
    content: Vec<Token>,
}

#[derive(Deserialize)]
struct Token {
    token: String,
    #[serde(default)]
    logprob: Option<f64>,
    /// Absent, or null for a token that is no text.
    #[serde(default)]
    bytes: Option<Vec<u8>>,
    #[serde(default)]
    top_logprobs: Option<Vec<Token>>,
}

impl Token {
    fn text(&self) -> &[u8] {
        self.bytes.as_deref().unwrap_or(self.token.as_bytes())
    }

    /// How probable it was.
    fn weight(&self) -> f64 {
        // Some servers write what is nearly certain as a little more than certain.
        self.logprob.map_or(0.0, |logprob| logprob.exp().clamp(0.0, 1.0))
    }
}

/// The probability of yes in the answer that reads `text`. `None` when there are no probabilities, in any other shape, or
/// when they are not about yes and no.
pub(super) fn yes(logprobs: &Value, text: &str) -> Option<f64> {
    let Logprobs { content: tokens } = Logprobs::deserialize(logprobs).ok()?;
    let generated: Vec<u8> = tokens.iter().flat_map(Token::text).copied().take(GENERATED_BYTES + 1).collect();
    if generated.len() > GENERATED_BYTES {
        return None;
    }
    // The answer is what was generated last.
    let start = generated.windows(text.len().max(1)).rposition(|part| part == text.as_bytes())?;
    let value = start + value_in(text)?;
    let mut end = 0;
    let token = tokens.iter().find(|token| {
        end += token.text().len();
        value < end
    })?;
    weigh(token)
}

/// Where the value of the answer's field begins. The text is known to be an object with that field, whose only text is
/// the value of it; one that spells the field with escapes is not found.
fn value_in(text: &str) -> Option<usize> {
    let key = format!("\"{}\"", schema::ANSWER);
    let after = text.find(&key)? + key.len();
    let rest = text.get(after..)?.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    Some(text.len() - rest.len())
}

/// Weighs yes against no among what could have stood in the place of a token.
fn weigh(token: &Token) -> Option<f64> {
    let others = token.top_logprobs.as_deref().unwrap_or_default();
    let sampled = Some(token).filter(|token| !others.iter().any(|other| other.text() == token.text()));
    let (mut yes, mut no, mut all) = (0.0, 0.0, 0.0);
    for alternative in others.iter().chain(sampled) {
        let weight = alternative.weight();
        all += weight;
        match begins(alternative.text()) {
            Some(true) => yes += weight,
            Some(false) => no += weight,
            None => {}
        }
    }
    if !(yes + no).is_finite() || yes + no < WEIGHT {
        return None;
    }
    // What is not listed could be all of the side that is not listed either: then the other is no surer than it was.
    let unlisted = (1.0 - all).clamp(0.0, 1.0);
    if yes == 0.0 {
        yes = unlisted;
    } else if no == 0.0 {
        no = unlisted;
    }
    Some((yes / (yes + no)).clamp(0.0, 1.0))
}

/// Whether a token begins a yes (true) or a no (false).
fn begins(text: &[u8]) -> Option<bool> {
    let lead = text.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'"' | b':')).count();
    let rest = text.get(lead..)?;
    let letters = rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let (word, after) = (rest.get(..letters)?.to_ascii_lowercase(), rest.get(letters..)?);
    for (whole, is_yes) in [(&b"yes"[..], true), (b"no", false)] {
        // A whole word may end its quote in the same token; a part of one goes on in the next token.
        let ended = after.is_empty() || (word.len() == whole.len() && after.starts_with(b"\""));
        if !word.is_empty() && whole.starts_with(&word) && ended {
            return Some(is_yes);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const YES: &str = r#"{"answer":"yes","probability_of_yes":0.6}"#;

    /// Probabilities where this token of the answer stood, beside certain ones.
    fn logprobs(before: &[&str], token: &str, tops: &[(&str, f64)], after: &[&str]) -> Value {
        let sure =
            |token: &&str| json!({ "token": token, "logprob": 0.0, "bytes": token.as_bytes(), "top_logprobs": [] });
        let tops: Vec<Value> = tops
            .iter()
            .map(|(token, p)| json!({ "token": token, "logprob": p.ln(), "bytes": token.as_bytes() }))
            .collect();
        let sampled =
            tops.iter().find(|top| top["token"] == token).map_or(json!(-9999.0), |top| top["logprob"].clone());
        let at = json!({ "token": token, "logprob": sampled, "bytes": token.as_bytes(), "top_logprobs": tops });
        let content: Vec<Value> = before.iter().map(sure).chain([at]).chain(after.iter().map(sure)).collect();
        json!({ "content": content, "refusal": null })
    }

    fn near(found: Option<f64>, expected: f64) {
        assert!(found.is_some_and(|found| (found - expected).abs() < 1e-9), "{found:?}, not {expected}");
    }

    #[test]
    fn yes_is_weighed_against_no_where_the_value_begins() {
        let rest = ["\",\"", "probability", "_of", "_yes", "\":", "0", ".", "6", "}"];
        let plain = logprobs(&["{\"", "answer", "\":\""], "yes", &[("yes", 0.8), ("no", 0.2)], &rest);
        near(yes(&plain, YES), 0.8);
        // The value shares a token with the quote, the colon, or what comes after it; letter case and blanks vary.
        let quoted =
            logprobs(&["{", "\"answer\"", ":"], "\"yes", &[("\"yes", 0.6), ("\"no", 0.2), (" \"No\"", 0.2)], &rest);
        near(yes(&quoted, YES), 0.6);
        let long =
            logprobs(&["{\"answer"], "\":\"yes\",\"", &[("\":\"yes\",\"", 0.3), ("\":\"no\",\"", 0.6)], &rest[1..]);
        near(yes(&long, YES), 1.0 / 3.0);
        let spaced = r#"{ "answer" : "yes", "probability_of_yes": 0.6 }"#;
        let tops = [("yes", 0.5), ("Yes", 0.1), ("NO", 0.2), ("maybe", 0.1), ("not", 0.1)];
        let spaced_out =
            logprobs(&["{ \"answer\" :", " \""], "yes", &tops, &["\", \"probability_of_yes\": 0.6 }", "<|end|>"]);
        near(yes(&spaced_out, spaced), 0.75);
    }

    #[test]
    fn a_value_that_is_cut_into_tokens_counts_by_its_beginning() {
        let rest = ["es", "\",\"probability_of_yes\":0.6}"];
        let cut = logprobs(&["{\"answer\":\""], "y", &[("y", 0.7), ("n", 0.1), ("no", 0.1), ("N/", 0.1)], &rest);
        near(yes(&cut, YES), 0.7 / 0.9);
        let cut = logprobs(&["{\"answer\":\""], "ye", &[("ye", 0.9), ("no", 0.1)], &["s", rest[1]]);
        near(yes(&cut, YES), 0.9);
    }

    #[test]
    fn a_side_that_is_not_listed_gets_what_is_not_listed() {
        let rest = ["\",\"probability_of_yes\":0.6}"];
        near(yes(&logprobs(&["{\"answer\":\""], "yes", &[("yes", 0.9)], &rest), YES), 0.9);
        near(yes(&logprobs(&["{\"answer\":\""], "yes", &[("yes", 0.6), ("maybe", 0.3)], &rest), YES), 0.6 / 0.7);
        let no = YES.replace("\"yes\"", "\"no\"");
        near(yes(&logprobs(&["{\"answer\":\""], "no", &[("no", 1.0)], &rest), &no), 0.0);
        // Only the sampled token, with no alternatives at all.
        let alone = json!({ "content": [
            { "token": "{\"answer\":\"", "logprob": 0 },
            { "token": "no", "logprob": 0.75_f64.ln(), "top_logprobs": null },
            { "token": rest[0], "logprob": 0 },
        ] });
        near(yes(&alone, &no), 0.25);
    }

    #[test]
    fn the_answer_is_found_after_thinking_and_within_a_fence() {
        let before = ["I think {\"answer\":\"no\"} … ", "</think>", "```json\n", "{\"answer\":\""];
        let found =
            logprobs(&before, "yes", &[("yes", 0.8), ("no", 0.2)], &["\",\"probability_of_yes\":0.6}", "\n```"]);
        near(yes(&found, YES), 0.8);
    }

    #[test]
    fn probabilities_that_do_not_tell_are_none() {
        let rest = ["\",\"probability_of_yes\":0.6}"];
        for (logprobs, why) in [
            (json!(null), "absent"),
            (json!({ "content": null }), "absent"),
            (json!({ "content": [] }), "empty"),
            (
                json!({ "tokens": ["yes"], "token_logprobs": [-0.1], "top_logprobs": [{ "yes": -0.1 }] }),
                "the older shape",
            ),
            (json!({ "content": [{ "token": "token_id:9891", "logprob": -0.1 }] }), "tokens that are no text"),
            (json!({ "content": [{ "token": YES, "logprob": "-0.1" }] }), "a text for a number"),
            (json!({ "content": [{ "token": YES, "logprob": -0.1, "bytes": [300] }] }), "no bytes"),
            (
                logprobs(&["{\"answer\":\""], "yes", &[("yes", 0.1), ("no", 0.1), ("the", 0.8)], &rest),
                "about something else",
            ),
            (logprobs(&["{\"answer\":\""], "yes", &[("no", f64::NAN)], &rest), "not numbers"),
            (logprobs(&[&"x".repeat(GENERATED_BYTES), "{\"answer\":\""], "yes", &[("yes", 1.0)], &rest), "too long"),
        ] {
            assert_eq!(yes(&logprobs, YES), None, "{why}");
        }
        let escaped = r#"{"\u0061nswer":"yes","probability_of_yes":0.6}"#;
        assert_eq!(yes(&json!({ "content": [{ "token": escaped, "logprob": 0 }] }), escaped), None);
    }

    #[test]
    fn only_a_beginning_counts() {
        for (token, is) in [
            ("yes", Some(true)),
            (" \"YES\"}", Some(true)),
            ("y", Some(true)),
            ("\":\"n", Some(false)),
            ("No\",", Some(false)),
            ("not", None),
            ("none", None),
            ("n/a", None),
            ("yesterday", None),
            ("yes.", None),
            ("\"", None),
            ("", None),
            ("ñ", None),
            ("0", None),
        ] {
            assert_eq!(begins(token.as_bytes()), is, "{token}");
        }
    }
}
