"""The named workloads of the published reviews; threads and depth are yours, by `dataclasses.replace`."""

from __future__ import annotations

from sated._workload import Workload

__all__ = ["DATABASE", "FILE_SERVER", "MIXED_8K_70_30", "RANDOM_READ_4K", "RANDOM_WRITE_4K", "WEB_SERVER"]

RANDOM_READ_4K = Workload(op="randread", size="4k")
RANDOM_WRITE_4K = Workload(op="randwrite", size="4k")
MIXED_8K_70_30 = Workload(read=0.7, write=0.3, size="8k", access="random")
DATABASE = Workload(read="2/3", size="8k", access="random")
"""OLTP of the X210 review: 8K, two thirds reads."""
FILE_SERVER = Workload(
    read=0.8,
    sizes={"512": 10, "1k": 5, "2k": 5, "4k": 60, "8k": 2, "16k": 4, "32k": 4, "64k": 10},
    access="random",
)
WEB_SERVER = Workload(
    read=1.0,
    sizes={
        "512": 22,
        "1k": 15,
        "2k": 8,
        "4k": 23,
        "8k": 15,
        "16k": 2,
        "32k": 6,
        "64k": 7,
        "128k": 1,
        "512k": 1,
    },
    access="random",
)
