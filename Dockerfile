# Base images are arguments, so that the image can be built where the public ones cannot be had.
ARG BUILD_IMAGE=node:24-bookworm-slim
ARG RUNTIME_IMAGE=gcr.io/distroless/nodejs24-debian12

FROM ${BUILD_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json ./
# No install scripts: the bundler's binary is a package of its own, and this image already has Node 24.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json LICENSE ./
COPY .config .config
COPY src src
ARG REVISION=unknown
# `pilotlight` on the PATH, for `docker exec` and `kubectl exec`: an image without a shell has no /usr/bin/env either.
RUN REVISION=${REVISION} node .config/build.ts && mkdir -p state run bin && \
    sed -i '1s|.*|#!/nodejs/bin/node|' dist/pilotlight.js && chmod +x dist/pilotlight.js && \
    ln -s /app/pilotlight.js bin/pilotlight

FROM ${RUNTIME_IMAGE}
ARG REVISION=unknown
LABEL org.opencontainers.image.title="pilotlight" \
      org.opencontainers.image.description="Keeps serverless GPU deployments alive: heartbeats, logs, parameter checks, metrics" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build /build/dist /app
COPY --from=build /build/bin /usr/local/bin
# For a volume: a fresh one takes its owner from here. Nothing else can be written.
COPY --from=build --chown=65532:65532 /build/state /var/lib/pilotlight
# For a tmpfs: the socket of the admin routes, which only this user's programs can open. `pilotlight admin` asks there.
COPY --from=build --chown=65532:65532 /build/run /run/pilotlight
ENV PILOTLIGHT_ADMIN_LISTEN=unix:/run/pilotlight/admin.sock
USER 65532:65532
EXPOSE 9847
# Informs, and should restart nothing: the process is the heart, which beats whether or not the daemon answers this, and
# which restarts the daemon by itself.
HEALTHCHECK --interval=15s --timeout=5s --start-period=5s CMD ["/nodejs/bin/node", "/app/pilotlight.js", "healthcheck"]
# One arena for malloc, where glibc would make one for each thread. And a block of 32 KiB or more, which is what V8's
# compilers work in, goes back to the system when it is freed: glibc would raise that limit with each larger block that it
# sees freed, to 32 MiB, and keep most of what they needed for good. The heart alone takes 10 MB less. The daemon inherits
# the first and has a limit of its own (src/config/other-variables.ts).
ENV MALLOC_ARENA_MAX=1
ENV MALLOC_MMAP_THRESHOLD_=32768
# V8 lets its nursery grow to 48 MiB, three semi-spaces, and keeps it: with the smallest the heart takes 2 MB less, and
# the heart starts the daemon so, too. And it lets a heap without a limit grow to four times of what is in use before it
# collects, one with this limit to 1.4 times: with 10,000 deployments, of which it has 44 MB in use, the heart takes 83 MB
# instead of 167. Most other flags of V8 make Node compile all of its own modules anew at each start, since its binary has
# them compiled for V8 without such flags: the first heartbeat would be 30 ms later.
ENTRYPOINT ["/nodejs/bin/node", "--max-semi-space-size=1", "--max-old-space-size=512", "/app/pilotlight.js"]
CMD ["run"]
