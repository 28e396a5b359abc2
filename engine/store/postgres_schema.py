"""The tables of the PostgreSQL store, in a schema of their own, and the statements over them.

Bodies are bytea, times microseconds. An owner's row carries the number of its last transaction: whoever
reads it knows which of an owner's commits are durable, also after a connection was cut in one.
"""

from typing import TYPE_CHECKING, Final

from ..errors import StoreError
from .postgres_memory import MEMORY_SCHEMA

if TYPE_CHECKING:
    from .postgres_link import Link

STEPS: Final = (
    """
create table offing.owner(
    id text primary key, body bytea not null, batch bigint not null, alive_at bigint not null)
    with (fillfactor = 50);
create table offing.stream(
    id bigint generated always as identity primary key, tenant text not null, name text not null,
    token bigint not null, owner text, unique(tenant, name)) with (fillfactor = 80);
create index stream_owner on offing.stream(owner) where owner is not null;
create table offing.fact(
    stream bigint not null, seq bigint not null, run text not null, kind text not null,
    version integer not null, at bigint not null, body bytea not null, crc bigint not null,
    primary key(stream, seq));
create table offing.artifact(
    tenant text not null, ref text not null, body bytea not null, at bigint not null,
    primary key(tenant, ref));
create table offing.inbox(
    id bigint generated always as identity primary key, stream bigint not null, key text, run text not null,
    kind text not null, body bytea not null, who text not null, at bigint not null,
    taken boolean not null default false, unique(stream, key));
create index inbox_open on offing.inbox(stream) where not taken;
create table offing.reading(
    tenant text not null, system text not null, key text not null, body text not null,
    primary key(tenant, system, key));
""",
    MEMORY_SCHEMA,
)
"""What brings the tables from each version to the next. Steps are only ever added."""

_FIRST: Final = """
select pg_advisory_xact_lock(267470341);
create schema if not exists offing;
create table if not exists offing.version(version integer not null);
"""

MAKE: Final = """
insert into offing.stream(tenant, name, token)
values(%s, %s, coalesce((select token from offing.stream where tenant='' and name=''), 0))
on conflict do nothing
"""
"""Tokens of a new stream go on where those of removed ones ended: they are kept with nobody's stream."""
FIND: Final = "select id, token from offing.stream where tenant=%s and name=%s for update"
HOLDER: Final = """
select token, owner, body, (extract(epoch from clock_timestamp()) * 1000000)::bigint - alive_at
from offing.stream join offing.owner on owner.id=stream.owner where tenant=%s and name=%s
"""
TAKE_LEASE: Final = "update offing.stream set token=%s, owner=%s where id=%s"
LAST: Final = "select coalesce(max(seq), 0) from offing.fact where stream=%s"
RELEASE: Final = "update offing.stream set owner=null where tenant=%s and name=%s and token=%s"
RELEASE_ALL: Final = "update offing.stream set owner=null where owner=%s"
FORGET: Final = "delete from offing.owner where id=%s"
SWEEP: Final = """
delete from offing.owner
where alive_at < (extract(epoch from clock_timestamp()) * 1000000)::bigint - 604800000000
    and not exists(select from offing.stream where stream.owner=owner.id)
"""
"""Owners that ended without a word a week ago, and hold nothing."""
APPEND: Final = """
with held as (
    select id from offing.stream
    where tenant=%s and name=%s and token=%s and owner is not null for update)
insert into offing.fact(stream, seq, run, kind, version, at, body, crc)
select held.id, seq, run, kind, version, at, body, crc
from held, unnest(
    %s::bigint[], %s::text[], %s::text[], %s::integer[], %s::bigint[], %s::bytea[], %s::bigint[])
    as new(seq, run, kind, version, at, body, crc)
where (select coalesce(max(seq), 0) from offing.fact where stream=held.id) = %s
"""
READ: Final = """
select seq, run, kind, version, at, body, crc from offing.fact
where stream=(select id from offing.stream where tenant=%s and name=%s) and seq>%s order by seq limit %s
"""
PUT: Final = """
insert into offing.artifact(tenant, ref, body, at)
values(%s, %s, %s, (extract(epoch from clock_timestamp()) * 1000000)::bigint)
on conflict(tenant, ref) do update set at=excluded.at
"""
GET: Final = "select body from offing.artifact where tenant=%s and ref=%s"
POST: Final = """
with posted_to as (select id from offing.stream where tenant=%s and name=%s for update)
insert into offing.inbox(stream, key, run, kind, body, who, at)
select id, %s, %s, %s, %s, %s, %s from posted_to on conflict(stream, key) do nothing returning id
"""
"""Locks the stream's row, so that what is posted to it has numbers in the order in which it can be seen.
Sent by itself: who holds no other lock meanwhile cannot wait for somebody who waits for it."""
POSTED: Final = """
select inbox.id from offing.stream join offing.inbox on inbox.stream=stream.id and inbox.key=%s
where tenant=%s and name=%s
"""
INBOX: Final = """
select id, run, kind, body, who, at from offing.inbox
where stream=(select id from offing.stream where tenant=%s and name=%s) and not taken order by id
"""
TAKE_ITEMS: Final = """
update offing.inbox set taken=true where id=any(%s) and not taken
    and stream=(select id from offing.stream where tenant=%s and name=%s) returning id
"""
NEWEST: Final = """
select tenant, name, max(inbox.id) from offing.inbox join offing.stream on inbox.stream=stream.id
where not taken and owner=%s group by tenant, name
"""
LOAD_READING: Final = "select body from offing.reading where tenant=%s and system=%s and key=%s"
KEEP_READING: Final = """
insert into offing.reading(tenant, system, key, body) values(%s, %s, %s, %s)
on conflict(tenant, system, key) do update set body=excluded.body returning key
"""
FORGET_READING: Final = "delete from offing.reading where tenant=%s and system=%s and key=%s returning key"

BEGIN: Final = """
begin isolation level read committed;
insert into offing.owner(id, body, batch, alive_at)
values('{id}', '\\x{body}', {batch}, (extract(epoch from clock_timestamp()) * 1000000)::bigint)
on conflict(id) do update set batch=excluded.batch, alive_at=excluded.alive_at
"""
"""Begins a transaction and says in it which one it is, and that its owner is alive: one message."""

CONCLUDED: Final = "select batch from offing.owner where id=%s for update"
"""The last of an owner's transactions that is durable; waits for one that is still on its way."""
CUT_OFF: Final = """
select pg_terminate_backend(pid) from pg_stat_activity
where application_name=%s and pid<>pg_backend_pid()
"""


def prepare(link: "Link") -> None:
    """Makes the tables, or brings them up to date; of many that try at once, one does.

    Raises:
        StoreError: they are of a newer release.
    """
    if _version(link) == len(STEPS):
        return
    with link.transaction():
        link.execute(_FIRST)
        version = _version(link)
        for step in STEPS[version:]:
            link.execute(step)
        link.execute("delete from offing.version")
        link.execute("insert into offing.version values(%s)", (max(version, len(STEPS)),))
    if version > len(STEPS):
        raise StoreError(
            f"the store's tables are of version {version} and this release knows {len(STEPS)}: "
            "use the release that made them, or a newer one"
        )


def _version(link: "Link") -> int:
    """0 when there are none."""
    if link.execute("select to_regclass('offing.version')").fetchall() == [(None,)]:
        return 0
    found = link.execute("select version from offing.version").fetchall()
    return int(found[0][0]) if found else 0
