# syntax=docker/dockerfile:1
# The gateway with everything it can use: Node 24 LTS, Chromium to render pages, fonts for most
# scripts. Runs without root; data and configuration are volumes.

FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
RUN npm run build && npm prune --omit=dev

FROM node:24-bookworm-slim
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
      ca-certificates \
      chromium \
      fonts-liberation \
      fonts-noto-cjk \
      fonts-noto-color-emoji \
      tini \
 && rm -rf /var/lib/apt/lists/*

# The second is read by edge-gateway.yaml; in your own file write `storage.base_path` likewise.
ENV NODE_ENV=production \
    EDGE_GATEWAY_DATA=/var/lib/edge-gateway
WORKDIR /app
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json LICENSE ./
COPY config ./config
# What runs without a volume; mount your own files over /etc/edge-gateway.
COPY edge-gateway.yaml hosts.yaml /etc/edge-gateway/
RUN ln -s /app/dist/cli/main.js /usr/local/bin/edge-gateway \
 && chmod +x /app/dist/cli/main.js \
 && mkdir /var/lib/edge-gateway \
 && chown node:node /var/lib/edge-gateway

USER node
VOLUME ["/var/lib/edge-gateway", "/etc/edge-gateway"]
# The proxy; HTTPS and the admin listener where your files open them: server.tls.listen, admin.listen;
# a render service that is told to `--listen :10080`.
EXPOSE 8080 8443 9090 10080

# Asks where admin.listen says, whether the gateway answers; `health` without --live asks /ready.
# For `render-service` say --health-cmd 'edge-gateway health --live --renderer 127.0.0.1:10080'.
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s --retries=3 \
  CMD ["node", "/app/dist/cli/main.js", "health", "--live", "-c", "/etc/edge-gateway/edge-gateway.yaml"]

# tini reaps what Chromium leaves and passes signals on.
ENTRYPOINT ["tini", "--", "node", "/app/dist/cli/main.js"]
CMD ["serve", "-c", "/etc/edge-gateway/edge-gateway.yaml"]
