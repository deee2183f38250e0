"""Runs a notebook in its folder and prints it as JSON, with outputs as they are stored; and, from the same kernel, what
an expression is worth. Images of pages are left out of stored outputs: a report is half a megabyte.

    run-notebook.py NOTEBOOK EXPRESSION
"""

import json
import os
import sys

import nbclient
import nbformat

path, expression = sys.argv[1:]
notebook = nbformat.read(path, as_version=4)
asked = nbformat.v4.new_code_cell(f"import json as _json\nprint(_json.dumps({expression}))")
notebook.cells.append(asked)
client = nbclient.NotebookClient(notebook, timeout=120, record_timing=False, kernel_name="python3")
client.execute(cwd=os.path.dirname(path))
values = json.loads("".join(output.text for output in asked.outputs))
notebook.cells.pop()
pages = []
for cell in notebook.cells:
    for output in cell.get("outputs", ()):
        shown = output.get("data", {})
        if "<iframe" in shown.get("text/html", ""):
            pages.append(shown.pop("text/html"))
notebook.metadata.language_info = {"name": "python"}
print(json.dumps({"notebook": notebook, "values": values, "pages": pages}))
