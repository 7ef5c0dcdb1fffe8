"""New processes that several audits share."""

from types import SimpleNamespace

from joblib.externals.loky import ProcessPoolExecutor


class Kept:
    """Pools whose processes end with all tests.

    A process imports all modules, which takes seconds, and each audit asks for two. The first numbers of a generator of
    a module are those behind the first audit in the next one, and both processes still have the same.
    """

    def __init__(self):
        self.idle, self.all = [], []

    def pool(self, max_workers):
        if not self.idle:
            self.all.append(ProcessPoolExecutor(max_workers=max_workers))
            self.idle.append(self.all[-1])
        return SimpleNamespace(submit=(one := self.idle.pop()).submit, shutdown=lambda **_: self.idle.append(one))

    def close(self):
        for pool in self.all:
            pool.shutdown(wait=True, kill_workers=True)
