"""CEL as kube uses it: cel-go's language and cost, kube's libraries and limits. docs/cel.md tells what is there.

    environment = Environment({"node": DYN})
    program = environment.compile("node.metadata.labels.zone == 'a'")
    outcome = program.evaluate({"node": manifest}, limit=10_000)

Values handed in are plain Python: None, bool, int, float, str, bytes, list, and dict with keys of strings, so whole
manifests as they are.
"""

from scheduler_core.apimachinery.cel.environment import CALL_LIMIT, NEWER, Environment, Outcome, Program, json_safe
from scheduler_core.apimachinery.cel.errors import CompileError
from scheduler_core.apimachinery.cel.library.strings import matches
from scheduler_core.apimachinery.cel.syntax.tree import Call, Ident, Literal, Node, Select
from scheduler_core.apimachinery.cel.types import (
    ANY,
    BOOL,
    BYTES,
    DOUBLE,
    DYN,
    INT,
    NULL,
    STRING,
    UINT,
    Type,
    list_of,
    map_of,
    struct,
)
from scheduler_core.apimachinery.cel.values import Uint, value_of_key

__all__ = ["ANY", "BOOL", "BYTES", "CALL_LIMIT", "DOUBLE", "DYN", "INT", "NEWER", "NULL", "STRING", "UINT", "Call"]
__all__ += ["CompileError", "Environment", "Ident", "Literal", "Node", "Outcome", "Program", "Select", "Type", "Uint"]
__all__ += ["json_safe", "list_of", "map_of", "matches", "struct", "value_of_key"]
