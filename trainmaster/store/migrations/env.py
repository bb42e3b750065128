"""What Alembic runs: the migrations, in the transaction and on the connection that store.migrate hands over."""

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    render_as_batch=True,  # SQLite alters a table by copying it
    transaction_per_migration=False,
)
context.run_migrations()
