# The commands of every day. `just` lists them.

default:
    @just --list

# Serve on this machine, data in .procession
dev *ARGS:
    cargo run --release -- dev {{ARGS}}

# The whole main job, played through
demo:
    cargo run --release -- demo

# What the README calls the tests
test:
    cargo test --workspace

# What must pass before anything lands
gate:
    .ci/run

# What .ci/run does on LocalStack, with functions that are built quickly
localstack:
    localstack/up
    localstack/deploy --dev
    localstack/deploy --faults
    localstack/test
    localstack/down

# Many more seeds than the tests run
simulate SEEDS="5000":
    SIMULATION_SEEDS={{SEEDS}} cargo test --release -p simulation

# What a thousand functions at once come to, seed after seed
load SEEDS="5":
    cargo run --release -p simulation -- --load --runs {{SEEDS}}

# The published schemas, made anew from the types
schemas:
    UPDATE_SCHEMAS=1 cargo test -p mcp --test schemas

# How fast, on this machine
bench *ARGS:
    cargo run --release -- bench {{ARGS}}
