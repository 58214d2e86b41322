"""Linear algebra uses one thread where it is asked to."""

from threadpoolctl import threadpool_info

from unselected.numerics.one_thread import one_blas_thread


def threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_one_thread_is_used_and_then_as_many_as_before():
    before = threads()
    for _ in range(2):  # libraries are looked up once
        with one_blas_thread():
            assert set(threads()) == {1}
            with one_blas_thread():
                assert set(threads()) == {1}
        assert threads() == before
