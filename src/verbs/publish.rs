//! `procession publish`: PROCESS.md files become versions on a server.
//!
//! Invariants: every file and every binding is checked here before anything is sent; every file is a draft on the server
//! before the first one is published; a write whose answer was lost is repeated with its own `requestId`; and a process
//! whose latest version is already this one is left as it is, so repeating the whole command is safe.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, anyhow, bail};
use clap::Args;
use process::Document;
use serde_json::{Value, json};
use terminal::{Paint, clean};

use super::{connect, read_file};
use crate::client::{Client, Failure, arguments, at, request_id};

/// Publishes PROCESS.md files on a server: imports them as drafts, binds their roles to groups, publishes.
///
/// Nothing is sent when any file cannot be run or any role is not bound. A process whose latest version is already this
/// one, with the same groups, is left as it is.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  procession publish examples/trial-followup --url http://127.0.0.1:8484/mcp --token \"$TOKEN\"
  procession publish examples/supplier-onboarding --bind finance=g_finance
      with PROCESSION_URL and PROCESSION_TOKEN set; the token needs the operator right:
      export PROCESSION_TOKEN=$(procession token --kind person --subject me@example.com --operator)

Exit codes: 0 published, or already there; 1 a file, a binding or the server is not right; 2 a wrong command line.")]
pub struct Publish {
    /// PROCESS.md files, or the folders that hold them.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// The server's endpoint, such as https://processes.example/mcp.
    #[arg(long, env = "PROCESSION_URL", default_value = "http://127.0.0.1:8484/mcp")]
    url: String,
    /// A bearer token with the operator right.
    #[arg(long, env = "PROCESSION_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// The group that stands behind a role. Repeat it for every role.
    #[arg(long = "bind", value_name = "ROLE=GROUP", value_parser = binding)]
    bindings: Vec<(String, String)>,
}

/// Most files that one command publishes.
const FILES: usize = 100;

/// A file that can be published.
struct Ready {
    file: PathBuf,
    source: String,
    folder: Option<String>,
    document: Document,
    hash: String,
    roles: BTreeMap<String, String>,
}

impl Publish {
    /// Publishes every path.
    pub async fn run(self) -> anyhow::Result<ExitCode> {
        let bindings = bindings(&self.bindings)?;
        let ready = check(&self.paths, &bindings)?;
        let client = connect(&self.url, self.token.as_deref()).await?;
        let done = publish_all(&client, &ready).await;
        client.close().await;
        done.map(|()| ExitCode::SUCCESS)
    }
}

/// Reads `ROLE=GROUP`.
fn binding(text: &str) -> Result<(String, String), String> {
    match text.split_once('=').map(|(role, group)| (role.trim(), group.trim())) {
        Some((role, group)) if !role.is_empty() && !group.is_empty() => Ok((role.to_owned(), group.to_owned())),
        _ => Err("write it as ROLE=GROUP, such as finance=g_finance".to_owned()),
    }
}

/// One group for every role.
fn bindings(given: &[(String, String)]) -> anyhow::Result<BTreeMap<String, String>> {
    let mut bindings = BTreeMap::new();
    for (role, group) in given {
        if let Some(other) = bindings.insert(role.clone(), group.clone())
            && other != *group
        {
            bail!("the role `{role}` is bound to `{other}` and to `{group}`; bind it once");
        }
    }
    Ok(bindings)
}

/// Reads and checks everything, and says everything that is wrong.
fn check(paths: &[PathBuf], bindings: &BTreeMap<String, String>) -> anyhow::Result<Vec<Ready>> {
    if paths.len() > FILES {
        bail!("{} paths are too many at once; give at most {FILES}", paths.len());
    }
    let (mut faults, mut ready) = (Vec::new(), Vec::<Ready>::new());
    for path in paths {
        match read(path, bindings) {
            Ok(file) => match ready.iter().find(|r| r.document.name == file.document.name) {
                Some(twin) => faults.push(format!(
                    "{}: is the process `{}`, and so is {}; give one of them",
                    file.file.display(),
                    file.document.name,
                    twin.file.display()
                )),
                None => ready.push(file),
            },
            Err(error) => faults.push(format!("{error:#}")),
        }
    }
    // A file that cannot be read may have any role, so bindings are judged when all can be.
    if faults.is_empty() {
        faults.extend(unbound(&ready));
        faults.extend(unknown(&ready, bindings));
    }
    if faults.is_empty() { Ok(ready) } else { Err(anyhow!("nothing was sent.\n{}", faults.join("\n"))) }
}

fn read(path: &Path, bindings: &BTreeMap<String, String>) -> anyhow::Result<Ready> {
    let (file, bytes, folder) = read_file(path)?;
    let reading = match &folder {
        Some(folder) => process::read_in_folder(&bytes, folder),
        None => process::read(&bytes),
    };
    let Some(document) = reading.document else {
        let problems: Vec<String> = reading.problems.iter().map(|p| format!("{}:{p}", file.display())).collect();
        bail!("{}", problems.join("\n"));
    };
    let source = String::from_utf8(bytes).with_context(|| format!("{}: is not UTF-8", file.display()))?;
    let named = |role: &&str| bindings.get(*role).map(|group| ((*role).to_owned(), group.clone()));
    let roles = document.roles().iter().filter_map(named).collect();
    Ok(Ready { file, source, folder, hash: process::content_hash(&document), roles, document })
}

fn unbound(ready: &[Ready]) -> Vec<String> {
    let mut faults = Vec::new();
    for file in ready {
        let missing: Vec<&str> = file.document.roles().into_iter().filter(|r| !file.roles.contains_key(*r)).collect();
        if missing.is_empty() {
            continue;
        }
        let names: Vec<String> = missing.iter().map(|role| format!("`{role}`")).collect();
        let flags: Vec<String> = missing.iter().map(|role| format!("--bind {role}=GROUP")).collect();
        faults.push(format!(
            "{}: no group is bound to {}; add {} with the id of the group that takes this part",
            file.file.display(),
            names.join(", "),
            flags.join(" ")
        ));
    }
    faults
}

fn unknown(ready: &[Ready], bindings: &BTreeMap<String, String>) -> Vec<String> {
    let mut there: Vec<&str> = ready.iter().flat_map(|file| file.document.roles()).collect();
    there.sort_unstable();
    there.dedup();
    let there_are = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
    let strange = bindings.iter().filter(|(role, _)| !there.contains(&role.as_str()));
    strange
        .map(|(role, group)| {
            format!("--bind {role}={group}: no process given here has this role; the roles there are: {there_are}")
        })
        .collect()
}

async fn publish_all(client: &Client, ready: &[Ready]) -> anyhow::Result<()> {
    let paint = Paint::detect();
    let mut waiting = Vec::new();
    for file in ready {
        let name = &file.document.name;
        show(file, paint);
        match published(client, file).await? {
            Some(version) => {
                terminal::say!("  {}", paint.good(format!("already published as version {version}; nothing to do")));
                terminal::say!("  hash      {}", file.hash);
            }
            None => {
                let mut import = arguments(json!({ "source": file.source, "requestId": request_id() }));
                if let Some(folder) = &file.folder {
                    import.insert("folder".to_owned(), json!(folder));
                }
                let draft = client
                    .write("import_process", &import)
                    .await
                    .map_err(anyhow::Error::from)
                    .with_context(|| format!("`{name}` was not imported"))?;
                same_hash(file, &draft)?;
                for warning in at(&draft, "/warnings").as_array().into_iter().flatten().filter_map(Value::as_str) {
                    terminal::say!(
                        "  {}",
                        paint.waiting(clean(&format!("{}:{}", file.file.display(), marked(warning))))
                    );
                }
                terminal::say!("  imported as a draft");
                waiting.push(file);
            }
        }
    }
    for file in waiting {
        let name = &file.document.name;
        let publish = json!({ "name": name, "roles": file.roles, "requestId": request_id() });
        let version = client
            .write("publish_process", &arguments(publish))
            .await
            .map_err(anyhow::Error::from)
            .with_context(|| format!("`{name}` is a draft and was not published"))?;
        same_hash(file, &version)?;
        terminal::say!("{}", paint.good(format!("{name} version {} is published", at(&version, "/version"))));
        terminal::say!("  hash      {}", file.hash);
    }
    Ok(())
}

/// A warning as `check` prints it: `line:column: warning: message`.
fn marked(warning: &str) -> String {
    let mut parts = warning.splitn(3, ':');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(line), Some(column), Some(message)) => format!("{line}:{column}: warning:{message}"),
        _ => warning.to_owned(),
    }
}

/// What people should know before a process is offered: who takes which part, and what must be there outside.
fn show(file: &Ready, paint: Paint) {
    terminal::say!("{}  {}", paint.title(&file.document.name), clean(file.document.description.trim()));
    for role in file.document.roles() {
        let group = file.roles.get(role).map_or("", String::as_str);
        terminal::say!("  role      {role} → {group}");
    }
    for system in file.document.requires.iter().flat_map(|requires| &requires.systems) {
        terminal::say!("  requires  {}", clean(system));
    }
}

/// The latest version's number when it is this file with these groups.
async fn published(client: &Client, file: &Ready) -> anyhow::Result<Option<u64>> {
    let known = match client.call("get_process", arguments(json!({ "name": file.document.name }))).await {
        Ok(known) => known,
        Err(Failure::Refused(refused)) if refused.code == "not_found" => return Ok(None),
        Err(failure) => return Err(anyhow::Error::from(failure).context("the server cannot be published to")),
    };
    let same = *at(&known, "/published/hash") == json!(file.hash)
        && *at(&known, "/published/roles") == json!(file.roles)
        // A draft that somebody imported since is not ours to judge; publishing replaces it.
        && at(&known, "/draft").is_null();
    Ok(at(&known, "/published/version").as_u64().filter(|_| same))
}

/// The server read the same process as we did.
fn same_hash(file: &Ready, answer: &Value) -> anyhow::Result<()> {
    let hash = at(answer, "/hash");
    if *hash == json!(file.hash) {
        return Ok(());
    }
    bail!(
        "{}: the server's content hash is {hash}, here it is {}. Somebody else imported this process at the same time, or \
         the server is of another version; look at it with get_process.",
        file.file.display(),
        file.hash
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "---\nname: a\ndescription: D\nsteps:\n  - id: one\n    person: ROLE\n    approve: A?\n    \
                        next: end\n  - id: end\n    finish: done\n---\n";

    fn folder(files: &[(&str, &str)]) -> (tempfile::TempDir, Vec<PathBuf>) {
        let dir = tempfile::tempdir().expect("a folder");
        let mut paths = Vec::new();
        for (name, text) in files {
            let path = dir.path().join(name);
            std::fs::write(&path, text).expect("written");
            paths.push(path);
        }
        (dir, paths)
    }

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(role, group)| ((*role).to_owned(), (*group).to_owned())).collect()
    }

    fn refused(paths: &[PathBuf], bound: &[(&str, &str)]) -> String {
        format!("{:#}", check(paths, &map(bound)).err().expect("refused"))
    }

    #[test]
    fn bindings_are_read() {
        assert_eq!(binding("finance=g_1"), Ok(("finance".into(), "g_1".into())));
        assert_eq!(binding(" finance = g=1 "), Ok(("finance".into(), "g=1".into())));
        for text in ["", "finance", "=g", "finance=", " = "] {
            assert!(binding(text).is_err(), "{text:?}");
        }
        let twice = [binding("a=1").expect("read"), binding("a=2").expect("read")];
        assert!(bindings(&twice).expect_err("refused").to_string().contains("bind it once"));
        assert_eq!(bindings(&[binding("a=1").expect("read"), binding("a=1").expect("read")]).expect("same").len(), 1);
    }

    #[test]
    fn all_faults_of_all_files_are_told_before_anything_is_sent() {
        let bad = FILE.replace("next: end", "next: nowhere");
        let (_dir, paths) = folder(&[("one.md", FILE), ("two.md", &bad), ("three.md", "no frontmatter")]);
        let message = refused(&paths, &[("ROLE", "g")]);
        assert!(message.contains("two.md:") && message.contains("nowhere"), "{message}");
        assert!(message.contains("three.md:1:1"), "{message}");
        assert!(!message.contains("one.md"), "{message}");
    }

    #[test]
    fn an_unbound_role_is_named_with_what_to_add() {
        let (_dir, paths) = folder(&[("a.md", FILE)]);
        let message = refused(&paths, &[]);
        assert!(message.contains("`ROLE`") && message.contains("--bind ROLE=GROUP"), "{message}");
        let message = refused(&paths, &[("ROLE", "g"), ("finance", "f")]);
        assert!(message.contains("--bind finance=f") && message.contains("ROLE"), "{message}");
        assert_eq!(check(&paths, &map(&[("ROLE", "g")])).expect("ready").len(), 1);
    }

    #[test]
    fn a_process_is_given_once() {
        let (_dir, paths) = folder(&[("a.md", FILE), ("b.md", FILE)]);
        assert!(refused(&paths, &[("ROLE", "g")]).contains("give one of them"));
        let many = vec![PathBuf::from("x"); FILES + 1];
        assert!(refused(&many, &[]).contains("at most 100"));
    }
}
