"""Whatever a person clicks, types or puts into a link, on whatever page: no exception, and no traceback in a message.

A few short walks at every run of the tests; for longer ones RELXL_WALKS=200 pytest tests/test_state_machine.py.
"""

import os

from hypothesis import HealthCheck, Phase, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from streamlit.runtime.state.common import TESTING_KEY
from streamlit.testing.v1 import AppTest

from relxl.ui.state import LINK, TEXT
from tests.conftest import ROOT

PAGES = ["app.py", *sorted(f"pages/{path.name}" for path in (ROOT / "pages").glob("*.py"))]
JUNK = [
    "", "0", "1", "2", "7", "64", "-1", "1e9", "nan", "9" * 20, "true", "all", "zh", "../../etc/passwd", "\0", "٣",
    "−1", "<img src=x onerror=alert(1)>", "![x](http://h/t.png)", "{", "[[]]", '{"clamp_len": []}', "x" * 3000,
    "folder/x", "learned", "mystery/7", "mystery/999", "txl-official", "shakespeare-absolute", "u_bias", "multiply",
]  # fmt: skip
TEXTS = ["", "a", "愁云", "to be, or not to be", "\u202e\u200b\n\t", "0, 1, 2", "1e309", "b" * 700, "<b>$x$</b> `&`"]
NUMBERS = [-(10**9), -1, 0, 1, 2, 5, 17, 10**9]
KINDS = ["selectbox", "segmented_control", "number_input", "slider", "toggle", "checkbox", "pills",
         "text_area", "text_input", "radio"]  # fmt: skip
LONG = ("start ", "again ")  # buttons that begin a job


class Walk(RuleBasedStateMachine):
    """Walk over the pages as one session, which now and then begins anew with another link."""

    app: AppTest

    @initialize(link=st.dictionaries(st.sampled_from([*LINK, TEXT]), st.sampled_from(JUNK), max_size=5))
    def open_link(self, link):
        note(f"{link}")
        self.app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300)
        for name, value in link.items():
            self.app.query_params[name] = value
        self.app.run()

    @rule(link=st.dictionaries(st.sampled_from([*LINK, TEXT]), st.sampled_from(JUNK), min_size=1, max_size=6),
          page=st.sampled_from(PAGES))  # fmt: skip
    def follow(self, link, page):
        self.open_link(link)
        self.turn(page)

    @rule(page=st.sampled_from(PAGES))
    def turn(self, page):
        self.app.switch_page(page).run()

    @rule(kind=st.sampled_from(KINDS), place=st.integers(0, 30), value=st.integers(0, 10**6))
    def set_control(self, kind, place, value):
        """Set a control to one of its options, to a text, or to a number that it may not allow."""
        if not (found := [control for control in getattr(self.app, kind) if not control.proto.disabled]):
            return
        widget = found[place % len(found)]
        note(f"{kind} {widget.key}")
        if kind in ("toggle", "checkbox"):
            widget.set_value(bool(value % 2))
        elif kind in ("text_area", "text_input"):
            widget.set_value(TEXTS[value % len(TEXTS)])
        elif kind in ("number_input", "slider"):
            widget.set_value(type(widget.value or 0)(NUMBERS[value % len(NUMBERS)]))
        elif widget.options:
            self.app.session_state[TESTING_KEY][widget.id] = str  # so that an option is sent as it is shown
            option = widget.options[value % len(widget.options)]
            widget.set_value([option] if isinstance(widget.value, list) else option)
        self.app.run()

    @rule(place=st.integers(0, 40))
    def click(self, place):
        found = [
            button for button in self.app.button if not str(button.key).startswith(LONG) and not button.proto.disabled
        ]
        if found:
            note(f"button {found[place % len(found)].key}")
            found[place % len(found)].click().run()

    @invariant()
    def all_is_well(self):
        if not hasattr(self, "app"):
            return
        assert not self.app.exception, [element.message for element in self.app.exception]
        said = [element.value for kind in ("error", "warning", "toast") for element in getattr(self.app, kind)]
        assert not [text for text in said if "Traceback" in text or "Error:" in text or len(text) > 2000]


Walk.TestCase.settings = settings(
    max_examples=int(os.environ.get("RELXL_WALKS", 4)),
    stateful_step_count=8,
    derandomize="RELXL_WALKS" not in os.environ,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
TestWalk = Walk.TestCase
