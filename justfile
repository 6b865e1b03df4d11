# What a contributor does most. https://just.systems; each recipe is a plain command, so `just` is not required.

# The list of recipes
default:
    @just --list

# Build everything
build:
    cargo build --workspace

# Divide the example fleet
demo: build
    target/debug/divvy schedule -f examples/fleet

# Test one plugin: `just plugin average`
plugin name:
    cargo test -p divvy-plugin-{{name}}

# Check the contracts of a built plugin: `just verify average`
verify name: build
    target/debug/divvy plugin verify {{name}} --runs 100

# The integration tests whose names contain a text: `just integration walls::`
integration filter:
    cargo test -p divvy-tests --test divvy -- {{filter}}

# The tests of the controller, without an API server
controller:
    cargo test -p divvy-controller
    cargo test -p divvy-tests --test divvy -- controller::

# The tests of `divvy run` on a real API server whose names contain a text: `just live capacity`
live filter="":
    cargo test -p divvy-control-plane-tests --test run -- {{filter}}

# Live through some seeds of the simulation: `just simulate 1000`
simulate seeds="200":
    cargo run -p divvy-simulation -- --events 150 seeds {{seeds}}

# Formatting and lints
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings

# Everything that CI checks, or the checks that are named: `just ci clippy documentation`
ci *checks:
    .ci/run {{checks}}
