/** A member in a process of its own, on ports that it chose, founded and ready for clients. */

import { randomBytes, randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createAdminClient, exchangeApiKey, type TlsOptions } from "@quoin/client";
import { generateApiKey } from "../../src/access/index.ts";
import { type ProcessOptions, TestProcess } from "./process.ts";
import { until } from "./until.ts";

/** The program of a member. */
export const MEMBER_PROGRAM = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

/** Where the running process listens, as host:port. */
export interface Listening {
  readonly grpc: string;
  readonly http: string;
  readonly admin: string;
  readonly health: string;
}

export interface MemberUnderTestOptions {
  /** More flags of the member. */
  readonly flags?: readonly string[];
  /** TLS options of clients, if the member's flags enable TLS. */
  readonly tls?: TlsOptions;
  /** A command that replaces itself with the member, such as `prlimit --nofile=256`. */
  readonly through?: readonly string[];
  /** Added to the environment of the member. */
  readonly environment?: Readonly<Record<string, string>>;
}

export class MemberUnderTest {
  readonly #directory: string;
  readonly #flags: readonly string[];
  readonly #tls: TlsOptions | undefined;
  readonly #through: readonly string[];
  readonly #environment: Readonly<Record<string, string>>;
  readonly adminToken = randomBytes(16).toString("hex");
  readonly #apiKey = generateApiKey();
  readonly #clusterId = randomUUID();
  #process: TestProcess | null = null;

  /** The directory contains the member's data directory and related files. */
  constructor(directory: string, { flags = [], tls, through = [], environment = {} }: MemberUnderTestOptions = {}) {
    this.#through = through;
    this.#environment = environment;
    this.#directory = directory;
    this.#flags = flags;
    this.#tls = tls;
    mkdirSync(directory, { recursive: true });
    writeFileSync(this.adminTokenFile, `${this.adminToken}\n`, { mode: 0o600 });
  }

  get dataDirectory(): string {
    return join(this.#directory, "data");
  }

  /** The running process. */
  get process(): TestProcess {
    if (this.#process === null) {
      throw new Error("the member was not started");
    }
    return this.#process;
  }

  /**
   * Lets a process that ends in order keep its compiled code, so that later starts, which are killed, take less time.
   */
  async compile(): Promise<void> {
    this.#process = new TestProcess(MEMBER_PROGRAM, ["--version"], this.#processOptions);
    await this.#process.ended;
  }

  /** Starts the process, without waiting for anything. */
  spawn(): void {
    const any = "127.0.0.1:0";
    const args = [
      ...[
        "--name",
        "q-0",
        "--data-dir",
        this.dataDirectory,
        "--admin-token-file",
        this.adminTokenFile,
        "--no-disk-reserve",
      ],
      ...["--grpc", any, "--http", any, "--admin", any, "--health", any],
      // All clients of a test are one user.
      ...["--rate-limit", "grpc=0", "--rate-limit", "http=0"],
      ...this.#flags,
    ];
    this.#process = new TestProcess(MEMBER_PROGRAM, args, this.#processOptions);
  }

  /** Starts the process, founds the cluster if it is new, and returns its addresses once it is ready. */
  async start(): Promise<Listening> {
    this.spawn();
    const listening = await this.untilListening();
    const admin = createAdminClient({
      endpoint: listening.admin,
      credentials: { token: this.adminToken },
      tls: this.#tls,
    });
    try {
      const { status } = await admin.getStatus({ timeoutMs: 30_000 });
      if (status.state === "EMPTY") {
        const owner = { email: "owner@quoin.test", password: "a long password", apiKey: this.#apiKey };
        const { incarnation } = status;
        await admin.bootstrap({ clusterId: this.#clusterId, incarnation, owner, timeoutMs: 30_000 });
      } else if (status.state !== "RUNNING") {
        throw new Error(`the member is ${status.state}: ${status.alarms.join("; ")}`);
      }
    } finally {
      admin.close();
    }
    await until("the member to be ready", async () => (await fetch(`http://${listening.health}/readyz`)).ok);
    return listening;
  }

  /** Waits for the line in which the process prints its addresses. */
  async untilListening(): Promise<Listening> {
    await this.process.untilPrinted('"msg":"listening"');
    const line = this.process.stdout.split("\n").find((text) => text.includes('"msg":"listening"')) ?? "";
    return JSON.parse(line);
  }

  /** An access token of the owner. */
  async token(listening: Listening): Promise<string> {
    const { accessToken } = await exchangeApiKey({
      apiKey: this.#apiKey,
      endpoints: [listening.grpc],
      tls: this.#tls,
    });
    return accessToken;
  }

  /** Ends the process at once, as a crash would. */
  async kill(): Promise<void> {
    await this.#process?.dispose();
  }

  get #processOptions(): ProcessOptions {
    const compiled = { NODE_COMPILE_CACHE: join(this.#directory, "compiled") };
    return { through: this.#through, env: { ...compiled, ...process.env, ...this.#environment } };
  }

  get adminTokenFile(): string {
    return join(this.#directory, "admin-token");
  }
}
