/**
 * A cluster of three members on this machine, started like a user starts it: by the program behind `npm start`, which
 * writes its addresses and the owner's API key into a file. `remove` stops it and deletes its data.
 *
 * This is the only file here that knows where that program is. It knows nothing else about it but its output: that it
 * is ready, and which member has ended.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { programOf } from "../../../testing/index.ts";
import { claimedBasePort } from "../../test/harness/index.ts";
import { claimsOf, type Target, until } from "./harness/index.ts";

const LAUNCHER = fileURLToPath(new URL("../../local/main.ts", import.meta.url));
const READY = "Quoin is ready\n";
/** A row of the table of members: name and process id. */
const MEMBER = /^ {2}(\S+) +([0-9]+) +[0-9.]+:[0-9]+ /gm;
const MEMBER_ENDED = /^(\S+ ended \(.+?\))/m;
/** The launcher gives up after two minutes, and says why. */
const READY_LIMIT_MS = 180_000;
/** Number of lines that are shown from the tail of each log. */
const LOG_TAIL_LINES = 15;
/** Mails go to the logs too. They contain tokens, so they are not shown. */
const MAIL = '"mail":';
/** The shortest possible life of a token, in seconds, for one that must expire soon. */
const SHORT_LIFE = 1;

/** The file that `npm start` writes for people and programs. */
interface Endpoints {
  readonly grpc: readonly string[];
  readonly http: readonly string[];
  readonly apiKey: string;
}

/** A process of the cluster has ended unexpectedly. */
export class ClusterLostError extends Error {
  /** The last output and log lines. */
  readonly evidence: string;

  constructor(what: string, evidence: string) {
    super(`the cluster was lost: ${what}`);
    this.evidence = evidence;
  }
}

export class LocalConformanceCluster {
  /** The launcher's directory. */
  readonly directory = mkdtempSync(join(tmpdir(), "quoin-conformance-"));
  /** Rejects with a ClusterLostError when a process of the cluster ends before `remove`. */
  readonly lost: Promise<never>;
  readonly #lose: (error: ClusterLostError) => void;
  readonly #basePort: number;
  readonly #environment: Readonly<Record<string, string>>;
  #launcher: ChildProcess | null = null;
  #printed = "";

  private constructor(basePort: number, environment: Readonly<Record<string, string>>) {
    this.#basePort = basePort;
    this.#environment = environment;
    const { promise, reject } = Promise.withResolvers<never>();
    // Handles the rejection if no caller waits for it.
    promise.catch(() => undefined);
    this.lost = promise;
    this.#lose = reject;
  }

  /**
   * Starts a cluster and waits until it is ready. Rejects with the launcher's output if the launcher ends before.
   *
   * @param environment variables for its processes, in addition to those of this process
   */
  static async start(environment: Readonly<Record<string, string>> = {}): Promise<LocalConformanceCluster> {
    const cluster = new LocalConformanceCluster(await claimedBasePort(), environment);
    try {
      await cluster.#launch();
      return cluster;
    } catch (error) {
      await cluster.remove();
      throw error;
    }
  }

  /** Addresses and logs of the members, a new token of the owner, and an expired one. */
  async target(): Promise<Target> {
    const expired = await this.#exchange({ expires_in_secs: SHORT_LIFE });
    const { exp } = claimsOf(expired);
    await until("the token to expire", () => Date.now() >= exp * 1000);
    const token = await this.#exchange({});
    const { grpc, http } = this.#endpoints;
    const httpEndpoints = http.map((url) => new URL(url).host);
    return { endpoints: grpc, httpEndpoints, token, otherTokens: [expired], mailLogs: this.#logs, mayCompact: true };
  }

  /** The API key of the owner. */
  get apiKey(): string {
    return this.#endpoints.apiKey;
  }

  /** Process id of the launcher. */
  get launcherPid(): number {
    return this.#launcher?.pid ?? 0;
  }

  /** Process ids of the members, by name. */
  get memberPids(): ReadonlyMap<string, number> {
    return new Map([...this.#printed.matchAll(MEMBER)].map(([, name = "", pid]) => [name, Number(pid)]));
  }

  async remove(): Promise<void> {
    await this.#stop();
    // Members end by themselves when their launcher is gone.
    await until("the end of the members", () => [...this.memberPids.values()].every((pid) => !exists(pid)));
    rmSync(this.directory, { recursive: true, force: true });
  }

  /** The launcher's output, and the tails of the members' logs. */
  get #evidence(): string {
    const tailOf = (text: string): string => {
      const lines = text.trimEnd().split("\n");
      return lines
        .filter((line) => !line.includes(MAIL))
        .slice(-LOG_TAIL_LINES)
        .join("\n");
    };
    const sources = [
      ["the launcher", this.#printed.slice(this.#printed.indexOf(READY) + READY.length)],
      ...this.#logs.map((file) => [file, readFileSync(file, "utf8")]),
    ] as const;
    return sources.map(([name, text]) => `--- ${name}\n${tailOf(text)}`).join("\n");
  }

  get #logs(): readonly string[] {
    const names = readdirSync(this.directory).filter((name) => name.endsWith(".log"));
    return names.sort().map((name) => join(this.directory, name));
  }

  get #endpoints(): Endpoints {
    return JSON.parse(readFileSync(join(this.directory, "endpoints.json"), "utf8"));
  }

  async #launch(): Promise<void> {
    const args = ["--data-dir", this.directory, "--base-port", String(this.#basePort)];
    const env = { ...process.env, ...this.#environment };
    const launcher = spawn(process.execPath, [programOf(LAUNCHER), ...args], {
      stdio: ["ignore", "pipe", "pipe"],
      env,
    });
    this.#launcher = launcher;
    // Stops the launcher whenever this process exits.
    process.once("exit", () => launcher.kill("SIGTERM"));
    for (const output of [launcher.stdout, launcher.stderr]) {
      output.setEncoding("utf8").on("data", (text: string) => this.#take(text));
    }
    const isReady = (): boolean => {
      if (hasEnded(launcher)) {
        throw new Error(`the cluster did not start:\n${this.#printed}`);
      }
      return this.#printed.includes(READY);
    };
    await until("the cluster to be ready", isReady, READY_LIMIT_MS);
    // "close" comes after all output.
    launcher.once("close", (code, signal) => {
      if (this.#launcher !== null) {
        this.#loseBecause(`the launcher ended (${signal ?? `exit code ${code}`})`);
      }
    });
  }

  #take(text: string): void {
    this.#printed += text;
    const ended = MEMBER_ENDED.exec(this.#printed)?.[1];
    if (ended !== undefined && this.#launcher !== null) {
      this.#loseBecause(ended);
    }
  }

  #loseBecause(what: string): void {
    this.#lose(new ClusterLostError(what, this.#evidence));
  }

  async #stop(): Promise<void> {
    const launcher = this.#launcher;
    this.#launcher = null;
    if (launcher !== null && !hasEnded(launcher)) {
      launcher.kill("SIGTERM");
      await once(launcher, "exit");
    }
  }

  async #exchange(wishes: object): Promise<string> {
    const { http, apiKey } = this.#endpoints;
    const response = await fetch(`${http[0]}/auth/token`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ api_key: apiKey, ...wishes }),
    });
    const { access_token: token } = (await response.json()) as { access_token: string };
    return token;
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ESRCH") {
      return false;
    }
    throw error;
  }
}
