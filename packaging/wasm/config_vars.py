"""Run by the runtime: what its Python knows of how it was compiled, as JSON."""

import json
import sysconfig

print(json.dumps({key: value for key, value in sysconfig.get_config_vars().items() if isinstance(value, (int, str))}))
