"""LocalStack's choice of an environment for a call, made safe for calls that come at once.

As it comes, LocalStack walks a dictionary of environments that other calls change meanwhile, and a new environment can be
taken by another call before the one that started it has it: either is an error to the caller, and neither is the function's.
"""

import contextlib
import threading

from localstack.services.lambda_.invocation.assignment import AssignmentService
from localstack.services.lambda_.invocation.execution_environment import InvalidStatusException
from localstack.services.lambda_.invocation.lambda_models import InitializationType

_choosing = threading.Lock()


def install():
    """Puts the choice below in the place of LocalStack's."""
    AssignmentService.get_environment = get_environment


@contextlib.contextmanager
def get_environment(self, version_manager_id, function_version, provisioning_type):
    """A free environment, or a new one, for as long as the call takes."""
    environment = _free(self.environments[version_manager_id], provisioning_type)
    if environment is None:
        if provisioning_type != InitializationType.on_demand:
            raise ValueError(f"the process executor starts environments on demand, not by {provisioning_type}")
        environment = self.start_environment(version_manager_id, function_version)
        with _choosing:
            environment.reserve()
            self.environments[version_manager_id][environment.id] = environment
    try:
        yield environment
        environment.release()
    except InvalidStatusException:
        # It was stopped meanwhile, as when the function was replaced; the call is answered all the same.
        pass
    except Exception:
        self.stop_environment(environment)
        raise


def _free(environments, provisioning_type):
    with _choosing:
        for environment in list(environments.values()):
            if environment.initialization_type == provisioning_type:
                with contextlib.suppress(InvalidStatusException):
                    environment.reserve()
                    return environment
    return None
