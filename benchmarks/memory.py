"""Resident memory of this process."""

import re
import resource
import sys
from pathlib import Path

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def resident() -> int:
    """Bytes of the process that are in memory now; where Linux doesn't tell, the peak so far."""
    return _from_status("VmRSS") or peak_resident()


def peak_resident() -> int:
    """The most bytes that were in memory since the start or the last :func:`reset_peak`."""
    # Not getrusage on Linux: its peak outlives the start of another program in the same process.
    if bytes_in_memory := _from_status("VmHWM"):
        return bytes_in_memory
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def reset_peak() -> None:
    """Begins a new peak where Linux allows it; elsewhere the start-up counts too."""
    try:
        CLEAR.write_text("5", encoding="ascii")
    except OSError:
        return


def _from_status(field: str) -> int | None:
    if not STATUS.is_file():
        return None
    found = re.search(rf"{field}:\s*(\d+) kB", STATUS.read_text(encoding="ascii"))
    return int(found[1]) * 1024 if found else None
