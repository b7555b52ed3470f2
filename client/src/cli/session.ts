/** One run of quoinctl: its surroundings, its global options, and shared functions of commands. */

import { type AdminClient, type Client, createAdminClient, createClient, QuoinError } from "../index.ts";
import {
  type AdminConnection,
  type Connection,
  findAdminConnection,
  findConnection,
  findHttpConnection,
  type HttpConnection,
} from "./connection.ts";
import { escapeControls } from "./displayed-text.ts";
import { exitCodes } from "./exit-code.ts";
import type { ConnectionOptions } from "./option-source.ts";
import { type OutputFormat, printResult, type Result } from "./output.ts";
import type { Terminal } from "./terminal.ts";

/** The options of every command. */
export interface GlobalOptions extends ConnectionOptions {
  readonly output: OutputFormat;
  /** Deadline of each operation, in milliseconds; default: that of the SDK. */
  readonly timeout?: number | undefined;
}

/** One run of quoinctl. */
export class Session {
  readonly terminal: Terminal;
  /** Exit code of a command without an error; for `lock run`, that of the program that it ran. */
  exitCode: number = exitCodes.done;
  readonly #readOptions: () => GlobalOptions;

  /** @param readOptions returns the global options; called after the command line was parsed. */
  constructor(terminal: Terminal, readOptions: () => GlobalOptions) {
    this.terminal = terminal;
    this.#readOptions = readOptions;
  }

  /** Deadline of each operation, in milliseconds; undefined = that of the SDK. */
  get timeoutMs(): number | undefined {
    return this.#readOptions().timeout;
  }

  /** The output format of results. */
  get outputFormat(): OutputFormat {
    return this.#readOptions().output;
  }

  /** Finds the cluster; raises UsageError if there is none. */
  async findConnection(): Promise<Connection> {
    return findConnection(this.terminal, this.#readOptions());
  }

  /** Finds the HTTP interface of the cluster, for work without credentials; raises UsageError if there is none. */
  async findHttpConnection(): Promise<HttpConnection> {
    return findHttpConnection(this.terminal, this.#readOptions());
  }

  /** Finds the admin ports; raises UsageError if there are none, or if there is no admin token. */
  async findAdminConnection(): Promise<AdminConnection> {
    return findAdminConnection(this.terminal, this.#readOptions());
  }

  /** Runs work with a client, and closes it. */
  async withClient<Value>(work: (client: Client) => Promise<Value>): Promise<Value> {
    const client = createClient({ ...(await this.findConnection()), timeoutMs: this.timeoutMs });
    try {
      return await work(client);
    } finally {
      client.close();
    }
  }

  /** Runs work with a client for the administration of the cluster, and closes it. */
  async withAdmin<Value>(work: (admin: AdminClient) => Promise<Value>): Promise<Value> {
    const { endpoints, credentials, tls } = await this.findConnection();
    const admin = createAdminClient({ endpoints, credentials, tls, timeoutMs: this.timeoutMs });
    try {
      return await work(admin);
    } finally {
      admin.close();
    }
  }

  /**
   * Runs work on an admin port, on one member after the other until it succeeds. Only for work that may be repeated.
   */
  async withAdminPort<Value>(work: (admin: AdminClient, endpoint: string) => Promise<Value>): Promise<Value> {
    const { endpoints, credentials, tls } = await this.findAdminConnection();
    const failures: QuoinError[] = [];
    for (const endpoint of endpoints) {
      const admin = createAdminClient({ endpoint, credentials, tls, timeoutMs: this.timeoutMs });
      try {
        return await work(admin, endpoint);
      } catch (error) {
        if (!(error instanceof QuoinError) || error.code !== "UNAVAILABLE") throw error;
        failures.push(error);
      } finally {
        admin.close();
      }
    }
    throw failures[0]!;
  }

  /** Prints a warning on the standard error, in every output format. */
  warn(text: string): void {
    this.terminal.stderr.write(`warning: ${escapeControls(text)}\n`);
  }

  /** Prints a note for people on the standard error; not printed in formats for programs. */
  note(text: string): void {
    if (this.#readOptions().output === "table") this.terminal.stderr.write(`${text}\n`);
  }

  /** Prints a result in the requested format. */
  print(result: Result): void {
    printResult(this.terminal, this.#readOptions().output, result);
  }
}
