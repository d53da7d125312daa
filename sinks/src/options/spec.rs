//! What an option is.

use super::PerTable;

/// The type of an option's value, with its limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OptionKind {
    /// Any text.
    Text,
    /// `true` or `false` in any case.
    Bool,
    /// A whole number within limits, both included.
    Int {
        /// The least value.
        min: i64,
        /// The greatest value.
        max: i64,
    },
    /// A number within limits, both included.
    Double {
        /// The least value.
        min: f64,
        /// The greatest value.
        max: f64,
    },
    /// A time span such as `30 s`; a number alone is in milliseconds. The minimum is in milliseconds.
    Duration {
        /// The least value, in milliseconds.
        min_millis: u64,
    },
    /// An amount of bytes such as `64 mb`; a number alone is in bytes.
    MemorySize,
    /// One of these words, in any case.
    Enum(&'static [&'static str]),
    /// Items between semicolons, each may be in quotes.
    List,
    /// Entries between semicolons, each of a table and what goes with it.
    PerTable(PerTable),
    /// A table pattern in the dialect of `source.tables`.
    TablePattern,
    /// Text made of these characters beside ASCII letters and digits.
    Word(&'static str),
}

impl OptionKind {
    /// A whole number of 32 bits.
    pub const INT: Self = Self::Int { min: i32::MIN as i64, max: i32::MAX as i64 };
    /// A whole number of 64 bits.
    pub const LONG: Self = Self::Int { min: i64::MIN, max: i64::MAX };
    /// A time span of any length.
    pub const DURATION: Self = Self::Duration { min_millis: 0 };

    /// A whole number of 32 bits that is not below a minimum.
    pub const fn at_least(min: i64) -> Self {
        Self::Int { min, max: i32::MAX as i64 }
    }

    /// The name of the type in documentation.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Text | Self::Word(_) => "string",
            Self::Bool => "boolean",
            Self::Int { max, .. } if *max > i64::from(i32::MAX) => "long",
            Self::Int { .. } => "int",
            Self::Double { .. } => "double",
            Self::Duration { .. } => "duration",
            Self::MemorySize => "memory size",
            Self::Enum(_) => "enum",
            Self::List => "list",
            Self::PerTable(_) => "per-table list",
            Self::TablePattern => "table pattern",
        }
    }
}

/// What an option does in rowferry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectOf {
    /// It does what its documentation says.
    Full,
    /// It is accepted so that files run unchanged, and does nothing for this reason.
    None(&'static str),
}

/// One option of a connector.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// The name as written in YAML. Of a [prefix](Self::prefix): the part that all its keys begin with, with the dot.
    pub name: &'static str,
    /// The type.
    pub kind: OptionKind,
    /// What it is when left out, in the form a user would write.
    pub default: Option<&'static str>,
    /// Whether it must be there.
    pub required: bool,
    /// Other spellings that mean the same.
    pub aliases: &'static [&'static str],
    /// Whether its value may never be shown.
    pub secret: bool,
    /// Whether it stands for all keys that begin with its name.
    pub prefix: bool,
    /// What it does in rowferry.
    pub effect: EffectOf,
    /// One line of documentation.
    pub doc: &'static str,
}

impl OptionSpec {
    /// An optional option without a default.
    pub const fn new(name: &'static str, kind: OptionKind, doc: &'static str) -> Self {
        Self {
            name,
            kind,
            default: None,
            required: false,
            aliases: &[],
            secret: false,
            prefix: false,
            effect: EffectOf::Full,
            doc,
        }
    }

    /// An optional text.
    pub const fn text(name: &'static str, doc: &'static str) -> Self {
        Self::new(name, OptionKind::Text, doc)
    }

    /// All keys that begin with `name`, which ends with a dot.
    pub const fn prefixed(name: &'static str, doc: &'static str) -> Self {
        let mut spec = Self::new(name, OptionKind::Text, doc);
        spec.prefix = true;
        spec
    }

    /// With a default.
    #[must_use]
    pub const fn default(mut self, default: &'static str) -> Self {
        self.default = Some(default);
        self
    }

    /// Must be there.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// With other spellings.
    #[must_use]
    pub const fn alias(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    /// Must never be shown.
    #[must_use]
    pub const fn secret(mut self) -> Self {
        self.secret = true;
        self
    }

    /// Accepted and without effect, for a reason that ends the sentence "has no effect: …".
    #[must_use]
    pub const fn no_effect(mut self, reason: &'static str) -> Self {
        self.effect = EffectOf::None(reason);
        self
    }

    /// Whether a key in a file means this option.
    pub fn matches(&self, key: &str) -> bool {
        if self.prefix {
            return key.len() > self.name.len() && key.starts_with(self.name);
        }
        key == self.name || self.aliases.contains(&key)
    }

    /// The option of a table that a key means; an exact name goes before a prefix, a longer prefix before a shorter.
    pub fn find(table: &'static [Self], key: &str) -> Option<&'static Self> {
        table.iter().filter(|spec| spec.matches(key)).max_by_key(|spec| (!spec.prefix, spec.name.len()))
    }

    /// Whether the value of this key may not be shown.
    pub fn hides(&self, key: &str) -> bool {
        self.secret || (self.prefix && is_secret_key(key))
    }
}

/// Whether a key that no table knows looks like one that holds a secret, for example
/// `catalog.properties.s3.secret-key`.
pub fn is_secret_key(key: &str) -> bool {
    let key: String = key.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    const WORDS: [&str; 13] = [
        "password",
        "passwd",
        "pwd",
        "secret",
        "token",
        "apikey",
        "accesskey",
        "accessid",
        "privatekey",
        "credential",
        "jaas",
        "authorization",
        "passphrase",
    ];
    WORDS.iter().any(|word| key.contains(word)) && !key.ends_with("tokenprovider")
}
