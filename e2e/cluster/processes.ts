/**
 * The processes of a cluster that outlive their parent. Each has a file that describes it, so that any later process
 * can stop it, restart it, or see whether it runs.
 *
 * A process id alone is not unique, because ids are reused. So the file also contains the start time; a process with
 * another start time is left alone.
 */

import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { tailOf } from "../../testing/index.ts";
import { entrancesOf } from "./control-groups.ts";
import { sendSignal } from "./signals.ts";
import { type Site, writeWhole } from "./site.ts";
import { until } from "./until.ts";

/** Joins the groups before "--", and then executes the command after it. */
const ENTER = 'while [ "$1" != -- ]; do echo $$ > "$1" || exit 1; shift; done; shift; exec "$@"';
const SUFFIX = ".json";
const KILL_LIMIT_MS = 30_000;
/** Position of the start time in the kernel's text, counted after the name. */
const START_FIELD = 19;

/** The process to start. */
export interface ProcessPlan {
  readonly name: string;
  /** Program and arguments, after anything that must be entered first, such as a namespace. */
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

interface ProcessRecord extends ProcessPlan {
  readonly id: number;
  readonly started: string;
}

/** Starts a process in the background. Its output goes to a log with its name. */
export function startProcess(site: Site, plan: ProcessPlan): void {
  mkdirSync(site.path("logs"), { recursive: true });
  const log = openSync(logOf(site, plan.name), "a");
  try {
    const words = [...entrancesOf(site.systemGroup), "--", ...plan.command];
    const child = spawn("sh", ["-c", ENTER, "sh", ...words], {
      cwd: "/",
      detached: true,
      env: { ...process.env, ...plan.env },
      stdio: ["ignore", log, log],
    });
    child.once("error", (error) => console.error(`${plan.name} could not be started: ${error.message}`));
    child.unref();
    if (child.pid !== undefined) {
      const record: ProcessRecord = { ...plan, id: child.pid, started: startOf(child.pid) ?? "" };
      writeWhole(fileOf(site, plan.name), JSON.stringify(record, null, 2));
    }
  } finally {
    closeSync(log);
  }
}

/** Restarts a process that was started before, in the same way. */
export function restartProcess(site: Site, name: string): void {
  const { command, env = {} } = recordOf(site, name);
  startProcess(site, { name, command, env });
}

/** Throws an error with the end of its log if a process has ended. */
export function expectRunning(site: Site, name: string): void {
  if (idOf(site, name) === null) {
    throw new Error(`${name} has ended:\n${tailOf(logOf(site, name))}`);
  }
}

/** The process that a file describes; null if it has ended. */
export function idOf(site: Site, name: string): number | null {
  const { id, started } = recordOf(site, name);
  return startOf(id) === started ? id : null;
}

/** Names of all processes that were ever started here. */
export function processNames(site: Site): string[] {
  const directory = site.path("processes");
  return existsSync(directory)
    ? readdirSync(directory)
        .filter((name) => name.endsWith(SUFFIX))
        .map((name) => basename(name, SUFFIX))
    : [];
}

/** Sends a signal to a process, if it still runs. Returns whether it did. */
export function signalProcess(site: Site, name: string, signal: NodeJS.Signals): boolean {
  const id = idOf(site, name);
  return id !== null && sendSignal(id, signal);
}

/** Kills a process, if it still runs, and waits until it is gone. */
export async function killProcess(site: Site, name: string): Promise<void> {
  signalProcess(site, name, "SIGKILL");
  await until(`${name} to end`, () => idOf(site, name) === null, KILL_LIMIT_MS);
}

export function logOf(site: Site, name: string): string {
  return site.path("logs", `${name}.log`);
}

function fileOf(site: Site, name: string): string {
  return site.path("processes", `${name}${SUFFIX}`);
}

function recordOf(site: Site, name: string): ProcessRecord {
  return JSON.parse(readFileSync(fileOf(site, name), "utf8"));
}

/** When a process began, in ticks since the machine's boot; null if there is none, or only its exit code is left. */
function startOf(id: number): string | null {
  try {
    const text = readFileSync(`/proc/${id}/stat`, "utf8");
    // The name, in brackets, may contain any character.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? null : (fields[START_FIELD] ?? null);
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ESRCH")) {
      return null;
    }
    throw error;
  }
}
