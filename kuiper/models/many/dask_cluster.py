"""Many pictures over a cluster of Dask, which knows what to do about lost machines."""

from __future__ import annotations

from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import kuiper
from kuiper.errors import ExecutionError, ParameterError
from kuiper.machine.processes import need_processes
from kuiper.models.predictor import failure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from kuiper.models.many.processes import Predict
    from kuiper.models.predictor import Record

_IN_HAND = 4  # pictures for each thread of the cluster; of all the others the scheduler need not know yet
_SCHEMES = {"tcp", "tls", "ucx", "ws", "wss"}
_PATIENCE = "20s"  # until there must be a scheduler, and until there must be a worker


def over_dask(predict: Predict, paths: Iterable[str], address: str, threads: int = 1) -> Iterator[Record]:
    """The record of each picture as soon as there is one, so in no particular order.

    Parameters
    ----------
    predict : ``Predictor.record``, or what is built around it; its model must lie at the same path everywhere
    paths : of pictures, each once; the workers must find them there
    address : of the cluster's scheduler, like tcp://host:8786
    threads : that the kernels may use for each picture

    What a lost worker had in hand, others do again. A picture that kills one worker after another (how many is for the
    scheduler to say: ``distributed.scheduler.allowed-failures``) gets a record that says so.

    Raises
    ------
    ParameterError
        If the address is none.
    ImportError
        If the package distributed is not there.
    OSError
        If there is no scheduler at that address, or no worker.
    ExecutionError
        If ``predict`` raises, or if the scheduler is lost.
    """
    _expect_address(address)
    need_processes("over_dask", "and connections to a cluster")
    distributed = _distributed()
    suspects = []
    with distributed.Client(address, timeout=_PATIENCE, set_as_default=False) as client:
        client.wait_for_workers(1, timeout=_PATIENCE)
        submit = partial(client.submit, _work, predict, threads, pure=False)
        for path, future in _completed(client, distributed.as_completed(loop=client.loop), submit, iter(paths)):
            record = _result(future, distributed.KilledWorker)
            if record is None:
                suspects.append(path)
            else:
                yield record
        for path in suspects:  # a dead worker may have had several in hand: each alone shows of which one it died
            died = ExecutionError(path, "a worker that survives it", "several that did not")
            yield _result(submit(path), distributed.KilledWorker) or failure(path, died)


def _completed(
    client: Any, running: Any, submit: Callable[[str], Any], paths: Iterator[str]
) -> Iterator[tuple[str, Any]]:
    """Each picture and its future once that is done; there are never many of them, however many pictures there are."""
    sent: dict[Any, str] = {}
    while True:
        room = _IN_HAND * sum(client.nthreads().values()) - len(sent)
        futures = {submit(path): path for path in islice(paths, max(room, 1))}
        sent.update(futures)
        running.update(futures)
        if not sent:
            return
        for future in running.next_batch():
            yield sent.pop(future), future


def _result(future: Any, killed_worker: type[Exception]) -> Record | None:
    """The record, or None if all workers died that had the picture in hand."""
    try:
        record: Record = future.result()
    except killed_worker:
        return None
    except Exception as error:
        raise ExecutionError("over_dask", "a record", f"{type(error).__name__}: {error}") from error
    return record


def _work(predict: Predict, threads: int, path: str) -> Record:
    """What runs in a worker."""
    kuiper.set_num_threads(threads)
    return predict(path)


def _expect_address(address: str) -> None:
    """Refuse what would keep the client waiting for long."""
    try:
        parts = urlsplit(address)
        good = parts.scheme in _SCHEMES and parts.hostname and parts.port
    except ValueError:
        good = False
    if not good:
        raise ParameterError("over_dask", "the address of a scheduler, like tcp://host:8786", address)


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        message = "over_dask: expected the package distributed, got none; pip install distributed"
        raise ImportError(message) from error
    return distributed
