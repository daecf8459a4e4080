"""CEL as kube uses it: cel-go's language and cost, kube's libraries and limits. docs/cel.md tells what is there.

    environment = Environment({"node": DYN})
    program = environment.compile("node.metadata.labels.zone == 'a'")
    outcome = program.evaluate({"node": manifest}, limit=10_000)

Values handed in are plain Python: None, bool, int, float, str, bytes, list, and dict with keys of strings, so whole
manifests as they are.
"""

from scheduler_core.apimachinery.cel.environment import NEWER, Environment, Outcome, Program, json_safe
from scheduler_core.apimachinery.cel.errors import CompileError
from scheduler_core.apimachinery.cel.library.strings import matches
from scheduler_core.apimachinery.cel.syntax.tree import Call, Ident, Literal, Node, Select
from scheduler_core.apimachinery.cel.types import ANY, BOOL, DYN, INT, NULL, STRING, Type, list_of, map_of, struct
from scheduler_core.apimachinery.cel.values import value_of_key

__all__ = ["ANY", "BOOL", "DYN", "INT", "NEWER", "NULL", "STRING", "Call", "CompileError", "Environment", "Ident"]
__all__ += ["Literal", "Node", "Outcome", "Program", "Select", "Type", "json_safe", "list_of", "map_of", "matches"]
__all__ += ["struct", "value_of_key"]
