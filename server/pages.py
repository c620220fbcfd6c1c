"""The web page: files of `web/`, and nothing else, to anybody who reaches the server."""

from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import FileResponse
from starlette.staticfiles import StaticFiles

WEB = Path(__file__).parent / "web"


def add_pages(app: FastAPI) -> None:
    """Serve the page at `/` and its files below `/assets`."""

    @app.get("/", include_in_schema=False)
    async def index() -> FileResponse:
        return FileResponse(WEB / "index.html")

    app.mount("/assets", StaticFiles(directory=WEB, check_dir=False), name="assets")
