from issued import issued, shim

__all__ = ["issued", "shim"]
