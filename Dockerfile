# The dashboard without TensorFlow, for hosts with 1 GB of memory: docs/deployment.md.
# UNTRIED: no image could be built where this was written.
FROM python:3.13-slim AS build
WORKDIR /src
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /dist .

FROM python:3.13-slim
COPY requirements.txt /tmp/requirements.txt
COPY --from=build /dist /tmp/dist
RUN pip install --no-cache-dir --compile -c /tmp/requirements.txt /tmp/dist/fairfl-*.whl \
    && rm -r /tmp/dist /tmp/requirements.txt \
    && useradd --create-home fairfl
USER fairfl
WORKDIR /home/fairfl
EXPOSE 8501
HEALTHCHECK CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://localhost:8501/_stcore/health')"]
# Inside a container 0.0.0.0 is only as open as the port that `docker run -p` publishes.
CMD ["fairfl", "app", "--headless", "--address", "0.0.0.0", "--", "--server.maxUploadSize=40"]
