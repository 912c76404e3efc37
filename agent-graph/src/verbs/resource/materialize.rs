//! `agent-graph resource materialize`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use graph::documents::{FileLocation, FileLocationSchema};
use graph::{Failure, digest_bytes};

use crate::call::{Done, Global};
use crate::limits::{
    INPUT_BYTES, MATERIALIZER_ERROR_BYTES, MATERIALIZER_MILLISECONDS, MATERIALIZER_OUTPUT_BYTES,
    MOST_MATERIALIZER_BYTES, MOST_MATERIALIZER_MILLISECONDS,
};
use crate::materializer::{self, Given, Limits};
use crate::{files, values};

/// Makes a Resource that a `read` command or script of the Provider makes, and keeps it in a cache under its digest.
///
/// This runs the Provider's code. It gets a small environment, no input but AGENT_GRAPH_INPUT, and is killed with all that
/// it started when it is over a limit. Nothing is kept unless it ends well.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-graph resource materialize context.current --cache .cache --revision sha256:…
  agent-graph resource materialize context.current --cache .cache --revision sha256:… --input @input.json --timeout-ms 5000

Exit codes: 0 made; 1 not made, and why.")]
pub struct ResourceMaterialize {
    /// The Resource's id, or its path below the Provider root.
    resource: String,
    /// The folder that what was made is kept in.
    #[arg(long, value_name = "FOLDER")]
    cache: PathBuf,
    /// The revision of the Route that selected it.
    #[arg(long, value_name = "DIGEST")]
    revision: String,
    /// The workspace.
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    workspace: PathBuf,
    /// What the materializer finds in AGENT_GRAPH_INPUT; null unless said.
    #[arg(long, value_name = "JSON|@FILE", allow_negative_numbers = true)]
    input: Option<String>,
    /// How long it may take, in milliseconds.
    #[arg(long, value_name = "NUMBER", default_value_t = MATERIALIZER_MILLISECONDS.to_string())]
    timeout_ms: String,
    /// Most bytes that it may write to standard output.
    #[arg(long, value_name = "NUMBER", default_value_t = MATERIALIZER_OUTPUT_BYTES.to_string())]
    max_output_bytes: String,
    /// Most bytes that it may write to standard error.
    #[arg(long, value_name = "NUMBER", default_value_t = MATERIALIZER_ERROR_BYTES.to_string())]
    max_error_bytes: String,
}

impl ResourceMaterialize {
    /// Makes it.
    pub fn run(self, global: &Global) -> Done {
        let limits = self.limits()?;
        let revision = values::revision(&self.revision)?;
        let input = self.input.as_deref().map(|text| values::value("--input", text)).transpose()?.unwrap_or_default();
        let input = input.to_string();
        if input.len() > INPUT_BYTES {
            let message = format!("--input has {} bytes, over the limit of {INPUT_BYTES}", input.len());
            return Err(Failure::new("option-invalid", message));
        }
        let opened = global.open(Some(&self.workspace))?;
        let plan = materializer::plan(&opened, &self.resource, Given { revision, input: &input })?;
        let output = materializer::capture(&plan, limits)?;
        let digest = digest_bytes(&output);
        let location = FileLocation {
            schema: FileLocationSchema::V1,
            id: plan.resource.id,
            kind: plan.resource.kind,
            file_path: files::text(&keep(&self.cache, &digest, &plan.resource.media_type, &output)?),
            media_type: plan.resource.media_type,
            revision: Some(revision.to_owned()),
            digest,
            read_state: None,
        };
        global.tell(&location, |paint| {
            vec![format!("{} {}", paint.good("made"), location.file_path), paint.dim(&location.digest)]
        })
    }

    fn limits(&self) -> Result<Limits, Failure> {
        let time = values::number("--timeout-ms", &self.timeout_ms, MOST_MATERIALIZER_MILLISECONDS)?;
        Ok(Limits {
            time: Duration::from_millis(time),
            output_bytes: values::number("--max-output-bytes", &self.max_output_bytes, MOST_MATERIALIZER_BYTES)?,
            error_bytes: values::number("--max-error-bytes", &self.max_error_bytes, MOST_MATERIALIZER_BYTES)?,
        })
    }
}

/// Keeps what was made under its digest.
fn keep(cache: &Path, digest: &str, media_type: &str, bytes: &[u8]) -> Result<PathBuf, Failure> {
    let name = format!("{}.{}", digest.trim_start_matches("sha256:"), extension(media_type));
    let path = files::absolute(cache).join(name);
    // What has the same digest is the same, unless somebody spoiled it.
    if !std::fs::read(&path).is_ok_and(|there| there == bytes) {
        files::write_over(&path, bytes).map_err(|error| files::unwritten(&path, &error))?;
    }
    Ok(path)
}

/// The end of a file's name for a media type.
fn extension(media_type: &str) -> &'static str {
    let kind = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match kind.as_str() {
        "text/markdown" => "md",
        "text/html" => "html",
        "text/csv" => "csv",
        "application/yaml" | "text/yaml" | "application/x-yaml" => "yaml",
        kind if kind.ends_with("/json") || kind.ends_with("+json") => "json",
        kind if kind.ends_with("/xml") || kind.ends_with("+xml") => "xml",
        kind if kind.starts_with("text/") => "txt",
        _ => "bin",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_end_as_their_media_type_says() {
        for (media_type, end) in [
            ("application/json", "json"),
            ("application/schema+json; charset=utf-8", "json"),
            ("text/markdown", "md"),
            ("Text/Plain", "txt"),
            ("image/png", "bin"),
            ("", "bin"),
        ] {
            assert_eq!(extension(media_type), end, "{media_type}");
        }
    }
}
