"""The web page: the files of `web/` only, for anybody who can reach the server."""

from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.responses import FileResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles

WEB = Path(__file__).parent / "web"


class _Assets(StaticFiles):
    """Files that a browser caches and revalidates; they contain no user data."""

    def file_response(self, *given: Any, **named: Any) -> Response:
        """See Starlette."""
        response = super().file_response(*given, **named)
        response.headers["Cache-Control"] = "no-cache"
        return response


def add_pages(app: FastAPI, *, hosted: bool = False) -> None:
    """Serve the page at `/`, the API description at `/docs`, and the page's files below `/assets`.

    Args:
        app: the app.
        hosted: whether LangGraph's server mounts the app; it has its own description at `/docs`.
    """

    @app.get("/", include_in_schema=False)
    async def index() -> FileResponse:
        return FileResponse(WEB / "index.html")

    if not hosted:
        @app.get("/docs", include_in_schema=False)
        async def docs() -> RedirectResponse:
            return RedirectResponse("/#/api")

    app.mount("/assets", _Assets(directory=WEB, check_dir=False), name="assets")
