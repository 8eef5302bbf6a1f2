# One image: `validate` in users' pods, and `serve` in ours (docs/decisions/single-image.md).
# Nothing in it is made for one architecture: Node comes with its base image, the rest is JavaScript.

FROM --platform=$BUILDPLATFORM node:24.21.0-bookworm-slim AS build
WORKDIR /src
COPY package.json package-lock.json LICENSE ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY certs ./certs
COPY validator ./validator
COPY webhook ./webhook
RUN npm run build
# what Node never reads is half of it
RUN npm prune --omit=dev --ignore-scripts --no-audit --no-fund \
    && find node_modules -type f \( -name '*.map' -o -name '*.ts' -o -name '*.[cm]ts' \) -delete

FROM node:24.21.0-bookworm-slim AS node

# glibc, libstdc++ and certificates; no shell, no package manager
FROM gcr.io/distroless/cc-debian12:nonroot
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
