"""The use cases on assets, made together."""

from dataclasses import dataclass

from trainmaster.service.context import Context
from trainmaster.service.use_cases.assets.images import Images
from trainmaster.service.use_cases.assets.models import Models
from trainmaster.service.use_cases.assets.templates import Templates
from trainmaster.service.use_cases.jobs import Jobs
from trainmaster.store.assets.templates import TemplateRows
from trainmaster.store.assets.versions import AssetReader
from trainmaster.store.database import Database


@dataclass(frozen=True, slots=True)
class AssetParts:
    """The use cases."""

    models: Models
    templates: Templates
    images: Images


def assets_of(context: Context, assets: AssetReader, database: Database) -> AssetParts:
    """Return them."""
    templates = Templates(context, assets, TemplateRows(database), Jobs(context))
    return AssetParts(Models(assets, context.layout), templates, Images(context, assets))
