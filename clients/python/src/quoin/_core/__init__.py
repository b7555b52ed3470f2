"""What the SDK decides, without I/O: generators yield effects, and a driver in `quoin._io` carries them out."""
