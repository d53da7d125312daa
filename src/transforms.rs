//! From the checked file to the transform engine.

use crate::config::{MetadataColumn, PipelineConfig, TransformRule};
use rowferry_transform::{RuleError, Transforms};

/// The transform rules of a pipeline; `None`: it has none.
///
/// # Errors
/// What the check of the file tells as well, so that a file that was checked gives none.
pub fn of(config: &PipelineConfig) -> Result<Option<Transforms>, Vec<RuleError>> {
    if config.transforms.is_empty() {
        return Ok(None);
    }
    let rules = config.transforms.iter().map(TransformRule::spec).collect();
    let listed = |column: MetadataColumn| config.source.metadata.contains(&column);
    let options = config.pipeline.transform.options(config.pipeline.local_time_zone, listed);
    Transforms::new(rules, options, &config.functions, config.models.clone()).map(Some)
}
