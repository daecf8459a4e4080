"""Every setting of the playground. What can be set from outside is read by `env` and listed in docs/settings.md."""

import importlib.util
import os
from pathlib import Path

import dj_database_url
from csp.constants import NONE, SELF
from django.core.management.utils import get_random_secret_key

BASE_DIR = Path(__file__).resolve().parent.parent


def env(name: str, default: str = "") -> str:
    """The environment's value of a setting; an empty one counts as not set."""
    return os.environ.get(name) or default


def package_folder(package: str, folder: str) -> Path:
    """A folder that an installed package ships, found without importing the package."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError(f"The package {package} is not installed: run `make run`, which installs it.")
    return Path(spec.submodule_search_locations[0]) / folder


def kept_secret(path: Path) -> str:
    """The secret key of this installation, made at the first start: links that were signed stay valid."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(get_random_secret_key())
    return path.read_text()


DATA_DIR = Path(env("DATA_DIR", str(BASE_DIR / "var")))
DEBUG = env("DEBUG") == "1"
SECRET_KEY = env("SECRET_KEY") or kept_secret(DATA_DIR / "secret-key")
ALLOWED_HOSTS = env("ALLOWED_HOSTS", "localhost 127.0.0.1 [::1]").split()

INSTALLED_APPS = [
    "daphne",
    "channels",
    "django.contrib.staticfiles",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django_htmx",
    "csp",
    "playground",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
ROOT_URLCONF = "playground.urls"
ASGI_APPLICATION = "playground.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {"context_processors": ["django.template.context_processors.request"]},
    },
]

DATABASES = {
    "default": dj_database_url.parse(env("DATABASE_URL", f"sqlite:///{DATA_DIR / 'playground.sqlite3'}"))
}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    # A writer takes its lock at once and others wait for it, readers never wait for a writer.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;",
    }

REDIS_URL = env("REDIS_URL")
CHANNEL_LAYERS = {
    "default": {"BACKEND": "channels_redis.core.RedisChannelLayer", "CONFIG": {"hosts": [REDIS_URL]}}
    if REDIS_URL
    else {"BACKEND": "channels.layers.InMemoryChannelLayer"}
}

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static", ("plotly", package_folder("plotly", "package_data"))]
WHITENOISE_USE_FINDERS = True

# The largest WebSocket message that is taken from a browser, in bytes; a longer one closes the connection.
WEBSOCKET_MAX_MESSAGE = int(env("WEBSOCKET_MAX_MESSAGE", "65536"))

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:"],
        "frame-ancestors": [NONE],
        "form-action": [SELF],
        "base-uri": [NONE],
        "object-src": [NONE],
    }
}

LANGUAGE_CODE = "en"
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"
