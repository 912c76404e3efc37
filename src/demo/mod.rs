//! The demo: one run of `examples/supplier-onboarding` on a server of its own, played by several people and agents
//! through the real MCP client over HTTP.
//!
//! Invariants: every answer is compared with what it should be, and the first that differs ends the demo with what
//! differed; nothing is left behind unless the folder was asked for.

mod acts;
mod cast;
mod record;
mod scene;

use std::time::Instant;

use anyhow::Context as _;
use tempfile::TempDir;
use terminal::Paint;

use crate::server::{self, Options, Running};
use cast::Cast;
use scene::Scene;

/// The process that is played, as the repository has it.
const PROCESS: &str = include_str!("../../examples/supplier-onboarding/PROCESS.md");

/// Plays the demo and prints it. With `keep` the data folder stays, however the demo went, and how to look at it is
/// printed.
///
/// # Errors
///
/// What deviated from what should have been.
pub async fn play(keep: bool) -> anyhow::Result<()> {
    let paint = Paint::detect();
    terminal::say!("{}\n", paint.title("Procession: one supplier, from the request to the decision"));
    let began = Instant::now();
    let dir = tempfile::Builder::new().prefix("procession-demo-").tempdir().context("no temporary folder")?;
    let server = start(&dir, paint).await?;
    let cast = Cast::new(&server).await?;
    progress(&format!("{} identities have tokens of their own and are connected", cast.people().count()), paint);

    let mut scene = Scene::new(paint);
    let played = acts::play(&mut scene, &cast).await;
    let ended = match played {
        Ok(view) => {
            record::print(&view, paint);
            let seconds = began.elapsed().as_secs_f64();
            let (calls, refusals) = scene.counts();
            terminal::say!(
                "\n{}",
                paint.good(format!(
                    "Everything went as it should: {calls} calls, {refusals} of them refused as they had to be, {seconds:.1} s."
                ))
            );
            Ok(())
        }
        Err(error) => Err(error.context("the demo did not go as it should")),
    };
    cast.close().await;
    server.stop().await;
    if keep {
        let kept = dir.keep();
        let kept = kept.display();
        terminal::say!("\nThe data is in {kept}. To look at it:");
        terminal::say!("  procession dev --data {kept}");
        terminal::say!("  procession token --data {kept} --kind person --subject olga@example.com --operator");
    } else {
        dir.close().context("the temporary folder cannot be removed")?;
    }
    ended
}

async fn start(dir: &TempDir, paint: Paint) -> anyhow::Result<Running> {
    progress(&format!("a server starts in {}", dir.path().display()), paint);
    let began = Instant::now();
    let running = server::start(Options { data: dir.path().to_owned(), ..Options::default() }).await?;
    progress(&format!("{} answers after {} ms", running.mcp, began.elapsed().as_millis()), paint);
    Ok(running)
}

/// A line about what is under way, shown at once.
fn progress(text: &str, paint: Paint) {
    terminal::say!("{}", paint.dim(format!("… {text}")));
}
