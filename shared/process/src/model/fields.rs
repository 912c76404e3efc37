//! What `inputs` and `output` declare (core §2.3), with the declarations kept as they stand in the file.

use serde_json::Value;

/// Named fields of `inputs` or `output`, in file order (§2.3).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Fields {
    /// Name and declaration, in file order; names are unique.
    pub list: Vec<(String, Field)>,
}

impl Fields {
    /// Whether no field is declared.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The field with this name.
    pub fn get(&self, name: &str) -> Option<&Field> {
        self.list.iter().find(|(n, _)| n == name).map(|(_, f)| f)
    }

    /// Name and declaration of every field, in file order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Field)> {
        self.list.iter().map(|(n, f)| (n.as_str(), f))
    }
}

/// One field: a type, and what narrows it (§2.3).
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The type.
    pub kind: FieldType,
    /// `description`, when given.
    pub description: Option<String>,
    /// Whether a submission may leave it out.
    pub optional: bool,
    /// The allowed values, of the field's type, number text kept; `None` when any value of the type will do.
    pub one_of: Option<Vec<Value>>,
    /// What each element of a list must be; `None` when any value will do.
    pub items: Option<Box<Field>>,
    /// The declaration exactly as the file has it (a bare type name, or an object): what `claim` and
    /// `list_processes` return.
    pub declared: Value,
}

/// The types of §2.3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FieldType {
    /// Text.
    String,
    /// A JSON number, never rounded.
    Number,
    /// `true` or `false`.
    Boolean,
    /// `YYYY-MM-DD`, a real calendar date.
    Date,
    /// RFC 3339 with offset.
    Datetime,
    /// A list; `items` says of what.
    List,
    /// A JSON object; its content is not checked.
    Object,
    /// An identity reference, in the form that `describe.person` shows.
    Person,
}

impl FieldType {
    /// The word used in files and on the wire.
    pub fn name(self) -> &'static str {
        match self {
            FieldType::String => "string",
            FieldType::Number => "number",
            FieldType::Boolean => "boolean",
            FieldType::Date => "date",
            FieldType::Datetime => "datetime",
            FieldType::List => "list",
            FieldType::Object => "object",
            FieldType::Person => "person",
        }
    }
}
