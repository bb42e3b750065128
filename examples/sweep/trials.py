"""Lets Optuna choose the next parameters by what came of the last ones: each of its trials is a job.

    pip install optuna
    python trials.py

Optuna is asked for some trials, which run beside each other as jobs of softmax.py, and told what each reached. It keeps
its study in memory here; give create_study a storage to go on with one later.
"""

from pathlib import Path

import optuna

from trainmaster import Client

ROUNDS, AT_ONCE = 4, 4
JOB = {
    "name": "trial",
    "code": str(Path(__file__).parent),
    "command": "python softmax.py",
    "resources": {"cpu": 0.5, "memory": "512MiB"},
    "duration": "10m",
    "model": {"save": False},
    "labels": {"study": "digits"},
}

optuna.logging.set_verbosity(optuna.logging.WARNING)
study = optuna.create_study(direction="minimize", sampler=optuna.samplers.TPESampler(seed=0))
with Client() as client:
    for _ in range(ROUNDS):
        jobs = {}
        for _ in range(AT_ONCE):
            trial = study.ask()
            parameters = {
                "lr": trial.suggest_float("lr", 1e-3, 100.0, log=True),
                "batch": trial.suggest_int("batch", 16, 128, log=True),
                "epochs": 5,
            }
            jobs[trial] = client.submit({**JOB, "name": f"trial-{trial.number}", "parameters": parameters})
        for trial, job in jobs.items():
            loss = job.wait().metrics().last.get("loss")
            if job.succeeded and loss is not None:
                study.tell(trial, loss)
            else:
                study.tell(trial, state=optuna.trial.TrialState.FAIL)
            print(f"{job.name:9} {trial.params} {loss}")
print("best:", study.best_params, study.best_value)
