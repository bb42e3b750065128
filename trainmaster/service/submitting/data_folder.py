"""The data folder of an OpenPAI document: mounted where the server has it, else only told to the tasks. Asked once, at
the submit.

OpenPAI gives `dataDir` to the tasks as a text and mounts nothing, so a place that is no folder here is no mistake of
the job.
"""

from dataclasses import replace

from trainmaster.messages.jobs import rules
from trainmaster.service.admission.admission import Admission
from trainmaster.service.submitting.reading import Candidate
from trainmaster.spec.lower import digest_of, document_of
from trainmaster.spec.problems import problem


async def without_absent_data(admission: Admission, candidate: Candidate) -> Candidate:
    """Return `candidate`; an OpenPAI one whose data folder cannot be mounted here without that mount, and with a
    warning.
    """
    if candidate.dialect != "pai" or not candidate.spec.inputs:
        return candidate
    (data,) = candidate.spec.inputs  # the only one that the dialect makes
    if data.path is None or await admission.input_problem(data.path, "dataDir") is None:
        return candidate
    spec = candidate.spec.model_copy(update={"inputs": ()})
    text = document_of(spec)
    said = problem("dataDir", rules.data_not_here(data.path), data.path)
    return replace(candidate, spec=spec, document=text, digest=digest_of(text), warnings=(*candidate.warnings, said))
