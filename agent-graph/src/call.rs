//! What every verb shares: the global options, the Provider they lead to, and how an answer is told.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use graph::disk::{Bound, Disk, bind};
use graph::documents::SkillBinding;
use graph::{Failure, Places, Provider};
use serde::Serialize;
use terminal::Paint;

use crate::{files, shell};

/// What a verb comes to: its exit code, or a refusal that changed nothing.
pub type Done = Result<ExitCode, Failure>;

/// How answers are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Human,
    /// One line of JSON, for programs.
    Json,
}

/// The options that every verb takes.
#[derive(Debug, Clone, Args)]
pub struct Global {
    /// The Provider's manifest, or the manifest.json of a bundle.
    #[arg(short, long, global = true, value_name = "PATH", default_value = "provider.yaml")]
    pub manifest: PathBuf,
    /// A SKILL.md: its binding names the Provider, the Graph and the entry.
    #[arg(long, global = true, value_name = "PATH")]
    pub skill: Option<PathBuf>,
    /// A file that says where Providers are, for Skills that name theirs by id.
    #[arg(long, global = true, value_name = "PATH")]
    pub registry: Option<PathBuf>,
    /// How answers and errors are told.
    #[arg(long, global = true, value_enum, default_value = "human")]
    pub format: Format,
}

/// A loaded Provider with its place on this machine.
#[derive(Debug)]
pub struct Opened {
    /// The Provider.
    pub provider: Provider,
    /// Its files.
    pub disk: Disk,
    /// How its paths and the workspace are told.
    pub places: Places,
    /// The Skill's binding, when a Skill led here.
    pub binding: Option<SkillBinding>,
}

impl Global {
    /// Loads the Provider that the options lead to.
    ///
    /// # Errors
    ///
    /// Whatever can be wrong with the binding or the Provider.
    pub fn open(&self, workspace: Option<&Path>) -> Result<Opened, Failure> {
        match &self.skill {
            Some(skill) => self.bound(skill, workspace),
            None => {
                let (disk, name) = Disk::of(&self.manifest).map_err(|failure| unnamed(failure, &self.manifest))?;
                let provider = graph::load(&disk, &name)?;
                let places = places(&disk, workspace);
                Ok(Opened { provider, disk, places, binding: None })
            }
        }
    }

    /// Loads the Provider that a Skill is bound to.
    ///
    /// # Errors
    ///
    /// Whatever can be wrong with the binding or the Provider.
    pub fn bound(&self, skill: &Path, workspace: Option<&Path>) -> Result<Opened, Failure> {
        let Bound { binding, provider, disk } = bind(skill, self.registry.as_deref())?;
        let places = places(&disk, workspace);
        Ok(Opened { provider, disk, places, binding: Some(binding) })
    }

    /// Tells an answer: one line of JSON, or the lines for people.
    pub fn tell(&self, answer: &impl Serialize, lines: impl FnOnce(Paint) -> Vec<String>) -> Done {
        match self.format {
            Format::Json => {
                let text = serde_json::to_string(answer)
                    .map_err(|error| Failure::new("unexpected-error", format!("the answer has no JSON: {error}")))?;
                terminal::say!("{text}");
            }
            Format::Human => {
                let paint = Paint::detect();
                for line in lines(paint) {
                    terminal::say!("{}", paint.line(&line));
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    /// A command line that goes on with the same Provider.
    pub fn command<'a>(&'a self, words: impl IntoIterator<Item = &'a str>) -> String {
        let mut line = "agent-graph".to_owned();
        for (option, path) in [("--skill", &self.skill), ("--registry", &self.registry)] {
            if let Some(path) = path {
                line.push_str(&format!(" {option} {}", shell::quote(&files::text(path))));
            }
        }
        if self.skill.is_none() && self.manifest != Path::new("provider.yaml") {
            line.push_str(&format!(" --manifest {}", shell::quote(&files::text(&self.manifest))));
        }
        format!("{line} {}", shell::line(words))
    }
}

/// A manifest that is not there, with the two ways to have one.
fn unnamed(failure: Failure, manifest: &Path) -> Failure {
    let inside = ["provider.yaml", "manifest.json"].map(|name| manifest.join(name));
    if let Some(inside) = inside.iter().find(|path| path.is_file()) {
        let message = format!("{} is a folder; name the manifest in it: {}", manifest.display(), inside.display());
        return Failure { message, ..failure };
    }
    let ways = "name a manifest with --manifest PATH, or make a Provider: agent-graph init --id company/name";
    Failure { message: format!("{}; {ways}", failure.message), ..failure }
}

/// How paths are told: whole ones, of this machine.
fn places(disk: &Disk, workspace: Option<&Path>) -> Places {
    Places {
        provider_root: files::text(disk.folder()),
        workspace: files::text(&files::absolute(workspace.unwrap_or(Path::new(".")))),
    }
}
