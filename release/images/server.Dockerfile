# The service, from the result of ./roost dist:
#   docker build -f release/images/server.Dockerfile -t roost target/dist
#   docker run -e ROOST_TOKEN=secret -p 8080:8080 -v /my/data:/data:ro roost --data /data/rows.jsonl
FROM debian:trixie-slim AS dist
ADD roost-*.tar.gz /opt/
RUN mv /opt/roost-*-linux-$(uname -m) /opt/roost
FROM debian:trixie-slim
RUN apt-get update && apt-get install -y --no-install-recommends libhwloc15 && rm -rf /var/lib/apt/lists/*
COPY --from=dist /opt/roost /opt/roost
RUN useradd --system --create-home roost
USER roost
# Where tables are kept for the next start.
WORKDIR /home/roost
EXPOSE 8080
ENTRYPOINT ["/opt/roost/bin/roost", "serve", "--host", "0.0.0.0"]
