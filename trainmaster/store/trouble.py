"""What to tell people when the database fails: a driver's error becomes an error of ours, with a remedy. Pure.

What the driver says names files, addresses and statements: it goes into the server's log, and to people only where it
is the cause that they can mend.
"""

from typing import Final

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from trainmaster.core.errors import Conflict, StorageFailed, TrainmasterError, Unavailable
from trainmaster.messages.server import ledger

_DAMAGE: Final = ("malformed", "not a database", "could not decode", "invalid page", "could not read block", "corrupt")
"""What SQLite and PostgreSQL say of a file whose content is not what was written."""


def from_driver(error: BaseException, name: str) -> bool:
    """True when `error` is the driver's PEP 249 exception `name`. By name: psycopg is imported by whoever uses it
    only.
    """
    return any(kind.__name__ == name and kind.__module__ != "builtins" for kind in type(error).__mro__)


def from_below(error: BaseException) -> bool:
    """True when the database, its driver or the disk made `error`."""
    return isinstance(error, SQLAlchemyError | OSError) or from_driver(error, "Error")


def cause_of(error: BaseException) -> BaseException:
    """Return what the driver said, without SQLAlchemy's statement around it."""
    return error.orig if isinstance(error, DBAPIError) and error.orig is not None else error


def not_stored(error: BaseException) -> TrainmasterError:
    """Return what to tell people about a change that failed by `error`: Conflict for a broken uniqueness, Unavailable
    while the database does not answer, otherwise StorageFailed.
    """
    if isinstance(error, TrainmasterError):
        return error
    cause = cause_of(error)
    if from_driver(cause, "IntegrityError"):
        return Conflict(ledger.change_collides(str(cause)))
    if _away(error):
        return Unavailable(ledger.database_silent())
    return StorageFailed(ledger.change_not_stored(str(cause)))


def is_damage(error: BaseException) -> bool:
    """Return whether `error` says that the file is damaged."""
    return any(sign in str(cause_of(error)).lower() for sign in _DAMAGE)


def not_read(error: BaseException) -> Unavailable:
    """Return what to tell people about a read that failed by `error`."""
    if is_damage(error):
        return Unavailable(ledger.ledger_damaged())
    if _away(error):
        return Unavailable(ledger.database_silent())
    return Unavailable(ledger.ledger_not_readable())


def _away(error: BaseException) -> bool:
    """True where the connection to a database server is gone or cannot be made."""
    return (isinstance(error, DBAPIError) and error.connection_invalidated) or (
        type(cause_of(error)).__module__.partition(".")[0] == "psycopg"
        and from_driver(cause_of(error), "OperationalError")
        and getattr(cause_of(error), "sqlstate", None) in (None, "57P01", "57P02", "57P03")
    )
