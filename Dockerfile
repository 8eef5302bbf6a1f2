# Two images (docs/decisions/two-images.md): `cni-gate`, the server, and `cni-gate-validator`, which runs in users' pods.
#
#   docker build --target cni-gate .
#   docker build --target cni-gate-validator .
#
# Nothing of the server is made for one architecture: Node comes with its base image, the rest is JavaScript. The
# validator is compiled on the architecture that it is for.

FROM --platform=$BUILDPLATFORM node:24.21.0-bookworm-slim AS packages
WORKDIR /src
COPY package.json package-lock.json LICENSE ./
RUN npm ci --ignore-scripts --no-audit --no-fund

FROM packages AS build
COPY tsconfig.json tsconfig.build.json ./
COPY certs ./certs
COPY validator ./validator
COPY webhook ./webhook
RUN npm run build
# what Node never reads is half of it
RUN npm prune --omit=dev --ignore-scripts --no-audit --no-fund \
    && find node_modules -type f \( -name '*.map' -o -name '*.ts' -o -name '*.[cm]ts' \) -delete

# the checks as one file, for the validator's engine
FROM packages AS checks
COPY validator ./validator
RUN npm run build:checks

FROM rust:1.95.0-slim-bookworm AS compile
WORKDIR /src
COPY validator/host/install.sh validator/host/
RUN validator/host/install.sh
COPY validator/host validator/host
COPY --from=checks /src/dist/host dist/host
RUN validator/host/build.sh dist/host

# a static program: it needs no other file
FROM scratch AS cni-gate-validator
COPY LICENSE /app/
# in a folder that the policy over final pods lets no volume cover
COPY --from=compile /src/dist/host/cni-gate-validator /app/
USER 65532:65532
ENTRYPOINT ["/app/cni-gate-validator"]
LABEL org.opencontainers.image.title="cni-gate-validator" \
    org.opencontainers.image.description="Verifies the network of the pod in which it runs, for cni-gate" \
    org.opencontainers.image.version="0.1.0" \
    org.opencontainers.image.source="https://github.com/cni-gate/cni-gate" \
    org.opencontainers.image.licenses="Apache-2.0"

FROM node:24.21.0-bookworm-slim AS node

# glibc, libstdc++ and certificates; no shell, no package manager. The last one: what `docker build` makes without --target
FROM gcr.io/distroless/cc-debian12:nonroot AS cni-gate
COPY --from=node /usr/local/bin/node /usr/local/bin/node
COPY --from=build /src/package.json /src/LICENSE /app/
COPY --from=build /src/node_modules /app/node_modules
COPY --from=build /src/dist /app/dist
# a number, so that the kubelet can see that it is not root
USER 65532:65532
WORKDIR /app
ENTRYPOINT ["/usr/local/bin/node", "/app/dist/webhook/main.js"]
CMD ["--help"]
LABEL org.opencontainers.image.title="cni-gate" \
    org.opencontainers.image.description="Verifies pods' networks, and keeps pods off nodes whose CNI is not ready" \
    org.opencontainers.image.version="0.1.0" \
    org.opencontainers.image.source="https://github.com/cni-gate/cni-gate" \
    org.opencontainers.image.licenses="Apache-2.0"
