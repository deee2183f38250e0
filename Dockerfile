# Stepscope without a Node of your own:
#
#   docker build -t stepscope .
#   docker run --rm -v "$PWD:/work:ro" stepscope analyze profile.sqlite
#   docker run --rm -v "$PWD:/work:ro" -p 8080:8080 stepscope view profile.sqlite --host 0.0.0.0 --port 8080
#
# Captures need nsys, the engine and the GPU: run `stepscope capture` where they are, not in this image.
FROM node:22-slim AS build
WORKDIR /source
COPY . .
RUN npm ci --no-audit --no-fund && npm pack --ignore-scripts --pack-destination /packed

FROM node:22-slim
COPY --from=build /packed /packed
RUN npm install --global --ignore-scripts --no-audit --no-fund /packed/stepscope-*.tgz && rm -r /packed
# Profiles come from elsewhere: whoever reads them has no rights, and keeps nothing but its own cache.
USER node
WORKDIR /work
ENTRYPOINT ["stepscope"]
CMD ["--help"]
