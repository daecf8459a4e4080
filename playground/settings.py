"""Every setting of the playground. What can be set from outside is read by `env` and listed in docs/settings.md."""

import fcntl
import importlib.util
import os
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path

import dj_database_url
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from django.core.management.utils import get_random_secret_key

BASE_DIR = Path(__file__).resolve().parent.parent
# The pages' files stand beside the packages in a checkout, and within this one where pip installed it (setup.py).
INSTALLED = not (BASE_DIR / "manage.py").is_file()
FILES = Path(__file__).resolve().parent / "files" if INSTALLED else BASE_DIR


def env(name: str, default: str = "") -> str:
    """The environment's value of a setting; an empty one counts as not set."""
    return os.environ.get(name) or default


def env_number(name: str, default: int) -> int:
    """A setting that is a whole number, not negative."""
    text = env(name, str(default))
    if not text.isascii() or not text.isdecimal():
        raise ImproperlyConfigured(f"{name} is {text!r}; it must be a whole number such as {default}.")
    return int(text)


def env_choice(name: str, choices: tuple[str, ...]) -> str:
    """A setting that is one of some words; the first is the default."""
    text = env(name, choices[0])
    if text not in choices:
        raise ImproperlyConfigured(f"{name} is {text!r}; it must be one of {', '.join(choices)}.")
    return text


def env_networks(name: str, default: str = "") -> list[IPv4Network | IPv6Network]:
    """A setting that is addresses and networks, separated by blanks."""
    try:
        return [ip_network(each) for each in env(name, default).split()]
    except ValueError as error:
        raise ImproperlyConfigured(
            f"{name} must be addresses or networks such as 127.0.0.1 or 10.0.0.0/8: {error}."
        ) from error


def package_folder(package: str, folder: str) -> Path:
    """A folder that an installed package ships, found without importing the package."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError(f"The package {package} is not installed: run `make run`, which installs it.")
    return Path(spec.submodule_search_locations[0]) / folder


def load_or_create_secret(path: Path) -> str:
    """The secret key of this installation, made at the first start: what was signed stays valid.

    An empty file is what a full disk or a crash left of the first start; nothing was ever signed by it, so the key is made then.
    Processes that start at the same moment agree on one.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            key = file.read().strip()
            if not key:
                key = get_random_secret_key()
                file.seek(0)
                file.write(key)
                file.flush()
                os.fsync(file.fileno())
            return key
    except (OSError, UnicodeDecodeError) as error:
        raise ImproperlyConfigured(
            f"The secret key in {path} can't be read or made: {error}. Make room or mend the file's rights, or set SECRET_KEY."
        ) from error


def data_folder() -> Path:
    """Where data is kept unless DATA_DIR says so: in the checkout, or where the user's programs keep theirs (XDG Base Directory)."""
    if not INSTALLED:
        return BASE_DIR / "var"
    return Path(env("XDG_DATA_HOME", str(Path.home() / ".local/share"))) / "scheduler-playground"


DATA_DIR = Path(env("DATA_DIR", str(data_folder())))
DEBUG = env("DEBUG") == "1"
SECRET_KEY = env("SECRET_KEY") or load_or_create_secret(DATA_DIR / "secret-key")
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
    "playground.middleware.heads",
    "django.middleware.security.SecurityMiddleware",
    "playground.common.compression.compress_responses",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "playground.middleware.never_stored",
    "playground.middleware.secure_cookies",
    "playground.middleware.short_redirects",
    "csp.middleware.CSPMiddleware",
    "playground.middleware.probes",
    "playground.views.responses.Sessions",
    "django.middleware.locale.LocaleMiddleware",
    "playground.middleware.reject_unknown_hosts",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "playground.middleware.readable_forms",
]
# A session's API server is asked by programs, many times: cookies, languages, and forms are not about it.
DOOR_MIDDLEWARE = [
    "playground.middleware.heads",
    "playground.common.compression.compress_responses",
    "playground.middleware.never_stored",
    "playground.middleware.reject_unknown_hosts",
]
CSRF_FAILURE_VIEW = "playground.views.responses.not_from_here"
ROOT_URLCONF = "playground.urls"
ASGI_APPLICATION = "playground.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [FILES / "templates"],
        "OPTIONS": {
            "loaders": [
                (
                    "django.template.loaders.cached.Loader",
                    ["playground.templating.environment.Loader", "django.template.loaders.app_directories.Loader"],
                )
            ],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
    # What is rendered at each step is compiled.
    {
        "NAME": "panels",
        "BACKEND": "django.template.backends.jinja2.Jinja2",
        "DIRS": [FILES / "templates" / "panels"],
        "OPTIONS": {"environment": "playground.templating.environment.PanelEnvironment"},
    },
]

# Connections stay open: SQLite writes its whole log back when the last one closes, which would take longer than the change itself.
DATABASES = {
    "default": dj_database_url.parse(
        env("DATABASE_URL", f"sqlite:///{DATA_DIR / 'playground.sqlite3'}"), conn_max_age=600, conn_health_checks=True
    )
}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["ENGINE"] = "playground.storage.sqlite"
    # A writer takes its lock at once and others wait for it (in servers by asking.py), readers never wait for a writer.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;",
    }

    # Tests look at the database from several threads, which a database in memory does not bear.
    DATABASES["default"]["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}
if DATABASES["default"]["ENGINE"] == "django.db.backends.postgresql":
    DATABASES["default"]["ENGINE"] = "playground.storage.postgresql"
# Seconds for which pages wait for a database that is away, and after which one that says nothing is taken for away.
DATABASE_WAIT_SECONDS = env_number("DATABASE_WAIT_SECONDS", 5)
DATABASE_ANSWER_SECONDS = env_number("DATABASE_ANSWER_SECONDS", 10)

REDIS_URL = env("REDIS_URL")
STATIC_URL = "/static/"
STATICFILES_DIRS = [FILES / "static", ("plotly", package_folder("plotly", "package_data"))]
WHITENOISE_USE_FINDERS = True

# Engines: worker processes for small sessions, and for those with a large log or import.
ENGINE_WORKERS = env_number("ENGINE_WORKERS", 2)
ENGINE_HEAVY_WORKERS = env_number("ENGINE_HEAVY_WORKERS", 2)
ENGINE_JOBS = env_number("ENGINE_JOBS", 2)
ENGINE_MEMORY = env_number("ENGINE_MEMORY", 4 << 30)
HEAVY_LOG_BYTES = 256 << 10
HEAVY_COMMAND_BYTES = 256 << 10
# A page waits this long for a session that is being replayed; then it shows how far that is.
OPEN_WAIT = 4.0
# The longest that checking an imported trace may take.
TRACE_SECONDS = env_number("TRACE_SECONDS", 120)
# The longest that checking a lesson of somebody's own may take.
LESSON_SECONDS = env_number("LESSON_SECONDS", 20)
ENGINE_IDLE_SECONDS = env_number("ENGINE_IDLE_SECONDS", 300)
# Checkpoints in the database spare replays. A session that is replayed in fewer seconds than this has none.
CHECKPOINTS = env("CHECKPOINTS", "1") != "0"
CHECKPOINT_WORK = 0.1
PLAY_UNWATCHED_SECONDS = env_number("PLAY_UNWATCHED_SECONDS", 30)

# Limits. Reaching one is a refusal with clear words; the session stays as it was.
MAX_OBJECTS = env_number("MAX_OBJECTS", 100_000)
MAX_LOG_ENTRIES = env_number("MAX_LOG_ENTRIES", 100_000)
MAX_LOG_BYTES = env_number("MAX_LOG_BYTES", 320 << 20)
MAX_UPLOAD_BYTES = env_number("MAX_UPLOAD_BYTES", 32 << 20)
# One file of an import, and from which size on it is read in turns, one at a time; what is uploaded waits in UPLOADS for that.
MAX_IMPORT_BYTES = env_number("MAX_IMPORT_BYTES", 256 << 20)
LARGE_IMPORT_BYTES = env_number("LARGE_IMPORT_BYTES", 8 << 20)
UPLOADS = DATA_DIR / "uploads"
MAX_TRACE_BYTES = env_number("MAX_TRACE_BYTES", 256 << 20)
MAX_LESSON_BYTES = env_number("MAX_LESSON_BYTES", 256 << 10)
MAX_LESSONS_PER_CLIENT = env_number("MAX_LESSONS_PER_CLIENT", 100)
MAX_COMMAND_BYTES = 2 * MAX_UPLOAD_BYTES
# Sessions of one client: made in a minute, and live ones, which were used within ENGINE_IDLE_SECONDS.
MAX_SESSIONS_PER_MINUTE = env_number("MAX_SESSIONS_PER_MINUTE", 300)
MAX_SESSIONS_PER_CLIENT = env_number("MAX_SESSIONS_PER_CLIENT", 1000)
# Steps of one run: pods that fit nowhere are tried again and again.
MAX_RUN_STEPS = env_number("MAX_RUN_STEPS", 5_000_000)
MAX_SEARCH_STEPS = env_number("MAX_SEARCH_STEPS", 2_000_000)
MAX_BREAKPOINTS = 50
MAX_BOOKMARKS = 200
MAX_VIEWERS = env_number("MAX_VIEWERS", 500)
# Classrooms: joins of one client in a minute, students in one, rooms of one client that are open, questions in one; hours until a
# room ends by itself, and days until it is removed with its answers.
MAX_JOINS_PER_MINUTE = env_number("MAX_JOINS_PER_MINUTE", 300)
MAX_STUDENTS = env_number("MAX_STUDENTS", 400)
MAX_ROOMS_PER_CLIENT = env_number("MAX_ROOMS_PER_CLIENT", 20)
MAX_POLLS = env_number("MAX_POLLS", 200)
ROOM_HOURS = env_number("ROOM_HOURS", 12)
ROOM_RETENTION_DAYS = env_number("ROOM_RETENTION_DAYS", 30)
# Of this process: all connections, and those of them that are WebSockets; `serve` lowers both to what the system gives it.
MAX_CONNECTIONS = env_number("MAX_CONNECTIONS", 8000)
MAX_SOCKETS = env_number("MAX_SOCKETS", 6000)
# What bodies may hold on the disk while they arrive: all of them, and those of one client without a key, or of one session.
MAX_SPOOLED_BYTES = env_number("MAX_SPOOLED_BYTES", 1 << 30)
MAX_SPOOLED_BYTES_PER_CLIENT = env_number("MAX_SPOOLED_BYTES_PER_CLIENT", 264 << 20)
# Within so many seconds a request's head has to come, and each 16 KiB of its body.
REQUEST_SECONDS = env_number("REQUEST_SECONDS", 20)
# Real extenders that sessions may ask, with or without a port; for how long at most, and how much they may say.
EXTENDER_HOSTS = env("EXTENDER_HOSTS").split()
EXTENDER_SECONDS = env_number("EXTENDER_SECONDS", 30)
MAX_EXTENDER_BYTES = env_number("MAX_EXTENDER_BYTES", 8 << 20)
SESSION_RETENTION_DAYS = env_number("SESSION_RETENTION_DAYS", 90)

# The largest WebSocket message that is taken from a browser, in bytes; a longer one closes the connection.
WEBSOCKET_MAX_MESSAGE = env_number("WEBSOCKET_MAX_MESSAGE", 65536)
# Messages a second of one connection, and how many may come at once.
WEBSOCKET_RATE = env_number("WEBSOCKET_RATE", 40)
WEBSOCKET_BURST = 80

DATA_UPLOAD_MAX_MEMORY_SIZE = MAX_UPLOAD_BYTES
DATA_UPLOAD_MAX_NUMBER_FIELDS = 1000
DATA_UPLOAD_MAX_NUMBER_FILES = 10

# A link to a session is a key: it must not leave in a Referer. ("no-referrer" would also blank the Origin that forms are checked by.)
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_AGE = 365 * 24 * 3600
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = env("HTTPS") == "1"
CSRF_TRUSTED_ORIGINS = env("TRUSTED_ORIGINS").split()
# What these say in X-Forwarded-For and X-Forwarded-Proto counts, and nobody else's (gate.py).
TRUSTED_PROXIES = env_networks("TRUSTED_PROXIES")
# Who may read /metrics.
METRICS_CLIENTS = env_networks("METRICS_CLIENTS", "127.0.0.1 ::1")
# Without them the proxy in front has to see to it that nobody else's does.
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if env("HTTPS") == "1" and not TRUSTED_PROXIES else None

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        # The hash is of the one style sheet that plotly.min.js brings along (for maps, which are not used here).
        "style-src": [SELF, "'sha256-V2sIX92Uh6ZaGSFTKMHghsB85b9toJtmazgG09AI2uk='"],
        "img-src": [SELF, "data:", "blob:"],
        "connect-src": [SELF],
        "frame-ancestors": [NONE],
        "form-action": [SELF],
        "base-uri": [NONE],
        "object-src": [NONE],
    }
}

LOG_LEVEL = env_choice("LOG_LEVEL", ("WARNING", "INFO", "DEBUG", "ERROR"))
LOG_FORMAT = env_choice("LOG_FORMAT", ("plain", "json"))
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"ids": {"()": "playground.common.logs.WithIds"}},
    "formatters": {
        "plain": {"()": "playground.common.logs.PlainLines"},
        "json": {"()": "playground.common.logs.JsonLines"},
    },
    "handlers": {
        "stderr": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT, "filters": ["ids"]},
        "troubles": {"class": "playground.common.logs.RecentTroubles", "level": "WARNING", "filters": ["ids"]},
    },
    "root": {"handlers": ["stderr", "troubles"], "level": "WARNING"},
    "loggers": {"playground": {"level": LOG_LEVEL}},
}

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
LANGUAGE_COOKIE_NAME = "language"
LANGUAGE_COOKIE_AGE = 365 * 24 * 3600
LANGUAGE_COOKIE_SAMESITE = "Lax"
LOCALE_PATHS = [FILES / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"
