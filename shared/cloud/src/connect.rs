//! Settings to a store on AWS, and what stands beside it.

use std::sync::Arc;

use aws_config::SdkConfig;
use evaluator::Secret;
use store::counting::Counting;
use store::dynamo::DynamoTable;
use store::s3::S3Files;
use store::table::Table;
use store::{Evaluator, Parts, RandomIds, Store, SystemClock};

use crate::bus::{EventBus, NoBus, Notify};
use crate::claim_keys::{self, ClaimKeys};
use crate::clients;
use crate::schedules::Schedules;
use crate::settings::{Problems, Settings};

/// A store on AWS.
pub struct Cloud {
    /// The store. Its calls of the table are counted.
    pub store: Arc<Store>,
    /// The keys of its seal, to be read again now and then.
    pub keys: Arc<ClaimKeys>,
    /// Where its notices go.
    pub bus: Arc<dyn Notify>,
    /// The endpoint's one address, when the settings or the secret say it.
    pub public_url: Option<String>,
}

/// Connects to everything that the settings name. Only secrets are read; table, bucket, schedules and bus are not asked
/// before there is need.
///
/// # Errors
///
/// Every problem, each naming the variable whose value leads there; nothing of a secret is in it.
pub async fn connect(settings: &Settings) -> Result<Cloud, Problems> {
    by_way_of(&clients::shared(settings), settings).await
}

async fn by_way_of(shared: &SdkConfig, settings: &Settings) -> Result<Cloud, Problems> {
    let secrets = aws_sdk_secretsmanager::Client::new(shared);
    let (keys, evaluator) =
        futures::join!(ClaimKeys::read(secrets.clone(), &settings.secret), evaluator(settings, shared, &secrets));
    let mut problems = Vec::new();
    let keys = keys.map_err(|why| problems.push(format!("PROCESSION_SECRET: {why}"))).ok();
    let evaluator = evaluator.map_err(|found| problems.extend(found)).ok();
    let (Some(keys), Some(evaluator)) = (keys, evaluator) else { return Err(Problems(problems)) };

    let clock = Arc::new(SystemClock);
    let table = DynamoTable::new(clients::dynamodb(shared), settings.table.clone());
    let table: Arc<dyn Table> = Arc::new(table);
    let schedules = Schedules::new(clients::scheduler(shared), settings.into(), clock.clone());
    let bus: Arc<dyn Notify> = match &settings.bus {
        Some(bus) => Arc::new(EventBus::new(aws_sdk_eventbridge::Client::new(shared), bus.clone())),
        None => Arc::new(NoBus),
    };
    let limits = run::Limits { lease_seconds: settings.lease_seconds, ..run::Limits::default() };
    let store = Store::new(Parts {
        table: Arc::new(Counting::new(table)),
        files: Arc::new(S3Files::new(clients::s3(shared), settings.bucket.clone())),
        clock,
        ids: Arc::new(RandomIds),
        alarms: Arc::new(schedules),
        evaluator,
        seal: keys.seal(),
        settings: store::Settings {
            limits,
            operators_group: settings.operators_group.clone(),
            upload_bytes: settings.upload_bytes,
            ..store::Settings::default()
        },
    });
    let public_url = settings.url.clone().or_else(|| keys.public_url().map(str::to_owned));
    Ok(Cloud { store: Arc::new(store), keys: Arc::new(keys), bus, public_url })
}

async fn evaluator(
    settings: &Settings,
    shared: &SdkConfig,
    secrets: &aws_sdk_secretsmanager::Client,
) -> Result<Option<Arc<dyn Evaluator>>, Vec<String>> {
    let Some(config) = &settings.evaluator else { return Ok(None) };
    let key = match &settings.evaluator_secret {
        None => None,
        Some(secret) => {
            let unread = |why| vec![format!("PROCESSION_EVALUATOR_SECRET: {why}")];
            let text = claim_keys::text(secrets, secret).await.map_err(unread)?;
            Some(Secret::new(&text).ok_or_else(|| unread("the secret's text is blank".to_owned()))?)
        }
    };
    let connected = evaluator::connect_with(config.clone(), key, shared);
    connected.map(Some).map_err(|evaluator::Problems(found)| {
        found.into_iter().map(|problem| format!("PROCESSION_EVALUATOR: {problem}")).collect()
    })
}

#[cfg(test)]
mod tests;
