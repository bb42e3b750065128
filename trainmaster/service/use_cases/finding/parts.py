"""What finds things again, made together: the search from anywhere, saved views and lineage."""

from dataclasses import dataclass

from trainmaster.service.context import Context
from trainmaster.service.use_cases.finding.lineage import Lineages
from trainmaster.service.use_cases.finding.saved_views import SavedViewing
from trainmaster.service.use_cases.finding.searching import Searching
from trainmaster.store.assets.lineage import LineageReader
from trainmaster.store.assets.versions import AssetReader
from trainmaster.store.database import Database
from trainmaster.store.people.accounts import PeopleRows
from trainmaster.store.people.members import MemberRows
from trainmaster.store.people.views import SavedViewRows
from trainmaster.store.sweeps.sweeps import SweepReader


@dataclass(frozen=True, slots=True)
class FindingParts:
    """The use cases."""

    searching: Searching
    saved_views: SavedViewing
    lineages: Lineages


def finding_of(context: Context, assets: AssetReader, database: Database) -> FindingParts:
    """Return them."""
    searching = Searching(context, assets, SweepReader(database), PeopleRows(database), MemberRows(database))
    lineages = Lineages(context, assets, LineageReader(database))
    return FindingParts(searching, SavedViewing(context, SavedViewRows(database)), lineages)
