"""Long jobs on a page: a button, then progress, time left and a way to stop, then the result, which is kept.

One registry serves all sessions. A job's key says all that its result depends on, so the job or its result is found
again on another page, after a reload and in another session. An owner is a session of Streamlit: it survives a short
loss of the connection, and what a closed one still had to run is cancelled.
"""

from collections.abc import Callable
from functools import partial

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from relxl.jobs import Job, Jobs, Work
from relxl.language import _, translated
from relxl.ui.demo import no_jobs
from relxl.ui.show import escape
from relxl.ui.speak import fragment

TICK_SECONDS = 0.5


def is_alive(session: str) -> bool:
    """Tell whether somebody still has the session open."""
    try:
        return bool(runtime.get_instance().is_active_session(session))
    except RuntimeError:  # no server: a test, or a script by itself
        return True


@st.cache_resource(max_entries=1, show_spinner=False, on_release=Jobs.close)
def jobs() -> Jobs:
    return Jobs(is_alive)


def owner() -> str:
    return get_script_run_ctx().session_id


@fragment
def show_job(key: str, title: str, work: Work, draw: Callable[[object], None]) -> None:
    """Offer a job, show how it stands, and let `draw` show its result, as far as there is one.

    While the job is alive this part of the page is drawn twice a second, otherwise never by itself.
    """
    job = jobs().get(owner(), key)
    row = st.container(horizontal=True, vertical_alignment="center")
    if f"refused {key}" in st.session_state:
        st.warning(escape(translated(st.session_state.pop(f"refused {key}"))))
    if job is None or (job.alive and owner() not in job.owners):
        if no_jobs():
            return
        row.button(
            _("Start"), key=f"start {key}", icon=":material/play_arrow:", on_click=start, args=(key, title, work)
        )
        row.markdown(escape(title))
        if job is not None:
            st.caption(_("Another session is computing this already: start it to join in."))
    elif job.alive:
        row.button(_("Cancel"), key=f"cancel {key}", icon=":material/stop:", on_click=cancel, args=(key,))
        row.markdown(escape(title))
        watch(key, draw)
    else:
        again = (key, title, work, True)
        row.button(_("Run again"), key=f"again {key}", icon=":material/replay:", on_click=start, args=again)
        row.markdown(ending(job))
        if job.state == "failed":
            st.error(escape(translated(job.error)))
        draw_result(job, draw)


@partial(fragment, run_every=TICK_SECONDS)
def watch(key: str, draw: Callable[[object], None]) -> None:
    """Show a job that waits or runs. When it has ended the page is drawn anew, without this part: so the ticks end."""
    job = jobs().get(owner(), key)
    if job is None or not job.alive:
        st.rerun()
    st.progress(job.progress.done if job.progress else 0.0, text=escape(standing(job)))
    draw_result(job, draw)


def start(key: str, title: str, work: Work, again: bool = False) -> None:
    try:
        jobs().submit(owner(), key, title, work, again)
    except ValueError as error:
        st.session_state[f"refused {key}"] = str(error)


def cancel(key: str) -> None:
    jobs().cancel(owner(), key)


def draw_result(job: Job, draw: Callable[[object], None]) -> None:
    if job.progress is not None and job.progress.result is not None:
        draw(job.progress.result)


def standing(job: Job) -> str:
    """Say where a job stands that waits or runs."""
    if job.state == "waiting":
        running = jobs().running()
        if running is None:
            return _("Waiting")
        return _("Waiting, at place {place} in the queue. Running now: {title}").format(
            place=job.place, title=running.title
        )
    if job.progress is None:
        return _("Starting")
    parts = [_(job.progress.message), percent(job)]
    if job.eta_seconds is not None:
        parts.append(_("{time} left").format(time=duration(job.eta_seconds)))
    return " · ".join(parts)


def ending(job: Job) -> str:
    """Say how a job ended."""
    words = {
        "done": _("Done in {time}."),
        "cancelled": _("Cancelled at {percent} after {time}; this is what there is."),
        "failed": _("Failed after {time}."),
    }
    return words[job.state].format(time=duration(job.seconds), percent=percent(job))


def percent(job: Job) -> str:
    return f"{100 * job.progress.done if job.progress else 0:.0f} %"


def duration(seconds: float) -> str:
    """Write a time as one says it: 0.4 s, 12 s, 3 min, 2.5 h."""
    if seconds < 90:
        return _("{n} s").format(n=f"{seconds:.0f}" if seconds >= 1 else f"{seconds:.1f}")
    if seconds < 90 * 60:
        return _("{n} min").format(n=f"{seconds / 60:.0f}")
    return _("{n} h").format(n=f"{seconds / 3600:.1f}")
