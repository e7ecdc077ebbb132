"""The former home of `muse.load_encoder`, kept for programs that import it from here."""

from muse.api.encoders import load_encoder

__all__ = ["load_encoder"]
