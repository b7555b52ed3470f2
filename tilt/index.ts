/**
 * What the Tiltfile asks Tilt for, without Tilt: Starlark as it is used there is Python. Run as such, it must know all its
 * names, and its calls of Tilt's functions are written down; what is not a function of Tilt is unknown to it.
 */

import { spawnSync } from "node:child_process";
import { dirname } from "node:path";

const ROOT = dirname(import.meta.dirname);
const LIMIT_MS = 30_000;

/** A call of one of Tilt's functions. What another call returned stands in it as that call. */
export interface TiltCall {
  readonly name: string;
  readonly args: readonly unknown[];
  readonly named: Readonly<Record<string, unknown>>;
}

const EVALUATE = `
import json, sys
calls = []
def tilt(name):
    def call(*args, **named):
        made = {"name": name, "args": args, "named": named}
        calls.append(made)
        return made
    return call
names = ["docker_build", "fall_back_on", "helm", "k8s_kind", "k8s_resource", "k8s_yaml", "local_resource", "port_forward", "sync"]
known = {name: tilt(name) for name in names}
known.update({"TRIGGER_MODE_MANUAL": "manual"})
text = open("Tiltfile").read()
for constant, value in json.loads(sys.argv[1]).items():
    before = [line for line in text.splitlines() if line.startswith(constant + " = ")]
    assert len(before) == 1, constant
    text = text.replace(before[0], constant + " = " + repr(value), 1)
exec(compile(text, "Tiltfile", "exec"), known)
json.dump(calls, sys.stdout)
`;

/** Whether there is what it takes to read a Tiltfile: Python. */
export function canReadTiltfile(): boolean {
  return spawnSync("python3", ["--version"], { timeout: LIMIT_MS }).status === 0;
}

/**
 * Evaluates the Tiltfile of this repository. Raises what Python says if it cannot be.
 *
 * @param constants what stands in the place of constants of the Tiltfile, by their names
 * @returns the calls in their order
 */
export function readTiltfile(constants: Readonly<Record<string, string>> = {}): readonly TiltCall[] {
  const { status, stdout, stderr } = spawnSync("python3", ["-c", EVALUATE, JSON.stringify(constants)], {
    cwd: ROOT,
    encoding: "utf8",
    timeout: LIMIT_MS,
  });
  if (status !== 0) {
    throw new Error(stderr);
  }
  return JSON.parse(stdout);
}
