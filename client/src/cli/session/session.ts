/** One run of quoinctl: its surroundings, its global options, and shared functions of commands. */

import type { AdminClient, Client, QuoinError } from "../../index.ts";
import type { AdminConnection, ClusterPlace, Connection, ConnectionOptions } from "../connection/index.ts";
import { type Endpoints, EXIT_CODES } from "../errors/index.ts";
import { type OutputFormat, printResult, type Result } from "../output/index.ts";
import type { Terminal } from "../terminal/index.ts";
import { escapeControls } from "../text/index.ts";
import type { GlobalOptions } from "./global-options.ts";

/** One run of quoinctl. */
export class Session {
  readonly terminal: Terminal;
  /** The arguments of quoinctl, as given. */
  readonly parameters: readonly string[];
  /** Exit code of a command without an error; for `lock run` and others, that of the program that it ran. */
  exitCode: number = EXIT_CODES.done;
  /** The endpoints that were found last; none before. */
  endpoints: Endpoints = { endpoints: [] };
  readonly #readOptions: () => GlobalOptions;

  /** @param readOptions returns the global options; called after the command line was parsed. */
  constructor(terminal: Terminal, parameters: readonly string[], readOptions: () => GlobalOptions) {
    this.terminal = terminal;
    this.parameters = parameters;
    this.#readOptions = readOptions;
  }

  /** Deadline of each operation, in milliseconds; undefined = that of the SDK. */
  get timeoutMs(): number | undefined {
    return this.#readOptions().timeout;
  }

  /** The options that select the cluster, as given. */
  get connectionOptions(): ConnectionOptions {
    return this.#readOptions();
  }

  /** The output format of results. */
  get outputFormat(): OutputFormat {
    return this.#readOptions().output;
  }

  /** Finds the cluster; raises UsageError if there is none. */
  async findConnection(options: Pick<ConnectionOptions, "context"> = {}): Promise<Connection> {
    const { findConnection } = await import("../connection/index.ts");
    return this.#noted(await findConnection(this.terminal, { ...this.#readOptions(), ...options }));
  }

  /**
   * Finds the cluster, for work without credentials; raises UsageError if there is none.
   *
   * @param mayLackContext whether the selected context need not exist.
   */
  async findPlace({ mayLackContext }: { readonly mayLackContext: boolean }): Promise<ClusterPlace> {
    const { findPlace } = await import("../connection/index.ts");
    return this.#noted(await findPlace(this.terminal, { ...this.#readOptions(), mayLackContext }));
  }

  /** Finds the admin ports; raises UsageError if there are none, or if there is no admin token. */
  async findAdminConnection(): Promise<AdminConnection> {
    const { findAdminConnection } = await import("../connection/index.ts");
    return this.#noted(await findAdminConnection(this.terminal, this.#readOptions()));
  }

  #noted<Found extends Endpoints>(found: Found): Found {
    this.endpoints = found;
    return found;
  }

  /**
   * Runs work with a client, and closes it.
   *
   * @param options the context instead of that of the command line.
   */
  async withClient<Value>(
    work: (client: Client) => Promise<Value>,
    options: Pick<ConnectionOptions, "context"> = {},
  ): Promise<Value> {
    const [{ createClient }, connection] = await Promise.all([import("../../index.ts"), this.findConnection(options)]);
    const client = createClient({ ...connection, timeoutMs: this.timeoutMs });
    try {
      return await work(client);
    } finally {
      client.close();
    }
  }

  /** Runs work with a client for the administration of the cluster, and closes it. */
  async withAdmin<Value>(work: (admin: AdminClient) => Promise<Value>): Promise<Value> {
    const [{ createAdminClient }, connection] = await Promise.all([import("../../index.ts"), this.findConnection()]);
    const { endpoints, credentials, tls } = connection;
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
    const { createAdminClient, QuoinError } = await import("../../index.ts");
    const { endpoints, credentials, tls } = await this.findAdminConnection();
    const failures: QuoinError[] = [];
    for (const endpoint of endpoints) {
      const admin = createAdminClient({ endpoint, credentials, tls, timeoutMs: this.timeoutMs });
      try {
        return await work(admin, endpoint);
      } catch (error) {
        if (!(error instanceof QuoinError) || error.code !== "UNAVAILABLE") {
          throw error;
        }
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
    if (this.#readOptions().output === "table") {
      this.terminal.stderr.write(`${text}\n`);
    }
  }

  /** Prints a result in the requested format. */
  async print(result: Result): Promise<void> {
    await printResult(this.terminal, this.#readOptions().output, result);
  }
}
