"""A visitor without a browser: what Streamlit's page says to its server, and what it hears.

Light enough for forty of them in one process. Used by the load test and the benchmarks.
"""

import asyncio
import re
import socket
import time
import urllib.request
from dataclasses import dataclass, field
from urllib.parse import quote, urlencode, urlsplit

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Common_pb2 import FileURLs
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

OVERALL, INSIDE = "eps_global", "eps_local"  # sliders, by the setting they move
_SENTENCE = re.compile(r'class="fairfl-sentence"[^>]*>(.*?)</p>', re.DOTALL)
_AGE = 2  # runs that a browser remembers a large message for
_PATIENCE = 600  # seconds
_BEGINS_ANEW = ForwardMsg.FINISHED_EARLY_FOR_RERUN


class Gone(ConnectionError):
    """The server closed the connection."""


@dataclass
class Slider:
    """A slider of the page: how it is named to the server, and its steps."""

    id: str
    fragment: str
    steps: tuple[str, ...]


@dataclass
class Visitor:
    """One session: `open` it, `move` a slider, read the `headline`.

    Attributes
    ----------
    sliders : dict of Slider
        By the setting they move.
    uploaders, buttons : list of str
        Their labels.
    headline : str
        The sentence of the page: asked, then reached.
    warnings : list of str
        Boxes that say that something could not be shown.
    """

    address: str
    sliders: dict[str, Slider] = field(default_factory=dict)
    uploaders: list[str] = field(default_factory=list)
    buttons: list[str] = field(default_factory=list)
    headline: str = ""
    warnings: list[str] = field(default_factory=list)
    _page: str = ""
    _query: str = ""
    _cookies: str = ""
    _known: dict[str, list] = field(default_factory=dict)
    _runs: int = 0

    async def open(self, page: str = "", **settings: object) -> "Visitor":
        """Come to a page by its link; returns once all of it has been sent."""
        self._cookies = await asyncio.to_thread(self._greet)
        self._query = urlencode(settings, quote_via=quote)
        place = urlsplit(self.address)
        scheme = "wss" if place.scheme == "https" else "ws"
        self._socket = await websockets.connect(
            f"{scheme}://{place.netloc}/_stcore/stream",
            subprotocols=["streamlit"],
            origin=self.address,
            max_size=None,
            compression=None,
            open_timeout=_PATIENCE,
            ping_interval=None,
            additional_headers={"Cookie": self._cookies} if self._cookies else None,
        )
        self._name = page
        await self._run()
        return self

    async def move(self, label: str, step: str) -> float:
        """Let a slider go at a step; returns the seconds until everything was sent."""
        slider = self.sliders[label]
        moved = WidgetState(id=slider.id)
        moved.string_array_value.data.append(step)
        begun = time.perf_counter()
        await self._run(moved, slider.fragment)
        return time.perf_counter() - begun

    async def upload(self, name: str, content: bytes) -> FileURLs:
        """Send a file, as an uploader of the page would; where it lies."""
        asked = BackMsg()
        asked.file_urls_request.request_id = "1"
        asked.file_urls_request.file_names.append(name)
        await self._say(asked.SerializeToString())
        while True:
            message = await self._hear()
            if message.WhichOneof("type") == "file_urls_response":
                break
        urls = message.file_urls_response.file_urls[0]
        await asyncio.to_thread(self._put, self.address + urls.upload_url, name, content)
        return urls

    async def close(self) -> None:
        """Leave."""
        await self._socket.close()

    @property
    def replica(self) -> str:
        """The replica that nginx keeps this visitor on."""
        given = re.search(r"fairfl_replica=(\w+)", self._cookies)
        return given[1] if given else ""

    # ---------------------------------------------------------------- the wire

    def _greet(self) -> str:
        """Ask for what a page asks for first; the answer brings cookies."""
        with urllib.request.urlopen(f"{self.address}/_stcore/health", timeout=_PATIENCE) as reply:
            given = reply.headers.get_all("Set-Cookie") or []
        return "; ".join(one.split(";")[0] for one in given)

    def _put(self, url: str, name: str, content: bytes) -> None:
        token = re.search(r"_streamlit_xsrf=([^;]+)", self._cookies)
        body = (
            f'--x\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
            "Content-Type: application/octet-stream\r\n\r\n"
        ).encode() + content
        request = urllib.request.Request(
            url,
            body + b"\r\n--x--\r\n",
            {
                "Content-Type": "multipart/form-data; boundary=x",
                "Cookie": self._cookies,
                "X-Xsrftoken": token[1] if token else "",
            },
            method="PUT",
        )
        urllib.request.urlopen(request, timeout=_PATIENCE).close()

    async def _say(self, message: bytes) -> None:
        try:
            await self._socket.send(message)
        except websockets.ConnectionClosed as error:
            raise Gone(str(error)) from error

    async def _hear(self) -> ForwardMsg:
        try:
            heard = await asyncio.wait_for(self._socket.recv(), _PATIENCE)
        except websockets.ConnectionClosed as error:
            raise Gone(str(error)) from error
        message = ForwardMsg.FromString(heard)
        if message.WhichOneof("type") == "ref_hash":
            known = self._known[message.ref_hash]
            known[1] = self._runs
            message = ForwardMsg.FromString(known[0])
        elif message.metadata.cacheable:
            self._known[message.hash] = [heard, self._runs]
        return message

    async def _run(self, moved: WidgetState | None = None, fragment: str = "") -> None:
        """Ask for a run, of the page or of a fragment of it; hear it to its end."""
        await self._ask(moved, fragment)
        await self._hear_all()

    async def _ask(self, moved: WidgetState | None = None, fragment: str = "") -> None:
        self._runs += 1
        self.warnings = []
        asked = BackMsg()
        state = asked.rerun_script
        state.query_string, state.page_script_hash = self._query, self._page
        state.page_name = "" if self._page else self._name
        state.cached_message_hashes.extend(self._known)
        state.context_info.url = f"{self.address}/{self._name}"
        state.context_info.timezone, state.context_info.locale = "UTC", "en"
        state.fragment_id = fragment
        if moved is not None:
            state.widget_states.widgets.append(moved)
        await self._say(asked.SerializeToString())

    async def _hear_all(self) -> None:
        while self._take(await self._hear()):
            pass
        self._known = {
            name: one for name, one in self._known.items() if one[1] > self._runs - _AGE
        }

    def _take(self, message: ForwardMsg) -> bool:
        """Remember what a message tells; False at the end of a run."""
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self._page = message.new_session.page_script_hash
        elif kind == "navigation":
            self._page = message.navigation.page_script_hash
        elif kind == "page_info_changed":
            self._query = message.page_info_changed.query_string
        elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            self._see(message.delta.new_element, message.delta.fragment_id)
        return kind != "script_finished" or message.script_finished == _BEGINS_ANEW

    def _see(self, element, fragment: str) -> None:
        kind = element.WhichOneof("type")
        if kind == "slider":
            shown = element.slider
            setting = shown.id.rsplit("widget_", 1)[-1]
            self.sliders[setting] = Slider(shown.id, fragment, tuple(shown.options))
        elif kind == "file_uploader":
            self.uploaders.append(element.file_uploader.label)
        elif kind == "button":
            self.buttons.append(element.button.label)
        elif kind == "html" and (found := _SENTENCE.search(element.html.body)):
            self.headline = found[1]
        elif kind in ("alert", "exception"):
            self.warnings.append(str(element))


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def metric(address: str, name: str) -> float:
    """A figure of the server's own, from `/_stcore/metrics`."""
    with urllib.request.urlopen(f"{address}/_stcore/metrics", timeout=60) as reply:
        text = reply.read().decode()
    lines = [line for line in text.splitlines() if name in line and not line.startswith("#")]
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines)
