"""What the tests of files share: files to read, texts to put into them, and other processes."""

import gzip
import subprocess
import sys

import hypothesis.strategies as st
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import HealthCheck, settings

HERE = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
csv_text = st.one_of(any_text, st.text('a,"\r\n; \t', max_size=6))


def run(code, *arguments):
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def selection_of(estimator):
    """What a model file says of the selection."""
    names = ("rule", "ties", "threshold", "statistic", "n_features", "n_omitted")
    found = {name: getattr(estimator.selection_, name) for name in names}
    return {**found, "scores": estimator.scores_}


def save(path, content):
    content = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def save_parquet(path, columns):
    pq.write_table(pa.table(columns), path)
    return path
