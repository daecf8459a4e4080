"""The database: sessions and their logs, and checkpoints, which only save replays and can be deleted at any time."""

import secrets

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from scheduler_core.formats.export import EDITION


def new_key() -> str:
    """Return a capability key: its holder may open the session (192 random bits, safe in a URL). It never begins with a dash, so a
    terminal does not parse it as an option.
    """
    while (key := secrets.token_urlsafe(24)).startswith("-"):
        pass
    return key


class Session(models.Model):
    """One world and the links that open it.

    `head` is the furthest acknowledged position, `log_seq` the number of the log's last entry. Both change only together with the log, by
    compare and set: of two writers, one wins. `log_bytes` is the sum of the entries' sizes. `driver` is the process that plays or runs
    the session until `driver_until`, unless the process renews that; `drive` describes the run, so that another process can continue it.
    `branch`: a fork that was made with its origin's edit key (sessions/database/branches.py). `task`: its lesson's task began in it.
    """

    name = models.CharField(max_length=120)
    edit_key = models.CharField(max_length=64, unique=True, default=new_key)
    view_key = models.CharField(max_length=64, unique=True, default=new_key)
    seed = models.BigIntegerField(default=0)
    edition = models.SmallIntegerField(default=EDITION)  # lower in sessions that 0.4 or an older version made
    story = models.CharField(max_length=80, blank=True, default="")
    engine_version = models.CharField(max_length=40, default="")
    head = models.BigIntegerField(default=0)
    log_seq = models.IntegerField(default=0)
    log_bytes = models.BigIntegerField(default=0)
    origin = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="forks")
    origin_position = models.BigIntegerField(null=True, blank=True)
    branch = models.BooleanField(default=False)
    task = models.BooleanField(default=False)
    creator = models.CharField(max_length=64, blank=True, default="")
    created = models.DateTimeField(auto_now_add=True)
    used = models.DateTimeField(auto_now_add=True, db_index=True)
    deleted = models.DateTimeField(null=True, blank=True)
    driver = models.CharField(max_length=64, blank=True, default="")
    driver_until = models.DateTimeField(null=True, blank=True)
    drive = models.JSONField(null=True, blank=True)
    # Where a replay under another engine first came to something else (sessions/protocol/opening.py), until somebody has read it.
    differs = models.JSONField(null=True, blank=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(head__gte=0), name="session_head_not_negative")]
        indexes = [models.Index(fields=["creator", "created"], name="session_by_creator")]

    def __str__(self) -> str:
        return self.name


class OwnLesson(models.Model):
    """A user's lesson (docs/lessons.md): its files in their last version, valid or not.

    `edit_key` opens it for changes; `key` is for learners. `checked` is the result of the last check
    (playground/lessons/authoring/checking.py, without the document), or none if the lesson has changed since. `document` names the
    LessonDocument for learners (empty until a version has no findings); `draft` is the one of the last check.
    """

    edit_key = models.CharField(max_length=64, unique=True, default=new_key)
    key = models.CharField(max_length=64, unique=True, default=new_key)
    plan = models.TextField(blank=True, default="")
    english = models.TextField(blank=True, default="")
    chinese = models.TextField(blank=True, default="")
    checked = models.JSONField(null=True, blank=True)
    draft = models.CharField(max_length=80, blank=True, default="")
    document = models.CharField(max_length=80, blank=True, default="")
    creator = models.CharField(max_length=64, blank=True, default="", db_index=True)
    created = models.DateTimeField(auto_now_add=True)
    used = models.DateTimeField(auto_now_add=True, db_index=True)

    def __str__(self) -> str:
        return f"lesson {self.pk}"


class LessonDocument(models.Model):
    """A user's lesson, or a variant, in the form for sessions, compressed with zlib.

    Immutable: `slug` depends on the content.
    """

    slug = models.CharField(max_length=80, primary_key=True)
    data = models.BinaryField()
    used = models.DateTimeField(auto_now_add=True, db_index=True)

    def __str__(self) -> str:
        return self.slug


class ViewLink(models.Model):
    """A further key that shows a session, until it ends (None: never) or is taken back."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="view_links")
    key = models.CharField(max_length=64, unique=True, default=new_key)
    created = models.DateTimeField(auto_now_add=True)
    until = models.DateTimeField(null=True, blank=True)
    revoked = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["session_id", "id"]

    def __str__(self) -> str:
        return f"{self.session_id} until {self.until}"

    @property
    def stands(self) -> bool:
        """True if the link opens its session now."""
        return self.revoked is None and (self.until is None or self.until > timezone.now())


class LogKind(models.TextChoices):
    """The kind of a log entry."""

    COMMAND = "command", _("command")
    STEP = "step", _("step")
    PLAY = "play", _("play")
    RUN = "run", _("run")


class LogEntry(models.Model):
    """One entry: a command applied at a position, or engine steps from `at` to `to`. Entries abut.

    `payload` is JSON compressed with zlib: the command, or how the steps were asked for. `size` is its length before that.
    """

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="log")
    seq = models.IntegerField()
    kind = models.CharField(max_length=10, choices=LogKind.choices)
    at = models.BigIntegerField()
    to = models.BigIntegerField()
    payload = models.BinaryField()
    size = models.BigIntegerField(default=0)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["session_id", "seq"]
        constraints = [
            models.UniqueConstraint(fields=["session", "seq"], name="log_one_entry_per_number"),
            models.CheckConstraint(condition=models.Q(to__gte=models.F("at")), name="log_runs_forward"),
        ]

    def __str__(self) -> str:
        return f"{self.session_id}/{self.seq} {self.kind} {self.at}..{self.to}"


class Checkpoint(models.Model):
    """A world at a position as bytes (scheduler_core/world/checkpoint).

    Valid only for an engine with the same `fingerprint`, and for the commands that `digest` summarizes. `volume` names the archive of
    which it needs the first `parts` parts. `work` is the time in seconds of a replay from the start to here.
    """

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="checkpoints")
    position = models.BigIntegerField()
    work = models.FloatField()
    fingerprint = models.CharField(max_length=120)
    digest = models.CharField(max_length=64)
    volume = models.CharField(max_length=32)
    parts = models.IntegerField()
    data = models.BinaryField()
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["session_id", "position"]
        constraints = [models.UniqueConstraint(fields=["session", "position"], name="checkpoint_one_per_position")]

    def __str__(self) -> str:
        return f"{self.session_id}@{self.position}"


class CheckpointPart(models.Model):
    """A part of the archive that the checkpoints of a session share."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="checkpoint_parts")
    volume = models.CharField(max_length=32)
    number = models.IntegerField()
    data = models.BinaryField()

    class Meta:
        ordering = ["session_id", "number"]
        constraints = [models.UniqueConstraint(fields=["session", "number"], name="checkpoint_part_one_per_number")]

    def __str__(self) -> str:
        return f"{self.session_id}/{self.number}"


class Outcomes(models.Model):
    """The outcomes of `count` attempts, starting with number `first` (from 0) (sessions/protocol/opening.py)."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="outcomes")
    first = models.IntegerField()
    count = models.IntegerField()
    data = models.BinaryField()

    class Meta:
        ordering = ["session_id", "first"]
        constraints = [models.UniqueConstraint(fields=["session", "first"], name="outcomes_one_per_attempt")]

    def __str__(self) -> str:
        return f"{self.session_id}: {self.first}..{self.first + self.count}"


class ImportPreview(models.Model):
    """The preview of an import: the text, the plan, and the command, each compressed with zlib (sessions/database/previews.py).

    `author` identifies the browser that requested it, as far as limits need it.
    """

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="import_previews")
    token = models.CharField(max_length=40)
    author = models.CharField(max_length=64, blank=True, default="")
    filename = models.CharField(max_length=200, blank=True, default="")
    text = models.BinaryField()
    plan = models.BinaryField()
    command = models.BinaryField()
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "token"], name="import_preview_one_per_token")]

    def __str__(self) -> str:
        return f"{self.session_id}: {self.filename or self.token}"


class Breakpoint(models.Model):
    """A condition for a session's runs and searches: `point` is playground.sessions.protocol.breakpoints.Breakpoint as JSON.

    `hits` counts the runs and searches that ended at it.
    """

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="breakpoints")
    point = models.JSONField()
    enabled = models.BooleanField(default=True)
    hits = models.IntegerField(default=0)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["session_id", "pk"]

    def __str__(self) -> str:
        return f"{self.session_id}: breakpoint {self.pk}"


class Bookmark(models.Model):
    """A name for a position of a session."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="bookmarks")
    name = models.CharField(max_length=80)
    position = models.BigIntegerField()
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["session_id", "position", "pk"]
        constraints = [
            models.CheckConstraint(condition=models.Q(position__gte=0), name="bookmark_position_not_negative")
        ]

    def __str__(self) -> str:
        return f"{self.session_id}: {self.name} at {self.position}"


def new_code() -> str:
    """Return a room's join code: 40 random bits in unambiguous characters."""
    return "".join(secrets.choice("23456789ABCDEFGHJKMNPQRSTUVWXYZ") for _ in range(8))


class Room(models.Model):
    """A classroom around a session (playground/classroom). `key` opens the teacher's desk; `code` lets students join.

    `standing` is the teacher's view as a look's query. `shown` is a student's fork that all screens show. `locked`: nobody can join. With
    `lessons`, the room is an assignment: each student plays these alone, `varied` with individual numbers.
    """

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="rooms")
    key = models.CharField(max_length=64, unique=True, default=new_key)
    code = models.CharField(max_length=12, unique=True, default=new_code)
    creator = models.CharField(max_length=64, blank=True, default="", db_index=True)
    standing = models.JSONField(default=dict)
    shown = models.ForeignKey("Student", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    created = models.DateTimeField(auto_now_add=True, db_index=True)
    ended = models.DateTimeField(null=True, blank=True)
    locked = models.BooleanField(default=False)
    lessons = models.JSONField(default=list)
    varied = models.BooleanField(default=False)

    def __str__(self) -> str:
        return self.code


class Student(models.Model):
    """One browser in a room; its cookie holds `key`. `hand`: the time when the hand was raised. `fork`: the student's own session.
    `removed`: the time when the teacher removed the student. `creator`: the client, hashed, for the limit of joins.
    """

    room = models.ForeignKey(Room, on_delete=models.CASCADE, related_name="students")
    key = models.CharField(max_length=64, unique=True, default=new_key)
    name = models.CharField(max_length=40, blank=True, default="")
    hand = models.DateTimeField(null=True, blank=True)
    fork = models.ForeignKey(Session, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    joined = models.DateTimeField(auto_now_add=True)
    removed = models.DateTimeField(null=True, blank=True)
    creator = models.CharField(max_length=64, blank=True, default="")

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(fields=["creator", "joined"], name="student_by_creator")]

    def __str__(self) -> str:
        return self.name or f"student {self.pk}"


class Poll(models.Model):
    """A question to a room, asked when the session was at `position`.

    `kind`, `options`, `key`, and `tolerance` are those of a lesson's question (playground/lessons); `key` is null if no answer is right
    or wrong. `words` are by language. `pod` is the pod of a question for a node. `reasons` explain the wrong options.
    """

    class State(models.TextChoices):
        OPEN = "open", _("open")
        CLOSED = "closed", _("closed")
        REVEALED = "revealed", _("revealed")

    room = models.ForeignKey(Room, on_delete=models.CASCADE, related_name="polls")
    number = models.IntegerField()
    kind = models.CharField(max_length=10)
    words = models.JSONField(default=dict)
    options = models.JSONField(default=list)
    key = models.JSONField(null=True)
    tolerance = models.FloatField(default=0)
    position = models.BigIntegerField(default=0)
    pod = models.CharField(max_length=520, blank=True, default="")
    reasons = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    shown = models.BooleanField(default=True)  # whether it stands on the students' screens
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["room_id", "number"]
        constraints = [models.UniqueConstraint(fields=["room", "number"], name="poll_one_per_number")]

    def __str__(self) -> str:
        return f"{self.room_id}: poll {self.number}"


class Answer(models.Model):
    """A student's answer to a poll: the selected names, or a number, as one text. The last answer counts."""

    poll = models.ForeignKey(Poll, on_delete=models.CASCADE, related_name="answers")
    student = models.ForeignKey(Student, on_delete=models.CASCADE, related_name="answers")
    given = models.TextField()
    right = models.BooleanField(null=True)
    changed = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["poll", "student"], name="answer_one_per_student")]

    def __str__(self) -> str:
        return f"{self.poll_id}/{self.student_id}: {self.given}"


class Work(models.Model):
    """A student's lesson of an assignment, played in `session`, with its task in `fork`.

    `tries`, by the card's number: the first answer, whether it was right (null: the solution was shown), and whether a right answer
    followed.
    """

    student = models.ForeignKey(Student, on_delete=models.CASCADE, related_name="works")
    slug = models.CharField(max_length=80)
    session = models.ForeignKey(Session, null=True, on_delete=models.SET_NULL, related_name="works")
    fork = models.ForeignKey(Session, null=True, blank=True, on_delete=models.SET_NULL, related_name="tasks")
    tries = models.JSONField(default=dict)
    begun = models.DateTimeField(auto_now_add=True)
    done = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["student", "slug"], name="work_one_per_lesson")]

    def __str__(self) -> str:
        return f"{self.student_id}: {self.slug}"
