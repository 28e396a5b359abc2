"""offing's engine: one model, one context, one loop."""

from .answer import Citation, Result
from .approvals import ApprovalPolicy, ApprovalRule
from .budget import Budget
from .engine import Engine
from .errors import OffingError
from .limits import Limits
from .models.scripted import Call, Playbook, Scripted, Step
from .prompt import About
from .resident.workspace import Workspace
from .roles import Role, Roles
from .session import Session
from .store import MemoryStore, SqliteStore

__all__ = [
    "About",
    "ApprovalPolicy",
    "ApprovalRule",
    "Budget",
    "Call",
    "Citation",
    "Engine",
    "Limits",
    "MemoryStore",
    "OffingError",
    "Playbook",
    "Result",
    "Role",
    "Roles",
    "Scripted",
    "Session",
    "SqliteStore",
    "Step",
    "Workspace",
]
