"""Metrics for a Prometheus whose key has the scope `metrics`."""

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST

from ..metrics import exposition
from ..parameters import errors
from ..security.access import OF_ALL, may
from ..service import Serving

router = APIRouter(tags=["operations"])


@router.get("/metrics", responses=errors(), response_class=Response, dependencies=[may("metrics"), OF_ALL])
def metrics(service: Serving) -> Response:
    """Return metrics of requests, questions, builds and model calls in Prometheus's text format."""
    return Response(exposition(service.builds.all()), media_type=CONTENT_TYPE_LATEST)
