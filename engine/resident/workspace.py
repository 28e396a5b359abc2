"""The one folder in which a session reads and writes files. No path leads out of it."""

from dataclasses import dataclass
from pathlib import Path


class WorkspaceError(Exception):
    """A path that cannot be used; names it and says what would be right."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """A folder, made when the first file is written."""

    root: Path

    def read(self, path: str) -> bytes:
        """The bytes of a file.

        Raises:
            WorkspaceError: the path leads out of the workspace, or there is no such file.
        """
        place = self._inside(path)
        if not place.is_file():
            raise WorkspaceError(f"there is no file {path!r}. {self._listed()}")
        return place.read_bytes()

    def write(self, path: str, text: str) -> int:
        """Writes a file whole, replacing what was there; returns its size in bytes.

        The new content appears at once or not at all: a kill leaves the old file.

        Raises:
            WorkspaceError: the path leads out of the workspace or names a folder.
        """
        place = self._inside(path)
        if place.is_dir() or place == self.root.resolve():
            raise WorkspaceError(f"{path!r} is a folder: name a file in it")
        place.parent.mkdir(parents=True, exist_ok=True)
        data = text.encode()
        draft = place.with_name(f".{place.name}.offing-draft")
        draft.unlink(missing_ok=True)  # a link of that name could lead out
        draft.write_bytes(data)
        draft.replace(place)
        return len(data)

    def files(self) -> list[str]:
        """The paths of all files, sorted."""
        root = self.root.resolve()
        return sorted(
            str(path.relative_to(root))
            for path in root.rglob("*")
            if path.is_file() and not path.is_symlink()
        )

    def _inside(self, path: str) -> Path:
        root = self.root.resolve()
        try:
            place = (root / path).resolve()
        except (OSError, ValueError, RuntimeError) as error:
            raise WorkspaceError(f"{path!r} is no usable path: {error}") from error
        if not place.is_relative_to(root):
            raise WorkspaceError(f"{path!r} leads out of the workspace: use a path inside it")
        if place.is_symlink():  # one that resolves to itself; Python says so by an error up to 3.12
            raise WorkspaceError(f"{path!r} is no usable path: the link leads in a circle")
        return place

    def _listed(self) -> str:
        files = self.files()[:50]
        return f"There are: {', '.join(files)}" if files else "The workspace is empty."
