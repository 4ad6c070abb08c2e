"""The one settings file. Everything that differs between hosts comes from the environment; see docs/settings.md."""

import os
import re
from pathlib import Path
from urllib.parse import urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()

VAR_DIR = Path(env.str("CONCORD_VAR", default=str(BASE_DIR / "var")))
DEBUG = env.bool("DEBUG", default=False)
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]", "testserver"])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])
HTTPS = env.bool("HTTPS", default=False)  # behind a proxy that speaks https


def read_secret() -> str:
    """From SECRET_KEY, else from var/secret, which is written once."""
    if given := env.str("SECRET_KEY", default=""):
        return str(given)
    path = VAR_DIR / "secret"
    if not path.exists():
        VAR_DIR.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(handle, "w") as file:
            if os.fstat(file.fileno()).st_size == 0:
                file.write(os.urandom(48).hex())
    return path.read_text().strip()[:96]


SECRET_KEY = read_secret()
SECRET_KEY_FALLBACKS = env.list("SECRET_KEY_FALLBACKS", default=[])  # former ones: what they sealed still opens

# --- the stages, lowest first: the import direction, the navigation and the docs follow this order
STAGES = [
    "collection",
    "screening",
    "sampling",
    "labeling",
    "agreement",
    "adjudication",
    "reproduction",
    "analysis",
    "publication",
]
GROUND = ["web", "history", "accounts", "studies", "codebook"]

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django_htmx",
    "django_prometheus",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    *(f"annotator.{name}" for name in GROUND + STAGES),
    "annotator.intake",
    "annotator.overview",
]

MIDDLEWARE = [
    "django_prometheus.middleware.PrometheusBeforeMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "annotator.web.middleware.SecurityHeaders",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "annotator.web.middleware.Refusals",
    "django_prometheus.middleware.PrometheusAfterMiddleware",
]

ROOT_URLCONF = "annotator.urls"
WSGI_APPLICATION = "annotator.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "frontend" / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]

# --- database: SQLite in WAL mode unless told otherwise
DATABASES = {"default": env.db("DATABASE_URL", default=f"sqlite:///{VAR_DIR / 'concord.sqlite3'}")}
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-16000;",
    }
else:
    DATABASES["default"] |= {"CONN_MAX_AGE": 600, "CONN_HEALTH_CHECKS": True}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- broker and cache
REDIS_URL = env.str("REDIS_URL", default="")  # redis://host:port/0 or unix:///path/to.sock
if REDIS_URL:
    CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL}}
else:
    CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://") or "memory://"
CELERY_TASK_DEFAULT_QUEUE = "default"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": env.int("VISIBILITY_TIMEOUT", default=3600)}
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE = {
    "sweep-imports": {"task": "annotator.intake.tasks.sweep", "schedule": 30.0},
    "sweep-harvests": {"task": "annotator.collection.tasks.sweep", "schedule": 30.0},
    "sweep-comparisons": {"task": "annotator.collection.tasks.sweep_comparisons", "schedule": 30.0},
    "sweep-figures": {"task": "annotator.analysis.tasks.sweep", "schedule": 30.0},
    "refresh-harvests": {"task": "annotator.collection.tasks.refresh", "schedule": 600.0},
    "sweep-runs": {"task": "annotator.reproduction.tasks.sweep", "schedule": 15.0},
    "sweep-label-audits": {"task": "annotator.analysis.tasks.sweep_audits", "schedule": 30.0},
    "sweep-releases": {"task": "annotator.publication.tasks.sweep", "schedule": 30.0},
    "expire-leases": {"task": "annotator.labeling.tasks.expire_leases", "schedule": 60.0},
    "seal-history": {"task": "annotator.history.tasks.seal", "schedule": 3600.0},
}

# --- people
AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["annotator.accounts.backends.Backend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
LOGIN_URL = "/accounts/login/"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_ADAPTER = "annotator.accounts.adapter.Adapter"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_RATE_LIMITS = {"login": "300/m/ip", "login_failed": "10/m/ip,5/5m/key"}  # a team shares an address
ALLAUTH_TRUSTED_PROXY_COUNT = 1 if HTTPS else 0  # whose word on the client's address is taken
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"

# --- web
SESSION_ENGINE = "annotator.accounts.sessions"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 14 * 24 * 3600
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
CSRF_COOKIE_HTTPONLY = True
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
if HTTPS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = True
    SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
    SECURE_HSTS_SECONDS = 31_536_000
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
UPLOAD_LIMIT = 20 * 1024 * 1024
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5000
FILE_UPLOAD_MAX_MEMORY_SIZE = UPLOAD_LIMIT

STATIC_URL = "/static/"
STATIC_ROOT = env.str("STATIC_ROOT", default=str(VAR_DIR / "static"))
STATICFILES_DIRS = [BASE_DIR / "frontend" / "static"]
MEDIA_ROOT = env.str("MEDIA_ROOT", default=str(VAR_DIR / "files"))  # the files of releases, by their content
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": env.str("STATICFILES_STORAGE", default="whitenoise.storage.CompressedManifestStaticFilesStorage")
    },
}
WHITENOISE_KEEP_ONLY_HASHED_FILES = True

# --- GitHub
LOOPBACK = ("127.0.0.1", "localhost", "::1")
HOST_NAME = re.compile(r"[a-z0-9.-]{1,200}", re.ASCII)


def is_api_address(address: str) -> bool:
    """Where a token may be sent: over https, or over http to this machine alone."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)
    return bool(is_safe and parts.hostname and "@" not in parts.netloc)


def read_github_hosts() -> dict[str, str]:
    """Further hosts that studies may collect from: `ghe.example.org=https://ghe.example.org/api/v3`, by commas."""
    hosts = {}
    for entry in env.list("GITHUB_HOSTS", default=[]):
        name, _, address = (part.strip() for part in entry.partition("="))
        if not HOST_NAME.fullmatch(name) or name == "github.com" or not is_api_address(address):
            raise ImproperlyConfigured(
                f"GITHUB_HOSTS: “{entry}” is not NAME=ADDRESS, such as ghe.example.org=https://ghe.example.org/api/v3. "
                "The address is https; http goes to this machine alone. github.com is there already."
            )
        hosts[name] = address.rstrip("/")
    return hosts


RUN_LEASE = env.int("RUN_LEASE", default=60)  # seconds after which a run nobody renews goes back into the queue
RUNS_AT_ONCE = env.int("RUNS_AT_ONCE", default=1)  # of one worker process: its other threads stay free
RUNNERS = env.list("RUNNERS", default=[])  # what this machine contains scripts by; none named: whatever works here
HARVEST_LEASE = 300  # seconds after which a harvest whose worker is gone is taken up by another
GITHUB_HOSTS = read_github_hosts()  # besides GITHUB_API_URL and GITHUB_TOKENS: see collection.access

METRICS_TOKEN = env.str("METRICS_TOKEN", default="")  # who holds it reads /metrics

# --- REST
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "annotator.accounts.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": [
        "rest_framework.permissions.IsAuthenticated",
        "annotator.accounts.authentication.HasScope",
    ],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["annotator.web.parsing.CheckedJSON"],
    "DEFAULT_PAGINATION_CLASS": "annotator.web.paging.ByKey",
    "DEFAULT_SCHEMA_CLASS": "annotator.web.schema.OfStage",
    "EXCEPTION_HANDLER": "annotator.web.problems.handle",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Concord",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    # Hundreds of operations draw slowly, so they come folded; a button that unfolds one holds no link and no other button.
    "SWAGGER_UI_SETTINGS": """{
        deepLinking: true,
        docExpansion: "none",
        plugins: [() => ({ components: { DeepLink: ({ text }) => text, CopyToClipboardBtn: () => null } })],
    }""",
    "TAGS": [{"name": name} for name in [*GROUND, *STAGES, "intake", "overview"]],
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SERVE_AUTHENTICATION": [],
    "OAS_VERSION": "3.1.1",
    "ENUM_NAME_OVERRIDES": {
        "RoundKindEnum": "annotator.labeling.models.Round.Kind",
        "FacetKindEnum": "annotator.codebook.models.Facet.Kind",
        "EvidenceKindEnum": "annotator.labeling.models.Evidence.Kind",
        "WantedKindEnum": "annotator.collection.serializers.KINDS",
        "WantedMomentEnum": "annotator.collection.serializers.MOMENTS",
        "GateCoefficientEnum": "annotator.studies.protocol.GateCoefficient",
        "GateMethodEnum": "annotator.studies.protocol.GateMethod",
    },
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "annotator.web.schema.add_problems",
    ],
}

# --- language and time
LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": env.str("LOG_LEVEL", default="WARNING")},
}
