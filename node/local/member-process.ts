/** One member as a separate process, with its log in a file, and a client of its admin port. */

import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type AdminClient, createAdminClient, QuoinError, type StatusResult } from "@quoin/client";
import { readToken, type TokenFiles } from "./cluster-files.ts";
import { memberEnvironment, NODE_FLAGS } from "./member-environment.ts";
import type { MemberLayout } from "./member-layout.ts";
import { addressOf } from "./ports.ts";

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const MAIN = fileURLToPath(new URL("../src/main.ts", import.meta.url));
const LOG_FILE_MODE = 0o600;
const LOG_TAIL_LINES = 5;
/** A member finishes running calls for ten seconds, after a transfer of the leadership. Then the launcher ends it. */
export const STOP_TIMEOUT_MS = 20_000;

export class MemberProcess {
  readonly layout: MemberLayout;
  /** Administers the cluster through this member. */
  readonly admin: AdminClient;
  /** Fulfilled when the process has ended. */
  readonly exited: Promise<Exit>;
  readonly #child: ChildProcess;
  #exit: Exit | null = null;

  /** Starts the process. `others` are members that may know the cluster, `flags` more flags of the member. */
  constructor(
    layout: MemberLayout,
    others: readonly MemberLayout[],
    tokens: TokenFiles,
    flags: readonly string[] = [],
  ) {
    this.layout = layout;
    const log = openSync(layout.logFile, "a", LOG_FILE_MODE);
    this.#child = spawn(
      process.execPath,
      [...NODE_FLAGS, MAIN, ...flagsOf(layout, others, tokens), ...flags],
      // In a separate process group, Ctrl-C reaches only the launcher, which then stops the member in order. Its
      // standard input is a pipe from here, so it also ends if the launcher is killed.
      { stdio: ["pipe", log, log], detached: true, env: memberEnvironment() },
    );
    closeSync(log);
    this.exited = new Promise((resolve) => {
      const end = (exit: Exit): void => {
        this.#exit = exit;
        resolve(exit);
      };
      this.#child.once("exit", (code, signal) => end({ code, signal }));
      this.#child.once("error", () => end({ code: null, signal: null }));
    });
    this.admin = createAdminClient({
      endpoint: addressOf(layout.ports.admin),
      credentials: { token: readToken(tokens.admin) },
    });
  }

  get name(): string {
    return this.layout.name;
  }

  /** 0 if the process could not be started. */
  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Null while it runs. */
  get exit(): Exit | null {
    return this.#exit;
  }

  /** The status that the member reports; null if it does not answer. */
  async status(): Promise<StatusResult | null> {
    try {
      return await this.admin.getStatus();
    } catch (error) {
      if (isUnanswered(error)) {
        return null;
      }
      throw error;
    }
  }

  /** Whether it serves clients. */
  async isReady(): Promise<boolean> {
    try {
      return (await fetch(`http://${addressOf(this.layout.ports.health)}/readyz`)).ok;
    } catch (error) {
      if (error instanceof TypeError) {
        // Nothing listens there yet, or any more.
        return false;
      }
      throw error;
    }
  }

  /** Asks the process to finish its work and end, and kills it if that takes too long. Returns when it has ended. */
  async stop(): Promise<void> {
    this.#child.kill("SIGTERM");
    const gaveUp = new AbortController();
    const late = sleep(STOP_TIMEOUT_MS, "late", { signal: gaveUp.signal }).catch(() => "cancelled");
    const first = await Promise.race([this.exited, late]);
    gaveUp.abort();
    if (first === "late") {
      this.#child.kill("SIGKILL");
      await this.exited;
    }
    this.admin.close();
  }

  /** The last lines that the process logged. */
  logTail(): string {
    return readFileSync(this.layout.logFile, "utf8").trimEnd().split("\n").slice(-LOG_TAIL_LINES).join("\n");
  }
}

/** Whether the result of the call is unknown, or no member can answer at the moment: the caller may retry. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof QuoinError && (error.code === "UNAVAILABLE" || error.code === "DEADLINE_EXCEEDED");
}

/** The exit in words. */
export function describeExit({ code, signal }: Exit): string {
  return signal ?? `exit code ${code}`;
}

function flagsOf(layout: MemberLayout, others: readonly MemberLayout[], tokens: TokenFiles): string[] {
  const { ports } = layout;
  return [
    ...["--name", layout.name, "--cluster-name", "local", "--data-dir", layout.dataDirectory],
    ...["--grpc", addressOf(ports.grpc), "--http", addressOf(ports.http), "--peer", addressOf(ports.peer)],
    ...["--admin", addressOf(ports.admin), "--health", addressOf(ports.health)],
    ...["--admin-token-file", tokens.admin, "--join-token-file", tokens.join],
    ...others.filter(({ name }) => name !== layout.name).flatMap((other) => ["--seed", addressOf(other.ports.peer)]),
    // All members share the disk of a person who tries Quoin.
    "--no-disk-reserve",
    // A mail server is unlikely here, and only the user reads the log.
    "--mail-to-log",
    "--until-stdin-ends",
  ];
}
