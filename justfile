# One-liners; `just --list` shows them.

# Format, lint, document and test: what CI does
ci:
    bash .ci/run

# All tests, against real servers that are started and stopped
test *arguments:
    scripts/test {{arguments}}

# Lints as CI has them
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets --locked -- -D warnings

# Licences, sources and bans of dependencies
deny:
    cargo deny check bans licenses sources

# Figures at a fiftieth of the workload; `just bench --scale 1 --check` for those that count
bench *arguments="--scale 0.02":
    scripts/bench {{arguments}}

# The first five minutes
quickstart:
    ./quickstart

# rowferry's own documentation of its code
doc:
    cargo doc --workspace --no-deps --open
