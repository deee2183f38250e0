"""The rank of this process, and file names that differ by rank."""

import os
import sys
from typing import Optional

_VARIABLES = ("RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID")
_SIZES = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_NTASKS")


def _distributed() -> Optional[tuple[int, int]]:
    torch = sys.modules.get("torch")
    try:
        distributed = torch.distributed  # type: ignore[union-attr]
        if distributed.is_available() and distributed.is_initialized():
            return int(distributed.get_rank()), int(distributed.get_world_size())
    except Exception:
        return None
    return None


def _from_environment(names: tuple[str, ...]) -> Optional[int]:
    for name in names:
        value = os.environ.get(name, "")
        if value.isdigit():
            return int(value)
    return None


def current_rank() -> int:
    """torch.distributed first: workers started by an engine have no rank variable."""
    found = _distributed()
    return found[0] if found else (_from_environment(_VARIABLES) or 0)


def world_size() -> int:
    found = _distributed()
    return found[1] if found else (_from_environment(_SIZES) or 1)


def with_rank(path: str, extensions: tuple[str, ...], suffix: str = "") -> str:
    """`base.json.gz` becomes `base-rank-3.json.gz`; the first extension is added if the path has none of them."""
    for extension in extensions:
        if path.endswith(extension):
            return "%s-rank-%d%s%s" % (path[: -len(extension)], current_rank(), suffix, extension)
    return "%s-rank-%d%s%s" % (path, current_rank(), suffix, extensions[0])
