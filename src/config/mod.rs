//! The pipeline's YAML file: read, checked, typed.
