"""Metrics for a Prometheus that has a key with the scope `metrics`."""

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST

from ..metrics import exposition
from ..parameters import errors
from ..security.access import OF_ALL, may
from ..service import Serving

router = APIRouter(tags=["operations"])


@router.get("/metrics", responses=errors(), response_class=Response, dependencies=[may("metrics"), OF_ALL])
def metrics(service: Serving) -> Response:
    """Requests, questions, builds and calls of a model, in Prometheus's text form."""
    return Response(exposition(service.builds.all()), media_type=CONTENT_TYPE_LATEST)
