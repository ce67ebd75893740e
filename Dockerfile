# One image per service: docker build --build-arg MODULE=dispatcher-api -t pushplanet/dispatcher-api .
# MODULE is dispatcher-api, gateway-worker, connection-manager or dashboard.
FROM eclipse-temurin:25-jdk AS build
ARG MODULE
WORKDIR /source
COPY . .
RUN --mount=type=cache,target=/root/.m2 ./mvnw -q -Pfast -DskipTests -pl ${MODULE} -am package \
 && java -Djarmode=tools -jar ${MODULE}/target/${MODULE}-*-boot.jar extract --destination /application \
 && mv /application/*.jar /application/application.jar
# The garbage collector that each program is measured with, as in the quickstart's BuiltPrograms;
# perf-tests' JvmFlags has the connection manager's, too.
RUN if [ "${MODULE}" = connection-manager ]; then echo "-XX:+UseG1GC"; else echo "-XX:+UseParallelGC -XX:NewRatio=1"; fi \
    > /application/jvm.options

FROM eclipse-temurin:25-jre
RUN useradd --system --uid 10001 pushplanet
WORKDIR /application
COPY --from=build /application ./
USER pushplanet
ENV JAVA_TOOL_OPTIONS="-XX:+UseCompactObjectHeaders --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow -XX:MaxRAMPercentage=70"
ENTRYPOINT ["java", "@jvm.options", "-jar", "application.jar"]
