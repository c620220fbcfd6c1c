"""The log of the command line: Banyan's own messages on standard error, as text or as JSON lines."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any

from ..config import Settings
from .console import visible

_NAME = "banyan"


class _OnStandardError(logging.Handler):
    """A handler that writes to the current standard error, so log lines appear above progress bars."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            sys.stderr.write(f"{self.format(record)}\n")
            sys.stderr.flush()
        except (OSError, ValueError):  # the pipe or file is closed, and a lost log line must not stop a build
            self.handleError(record)


class _AsText(logging.Formatter):
    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  (logging's name)
        message = visible(record.message).replace("\n", " ")
        return f"{_time(record)} {record.levelname} {record.name}: {message}"


class _AsJson(logging.Formatter):
    """One JSON object per line: time, level, logger, message, and the record's own fields."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {"time": _time(record), "level": record.levelname, "logger": record.name,
                                "message": record.getMessage(), **getattr(record, "fields", {})}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)  # ASCII only, so it cannot affect a terminal


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")


def set_up_logs(settings: Settings) -> None:
    """Set up logging as the settings ask. Other libraries' loggers stay off, because they log prompts."""
    logger = logging.getLogger(_NAME)
    logger.setLevel(settings.log_level)
    for handler in [handler for handler in logger.handlers if isinstance(handler, _OnStandardError)]:
        logger.removeHandler(handler)
    handler = _OnStandardError()
    handler.setFormatter(_AsJson() if settings.log_format == "json" else _AsText())
    logger.addHandler(handler)
