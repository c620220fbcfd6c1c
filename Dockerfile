# Banyan, for a server and for the nodes of a Ray cluster. docs/operations.md, "Deployment", says how it is set up.
FROM python:3.11-slim AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 BANYAN_CACHE=/opt/banyan/cache PATH=/opt/banyan/bin:$PATH
RUN python -m venv /opt/banyan
# First and by itself: without it, what wants torch would bring the build for GPUs, which is gigabytes larger.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
RUN --mount=type=cache,target=/root/.cache/pip pip install --no-deps --index-url "$TORCH_INDEX" torch==2.13.0
ARG EXTRAS=server,langserve,postgres,ray,multilingual
COPY . /source
RUN --mount=type=cache,target=/root/.cache/pip pip install --constraint /source/constraints.txt "/source[$EXTRAS]"
# The embedding model is converted now, so that the container starts at once and writes nothing but its data.
RUN python -c "from banyan.config import Settings; from banyan.models.embedding.embedder_loading import load_embedder; load_embedder(Settings()).encode(['ready'])"

FROM python:3.11-slim
RUN useradd --uid 10001 --user-group --home-dir /data --shell /usr/sbin/nologin banyan \
    && install --directory --owner=banyan --group=banyan --mode=700 /data
COPY --from=build /opt/banyan /opt/banyan
ENV PATH=/opt/banyan/bin:$PATH HOME=/data PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 \
    BANYAN_HOME=/data BANYAN_CACHE=/opt/banyan/cache
USER banyan
WORKDIR /data
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/api/health', timeout=4)"]
ENTRYPOINT ["banyan"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8000"]
