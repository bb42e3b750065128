"""What keeps the audit: by database, the texts that refuse every change of it."""

from typing import Final

AUDIT_UNTIL: Final = "audit_until"
"""Under this name `meta` notes until when the audit may be removed: see AUDIT_KEPT."""

AUDIT_KEPT: Final[dict[str, tuple[str, ...]]] = {
    "sqlite": (
        (
            "CREATE TRIGGER audit_never_changed BEFORE UPDATE ON audit"
            " BEGIN SELECT RAISE(ABORT, 'the audit is never changed'); END"
        ),
        (
            "CREATE TRIGGER audit_kept BEFORE DELETE ON audit WHEN OLD.at >="
            f" coalesce((SELECT CAST(value AS REAL) FROM meta WHERE key = '{AUDIT_UNTIL}'), 0)"
            " BEGIN SELECT RAISE(ABORT, 'the audit is kept'); END"
        ),
    ),
    "postgresql": (
        (
            "CREATE FUNCTION audit_kept() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            " IF TG_OP = 'DELETE' AND OLD.at <"
            f" coalesce((SELECT value::double precision FROM meta WHERE key = '{AUDIT_UNTIL}'), 0)"
            " THEN RETURN OLD; END IF;"
            " RAISE EXCEPTION 'the audit is never changed'; END $$"
        ),
        "CREATE TRIGGER audit_kept BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION audit_kept()",
        (
            "CREATE FUNCTION audit_whole() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            " RAISE EXCEPTION 'the audit is never changed'; END $$"
        ),
        "CREATE TRIGGER audit_whole BEFORE TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION audit_whole()",
    ),
}
"""By database, what refuses every change of a row of the audit, and its removal but for rows older than was noted."""
