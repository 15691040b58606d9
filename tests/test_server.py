"""Who may ask the server: hosts, origins, uploads and headers, for `streamlit run` and for the hardened `asgi.py`."""

import base64
import http.client
import re
import socket
import urllib.error
import urllib.request
from contextlib import closing, contextmanager, suppress

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

from relxl.bench.chromium import running, serve
from relxl.server import HEADERS, POLICY, hosts_of, is_demo
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def hardened():
    command = ["uvicorn", "asgi:app", "--log-level", "error", "--port"]
    with running(command, ROOT, {"RELXL_HOSTS": "localhost", "RELXL_DEMO": "1"}) as address:
        yield address


@pytest.fixture(scope="module")
def plain():
    with serve(ROOT / "app.py", ROOT) as address:
        yield address


@pytest.fixture(scope="module")
def small():
    """Serve with a limit of 1 MB an upload in the place of 200."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STREAMLIT_SERVER_MAX_UPLOAD_SIZE", "1")
        with serve(ROOT / "app.py", ROOT) as address:
            yield address


def ask(address, path="/", method="GET", data=None, **headers):
    request = urllib.request.Request(address + path, data=data, headers=headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, dict(answer.headers), answer.read()
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), error.read()


def websocket(address, **headers):
    """Give the status that a handshake is answered with: 101 is a connection."""
    host, port = address.removeprefix("http://").split(":")
    headers = {"Host": f"{host}:{port}", "Origin": address} | headers
    lines = ["GET /_stcore/stream HTTP/1.1", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"]
    lines += [f"Sec-WebSocket-Key: {base64.b64encode(bytes(16)).decode()}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        return int(connection.recv(4096).split()[1])


def put(address, path, chunks, **headers):
    """Upload in chunks without saying how much it will be, or say so and send nothing; give the status."""
    with closing(http.client.HTTPConnection(address.removeprefix("http://"), timeout=60)) as connection:
        with suppress(BrokenPipeError, ConnectionResetError):  # it answers before it has read all
            connection.request("PUT", path, iter(chunks) if chunks else None, headers)
        return connection.getresponse().status


@contextmanager
def streamlit_session(address, *again):
    """Open a session as a browser does, or the one of `again` once more; give its id and the token for uploads."""
    cookie = next(value for name, value in ask(address, "/_stcore/health")[1].items() if name.lower() == "set-cookie")
    token = re.search("_streamlit_xsrf=([^;]+)", cookie)[1]
    protocols = ["streamlit", token, *again]
    address = address.replace("http", "ws") + "/_stcore/stream"
    with connect(address, subprotocols=protocols, additional_headers={"Cookie": f"_streamlit_xsrf={token}"}) as stream:
        stream.send(BackMsg(rerun_script=ClientState()).SerializeToString())
        message = ForwardMsg()
        while not message.HasField("new_session"):
            message.ParseFromString(stream.recv(timeout=60))
        yield message.new_session.initialize.session_id, token


def test_every_answer_of_the_hardened_server_has_the_headers(hardened):
    for path in ("/", "/_stcore/health", "/nowhere.js", "/Distance"):
        _status, headers, _body = ask(hardened, path)
        lower = {name.lower(): value for name, value in headers.items()}
        assert {name: lower.get(name) for name in HEADERS} == HEADERS, path


def test_the_policy_names_no_other_host_and_no_eval():
    assert "http" not in POLICY and "*" not in POLICY and "unsafe-eval" not in POLICY
    assert "frame-ancestors 'self'" in POLICY and "object-src 'none'" in POLICY


def test_a_demo_takes_no_upload(hardened):
    status, _headers, body = ask(hardened, "/_stcore/upload_file/session/file", "PUT", b"x")
    assert status == 403 and b"demonstration" in body


@pytest.mark.parametrize("server, stranger", [("plain", 403), ("hardened", 400)])
def test_a_connection_needs_the_right_host_and_origin(server, stranger, request):
    address = request.getfixturevalue(server)
    assert websocket(address) == 101
    assert websocket(address, Origin="http://evil.example") == 403
    assert websocket(address, Host="evil.example", Origin="http://evil.example") == stranger


def test_another_host_gets_no_page_of_the_hardened_server(hardened):
    assert ask(hardened, Host="evil.example")[0] == 400 and ask(hardened)[0] == 200


def test_an_upload_needs_the_page_s_token_a_session_and_less_than_the_limit(small):
    """Of row 52; the token comes with the page's cookie, without it a foreign page could fill the server."""
    with streamlit_session(small) as (session, token):
        path = f"/_stcore/upload_file/{session}/file"
        form = {"Content-Type": "multipart/form-data; boundary=b", "X-Xsrftoken": token}
        form["Cookie"] = f"_streamlit_xsrf={token}"
        parts = [b'--b\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n', b"x", b"\r\n--b--\r\n"]
        foreign = form | {"X-Xsrftoken": "2|00000000|" + "0" * 32 + "|1"}
        assert put(small, path, parts, **form) == 204
        assert put(small, path, parts) == put(small, path, parts, **foreign) == 403
        assert put(small, "/_stcore/upload_file/somebody/file", parts, **form) == 400
        assert put(small, path, [], **form | {"Content-Length": str(201 << 20)}) == 413
        assert put(small, path, parts[:1] + [bytes(1 << 20)] * 3 + parts[2:], **form) == 413  # in chunks, no length


def test_hosts_are_read_and_a_star_is_refused():
    assert hosts_of({}) == ["localhost", "127.0.0.1"] and hosts_of({"RELXL_HOSTS": "a.b, c"}) == ["a.b", "c"]
    for bad in ("*", "", "a,*.b"):
        with pytest.raises(ValueError, match="without a star"):
            hosts_of({"RELXL_HOSTS": bad})
    assert is_demo({"RELXL_DEMO": "1"}) and not is_demo({"RELXL_DEMO": "0"}) and not is_demo({})


def test_the_plain_server_listens_to_this_machine_alone():
    config = (ROOT / ".streamlit/config.toml").read_text()
    for line in ('address = "localhost"', 'allowedHosts = ["localhost", "127.0.0.1"]', "gatherUsageStats = false",
                 "maxUploadSize = 200"):  # fmt: skip
        assert line in config
