"""How much of a machine one file may take, whoever made it.

A media file is untrusted: a few hundred bytes can announce a picture of a gigapixel or a film of a year. Every bound
here is checked before the memory or the time is spent. The module knows numbers only; `container`, `probe` and the
decoder apply them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds for one file. Crossing one is a `MediaError` of code `too_large`."""

    pixels: int = 8192 * 4320  # of one picture: 8K
    frames: int = 220_000  # an hour at 60 frames per second, and a little
    seconds: float = 3660.0  # an hour, and a minute
    total_pixels: int = 500_000_000_000  # frames x pixels: an hour of 1080p60
    held_bytes: int = 4 << 30  # pictures of one view that are held at a time: 690 of 1080p, 28,000 of 224 x 224
    packet_bytes_ratio: float = 4.0  # packets may not add up to more than this many times the file
    packet_bytes_slack: int = 64 << 20  # ... plus this, for containers that store packets compressed

    @property
    def decoder_pixels(self) -> int:
        """What FFmpeg's decoders are told: they count padding too."""
        return 2 * self.pixels


LIMITS = Limits()
"""What `probe` and `decode` apply unless told otherwise."""
