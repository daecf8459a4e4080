"""What the records of each kind say, the fields of every command included."""

from scheduler_core.base.trace.kinds import KINDS
from scheduler_core.base.trace.records import FieldSchema, fields_of
from scheduler_core.world.commands import CommandRecord

RECORD_FIELDS: dict[str, tuple[FieldSchema, ...]] = {
    kind: fields_of(facts) for kind, facts in {**KINDS, CommandRecord.KIND: CommandRecord}.items()
}
"""By kind, in the order in which they are told."""
