//! What goes on beside the work: old calls made again, and the sweeper that catches what no alarm woke.

use std::sync::Arc;

use serde_json::Map;
use store::Error;

use crate::World;
use crate::actors::{ROUNDS, read, think};
use crate::calls::{Act, Call, agent, once};
use crate::processes::ORGS;

/// Old calls are made again: the same, with other arguments, by somebody else, in another organization.
pub(crate) async fn repeat(world: Arc<World>) {
    for _ in 0..4 * ROUNDS {
        if world.is_broken() {
            return;
        }
        think(&world).await;
        let random = world.below(1 << 30) as usize;
        let Some(old) = world.checker().earlier(|n| random % n) else { continue };
        match world.below(6) {
            0 => differs(&world, Call { actor: agent("a_thief", true), ..old }).await,
            1 => differs(&world, Call { act: Act::Cancel { run: "r_none".into(), reason: "x".into() }, ..old }).await,
            2 => {
                let view = read(&world, async |s| {
                    let run = match &old.act {
                        Act::Claim { run, .. } | Act::Send { run, .. } => run.clone(),
                        _ => "r_none".to_owned(),
                    };
                    let other = if old.org == ORGS[0] { ORGS[1] } else { ORGS[0] };
                    Ok(s.view(other, &run).await.is_ok())
                });
                if view.await == Some(true) {
                    world.violated(format!("a run of {} is seen from another organization", old.org));
                }
            }
            _ => {
                once(&world, &old).await;
            }
        }
    }
}

/// A call under the `requestId` of another one must be refused as `conflict`.
async fn differs(world: &Arc<World>, call: Call) {
    let request = store::Request::new(call.org, &call.actor, "cancel", &call.id, &Map::new());
    let command = |_| run::Command::Cancel { reason: "x".to_owned() };
    let answer = world.server().call(async |s| s.write(&request, "r_none", &[], command).await).await;
    let refused = match &answer {
        Some(Err(Error::Refused(r))) => r.code == run::Code::Conflict && r.issues == ["request_id_reused"],
        Some(Ok(_)) => false,
        Some(Err(Error::Retry(_))) | None => true,
        Some(Err(Error::Invariant(_))) => false,
    };
    if !refused {
        world.violated(format!("request {} of {} was used again for another call: {answer:?}", call.id, call.org));
    }
}

pub(crate) async fn sweep(world: Arc<World>) {
    loop {
        world.sleep(900_000).await;
        sweep_once(&world).await;
    }
}

/// Looks at every shard: ticks what is due, sends what is unsent. Returns how much there was.
pub async fn sweep_once(world: &Arc<World>) -> usize {
    let mut met = 0;
    for shard in 0..store::keys::SHARDS {
        for alarm in read(world, async |s| s.due(shard).await).await.unwrap_or_default() {
            met += 1;
            read(world, async |s| s.tick(&alarm.org, &alarm.run).await).await;
        }
        for notices in read(world, async |s| s.unsent(shard).await).await.unwrap_or_default() {
            met += 1;
            read(world, async |s| s.sent(&notices).await).await;
        }
    }
    met
}
