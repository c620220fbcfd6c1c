"""Checkpoints of asynchronous runs, in the database that the server's synchronous parts use."""

import asyncio
from collections.abc import Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from langgraph.checkpoint.sqlite import SqliteSaver


class AsyncSaver(BaseCheckpointSaver[str]):
    """Reads and writes through another saver, in threads."""

    def __init__(self, saver: SqliteSaver) -> None:
        super().__init__(serde=saver.serde)
        self._saver = saver

    def get_next_version(self, current: str | None, channel: None) -> str:
        """The version after another one."""
        return self._saver.get_next_version(current, channel)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """See `SqliteSaver.get_tuple`."""
        return await asyncio.to_thread(self._saver.get_tuple, config)

    async def aput(self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata,
                   new_versions: ChannelVersions) -> RunnableConfig:
        """See `SqliteSaver.put`."""
        return await asyncio.to_thread(self._saver.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str,
                          task_path: str = "") -> None:
        """See `SqliteSaver.put_writes`."""
        await asyncio.to_thread(self._saver.put_writes, config, writes, task_id, task_path)
