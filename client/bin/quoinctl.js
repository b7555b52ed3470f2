#!/usr/bin/env node
/**
 * Starts quoinctl. The program itself is TypeScript, which Node runs directly from version 24 on. If an older Node runs
 * this file, it looks for the Node that npm has installed near the package, and starts that one with the same arguments,
 * standard streams, signals and exit code.
 *
 * It is plain JavaScript with built-in modules only, for Node 18 and newer.
 */

import { spawn } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import module from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

const MINIMUM_NODE_MAJOR = 24;
/** Set for the second start: if that Node is too old as well, this is an error and not an endless chain. */
const RESTARTED = "QUOINCTL_RESTARTED";
const FORWARDED_SIGNALS = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"]);

/** @returns {string | undefined} the nearest Node that npm has installed above this file; undefined = none */
function findInstalledNode() {
  let directory = path.dirname(realpathSync(fileURLToPath(import.meta.url)));
  while (directory !== path.dirname(directory)) {
    directory = path.dirname(directory);
    const candidate = path.join(directory, "node_modules", ".bin", "node");
    if (existsSync(candidate)) {
      return candidate;
    }
  }
  return undefined;
}

function restart() {
  const node = process.env[RESTARTED] === undefined ? findInstalledNode() : undefined;
  if (node === undefined) {
    console.error(
      `quoinctl: Node ${MINIMUM_NODE_MAJOR} or newer is needed, and this is Node ${process.versions.node}\n` +
        "hint: run npm ci in the folder of quoinctl, or install a newer Node",
    );
    process.exitCode = 1;
    return;
  }
  if (process.argv.some((argument) => argument.includes("\ufffd"))) {
    // That Node could not see which bytes this one has replaced.
    console.error(
      `quoinctl: on Node ${process.versions.node}, an argument must not have the character U+FFFD, which may stand for ` +
        `bytes that are not UTF-8\nhint: use Node ${MINIMUM_NODE_MAJOR} or newer`,
    );
    process.exitCode = 2;
    return;
  }
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: "inherit",
    env: { ...process.env, [RESTARTED]: "1" },
  });
  for (const signal of FORWARDED_SIGNALS) {
    process.on(signal, () => child.kill(signal));
  }
  child.once("error", (error) => {
    console.error(`quoinctl: ${node} cannot be started: ${error.message}`);
    process.exitCode = 1;
  });
  child.once("exit", (code, signal) => {
    if (signal === null) {
      process.exitCode = code ?? 1;
      return;
    }
    // The parent process must see this process end as the program itself ended.
    for (const forwarded of FORWARDED_SIGNALS) {
      process.removeAllListeners(forwarded);
    }
    process.kill(process.pid, signal);
  });
}

if (Number.parseInt(process.versions.node, 10) < MINIMUM_NODE_MAJOR) {
  restart();
} else {
  // The programs that it runs may start quoinctl with the older Node again.
  delete process.env[RESTARTED];
  // A second start is then fast: it neither strips types again nor compiles. Without this folder, nothing is kept.
  module.enableCompileCache?.(fileURLToPath(new URL("../../node_modules/.cache/quoinctl", import.meta.url)));
  const { main } = await import("../src/cli/index.ts");
  await main();
}
