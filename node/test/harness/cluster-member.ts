/** One member of a ClusterUnderTest: its process, its data directory, and the ports that it keeps. */

import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type AdminClient, createAdminClient, type MemberStatus, QuoinError, type StatusResult } from "@quoin/client";
import type { MemberPorts } from "../../local/index.ts";
import { MEMBER_PROGRAM } from "./member-process.ts";
import { type Ended, TestProcess } from "./process.ts";
import { until } from "./until.ts";

/** Where a member runs. By default on this machine's loopback, like all members. */
export interface MemberPlacement {
  /** Address at which it listens and is dialed. */
  readonly host?: string;
  /** A command that starts the program there, see ProcessOptions. */
  readonly through?: readonly string[];
  /** The parent of the data directory, instead of that of the cluster. */
  readonly directory?: string;
  /** Gets a copy of its processes' output. */
  readonly logFile?: string;
  /** Added to the environment. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Additional flags. */
  readonly flags?: readonly string[];
  /** TLS files for the peer port; without them, peers connect in plain TCP. */
  readonly peerTls?: PeerTlsFiles;
}

/** Paths of PEM files, and the pattern of names of members whose address is not known yet. */
export interface PeerTlsFiles {
  readonly certificate: string;
  readonly key: string;
  readonly authorities: string;
  readonly joinName: string;
}

export interface ClusterMemberOptions {
  readonly name: string;
  /** The parent of the data directory. */
  readonly directory: string;
  readonly placement?: MemberPlacement;
  readonly ports: MemberPorts;
  readonly adminToken: string;
  readonly adminTokenFile: string;
  readonly joinTokenFile: string;
  /** Peer endpoints of the other members, called at each start. */
  readonly seeds: () => readonly string[];
}

/** How a process of a member has ended. */
export interface ProcessEnd extends Ended {
  readonly pid: number;
  /** Whether this test killed it; otherwise it ended by itself or by another cause. */
  readonly isKilled: boolean;
  /** Time of `performance.now()`. */
  readonly atMs: number;
  /** Its output. */
  readonly output: string;
}

const LOOPBACK = "127.0.0.1";
const LOG_TAIL_LINES = 30;
const STATUS_TIMEOUT_MS = 3_000;

export class ClusterMember {
  readonly name: string;
  #host: string;
  #ports: MemberPorts;
  #admin: AdminClient;
  /** The ends of its processes so far, in order. */
  readonly ends: ProcessEnd[] = [];
  readonly #options: ClusterMemberOptions;
  #process: TestProcess | null = null;
  #isPaused = false;
  #isKilled = false;
  /** The last log lines of its earlier processes. */
  #earlier = "";

  constructor(options: ClusterMemberOptions) {
    this.#options = options;
    this.name = options.name;
    this.#host = options.placement?.host ?? LOOPBACK;
    this.#ports = options.ports;
    this.#admin = this.#connect();
  }

  /** Address at which it listens. */
  get host(): string {
    return this.#host;
  }

  get ports(): MemberPorts {
    return this.#ports;
  }

  get admin(): AdminClient {
    return this.#admin;
  }

  get dataDirectory(): string {
    return join(this.#options.placement?.directory ?? this.#options.directory, this.name);
  }

  get grpc(): string {
    return `${this.host}:${this.ports.grpc}`;
  }

  get peer(): string {
    return `${this.host}:${this.ports.peer}`;
  }

  /** Whether its process runs or is stopped by a signal. */
  get isAlive(): boolean {
    return this.#process !== null && !this.#process.hasEnded;
  }

  get pid(): number {
    return this.#running.pid;
  }

  /** The end of the present process. */
  get ended(): Promise<Ended> {
    return this.#running.ended;
  }

  /** Starts a process on the data directory as it is, without waiting. */
  start(): void {
    if (this.isAlive) {
      throw new Error(`${this.name} runs already`);
    }
    this.#earlier = this.logTail();
    const { adminTokenFile, joinTokenFile, seeds } = this.#options;
    const at = (port: number): string => `${this.host}:${port}`;
    const { grpc, http, peer, admin, health } = this.ports;
    const args = [
      ...["--name", this.name, "--cluster-name", "under-test", "--data-dir", this.dataDirectory],
      ...["--grpc", at(grpc), "--http", at(http), "--peer", at(peer), "--admin", at(admin), "--health", at(health)],
      ...["--advertise-grpc", at(grpc), "--advertise-http", at(http), "--advertise-peer", at(peer)],
      ...["--admin-token-file", adminTokenFile, "--join-token-file", joinTokenFile, "--no-disk-reserve"],
      // All clients of a test are one user.
      ...["--rate-limit", "grpc=0", "--rate-limit", "http=0"],
      ...seeds().flatMap((seed) => ["--seed", seed]),
    ];
    const { through = [], logFile, environment = {}, flags = [], peerTls } = this.#options.placement ?? {};
    args.push(...flags);
    if (peerTls !== undefined) {
      const { certificate, key, authorities, joinName } = peerTls;
      args.push("--peer-cert", certificate, "--peer-key", key, "--peer-ca", authorities, "--peer-join-name", joinName);
    }
    this.#process = new TestProcess(MEMBER_PROGRAM, args, {
      env: { ...process.env, ...environment },
      through,
      ...(logFile === undefined ? {} : { logFile }),
    });
    this.#isPaused = false;
    this.#isKilled = false;
    this.#noteEnd(this.#process);
  }

  /** Lets a stopped member listen elsewhere from its next start on. */
  moveTo(host: string, ports: MemberPorts): void {
    if (this.isAlive) {
      throw new Error(`${this.name} runs: its address stays`);
    }
    this.#host = host;
    this.#ports = ports;
    this.#admin.close();
    this.#admin = this.#connect();
  }

  /** Ends the process at once, as a crash would. */
  async kill(): Promise<void> {
    this.#isKilled ||= this.isAlive;
    await this.#process?.dispose();
  }

  /** Sends the process a signal to end in order, and waits for the end. */
  async stop(): Promise<Ended> {
    this.#running.signal("SIGTERM");
    return this.#running.ended;
  }

  /** Pauses the process by a signal, with all its connections open. */
  pause(): void {
    this.#running.signal("SIGSTOP");
    this.#isPaused = true;
  }

  /** Lets a paused process go on. */
  resume(): void {
    this.#running.signal("SIGCONT");
    this.#isPaused = false;
  }

  /** Kills the process if it runs, and starts another one. */
  async restart(): Promise<void> {
    await this.kill();
    this.start();
  }

  /** Removes all data of a stopped member. */
  wipe(): void {
    if (this.isAlive) {
      throw new Error(`${this.name} runs: its data is not removed`);
    }
    rmSync(this.dataDirectory, { recursive: true, force: true });
  }

  /** The member's status of itself; null if it does not answer. */
  async status(): Promise<MemberStatus | null> {
    return (await this.report())?.status ?? null;
  }

  /** The member's status of itself and the cluster; null if it does not answer. */
  async report(): Promise<StatusResult | null> {
    if (!this.isAlive || this.#isPaused) {
      return null;
    }
    const asked = this.#admin;
    try {
      return await asked.getStatus({ timeoutMs: STATUS_TIMEOUT_MS });
    } catch (error) {
      const isSilence =
        error instanceof QuoinError && (error.code === "UNAVAILABLE" || error.code === "DEADLINE_EXCEEDED");
      // The connection is closed when the process ends or moves, even while a call waits.
      if (isSilence || !this.isAlive || this.#admin !== asked) {
        return null;
      }
      throw error;
    }
  }

  /** Waits until the member is in a state, and returns its status. Rejects if its process ends first. */
  async untilState(state: string, limitMs?: number): Promise<MemberStatus> {
    return until(
      `${this.name} to be ${state}`,
      async () => {
        this.#requireAlive();
        const status = await this.status();
        return status?.state === state ? status : null;
      },
      limitMs,
    );
  }

  /** Whether the member reports that it can serve clients. */
  async isReady(): Promise<boolean> {
    if (!this.isAlive || this.#isPaused) {
      return false;
    }
    try {
      return (await fetch(`http://${this.host}:${this.ports.health}/readyz`)).ok;
    } catch (error) {
      if (error instanceof TypeError) {
        // The port does not listen yet.
        return false;
      }
      throw error;
    }
  }

  /**
   * Waits until the member can serve clients, and `status` gets an answer: after refused connections, the channel waits
   * before it connects again. Rejects if its process ends first.
   */
  async untilReady(): Promise<void> {
    await until(`${this.name} to be ready`, async () => {
      this.#requireAlive();
      return (await this.isReady()) && (await this.status()) !== null;
    });
  }

  /** Memory of the process that is not shared or swapped out, in bytes; as Linux counts it. */
  rssBytes(): number {
    const line = /^VmRSS:\s+([0-9]+) kB$/m.exec(readFileSync(`/proc/${this.pid}/status`, "utf8"));
    return Number(line?.[1] ?? 0) * 1024;
  }

  /** The last lines of the member's processes. */
  logTail(): string {
    if (this.#process === null) {
      return this.#earlier;
    }
    const { stdout, stderr } = this.#process;
    const lines = `${stdout}${stderr}`.trimEnd().split("\n");
    return `${this.#earlier}\n${lines.slice(-LOG_TAIL_LINES).join("\n")}`.trimStart();
  }

  /** The log of the present process, line by line. Throws an error if a line is not JSON. */
  get logLines(): Record<string, unknown>[] {
    const { stdout } = this.#running;
    return stdout
      .slice(0, stdout.lastIndexOf("\n") + 1)
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
  }

  /** The output of the present process. */
  get output(): string {
    return this.#process === null ? "" : `${this.#process.stdout}${this.#process.stderr}`;
  }

  /** Ends the process, whatever state it is in, and closes the connection to it. */
  async dispose(): Promise<void> {
    if (this.isAlive && this.#isPaused) {
      this.resume();
    }
    await this.kill();
    this.#admin.close();
  }

  #noteEnd(running: TestProcess): void {
    void running.ended.then((end) => {
      const output = `${running.stdout}${running.stderr}`;
      this.ends.push({ ...end, pid: running.pid, isKilled: this.#isKilled, atMs: performance.now(), output });
    });
  }

  #connect(): AdminClient {
    const endpoint = `${this.#host}:${this.#ports.admin}`;
    return createAdminClient({ endpoint, credentials: { token: this.#options.adminToken } });
  }

  #requireAlive(): void {
    if (!this.isAlive) {
      throw new Error(`the process of ${this.name} has ended:\n${this.logTail()}`);
    }
  }

  get #running(): TestProcess {
    if (this.#process === null) {
      throw new Error(`${this.name} was not started`);
    }
    return this.#process;
  }
}
