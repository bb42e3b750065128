/** Jobs to start from. Each runs as it is: what it needs is in its command, or in files that are packed here and uploaded. */
import type { JsonObject } from "../../api/types";
import curve from "./examples/curve.py?raw";
import ddp from "./examples/ddp.py?raw";

export interface Example {
  id: "hello" | "metrics" | "ddp" | "sweep" | "shell";
  job: JsonObject;
  /** File -> text: the folder that is uploaded as its code. */
  files?: Record<string, string>;
}

const SMALL = { cpu: 0.5, memory: "256MiB" };
const CURVE = { pattern: "epoch=(?P<step>\\d+) loss=(?P<loss>[\\d.]+) accuracy=(?P<accuracy>[\\d.]+)" };

/** Bash words: each replica takes the rate of its own number. */
const SWEEP = "bash -c 'set -- 0.3 0.1 0.03 0.01; shift $TRAINMASTER_INDEX; python train.py --epochs=20 --lr=$1'";

export const EXAMPLES: readonly Example[] = [
  {
    id: "hello",
    job: {
      name: "hello",
      roles: [
        {
          name: "main",
          command: 'bash -c \'echo "Hello from $(hostname)"; for n in 1 2 3 4 5; do echo "step $n"; sleep 1; done\'',
          resources: SMALL,
        },
      ],
      duration: "10m",
    },
  },
  {
    id: "metrics",
    job: {
      name: "training-curve",
      roles: [{ name: "main", command: "python train.py", parameters: { epochs: 40, lr: 0.1 }, resources: SMALL }],
      duration: "30m",
      metrics: [CURVE],
      progress: { metric: "step", of: "epochs" },
    },
    files: { "train.py": curve },
  },
  {
    id: "ddp",
    job: {
      name: "pytorch-ddp",
      framework: "pytorch",
      roles: [{ name: "worker", replicas: 2, command: "python train.py", resources: { cpu: 1, memory: "2GiB" } }],
      duration: "30m",
      metrics: [{ pattern: "epoch=(?P<step>\\d+) loss=(?P<loss>[\\d.]+)" }],
    },
    files: { "train.py": ddp },
  },
  {
    id: "sweep",
    job: {
      name: "learning-rates",
      roles: [{ name: "trial", replicas: 4, command: SWEEP, resources: SMALL, min_failed: null }],
      duration: "30m",
      metrics: [CURVE],
    },
    files: { "train.py": curve },
  },
  {
    id: "shell",
    job: {
      name: "session",
      roles: [{ name: "main", command: "sleep infinity", resources: { cpu: 1, memory: "1GiB" } }],
      duration: "2h",
    },
  },
];
