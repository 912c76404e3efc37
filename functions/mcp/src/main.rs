//! The endpoint as a Lambda function behind a function URL: wiring only.

mod hosted;

use cloud::Settings;
use lambda_http::Error;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let level = tracing::level_filters::LevelFilter::INFO;
    tracing::subscriber::set_global_default(logs::subscriber(std::io::stdout, level))?;
    let settings = Settings::read(|name| std::env::var(name).ok())?;
    let cloud = cloud::connect(&settings).await?;
    lambda_http::run(hosted::router(&settings, cloud)?).await
}
