"""The one dictionary of scopes: what can be permitted; the words of each are in the catalogue `messages.server.access`.

Routes declare a key of SCOPES; roles grant them; the documentation and the console's guards are made from it. A scope
that is not here does not exist.
"""

from typing import Final

from trainmaster.messages.said import Said
from trainmaster.messages.server import access

SCOPES: Final[dict[str, Said]] = {
    "account:self": access.right_account_self(),
    "tokens:self": access.right_tokens_self(),
    "meta:read": access.right_meta_read(),
    "jobs:read": access.right_jobs_read(),
    "jobs:write": access.right_jobs_write(),
    "jobs:share": access.right_jobs_share(),
    "jobs:submit": access.right_jobs_submit(),
    "cluster:read": access.right_cluster_read(),
    "cluster:write": access.right_cluster_write(),
    "workspaces:write": access.right_workspaces_write(),
    "secrets:use": access.right_secrets_use(),
    "secrets:write": access.right_secrets_write(),
    "members:read": access.right_members_read(),
    "members:write": access.right_members_write(),
    "limits:write": access.right_limits_write(),
    "people:read": access.right_people_read(),
    "people:write": access.right_people_write(),
    "usage:read": access.right_usage_read(),
    "balance:read": access.right_balance_read(),
    "balance:write": access.right_balance_write(),
    "queue:write": access.right_queue_write(),
    "models:read": access.right_models_read(),
    "models:write": access.right_models_write(),
    "templates:read": access.right_templates_read(),
    "templates:write": access.right_templates_write(),
    "templates:share": access.right_templates_share(),
    "images:read": access.right_images_read(),
    "images:write": access.right_images_write(),
    "images:share": access.right_images_share(),
    "datasets:read": access.right_datasets_read(),
    "datasets:write": access.right_datasets_write(),
    "datasets:share": access.right_datasets_share(),
    "volumes:read": access.right_volumes_read(),
    "volumes:write": access.right_volumes_write(),
    "volumes:share": access.right_volumes_share(),
    "algorithms:read": access.right_algorithms_read(),
    "algorithms:write": access.right_algorithms_write(),
    "algorithms:share": access.right_algorithms_share(),
    "uploads:write": access.right_uploads_write(),
    "server:observe": access.right_server_observe(),
    "audit:read": access.right_audit_read(),
    "retention:read": access.right_retention_read(),
    "notices:self": access.right_notices_self(),
    "webhooks:write": access.right_webhooks_write(),
}
"""scope -> what it permits."""
