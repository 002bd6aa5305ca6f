# A machine that does what .ci/run does: `docker build --tag superkernel .`, then `docker run --rm superkernel`.
# Linted by the project's tests; it has not been built anywhere yet.
FROM rust:1.89-bookworm

# Versions are those of the distribution's release, which the image pins.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
        binutils ccache clang g++ lld llvm make python3 python3-venv redis-server \
        chromium chromium-driver g++-aarch64-linux-gnu qemu-user-static \
    && rm -rf /var/lib/apt/lists/*
RUN rustup component add clippy rustfmt \
    && rustup target add aarch64-unknown-linux-gnu

WORKDIR /superkernel
COPY . .
# Files that a kernel is made of belong to whoever runs it: tests of permissions mean an ordinary user.
RUN useradd --create-home --uid 1000 tester && chown -R 1000 /superkernel /usr/local/cargo /usr/local/rustup
USER 1000
CMD [".ci/run"]
