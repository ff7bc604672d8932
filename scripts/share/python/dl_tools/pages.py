"""Pages of dl-plot in cells of a notebook."""

import html
import os
import tempfile

from dl_tools import tools


class Page:
    """A page of runs, evaluations or a model; a notebook shows it in a frame of its own."""

    height = 640

    def __init__(self, text):
        self.html = text

    @staticmethod
    def of(*paths):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "page.html")
            tools.run("dl-plot", "-q", *paths, "-o", path)
            with open(path, encoding="utf-8") as file:
                return Page(file.read())

    def save(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)

    def _repr_html_(self):
        # Its style and script see nothing of the notebook, nor the other way round.
        return (f'<iframe srcdoc="{html.escape(self.html, quote=True)}" sandbox="allow-scripts" '
                f'style="width: 100%; height: {self.height}px; border: 0"></iframe>')
