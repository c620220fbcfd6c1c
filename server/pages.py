"""The web page: files of `web/`, and nothing else, to anybody who reaches the server."""

from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.responses import FileResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles

WEB = Path(__file__).parent / "web"


class _Assets(StaticFiles):
    """Files that a browser keeps and asks after: nothing of anybody's is in them."""

    def file_response(self, *given: Any, **named: Any) -> Response:
        """See Starlette."""
        response = super().file_response(*given, **named)
        response.headers["Cache-Control"] = "no-cache"
        return response


def add_pages(app: FastAPI, *, hosted: bool = False) -> None:
    """Serve the page at `/`, its description of the API at `/docs`, and its files below `/assets`.

    Args:
        app: the app.
        hosted: LangGraph's server mounts it, whose own description is at `/docs`.
    """

    @app.get("/", include_in_schema=False)
    async def index() -> FileResponse:
        return FileResponse(WEB / "index.html")

    if not hosted:
        @app.get("/docs", include_in_schema=False)
        async def docs() -> RedirectResponse:
            return RedirectResponse("/#/api")

    app.mount("/assets", _Assets(directory=WEB, check_dir=False), name="assets")
