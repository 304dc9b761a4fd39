"""Workers on a Ray cluster: python ray_workers.py 8. KTD_SERVER, PGPASSWORD and the keys of vendors are taken from the environment that starts it.

Whoever may look into the cluster may read them there: on one that others use, give nodes these variables by its own means."""
import os
import subprocess
import sys

import ray

passed_on = {name: value for name, value in os.environ.items() if name in ("KTD_SERVER", "PGPASSWORD") or name.endswith("_API_KEY")}
ray.init(runtime_env={"env_vars": passed_on})


# A task whose node is lost is started again elsewhere: its worker's units are taken by others meanwhile.
@ray.remote(num_cpus=2, max_retries=-1)
def worker():
    return subprocess.run(["ktd", "worker", "--drain"]).returncode


codes = ray.get([worker.remote() for _ in range(int(sys.argv[1]))])
# A worker that a signal ended has a negative code.
sys.exit(max(abs(code) for code in codes))
