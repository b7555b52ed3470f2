/**
 * `quoin console`: prints the address of the web console of the cluster that runs here. On a terminal it also opens the
 * address in the browser of the user.
 */

import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import type { Endpoints } from "./cluster-files.ts";

const CONSOLE_PATH = "/console";
const ANSWER_TIMEOUT_MS = 3_000;
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const DATA_DIRECTORY = ".quoin";
const ENDPOINTS_FILE = "endpoints.json";

/** The programs that open an address in the browser. */
const OPENERS: Readonly<Partial<Record<NodeJS.Platform, string>>> = { darwin: "open", linux: "xdg-open" };

/**
 * Runs the command. Returns the exit code.
 *
 * @param self the command of the user, for messages
 */
export async function openConsole(args: readonly string[], self: string): Promise<number> {
  let values: { "data-dir"?: string; "no-open"?: boolean; help?: boolean };
  try {
    ({ values } = parseArgs({
      args: [...args],
      options: {
        "data-dir": { type: "string" },
        "no-open": { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    }));
  } catch (error) {
    console.error(`quoin console: ${error instanceof Error ? error.message : String(error)}`);
    return EXIT_USAGE;
  }
  if (values.help === true) {
    process.stdout.write(helpOf(self));
    return 0;
  }
  const directory = values["data-dir"];
  const endpoints = directory === undefined ? findEndpoints(process.cwd()) : readEndpoints(directory);
  if (endpoints === null) {
    const place = directory ?? `${DATA_DIRECTORY} in this folder or above`;
    console.error(`quoin console: there is no cluster in ${place}\nhint: ${self} start starts one`);
    return EXIT_FAILED;
  }
  const found = await findConsole(endpoints.http);
  if ("problem" in found) {
    console.error(`quoin console: ${found.problem}`);
    return EXIT_FAILED;
  }
  console.log(found.address);
  console.log(`sign in as ${endpoints.owner.email}; ${self} start has printed the password`);
  const opener = OPENERS[process.platform];
  if (process.stdout.isTTY && values["no-open"] !== true && opener !== undefined) {
    // The address is printed anyway, so a machine without a browser is no error.
    spawn(opener, [found.address], { stdio: "ignore", detached: true })
      .once("error", () => undefined)
      .unref();
  }
  return 0;
}

/** The console of the first member that serves it, or why there is none. */
export async function findConsole(members: readonly string[]): Promise<{ address: string } | { problem: string }> {
  const without: string[] = [];
  for (const member of members) {
    const address = `${member}${CONSOLE_PATH}`;
    try {
      const answer = await fetch(address, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
      await answer.body?.cancel();
      if (answer.ok) {
        return { address };
      }
      without.push(member);
    } catch (error) {
      if (!(error instanceof TypeError || error instanceof DOMException)) {
        throw error;
      }
    }
  }
  return without.length > 0
    ? { problem: `${without.join(", ")} answered, but without a console` }
    : { problem: `no member answered at ${members.join(", ")}; does the cluster run?` };
}

/** The file of the nearest cluster: of this folder, or of one above; null if there is none. */
function findEndpoints(from: string): ConsoleEndpoints | null {
  const parent = dirname(from);
  return readEndpoints(join(from, DATA_DIRECTORY)) ?? (parent === from ? null : findEndpoints(parent));
}

/** The fields that the launcher always writes. */
type ConsoleEndpoints = Pick<Endpoints, "http" | "owner">;

function readEndpoints(directory: string): ConsoleEndpoints | null {
  const file = join(directory, ENDPOINTS_FILE);
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : null;
}

function helpOf(self: string): string {
  return `Usage: ${self} console [options]

Prints the address of the web console of the cluster that runs here, and opens it in a browser

Options:
  --data-dir <directory>  directory of the cluster; default: .quoin in this folder or above
  --no-open               only print the address
  --help                  show this text
`;
}
