"""The example notebooks: `python -m tests.notebooks` runs their cells and writes down what they give; a test compares.

The cells of a notebook run in one namespace, in a Python of their own, as they do in Jupyter: the value of a cell's last expression is its
output, as HTML where it has `_repr_html_`, and as text.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "examples/notebooks").glob("*.ipynb"))

Output = dict[str, Any]


def codes(path: Path) -> list[dict[str, Any]]:
    """The cells with code."""
    return [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]


def outputs(path: Path) -> list[list[Output]]:
    """What the cells give now, each in nbformat's form."""
    run = [sys.executable, "-c", "from tests.notebooks import main; main()", str(path)]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def main() -> None:
    """Runs the notebook that is named, and prints its outputs as JSON."""
    names: dict[str, Any] = {"__name__": "__main__"}
    given = [
        evaluated("".join(cell["source"]), names, number) for number, cell in enumerate(codes(Path(sys.argv[1])), 1)
    ]
    print(json.dumps(given))


def evaluated(source: str, names: dict[str, Any], number: int) -> list[Output]:
    """Runs one cell; its output, where its last statement is an expression that has a value."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, f"<cell {number}>", "exec"), names)
    value = None if last is None else eval(compile(ast.Expression(last.value), f"<cell {number}>", "eval"), names)
    if value is None:
        return []
    html = {"text/html": lines(value._repr_html_())} if hasattr(value, "_repr_html_") else {}
    data = {**html, "text/plain": lines(repr(value))}
    if hasattr(value, "_repr_mimebundle_"):
        data = value._repr_mimebundle_()
    return [{"data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result"}]


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def write(path: Path) -> None:
    """Puts the outputs into the notebook."""
    notebook = json.loads(path.read_text())
    given = iter(outputs(path))
    for number, cell in enumerate((c for c in notebook["cells"] if c["cell_type"] == "code"), 1):
        cell["execution_count"], cell["outputs"] = number, next(given)
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    for notebook in NOTEBOOKS:
        write(notebook)
        print(f"{notebook.relative_to(ROOT)} is up to date")
