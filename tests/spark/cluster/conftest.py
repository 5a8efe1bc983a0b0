"""One cluster for all tests of the folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from spark_cluster import Cluster, standalone_cluster


@pytest.fixture(scope="package")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with standalone_cluster(tmp_path_factory.mktemp("cluster")) as actual:
        yield actual
