# Two images (docs/decisions/images-and-releases.md): `cni-gate`, the server, and `cni-gate-validator`, which runs in users' pods.
#
#   docker build --target cni-gate .
#   docker build --target cni-gate-validator .
#
# Nothing of the server is made for one architecture: Node comes with its base image, the rest is JavaScript. The
# validator is compiled for the image's architecture on the machine that builds, without emulation.

FROM --platform=$BUILDPLATFORM node:24.21.0-bookworm-slim AS packages
WORKDIR /src
COPY package.json package-lock.json LICENSE ./
RUN npm ci --ignore-scripts --no-audit --no-fund

# the command line without node_modules
FROM packages AS bundle
COPY certs ./certs
COPY manifests/base ./manifests/base
COPY validator ./validator
COPY webhook ./webhook
COPY release/bundle.ts release/compiled-schemas.ts ./release/
RUN npm run build

# the checks as one file, for the validator's engine
FROM packages AS checks
COPY validator ./validator
RUN npm run build:checks

FROM --platform=$BUILDPLATFORM rust:1.95.0-slim-bookworm AS compile
ARG TARGETARCH
WORKDIR /src
COPY validator/host/install.sh validator/host/
RUN validator/host/install.sh "$TARGETARCH"
COPY validator/host validator/host
COPY --from=checks /src/dist/host dist/host
RUN validator/host/build.sh dist/host "$TARGETARCH" && validator/host/licenses.sh >dist/host/LICENSES

# a static program: it needs no other file
FROM scratch AS cni-gate-validator
COPY LICENSE /app/
# in a folder that the policy over final pods lets no volume cover
COPY --from=compile /src/dist/host/cni-gate-validator /src/dist/host/LICENSES /app/
# ids that no proxy has, unlike distroless' 65532: a mesh's rule exempts those of its proxy
USER 64532:64532
ENTRYPOINT ["/app/cni-gate-validator"]
LABEL org.opencontainers.image.title="cni-gate-validator" \
    org.opencontainers.image.description="Verifies the network of the pod in which it runs, for cni-gate" \
    org.opencontainers.image.version="0.1.0" \
    org.opencontainers.image.source="https://github.com/cni-gate/cni-gate" \
    org.opencontainers.image.licenses="Apache-2.0"

# without the symbols, which nothing reads here: 18 MB
FROM node:24.21.0-bookworm-slim AS node
RUN command -v strip || { apt-get update -qq && apt-get install -y -qq --no-install-recommends binutils; }
RUN strip /usr/local/bin/node

# glibc, libstdc++ and certificates; no shell, no package manager. The last one: what `docker build` makes without --target
FROM gcr.io/distroless/cc-debian12:nonroot AS cni-gate
COPY --from=node /usr/local/bin/node /usr/local/bin/node
COPY --from=bundle /src/package.json /src/LICENSE /src/dist/LICENSES /app/
COPY --from=bundle /src/dist/webhook /app/dist/webhook
# a number, so that the kubelet can see that it is not root
USER 65532:65532
WORKDIR /app
# V8 looks for garbage sooner: docs/decisions/server.md
ENTRYPOINT ["/usr/local/bin/node", "--max-semi-space-size=4", "/app/dist/webhook/main.js"]
CMD ["--help"]
LABEL org.opencontainers.image.title="cni-gate" \
    org.opencontainers.image.description="Verifies pods' networks, and keeps pods off nodes whose CNI is not ready" \
    org.opencontainers.image.version="0.1.0" \
    org.opencontainers.image.source="https://github.com/cni-gate/cni-gate" \
    org.opencontainers.image.licenses="Apache-2.0"
