/** Runs a cluster on this machine until Ctrl-C, or one of its members, restarted. */

import { UsageError } from "../src/command-line/index.ts";
import { greeting, type LauncherCommands, restartCommand } from "./greeting.ts";
import { LocalCluster } from "./local-cluster.ts";
import { describeExit } from "./member-process.ts";
import { type LocalOptions, type MemberOptions, parseOptions } from "./options.ts";
import { RestartedMember } from "./restarted-member.ts";
import { StartError } from "./start-error.ts";

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
/** Any value works. */
const ALIVE_INTERVAL_MS = 60_000;

async function runCluster(options: LocalOptions, commands: LauncherCommands, interrupted: AbortSignal): Promise<void> {
  const { members, dataDirectory } = options;
  const cluster = await LocalCluster.start(options, interrupted, () => {
    console.log(`Starting a cluster of ${members === 1 ? "one member" : `${members} members`} ...`);
  });
  // Node ends a process that only waits for signals, as this one does while all members have been killed.
  const alive = setInterval(() => undefined, ALIVE_INTERVAL_MS);
  try {
    console.log(greeting(cluster, options, commands));
    console.log("Quoin is ready");
    const failed = cluster.untilFailed((name, exit) => {
      if (!interrupted.aborted) {
        console.log(`\n${name} ended (${describeExit(exit)}). To start it again, in another shell:`);
        console.log(`  ${restartCommand(name, dataDirectory, commands)}`);
      }
    });
    await Promise.race([untilAborted(interrupted), failed]);
    console.log("\nStopping ...");
  } finally {
    clearInterval(alive);
    const left = await cluster.stop();
    if (left.length > 0) {
      console.error(`${left.join(", ")}, started in another shell, still runs: stop it there`);
    }
  }
}

async function runMember(options: MemberOptions, commands: LauncherCommands, interrupted: AbortSignal): Promise<void> {
  const { member: name } = options;
  const member = await RestartedMember.start(options, commands.start);
  try {
    console.log(`${name} is process ${member.pid}. Ctrl-C or the end of the cluster stops it`);
    const followed = member.follow((state) => console.log(`${name} is ${state}`));
    await Promise.race([untilAborted(interrupted), followed]);
    console.log("\nStopping ...");
  } finally {
    await member.stop();
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
    }
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => controller.abort(new StartError("interrupted before the cluster was ready")));
  }
  return controller.signal;
}

/**
 * Runs the launcher with these arguments, and sets the exit code of the process.
 *
 * @param commands how the user started it, for the commands that it prints
 */
export async function runLauncher(args: readonly string[], commands: LauncherCommands): Promise<void> {
  const interrupted = interruption();
  // Without a listener, Node opens its debugger at this signal.
  process.on("SIGUSR1", () => undefined);
  try {
    const options = parseOptions(args, commands.start);
    if (options !== null) {
      await ("member" in options
        ? runMember(options, commands, interrupted)
        : runCluster(options, commands, interrupted));
    }
  } catch (error) {
    const isUsage = error instanceof UsageError;
    const hint = isUsage ? `\nSee ${commands.start} --help` : "";
    const program = commands.start.replace(/ --$/, "");
    console.error(`${program}: ${error instanceof Error ? error.message : String(error)}${hint}`);
    process.exitCode = isUsage ? EXIT_USAGE : EXIT_FAILED;
  }
}
