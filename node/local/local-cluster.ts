/** A cluster on this machine: starts its members, forms a cluster of them, and stops them. */

import { mkdirSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { QuoinError } from "@quoin/client";
import { assemble, describeState, type Observed } from "./assembly.ts";
import {
  announceLauncher,
  createCredentials,
  type Endpoints,
  isRunning,
  type OwnerCredentials,
  readEndpoints,
  readLauncher,
  readRecord,
  retractLauncher,
  writeEndpoints,
  writeTokens,
} from "./cluster-files.ts";
import { Fleet } from "./fleet.ts";
import { layoutsOf, type MemberLayout } from "./member-layout.ts";
import { describeExit, type Exit, STOP_TIMEOUT_MS } from "./member-process.ts";
import type { LocalOptions } from "./options.ts";
import { addressOf, isFree, requireFree } from "./ports.ts";
import { RestoreProgress } from "./restore-progress.ts";
import { StartError } from "./start-error.ts";

/** A member at the time when the cluster had started. */
export interface StartedMember {
  readonly name: string;
  readonly pid: number;
  readonly grpc: string;
  readonly http: string;
  /** Address of its health checks and metrics. */
  readonly health: string;
  /** `RUNNING`, or the state that keeps it from serving, with the reason. */
  readonly state: string;
  readonly isLeader: boolean;
}

const DIRECTORY_MODE = 0o700;
/** Why a member founds no cluster from a backup. */
const UNUSABLE_BACKUP_REASONS: ReadonlySet<string> = new Set(["BACKUP_REFUSED", "BACKUP_STORE_UNAVAILABLE"]);
const POLL_MS = 50;
const BASE_PORT = 7400;
const PORTS_ADVICE = "stop the process that listens there, or choose other ports with --base-port";

export class LocalCluster {
  readonly members: readonly StartedMember[];
  readonly endpoints: Endpoints;
  readonly endpointsFile: string;
  readonly #directory: string;
  readonly #fleet: Fleet;

  private constructor(directory: string, fleet: Fleet, observed: readonly Observed[], endpoints: Endpoints) {
    this.#directory = directory;
    this.#fleet = fleet;
    this.members = observed.map(startedMember);
    this.endpoints = endpoints;
    this.endpointsFile = writeEndpoints(directory, endpoints);
  }

  /**
   * Starts the cluster and returns when it serves. Members that have lost their data or were removed may not serve;
   * `members` shows that. Raises StartError or PortInUseError, or the reason of the signal.
   *
   * @param onStarting called when nothing is in the way, before the first member starts
   */
  static async start(
    options: LocalOptions,
    interrupted = new AbortController().signal,
    onStarting: () => void = () => undefined,
  ): Promise<LocalCluster> {
    const { members, dataDirectory, memberFlags = [], backupDirectory, restores = false } = options;
    const directory = resolve(dataDirectory);
    const basePort = options.basePort ?? basePortBefore(directory) ?? BASE_PORT;
    await refuseSecondLauncher(directory);
    const layouts = layoutsOf(directory, basePort, members);
    for (const { ports } of layouts) {
      await requireFree(ports, PORTS_ADVICE);
    }
    const made = [backupDirectory, directory].map(makeDirectory);
    const restoring = restores ? new RestoreProgress(directory, layouts) : null;
    await restoring?.requireFreeSpace();
    const credentials = requireCredentials(directory, layouts, readRecord(directory) !== null && !restores);
    const fleet = new Fleet(layouts, writeTokens(directory), memberFlags);
    onStarting();
    announceLauncher(directory, { basePort, members, memberFlags });
    try {
      const observed = await assemble(directory, fleet, credentials, interrupted, restoring);
      const cluster = new LocalCluster(directory, fleet, observed, endpointsOf(layouts, credentials));
      restoring?.report();
      return cluster;
    } catch (error) {
      retractLauncher(directory);
      await fleet.stop();
      if (isRefusedRestore(error)) {
        for (const path of made.filter((path) => path !== undefined)) {
          rmSync(path, { recursive: true, force: true });
        }
      }
      throw error;
    }
  }

  /** Process ids of the members, in the order of their endpoints. */
  get memberPids(): readonly number[] {
    return this.members.map(({ pid }) => pid);
  }

  /**
   * Reports each member that ends by itself. Rejects with a StartError when the only member ends; a cluster of several
   * continues, because a member may be restarted separately.
   */
  async untilFailed(onEnded: (name: string, exit: Exit) => void): Promise<never> {
    const { processes } = this.#fleet;
    return new Promise((_, reject) => {
      for (const process of processes) {
        void process.exited.then((exit) => {
          if (processes.length > 1) {
            onEnded(process.name, exit);
          } else {
            const how = describeExit(exit);
            reject(new StartError(`member ${process.name} ended (${how}):\n${process.logTail()}`));
          }
        });
      }
    });
  }

  /**
   * Stops all members. Members that were restarted separately stop when they see that the launcher is gone. Returns the
   * names of those that did not stop in time.
   */
  async stop(): Promise<readonly string[]> {
    const elsewhere = this.#fleet.processes.filter(({ exit }) => exit !== null);
    retractLauncher(this.#directory);
    await this.#fleet.stop();
    const deadlineMs = performance.now() + STOP_TIMEOUT_MS;
    for (;;) {
      const left = elsewhere.filter(({ layout }) => isRunning(layout.pidFile));
      if (left.length === 0 || performance.now() > deadlineMs) {
        return left.map(({ name }) => name);
      }
      await sleep(POLL_MS);
    }
  }
}

/**
 * Creates a directory, so that a first try needs no preparation; members themselves never create one.
 *
 * @returns the first of the directories that did not exist; undefined = it was there
 */
function makeDirectory(path: string | undefined): string | undefined {
  return path === undefined ? undefined : mkdirSync(path, { recursive: true, mode: DIRECTORY_MODE });
}

/** Whether no cluster was founded, because its backup cannot be used: then the new files are of no use. */
function isRefusedRestore(error: unknown): boolean {
  const refusal = error instanceof StartError ? error.cause : error;
  return refusal instanceof QuoinError && UNUSABLE_BACKUP_REASONS.has(refusal.reason);
}

function startedMember({ process, status }: Observed): StartedMember {
  const { name, pid, layout } = process;
  return {
    name,
    pid,
    grpc: addressOf(layout.ports.grpc),
    http: `http://${addressOf(layout.ports.http)}`,
    health: `http://${addressOf(layout.ports.health)}`,
    state: describeState(status),
    isLeader: status.role === "LEADER",
  };
}

/**
 * Raises StartError while another launcher runs the cluster of this directory. If a launcher was killed, another process
 * may have its number by now: then nothing listens on the ports of its members.
 */
async function refuseSecondLauncher(directory: string): Promise<void> {
  const launcher = readLauncher(directory);
  if (launcher === null) {
    return;
  }
  const { pid, basePort, members } = launcher;
  const ports = layoutsOf(directory, basePort, members).flatMap((layout) => Object.values(layout.ports));
  const free = await Promise.all(ports.map(isFree));
  if (free.includes(false)) {
    throw new StartError(`already running here, process ${pid}, with the data in ${directory}`);
  }
}

function endpointsOf(layouts: readonly MemberLayout[], { owner, apiKey }: OwnerCredentials): Endpoints {
  return {
    grpc: layouts.map(({ ports }) => addressOf(ports.grpc)),
    http: layouts.map(({ ports }) => `http://${addressOf(ports.http)}`),
    admin: layouts.map(({ ports }) => addressOf(ports.admin)),
    owner,
    apiKey,
  };
}

/** The port of the run before, at which its members know each other; undefined if there was none. */
function basePortBefore(directory: string): number | undefined {
  const [first] = readEndpoints(directory)?.grpc ?? [];
  return first === undefined ? undefined : Number(first.split(":").at(-1));
}

/**
 * Creates credentials once, and stores them before the cluster exists that knows their hashes. Addresses are fixed in
 * the same way: members of a larger cluster look for each other at the old ones. Raises StartError for other addresses,
 * before any process could announce its new address to the others.
 */
function requireCredentials(directory: string, layouts: readonly MemberLayout[], isFounded: boolean): OwnerCredentials {
  const known = readEndpoints(directory);
  if (known !== null) {
    refuseMove(known, layouts, isFounded);
    return known;
  }
  if (isFounded) {
    throw new StartError(
      `${directory} contains a cluster, but endpoints.json with its owner's credentials is gone. The launcher cannot ` +
        "create them again. Restore the file, or move the directory away to start with an empty cluster",
    );
  }
  const credentials = createCredentials();
  writeEndpoints(directory, endpointsOf(layouts, credentials));
  return credentials;
}

function refuseMove(known: Endpoints, layouts: readonly MemberLayout[], isFounded: boolean): void {
  const [before] = known.grpc;
  const now = layouts[0] === undefined ? undefined : addressOf(layouts[0].ports.grpc);
  if (isFounded && known.grpc.length > 1 && before !== now) {
    throw new StartError(
      `the members know each other by different ports: start the cluster with --base-port ${before?.split(":").at(-1)}`,
    );
  }
}
