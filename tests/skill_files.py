"""Skills written for a test."""

from pathlib import Path


def write(folder: Path, text: str = "Do it.", head: str = "", **files: str) -> Path:
    """A skill in a folder; the files beside it by their names, with `__` for `/`."""
    folder.mkdir(parents=True, exist_ok=True)
    front = f"---\nname: {folder.name}\ndescription: Does {folder.name}.\n{head}---\n"
    (folder / "SKILL.md").write_text(front + text, "utf-8")
    for name, content in files.items():
        path = folder / name.replace("__", "/").replace("_md", ".md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")
    return folder
