# Workers and beat. Built from the project's root: docker build -f docker/worker.Dockerfile .
FROM python:3.12-slim-bookworm

ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1 CONCORD_VAR=/var/lib/concord
RUN apt-get update \
    && apt-get install -y --no-install-recommends bubblewrap git \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /srv/concord
COPY requirements.txt .
RUN pip install --root-user-action=ignore -r requirements.txt \
    && useradd --system --uid 10001 --home-dir /var/lib/concord --create-home concord
COPY . .

USER concord
HEALTHCHECK --interval=30s --timeout=10s --start-period=20s \
    CMD ["sh", "-c", "celery -A annotator --quiet inspect ping --timeout 5 -d \"celery@$HOSTNAME\""]
CMD ["celery", "-A", "annotator", "worker", "-Q", "default,mining,reproduction", "--loglevel", "warning"]
