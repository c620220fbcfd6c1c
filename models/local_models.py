"""Models of sentence-transformers on this machine."""

from pathlib import Path

from huggingface_hub import snapshot_download


def local_model(name: str, repository: str) -> Path:
    """Return a model's folder. Nothing is downloaded.

    Args:
        name: a folder, which is returned if it exists.
        repository: a Hugging Face repository, whose folder in the local cache is returned otherwise.

    Raises:
        FileNotFoundError: neither exists; the message says how to fetch the model.
    """
    if Path(name).is_dir():
        return Path(name)
    try:
        return Path(snapshot_download(repository, local_files_only=True))
    except (OSError, ValueError) as error:
        raise FileNotFoundError(
            f"there is no such folder, and {repository!r} is not in the Hugging Face cache. Banyan downloads nothing: "
            f"fetch it with `hf download {repository}`") from error
