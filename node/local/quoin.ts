/**
 * `quoin`, the program of the package of the same name: a cluster on this machine, one member, the command line, and the
 * console.
 *
 * It runs on the Node of quoinctl. Members need a newer Node, see `server-node.ts`. The other programs of the package are
 * files beside this one, and each is loaded only by its command.
 */

import { readFileSync } from "node:fs";
import module from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";
import { openConsole } from "./console.ts";
import { runFounding, runMember, runStart } from "./server-node.ts";

const EXIT_USAGE = 2;

/** As the user called it: below npx, the printed commands begin with `npx` as well. */
const self = process.env.npm_command === "exec" ? "npx quoin" : "quoin";

const HELP = `Usage: ${self} <command> [options]

Quoin, a distributed coordination service

Commands:
  start     start a cluster of three members on this machine, until Ctrl-C; its data stays in .quoin/
  ctl       the command line quoinctl, as in: ${self} ctl kv get default/greeting
  console   print the address of the web console of the cluster that runs here, and open it
  member    run one member, for systemd and containers
  found     found a cluster on such a member, once
  help      show this text

${self} <command> --help shows the options of a command.

Options:
  --version  print the version
  --help     show this text
`;

/** Runs the command, and sets the exit code of the process. */
async function run(command: string | undefined, args: readonly string[]): Promise<void> {
  switch (command) {
    case "start":
      return runStart(new URL("./quoin-start.ts", import.meta.url), args);
    case "member":
      return runMember(new URL("../src/main.ts", import.meta.url), args);
    case "found":
      return runFounding(new URL("../../client/scripts/quoin-found.ts", import.meta.url), args);
    case "console":
      process.exitCode = await openConsole(args, self);
      return;
    case "ctl":
      return runQuoinctl();
    case "--version":
      console.log(readVersion());
      return;
    case "help":
    case "--help":
    case "-h":
      process.stdout.write(HELP);
      return;
    default:
      process.stderr.write(command === undefined ? HELP : `quoin: there is no command ${command}\n\n${HELP}`);
      process.exitCode = EXIT_USAGE;
  }
}

/** Quoinctl reads the arguments of the process, which are then those without the name of the command. */
async function runQuoinctl(): Promise<void> {
  process.argv.splice(2, 1);
  module.enableCompileCache?.(join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "quoin", "compiled"));
  const { main } = await import("@quoin/client/cli");
  await main();
}

function readVersion(): string {
  return JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version;
}

// Without a listener, Node opens its debugger at this signal.
process.on("SIGUSR1", () => undefined);
const [command, ...args] = process.argv.slice(2);
await run(command, args);
