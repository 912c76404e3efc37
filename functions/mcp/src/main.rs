//! The endpoint as a Lambda function behind a function URL: wiring only.

mod event;
mod hosted;

use cloud::Settings;
use lambda_http::{Adapter, Error, Service as _, lambda_runtime, service_fn};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let level = tracing::level_filters::LevelFilter::INFO;
    tracing::subscriber::set_global_default(logs::subscriber(std::io::stdout, level))?;
    let settings = Settings::read(|name| std::env::var(name).ok())?;
    let cloud = cloud::connect(&settings).await?;
    let mut endpoint = Adapter::from(hosted::router(&settings, cloud)?);
    lambda_runtime::run(service_fn(move |event| endpoint.call(event::plain(event)))).await
}
