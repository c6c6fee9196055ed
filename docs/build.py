"""Build the documentation into a folder: API pages by pdoc, guides from Markdown."""

from __future__ import annotations

import importlib
import shutil
import sys
import warnings
from pathlib import Path

import pdoc
from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[1]
GUIDES = {
    "index": ROOT / "README.md",
    "benchmark-file": ROOT / "docs" / "benchmark-file.md",
    "library": ROOT / "docs" / "library.md",
    "training": ROOT / "docs" / "training.md",
    "your-own-model": ROOT / "docs" / "your-own-model.md",
    "conventions": ROOT / "docs" / "conventions.md",
    "analyse": ROOT / "docs" / "analyse.md",
    "reading-ml-1m": ROOT / "docs" / "reading-ml-1m.md",
    "ranking": ROOT / "docs" / "ranking.md",
    "sampled-evaluation": ROOT / "docs" / "sampled-evaluation.md",
    "subsample": ROOT / "docs" / "subsample.md",
    "psi": ROOT / "docs" / "psi.md",
    "advise": ROOT / "docs" / "advise.md",
    "growth": ROOT / "docs" / "growth.md",
    "gpu": ROOT / "docs" / "gpu.md",
    "contributing": ROOT / "CONTRIBUTING.md",
    "changelog": ROOT / "CHANGELOG.md",
}
PACKAGES = [
    "fullrank",
    *(
        f"fullrank.{name}"
        for name in (
            "core",
            "data",
            "data.filters",
            "estimators",
            "metrics",
            "models",
            "negatives",
            "objectives",
            "rank",
            "report",
            "split",
            "stats",
            "subsample",
            "advise",
            "advise.learners",
            "experiment",
            "testing",
        )
    ),
]
PRIVATE = r"!fullrank(\.\w+)*\._"
LAZY = ["fullrank", "fullrank.data"]
STYLE = """
body { font: 16px/1.55 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; display: block; overflow-x: auto }
th, td { border: 1px solid #8886; padding: .3rem .6rem; text-align: left; vertical-align: top }
pre { background: #8881; padding: .8rem; overflow-x: auto } code { font-size: .92em }
nav a { margin-right: 1rem } :root { color-scheme: light dark }
"""


def page(title: str, text: str) -> str:
    """One HTML page of a Markdown text, its links to other guides turned into pages."""
    body = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    for name, source in GUIDES.items():
        for link in (f"docs/{source.name}", source.name):
            body = body.replace(f'href="{link}"', f'href="{name}.html"')
    links = [f'<a href="{name}.html">{name}</a>' for name in GUIDES]
    nav = " ".join([*links, '<a href="api/fullrank.html">API</a>'])
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    return (
        f'<!doctype html><html lang="en">{head}<title>{title} · fullrank</title>'
        f"<style>{STYLE}</style><nav>{nav}</nav>{body}</html>"
    )


def main(site: Path) -> None:
    """Write all pages."""
    site.mkdir(parents=True, exist_ok=True)
    for name, source in GUIDES.items():
        (site / f"{name}.html").write_text(page(name, source.read_text("utf-8")), "utf-8")
    shutil.copytree(ROOT / "docs" / "growth", site / "growth", dirs_exist_ok=True)
    for package in (importlib.import_module(name) for name in LAZY):
        # pdoc looks into the module's dictionary, where lazy names are not yet.
        vars(package).update({name: getattr(package, name) for name in package.__all__})
    # Names imported for type checkers alone are shown as they are written.
    warnings.filterwarnings("error")
    warnings.filterwarnings("ignore", message="Error parsing type annotation")
    pdoc.render.configure(docformat="google")
    pdoc.pdoc(*PACKAGES, PRIVATE, output_directory=site / "api")
    print(f"{site / 'index.html'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "site"))
