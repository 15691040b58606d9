"""What stands before the app on a shared server: which hosts may ask, security headers, and no uploads in a demo.

Plain ASGI: `asgi.py` puts it round the app.
"""

from collections.abc import Mapping
from typing import Any

from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import PlainTextResponse

HOSTS = "localhost,127.0.0.1"
UPLOAD = "/_stcore/upload_file"
POLICY = "; ".join([
    "default-src 'self'",
    "script-src 'self' 'unsafe-inline' blob:",  # Streamlit's own page has inline scripts; the matrix view is a blob
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "worker-src 'self' blob:",
    "object-src 'none'",
    "base-uri 'self'",
    "form-action 'self'",
    "frame-ancestors 'self'",
])  # fmt: skip
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "SAMEORIGIN",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


def hosts_of(environment: Mapping[str, str]) -> list[str]:
    """Read RELXL_HOSTS, the names apart by commas under which the server may be asked.

    Raises ValueError for a star, which would let any web page talk to it, and for none at all.
    """
    hosts = [host.strip() for host in environment.get("RELXL_HOSTS", HOSTS).split(",") if host.strip()]
    if not hosts or any("*" in host for host in hosts):
        raise ValueError(
            f"RELXL_HOSTS={environment.get('RELXL_HOSTS')!r} must name hosts apart by commas, without a star: such as "
            "relxl.example.org,localhost"
        )
    return hosts


def is_demo(environment: Mapping[str, str]) -> bool:
    """Say whether RELXL_DEMO=1: nobody may upload, and nothing that takes long is computed."""
    return environment.get("RELXL_DEMO") == "1"


def middleware(environment: Mapping[str, str]) -> list[Middleware]:
    """List what every request goes through, the first first."""
    before = [Middleware(SecurityHeaders), Middleware(TrustedHostMiddleware, hosts_of(environment), www_redirect=False)]
    return [*before, Middleware(NoUploads)] if is_demo(environment) else before


class SecurityHeaders:
    """Add the headers to every answer, errors too."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: dict, receive: Any, send: Any) -> None:
        async def send_with_headers(message: dict) -> None:
            if message["type"] == "http.response.start":
                ours = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                others = [(name, value) for name, value in message.get("headers", []) if name.decode() not in HEADERS]
                message = message | {"headers": others + ours}
            await send(message)

        await self.app(scope, receive, send_with_headers)


class NoUploads:
    """Refuse every upload, whoever sends it."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: dict, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and UPLOAD in scope["path"] and scope["method"] not in ("GET", "HEAD", "OPTIONS"):
            answer = PlainTextResponse("uploads are off in this demonstration", status_code=403)
            await answer(scope, receive, send)
        else:
            await self.app(scope, receive, send)
