# The image of members, operator and command line: quoin-node, quoin-operator, quoinctl and quoin-found are in its PATH.
#
# The programs are bundled: a few files of JavaScript beside the addon of RocksDB, without packages. The image has a list
# of what is in them, /quoin/sbom.cdx.json, in the format CycloneDX.
#
# It needs no right: it runs as user 10001, or as any other, on a root file system that may be read-only. What is written
# goes to the data directory and to /tmp. Node is the first process and ends at SIGTERM by itself; to be watched by no init
# costs nothing, because none of the programs starts another.

# Debian, or another system with glibc, with Node 26 and npm.
ARG BASE_IMAGE=docker.io/library/node:26-slim

FROM ${BASE_IMAGE} AS build
WORKDIR /quoin
COPY package.json package-lock.json .npmrc ./
COPY backup/package.json backup/
COPY proto/package.json proto/
COPY client/package.json client/
COPY node/package.json node/
COPY operator/package.json operator/
COPY bench/package.json bench/
COPY scripts/bundle/package.json scripts/bundle/
COPY console/package.json console/
# npm trusts whom the base image trusts, beside those that Node knows: a registry may be behind a proxy.
ENV NODE_USE_SYSTEM_CA=1
# Optional is what brings Node itself, which the base image has. Nothing is compiled: the addon of RocksDB comes prebuilt.
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund \
      --workspace=backup --workspace=proto --workspace=client --workspace=node --workspace=operator

# The bundler, whose program is an optional package for each platform, and what the web console is made of.
FROM build AS bundler
RUN npm ci --ignore-scripts --no-audit --no-fund --workspace=scripts/bundle --workspace=console

FROM build AS bundled
COPY --from=bundler /quoin/node_modules/esbuild node_modules/esbuild
COPY --from=bundler /quoin/node_modules/@esbuild node_modules/@esbuild
COPY --from=bundler /quoin/node_modules/preact node_modules/preact
COPY --from=bundler /quoin/node_modules/@preact node_modules/@preact
COPY console console
COPY LICENSE ./
COPY backup backup
COPY proto proto
COPY client client
COPY operator operator
COPY scripts scripts
COPY node node
RUN node scripts/packages/image.ts /image

# For development, the files of the web console, which a member only reads.
FROM bundler AS console
COPY console console
RUN node console/scripts/build.ts

# For development, where sources are replaced while the programs run: Node runs them as they are. Who owns the files must
# be able to replace them.
FROM ${BASE_IMAGE} AS development
ARG OWNER=0:0
WORKDIR /quoin
COPY --from=build --chown=${OWNER} /quoin/node_modules node_modules
COPY --chown=${OWNER} package.json LICENSE ./
COPY --chown=${OWNER} backup backup
COPY --chown=${OWNER} proto proto
COPY --chown=${OWNER} client client
COPY --chown=${OWNER} node node
COPY --chown=${OWNER} operator operator
COPY --chown=${OWNER} console/package.json console/index.ts console/
COPY --from=console --chown=${OWNER} /quoin/console/built console/built
COPY image/development /usr/local/bin
ENV HOME=/tmp NODE_COMPILE_CACHE=/quoin/compiled MALLOC_ARENA_MAX=2
RUN mkdir compiled && chown 10001:10001 compiled
USER 10001:10001
RUN quoin-node --version && quoin-operator --version && quoinctl --version
ENTRYPOINT []
CMD ["quoin-node", "--help"]

FROM ${BASE_IMAGE}
LABEL org.opencontainers.image.title="Quoin" \
      org.opencontainers.image.description="Distributed coordination service: member, operator and command line" \
      org.opencontainers.image.licenses="Apache-2.0"
WORKDIR /quoin
COPY --from=bundled /image ./
COPY image/bin /usr/local/bin

# What Node compiles is kept from here on, so that a member is there in half the time after a restart.
# node/local/member-environment.ts says what the arenas are for.
ENV NODE_ENV=production HOME=/tmp NODE_COMPILE_CACHE=/quoin/compiled MALLOC_ARENA_MAX=2
RUN mkdir compiled && chown 10001:10001 compiled
USER 10001:10001
RUN quoin-node --version && quoin-operator --version && quoinctl --version && quoin-found --help >/dev/null

EXPOSE 7400 7401 7402 7403 7404
ENTRYPOINT []
CMD ["quoin-node", "--help"]
