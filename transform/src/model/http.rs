//! A server that speaks OpenAI's HTTP interface: `POST …/chat/completions` and `POST …/embeddings`.

use super::{ModelClient, ModelError, ModelSpec};
use serde_json::{Value, json};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use ureq::Agent;

/// Texts in one request for vectors.
const EMBED_BATCH: usize = 64;

/// A client for one model.
pub struct OpenAiClient {
    spec: ModelSpec,
    agent: Agent,
}

impl OpenAiClient {
    /// A client; nothing is sent yet.
    ///
    /// # Errors
    /// The endpoint is no HTTP address.
    pub fn new(spec: ModelSpec) -> Result<Self, ModelError> {
        if !spec.endpoint.starts_with("http://") && !spec.endpoint.starts_with("https://") {
            let message = format!("the endpoint of the model `{}` must begin with http:// or https://", spec.name);
            return Err(ModelError { message, transient: false });
        }
        let agent = Agent::config_builder()
            .timeout_global(Some(spec.timeout))
            .http_status_as_error(false)
            .user_agent("rowferry")
            .build()
            .new_agent();
        Ok(Self { spec, agent })
    }

    /// Sends a body and reads the answer, again and again as the model's options say.
    fn post(&self, path: &str, body: &Value) -> Result<Value, ModelError> {
        let mut tries = 0;
        loop {
            match self.post_once(path, body) {
                Err(error) if error.transient && tries < self.spec.retries => {
                    tries += 1;
                    tracing::warn!(model = %self.spec.name, tries, error = %error.message, "a model gave no answer");
                    std::thread::sleep(self.spec.retry_interval);
                }
                result => return result,
            }
        }
    }

    fn post_once(&self, path: &str, body: &Value) -> Result<Value, ModelError> {
        let url = format!("{}/{path}", self.spec.endpoint.trim_end_matches('/'));
        let mut request = self
            .agent
            .post(&url)
            .header("Authorization", format!("Bearer {}", self.spec.api_key))
            .header("Content-Type", "application/json");
        for (name, value) in &self.spec.headers {
            request = request.header(name.as_str(), value.as_str());
        }
        let lost = |error: ureq::Error| ModelError { message: format!("{url}: {error}"), transient: true };
        let mut response = request.send(body.to_string().as_bytes()).map_err(lost)?;
        let status = response.status().as_u16();
        let text = response.body_mut().read_to_string().map_err(lost)?;
        if !(200..300).contains(&status) {
            let shown: String = text.chars().take(200).collect();
            let transient = status == 408 || status == 429 || status >= 500;
            return Err(ModelError { message: format!("{url}: HTTP {status}: {shown}"), transient });
        }
        serde_json::from_str(&text)
            .map_err(|error| ModelError { message: format!("{url}: the answer is no JSON: {error}"), transient: true })
    }

    /// Runs one job a request on a few threads; the first error ends all.
    fn run<T: Send>(
        &self,
        jobs: usize,
        job: impl Fn(usize) -> Result<T, ModelError> + Sync,
    ) -> Result<Vec<Option<T>>, ModelError> {
        let results: Vec<Mutex<Option<Result<T, ModelError>>>> = (0..jobs).map(|_| Mutex::new(None)).collect();
        let next = AtomicUsize::new(0);
        let failed = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..self.spec.concurrency.clamp(1, jobs.max(1)) {
                scope.spawn(|| {
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(place) = results.get(index) else { return };
                        if failed.load(Ordering::Relaxed) {
                            return;
                        }
                        let result = job(index);
                        if result.is_err() && !self.spec.ignore_failures {
                            failed.store(true, Ordering::Relaxed);
                        }
                        if let Ok(mut place) = place.lock() {
                            *place = Some(result);
                        }
                    }
                });
            }
        });
        let mut done = Vec::with_capacity(jobs);
        let mut error = None;
        for result in results {
            match result.into_inner().ok().flatten() {
                Some(Ok(value)) => done.push(Some(value)),
                Some(Err(_)) if self.spec.ignore_failures => done.push(None),
                Some(Err(found)) => {
                    error.get_or_insert(found);
                }
                None => done.push(None),
            }
        }
        error.map_or(Ok(done), Err)
    }

    fn body(&self, fields: Value) -> Value {
        let mut body = self.spec.body.clone();
        body.insert("model".to_owned(), Value::String(self.spec.model.clone()));
        if let Value::Object(fields) = fields {
            body.extend(fields);
        }
        Value::Object(body)
    }
}

fn unreadable(what: &str) -> ModelError {
    ModelError { message: format!("the answer has no {what}"), transient: false }
}

impl ModelClient for OpenAiClient {
    fn complete(&self, texts: &[&str]) -> Result<Vec<Option<String>>, ModelError> {
        self.run(texts.len(), |index| {
            let text = texts.get(index).copied().unwrap_or_default();
            let mut messages = Vec::new();
            if let Some(prompt) = &self.spec.system_prompt {
                messages.push(json!({"role": "system", "content": prompt}));
            }
            let content =
                self.spec.user_prompt.as_ref().map_or_else(|| text.to_owned(), |prompt| format!("{prompt}{text}"));
            messages.push(json!({"role": "user", "content": content}));
            let answer = self.post("chat/completions", &self.body(json!({"messages": messages})))?;
            let content = answer.pointer("/choices/0/message/content").and_then(Value::as_str);
            content.map(str::to_owned).ok_or_else(|| unreadable("choices[0].message.content"))
        })
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>, ModelError> {
        let batches: Vec<&[&str]> = texts.chunks(EMBED_BATCH).collect();
        let parts = self.run(batches.len(), |index| {
            let batch = batches.get(index).copied().unwrap_or_default();
            let answer = self.post("embeddings", &self.body(json!({"input": batch})))?;
            let data = answer.get("data").and_then(Value::as_array).ok_or_else(|| unreadable("data"))?;
            let mut vectors: Vec<Option<Vec<f32>>> = vec![None; batch.len()];
            for (at, item) in data.iter().enumerate() {
                let index =
                    item.get("index").and_then(Value::as_u64).and_then(|i| usize::try_from(i).ok()).unwrap_or(at);
                let vector =
                    item.get("embedding").and_then(Value::as_array).ok_or_else(|| unreadable("data[].embedding"))?;
                let vector: Option<Vec<f32>> = vector.iter().map(|value| value.as_f64().map(|v| v as f32)).collect();
                if let Some(place) = vectors.get_mut(index) {
                    *place = Some(vector.ok_or_else(|| unreadable("numbers in data[].embedding"))?);
                }
            }
            if vectors.iter().any(Option::is_none) {
                return Err(unreadable("vector for each text"));
            }
            Ok(vectors)
        })?;
        let mut all = Vec::with_capacity(texts.len());
        for (part, batch) in parts.into_iter().zip(&batches) {
            match part {
                Some(vectors) => all.extend(vectors),
                None => all.extend(std::iter::repeat_n(None, batch.len())),
            }
        }
        Ok(all)
    }
}
