/** One run of quoinctl: its surroundings, its global options, and what commands need of them. */

import { type AdminClient, type Client, createAdminClient, createClient } from "../index.ts";
import { type Connection, findConnection, findHttpConnection, type HttpConnection } from "./connection.ts";
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

  /** Tells a person something besides the result, on the standard error; programs are told nothing. */
  note(text: string): void {
    if (this.#readOptions().output === "table") this.terminal.stderr.write(`${text}\n`);
  }

  /** Prints a result in the format that was asked for. */
  print(result: Result): void {
    printResult(this.terminal, this.#readOptions().output, result);
  }
}
