//! The timer as a Lambda function: wiring only.

use cloud::Settings;
use lambda_runtime::{Error, LambdaEvent, service_fn};
use serde_json::Value;
use timer::Timer;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let level = tracing::level_filters::LevelFilter::INFO;
    tracing::subscriber::set_global_default(logs::subscriber(std::io::stdout, level))?;
    let settings = Settings::read(|name| std::env::var(name).ok())?.without_evaluator();
    let cloud = cloud::connect(&settings).await?;
    let timer = Timer { store: cloud.store, bus: cloud.bus };
    let timer = &timer;
    lambda_runtime::run(service_fn(|event: LambdaEvent<Value>| async move {
        timer.handle(&event.payload).await.map_err(Error::from)
    }))
    .await
}
