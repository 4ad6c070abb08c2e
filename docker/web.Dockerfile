# The web server. Built from the project's root: docker build -f docker/web.Dockerfile .
FROM python:3.12-slim-bookworm

ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1 \
    CONCORD_VAR=/var/lib/concord STATIC_ROOT=/srv/static BIND=0.0.0.0:8000
WORKDIR /srv/concord
COPY requirements.txt .
RUN pip install --root-user-action=ignore -r requirements.txt \
    && useradd --system --uid 10001 --home-dir /var/lib/concord --create-home concord
COPY . .
RUN SECRET_KEY=only-while-building python manage.py collectstatic --noinput --verbosity 0

USER concord
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=3s --start-period=20s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/readyz', timeout=2)"]
CMD ["gunicorn", "-c", "ops/gunicorn.conf.py"]
