/**
 * A cluster of three members on this machine, started as a user starts it: by the program behind `npm start`, which
 * writes its addresses and the owner's API key into a file. It is gone, with its data, when it was removed.
 *
 * This is the one file here that knows where that program is. It knows nothing else of what it starts.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freeBasePort } from "../local/index.ts";
import { claimsOf, type Target, until } from "./harness/index.ts";

const LAUNCHER = fileURLToPath(new URL("../local/main.ts", import.meta.url));
const READY = "Quoin is ready\n";
/** The launcher gives up after two minutes, and says why. */
const READY_LIMIT_MS = 180_000;
/** In seconds; the shortest that there is, for a token that is to expire soon. */
const SHORT_LIFE = 1;

/** What `npm start` writes down for people and programs. */
interface Endpoints {
  readonly grpc: readonly string[];
  readonly http: readonly string[];
  readonly apiKey: string;
}

export class LocalConformanceCluster {
  /** Where the launcher keeps everything. */
  readonly directory = mkdtempSync(join(tmpdir(), "quoin-conformance-"));
  readonly #basePort: number;
  #launcher: ChildProcess | null = null;

  private constructor(basePort: number) {
    this.#basePort = basePort;
  }

  /** A cluster that is ready. Rejects with what the launcher printed if it ends before. */
  static async start(): Promise<LocalConformanceCluster> {
    const cluster = new LocalConformanceCluster(await freeBasePort());
    try {
      await cluster.#launch();
      return cluster;
    } catch (error) {
      await cluster.remove();
      throw error;
    }
  }

  /** Where the members are and what they log, a new token of the owner, and one that has expired. */
  async target(): Promise<Target> {
    const expired = await this.#exchange({ expires_in_secs: SHORT_LIFE });
    const { exp } = claimsOf(expired);
    await until("the token to expire", () => Date.now() >= exp * 1000);
    const token = await this.#exchange({});
    const { grpc, http } = this.#endpoints;
    const httpEndpoints = http.map((url) => new URL(url).host);
    const logs = readdirSync(this.directory).filter((name) => name.endsWith(".log"));
    const mailLogs = logs.map((name) => join(this.directory, name));
    return { endpoints: grpc, httpEndpoints, token, otherTokens: [expired], mailLogs, mayCompact: true };
  }

  async remove(): Promise<void> {
    await this.#stop();
    rmSync(this.directory, { recursive: true, force: true });
  }

  get #endpoints(): Endpoints {
    return JSON.parse(readFileSync(join(this.directory, "endpoints.json"), "utf8"));
  }

  async #launch(): Promise<void> {
    const args = ["--data-dir", this.directory, "--base-port", String(this.#basePort)];
    const launcher = spawn(process.execPath, [LAUNCHER, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    this.#launcher = launcher;
    // However this process ends.
    process.once("exit", () => launcher.kill("SIGTERM"));
    let printed = "";
    for (const output of [launcher.stdout, launcher.stderr]) {
      output.setEncoding("utf8").on("data", (text: string) => {
        printed += text;
      });
    }
    const isReady = (): boolean => {
      if (hasEnded(launcher)) {
        throw new Error(`the cluster did not start:\n${printed}`);
      }
      return printed.includes(READY);
    };
    await until("the cluster to be ready", isReady, READY_LIMIT_MS);
  }

  async #stop(): Promise<void> {
    const launcher = this.#launcher;
    if (launcher !== null && !hasEnded(launcher)) {
      launcher.kill("SIGTERM");
      await once(launcher, "exit");
    }
    this.#launcher = null;
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
