"""The version, in one place: setup.cfg, signatures and manifests read it here."""

__version__ = "0.1.0"
