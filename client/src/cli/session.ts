/** One run of quoinctl: its surroundings, its global options, and what commands need of them. */

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

/** The options that every command has. */
export interface GlobalOptions extends ConnectionOptions {
  readonly output: OutputFormat;
  /** Deadline of each operation, in milliseconds; that of the SDK by default. */
  readonly timeout?: number | undefined;
}

/** One run of quoinctl. */
export class Session {
  readonly terminal: Terminal;
  /** Exit code of a command that raises nothing; that of a program which it ran. */
  exitCode: number = exitCodes.done;
  readonly #readOptions: () => GlobalOptions;

  /** @param readOptions the global options; called when the command line has been read. */
  constructor(terminal: Terminal, readOptions: () => GlobalOptions) {
    this.terminal = terminal;
    this.#readOptions = readOptions;
  }

  /** Deadline of each operation, in milliseconds; undefined = that of the SDK. */
  get timeoutMs(): number | undefined {
    return this.#readOptions().timeout;
  }

  /** How results are to be printed. */
  get outputFormat(): OutputFormat {
    return this.#readOptions().output;
  }

  /** Finds the cluster; raises UsageError when there is none. */
  async findConnection(): Promise<Connection> {
    return findConnection(this.terminal, this.#readOptions());
  }

  /** Finds the HTTP interface of the cluster, for what needs no credentials; raises UsageError when there is none. */
  async findHttpConnection(): Promise<HttpConnection> {
    return findHttpConnection(this.terminal, this.#readOptions());
  }

  /** Finds the ports for administration; raises UsageError when there are none, or there is no admin token. */
  async findAdminConnection(): Promise<AdminConnection> {
    return findAdminConnection(this.terminal, this.#readOptions());
  }

  /** Does work with a client, and closes it. */
  async withClient<Value>(work: (client: Client) => Promise<Value>): Promise<Value> {
    const client = createClient({ ...(await this.findConnection()), timeoutMs: this.timeoutMs });
    try {
      return await work(client);
    } finally {
      client.close();
    }
  }

  /** Does work with a client of the administration of the cluster, and closes it. */
  async withAdmin<Value>(work: (admin: AdminClient) => Promise<Value>): Promise<Value> {
    const admin = createAdminClient({ ...(await this.findConnection()), timeoutMs: this.timeoutMs });
    try {
      return await work(admin);
    } finally {
      admin.close();
    }
  }

  /**
   * Does work at a port for administration, at one member after the other until one of them can do it. Only for work that may be
   * repeated.
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

  /** Warns a person, on the standard error, whatever the format of results is. */
  warn(text: string): void {
    this.terminal.stderr.write(`warning: ${escapeControls(text)}\n`);
  }

  /** Tells a person something besides the result, on the standard error; programs are told nothing. */
  note(text: string): void {
    if (this.#readOptions().output === "table") this.terminal.stderr.write(`${text}\n`);
  }

  /** Prints a result in the format that was asked for. */
  print(result: Result): void {
    printResult(this.terminal, this.#readOptions().output, result);
  }
}
