//! Language models that transforms ask: `AI_COMPLETE`, `AI_EMBED`, and the older models that are called by their names.

mod http;

use crate::column::Col;
use crate::error::{Fault, RuleError, RuleKey};
use crate::functions::Call;
use crate::node::{Context, Failure, Kernel, Kind, Node};
use crate::rule::TransformOptions;
use crate::types::{TEXT, Type};
use arrow_array::ArrayRef;
use arrow_array::builder::{Float32Builder, ListBuilder, StringBuilder};
use rowferry_model::DataType;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub use http::OpenAiClient;

/// What a model of the older form does when it is called by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LegacyModel {
    /// `OpenAIChatModel`: answers.
    Chat,
    /// `OpenAIEmbeddingModel`: makes a vector.
    Embedding,
}

/// A model whose server speaks OpenAI's HTTP interface.
#[derive(Clone)]
pub struct ModelSpec {
    /// Its name in the file.
    pub name: String,
    /// Set for a model of the older form.
    pub legacy: Option<LegacyModel>,
    /// The base address, for example `https://api.openai.com/v1`.
    pub endpoint: String,
    /// The secret that goes with each request.
    pub api_key: String,
    /// The model's name at the server.
    pub model: String,
    /// What the server is told before each text.
    pub system_prompt: Option<String>,
    /// What stands before each text in the request.
    pub user_prompt: Option<String>,
    /// Further fields of the request's body, as JSON: `temperature`, `max_tokens`, `dimensions` and so on.
    pub body: serde_json::Map<String, serde_json::Value>,
    /// Further headers.
    pub headers: Vec<(String, String)>,
    /// How often a request that failed is tried again.
    pub retries: u32,
    /// How long to wait before that.
    pub retry_interval: Duration,
    /// Whether a text that got no answer becomes NULL instead of ending the attempt.
    pub ignore_failures: bool,
    /// The longest wait for one request.
    pub timeout: Duration,
    /// How many requests are under way at once, at least 1.
    pub concurrency: usize,
}

impl ModelSpec {
    /// A model with Flink CDC's defaults.
    pub fn new(
        name: impl Into<String>,
        endpoint: impl Into<String>,
        api_key: impl Into<String>,
        model: impl Into<String>,
    ) -> Self {
        Self {
            name: name.into(),
            legacy: None,
            endpoint: endpoint.into(),
            api_key: api_key.into(),
            model: model.into(),
            system_prompt: None,
            user_prompt: None,
            body: serde_json::Map::new(),
            headers: Vec::new(),
            retries: 100,
            retry_interval: Duration::from_secs(1),
            ignore_failures: false,
            timeout: Duration::from_secs(60),
            concurrency: 4,
        }
    }
}

impl fmt::Debug for ModelSpec {
    /// Without the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelSpec")
            .field("name", &self.name)
            .field("endpoint", &self.endpoint)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

/// A model gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// What happened; never holds the key.
    pub message: String,
    /// Whether asking again can help.
    pub transient: bool,
}

/// Something that answers texts: a server, or a stand-in in tests.
pub trait ModelClient: Send + Sync {
    /// One answer a text, in the same order; `None` where the server gave none and failures are ignored.
    ///
    /// # Errors
    /// The server can't be reached, refuses, or answers what can't be read.
    fn complete(&self, texts: &[&str]) -> Result<Vec<Option<String>>, ModelError>;

    /// One vector a text, in the same order.
    ///
    /// # Errors
    /// As of [`ModelClient::complete`].
    fn embed(&self, texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>, ModelError>;
}

/// A model that can be asked.
pub(crate) struct Model {
    name: String,
    legacy: Option<LegacyModel>,
    client: Arc<dyn ModelClient>,
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Model({})", self.name)
    }
}

/// All models of a file.
#[derive(Debug, Default)]
pub(crate) struct Models {
    all: Vec<Model>,
}

impl Models {
    pub(crate) fn new(specs: Vec<ModelSpec>, errors: &mut Vec<RuleError>) -> Self {
        let mut all = Vec::with_capacity(specs.len());
        for (index, spec) in specs.into_iter().enumerate() {
            let (name, legacy) = (spec.name.clone(), spec.legacy);
            match OpenAiClient::new(spec) {
                Ok(client) => all.push(Model { name, legacy, client: Arc::new(client) }),
                Err(error) => errors.push(RuleError::of(index, RuleKey::Model, Fault::new(error.message))),
            }
        }
        Self { all }
    }

    /// A model of the newer form.
    pub(crate) fn find(&self, name: &str) -> Option<&Model> {
        self.all.iter().find(|model| model.name == name)
    }

    /// A model that is called by its name.
    pub(crate) fn legacy(&self, name: &str) -> Option<&Model> {
        self.all.iter().find(|model| model.legacy.is_some() && model.name.eq_ignore_ascii_case(name))
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|model| model.name.as_str())
    }
}

/// Whether a function asks a model, and if so whether for a vector.
pub(crate) fn call_kind(name: &str) -> Option<bool> {
    if name.eq_ignore_ascii_case("AI_COMPLETE") {
        Some(false)
    } else if name.eq_ignore_ascii_case("AI_EMBED") {
        Some(true)
    } else {
        None
    }
}

/// A call of a model. `embed`: whether for a vector; `None`: as the older model is.
pub(crate) fn call_node(
    model: &Model,
    embed: Option<bool>,
    args: &[Arc<Node>],
    options: &TransformOptions,
) -> Result<Node, Fault> {
    let embed = embed.unwrap_or(model.legacy == Some(LegacyModel::Embedding));
    let [text] = args else {
        return Err(Fault::new(format!("the model `{}` takes one text, not {}", model.name, args.len())).unsupported());
    };
    let ty = if embed { Type::Array(Box::new(Type::Plain(DataType::Float))) } else { TEXT };
    if text.ty == Type::Unknown {
        return Ok(Node::unknown());
    }
    let call = Call { name: &model.name, args: vec![Arc::clone(text)], options };
    let text = call.text(0)?;
    let client = Arc::clone(&model.client);
    let name = model.name.clone();
    let kernel: Kernel = Arc::new(move |args: &[Col], rows: usize, _: &Context| {
        let [text] = args else { return Err(Failure::new("a model takes one text")) };
        let failed = |error: ModelError| Failure {
            row: None,
            message: format!("the model `{name}`: {}", error.message),
            transient: error.transient,
        };
        ask(client.as_ref(), text, rows, embed).map_err(failed)
    });
    Ok(Node { ty, nullable: true, kind: Kind::Call { args: vec![text], kernel }, volatile: true, careful: true })
}

/// Asks for each different text once; NULL stays NULL without being asked.
fn ask(client: &dyn ModelClient, text: &Col, rows: usize, embed: bool) -> Result<ArrayRef, ModelError> {
    let internal = || ModelError { message: "the argument is no text".to_owned(), transient: false };
    let values = text.texts().map_err(|_| internal())?;
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut texts: Vec<&str> = Vec::new();
    let mut wanted: Vec<Option<usize>> = Vec::with_capacity(rows);
    for row in 0..rows {
        wanted.push(values.get(row).map(|value| {
            *places.entry(value).or_insert_with(|| {
                texts.push(value);
                texts.len() - 1
            })
        }));
    }
    if embed {
        let vectors = client.embed(&texts)?;
        let mut lists = ListBuilder::new(Float32Builder::new());
        for place in wanted {
            match place.and_then(|place| vectors.get(place)).and_then(Option::as_ref) {
                Some(vector) => {
                    lists.values().append_slice(vector);
                    lists.append(true);
                }
                None => lists.append(false),
            }
        }
        return Ok(Arc::new(lists.finish()));
    }
    let answers = client.complete(&texts)?;
    let mut builder = StringBuilder::new();
    for place in wanted {
        builder.append_option(place.and_then(|place| answers.get(place)).and_then(Option::as_deref));
    }
    Ok(Arc::new(builder.finish()))
}
