"""What holds for every test: no server, token or setting of the person who runs them is ever seen."""

import os

import pytest
from hypothesis import HealthCheck, settings

for _name in [name for name in os.environ if name.startswith("TRAINMASTER_")]:
    if not _name.startswith("TRAINMASTER_TEST_"):
        del os.environ[_name]

# No property is judged by how long it takes: another program may have the machine.
ANY_TIME = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("full", ANY_TIME)
settings.register_profile("fast", ANY_TIME, max_examples=15)  # of a hundred: see tests/fixtures/examples.py
settings.load_profile("full")


class AtOnce:
    """Tells a failure where it happens: a run that is cut, or a worker that dies, takes the summary with it."""

    def __init__(self, terminal: pytest.TerminalReporter) -> None:
        self.terminal = terminal

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Write down a failed test and what it says."""
        if report.failed:
            self.terminal.write_line(f"\nFAILED {report.nodeid} ({report.when}, {report.duration:.0f} s)")
            self.terminal.write_line(report.longreprtext)


@pytest.hookimpl(trylast=True)  # the terminal is there by then
def pytest_configure(config: pytest.Config) -> None:
    """Add what a run needs that nobody looks at."""
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if terminal and os.environ.get("CI"):
        config.pluginmanager.register(AtOnce(terminal))
