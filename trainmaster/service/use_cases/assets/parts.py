"""The use cases on assets and on sweeps, made together."""

from dataclasses import dataclass

from trainmaster.service.context import Context
from trainmaster.service.use_cases.assets.algorithms import Algorithms
from trainmaster.service.use_cases.assets.bin import Bin
from trainmaster.service.use_cases.assets.dataset_uploads import DatasetUploads
from trainmaster.service.use_cases.assets.datasets import Datasets
from trainmaster.service.use_cases.assets.images import Images
from trainmaster.service.use_cases.assets.models import Models
from trainmaster.service.use_cases.assets.subscribing import Subscribing, passed_kinds
from trainmaster.service.use_cases.assets.templates import Templates
from trainmaster.service.use_cases.assets.volume_files import VolumeFiles
from trainmaster.service.use_cases.assets.volumes import Volumes
from trainmaster.service.use_cases.jobs import Jobs
from trainmaster.service.use_cases.sweeps.acting import Sweeps
from trainmaster.service.use_cases.sweeps.looking import SweepViews
from trainmaster.store.assets.algorithms import AlgorithmRows
from trainmaster.store.assets.datasets import DatasetRows
from trainmaster.store.assets.templates import TemplateRows
from trainmaster.store.assets.versions import AssetReader
from trainmaster.store.assets.volumes import VolumeRows
from trainmaster.store.database import Database
from trainmaster.store.sweeps.marks import MarkRows
from trainmaster.store.sweeps.sweeps import SweepReader, SweepRows


@dataclass(frozen=True, slots=True)
class AssetParts:
    """The use cases."""

    models: Models
    templates: Templates
    images: Images
    datasets: Datasets
    dataset_uploads: DatasetUploads
    sweeps: Sweeps
    algorithms: Algorithms
    volumes: Volumes
    volume_files: VolumeFiles
    bin: Bin
    subscribing: Subscribing


def assets_of(context: Context, assets: AssetReader, database: Database) -> AssetParts:
    """Return them."""
    jobs, reader = Jobs(context), SweepReader(database)
    templates = Templates(context, assets, TemplateRows(database), jobs)
    rows = DatasetRows(database)
    datasets = Datasets(context, assets, rows)
    uploads = DatasetUploads(context, assets, rows, datasets)
    sweeps = Sweeps(context, jobs, SweepViews(context, reader, MarkRows(database)), reader, SweepRows(database))
    algorithms, images = Algorithms(context, assets, AlgorithmRows(database)), Images(context, assets)
    subscribing = Subscribing(context, passed_kinds(datasets, algorithms, images, templates))
    models = Models(context, assets)
    volumes = Volumes(context, assets, VolumeRows(database))
    files = VolumeFiles(context, volumes)
    kept = (models, templates, images, datasets, uploads, sweeps, algorithms, volumes, files)
    return AssetParts(*kept, Bin(context), subscribing)
