# OpenSearch with the plugin, which needs JDK 25, from the result of ./roost dist:
#   docker build -f release/images/opensearch.Dockerfile -t roost-opensearch target/dist
#   docker run -e discovery.type=single-node -e DISABLE_SECURITY_PLUGIN=true -p 9200:9200 roost-opensearch
FROM debian:trixie-slim AS dist
ADD roost-*.tar.gz /opt/
RUN mv /opt/roost-*-linux-$(uname -m)/roost-opensearch-*.zip /opt/roost-opensearch.zip
FROM eclipse-temurin:25 AS jdk
FROM opensearchproject/opensearch:3.8.0
COPY --from=jdk /opt/java/openjdk /opt/java
COPY --from=dist /opt/roost-opensearch.zip /tmp/roost-opensearch.zip
ENV OPENSEARCH_JAVA_HOME=/opt/java
RUN mkdir -p config/jvm.options.d && echo --enable-native-access=ALL-UNNAMED >config/jvm.options.d/roost.options \
    && bin/opensearch-plugin install --batch file:///tmp/roost-opensearch.zip
