/**
 * One member of a cluster that runs in another shell, restarted separately. It ends when that cluster is stopped.
 */

import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { QuoinError, type StatusResult } from "@quoin/client";
import { describeState } from "./assembly.ts";
import { readLauncher, removePid, tokenFiles, writePid } from "./cluster-files.ts";
import { layoutsOf } from "./member-layout.ts";
import { describeExit, MemberProcess } from "./member-process.ts";
import type { MemberOptions } from "./options.ts";
import { requireFree } from "./ports.ts";
import { StartError } from "./start-error.ts";

const POLL_MS = 250;

export class RestartedMember {
  readonly #directory: string;
  readonly #launcherPid: number;
  readonly #process: MemberProcess;

  private constructor(directory: string, launcherPid: number, process: MemberProcess) {
    this.#directory = directory;
    this.#launcherPid = launcherPid;
    this.#process = process;
  }

  /**
   * Starts the process without waiting for it. Raises StartError or PortInUseError.
   *
   * @param command starts a cluster
   */
  static async start({ member, dataDirectory }: MemberOptions, command: string): Promise<RestartedMember> {
    const directory = resolve(dataDirectory);
    const launcher = readLauncher(directory);
    if (launcher === null) {
      const all = command.replace(/ --$/, "");
      throw new StartError(`no cluster runs with the data in ${directory}; ${all} starts all of its members`);
    }
    const layouts = layoutsOf(directory, launcher.basePort, launcher.members);
    const layout = layouts.find(({ name }) => name === member);
    if (layout === undefined) {
      const names = layouts.map(({ name }) => name).join(", ");
      throw new StartError(`the running cluster has no member ${member}; it has ${names}`);
    }
    await requireFree(layout.ports, `is ${member} already running?`);
    const process = new MemberProcess(layout, layouts, tokenFiles(directory), launcher.memberFlags);
    writePid(layout.pidFile, process.pid);
    return new RestartedMember(directory, launcher.pid, process);
  }

  get pid(): number {
    return this.#process.pid;
  }

  /**
   * Reports the state of the member at each change, until the cluster is stopped. Rejects with a StartError when the
   * member ends by itself.
   */
  async follow(onChange: (state: string) => void): Promise<void> {
    let last = "";
    while (readLauncher(this.#directory)?.pid === this.#launcherPid) {
      const answer = await this.#status();
      const { exit, name } = this.#process;
      if (exit !== null) {
        throw new StartError(`member ${name} ended (${describeExit(exit)}):\n${this.#process.logTail()}`);
      }
      if (answer !== null) {
        const state = describeState(answer.status) + ((await this.#process.isReady()) ? ", ready" : ", not ready");
        if (state !== last) {
          onChange(state);
          last = state;
        }
      }
      await sleep(POLL_MS);
    }
  }

  /** Null also if the member answers without a status: it runs, and the caller retries. */
  async #status(): Promise<StatusResult | null> {
    try {
      return await this.#process.status();
    } catch (error) {
      if (error instanceof QuoinError) {
        return null;
      }
      throw error;
    }
  }

  async stop(): Promise<void> {
    await this.#process.stop();
    removePid(this.#process.layout.pidFile);
  }
}
