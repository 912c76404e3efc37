//! The table's definition: the one place that spells it. A deployment template that creates the table must match it.

use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::operation::create_table::CreateTableError;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, KeySchemaElement, KeyType, ScalarAttributeType, TableStatus,
};

use super::errors;
use crate::table::TableError;

/// The attribute that holds the partition key: a string, the table's hash key.
pub const PARTITION: &str = "pk";
/// The attribute that holds the sort key: a string, the table's range key.
pub const SORT: &str = "sk";
/// The attribute that holds the tag: a string, empty where nothing compares it.
pub const TAG: &str = "tag";
/// The attribute that holds the document: JSON text in a string, so that numbers keep their text.
pub const DOC: &str = "doc";

/// How often a new table is asked whether it is active, once every [`ACTIVE_WAIT`].
const ACTIVE_TRIES: u32 = 60;
/// Between two questions whether the table is active.
const ACTIVE_WAIT: Duration = Duration::from_millis(500);

/// Creates the table and waits until it is active. A table that exists is left as it is, and waited for.
///
/// # Errors
///
/// [`TableError::Unavailable`] when DynamoDB does not answer or the table does not become active within half a minute;
/// [`TableError::Invalid`] when the name is none, or the existing table has other keys.
pub async fn create_table(client: &Client, name: &str) -> Result<(), TableError> {
    let invalid = |error: aws_sdk_dynamodb::error::BuildError| TableError::Invalid(error.to_string());
    let attribute = |name: &str| {
        AttributeDefinition::builder()
            .attribute_name(name)
            .attribute_type(ScalarAttributeType::S)
            .build()
            .map_err(invalid)
    };
    let key =
        |name: &str, part| KeySchemaElement::builder().attribute_name(name).key_type(part).build().map_err(invalid);
    let keys = vec![key(PARTITION, KeyType::Hash)?, key(SORT, KeyType::Range)?];
    let created = client
        .create_table()
        .table_name(name)
        .billing_mode(BillingMode::PayPerRequest)
        .attribute_definitions(attribute(PARTITION)?)
        .attribute_definitions(attribute(SORT)?)
        .set_key_schema(Some(keys.clone()))
        .send()
        .await;
    if let Err(error) = created
        && !matches!(error.as_service_error(), Some(CreateTableError::ResourceInUseException(_)))
    {
        return Err(errors::plain(&error));
    }
    for _ in 0..ACTIVE_TRIES {
        let answer = client.describe_table().table_name(name).send().await.map_err(|error| errors::plain(&error))?;
        let table = answer.table().ok_or_else(|| TableError::Unavailable("no description of the table".into()))?;
        if table.key_schema() != keys {
            return Err(TableError::Invalid(format!(
                "the table {name:?} exists with other keys than {PARTITION:?} and {SORT:?}; use another name"
            )));
        }
        if table.table_status() == Some(&TableStatus::Active) {
            return Ok(());
        }
        tokio::time::sleep(ACTIVE_WAIT).await;
    }
    Err(TableError::Unavailable(format!("the table {name:?} is not active yet")))
}
