/** The processes of a cluster's members that have been started, in the order of the members. */

import { existsSync } from "node:fs";
import type { TokenFiles } from "./cluster-files.ts";
import type { MemberLayout } from "./member-layout.ts";
import { MemberProcess } from "./member-process.ts";

export class Fleet {
  readonly layouts: readonly MemberLayout[];
  readonly #tokens: TokenFiles;
  readonly #flags: readonly string[];
  readonly #started = new Map<string, MemberProcess>();

  /** @param flags of each member, besides those of its layout. */
  constructor(layouts: readonly MemberLayout[], tokens: TokenFiles, flags: readonly string[]) {
    this.layouts = layouts;
    this.#tokens = tokens;
    this.#flags = flags;
  }

  get processes(): readonly MemberProcess[] {
    return this.layouts.flatMap(({ name }) => this.#started.get(name) ?? []);
  }

  /** Members that are not started yet. */
  get absent(): readonly MemberLayout[] {
    return this.layouts.filter(({ name }) => !this.#started.has(name));
  }

  /** Starts the members that have data; the first one if none has. */
  startKnown(): void {
    const known = this.layouts.filter(({ dataDirectory }) => existsSync(dataDirectory));
    this.#start(known.length > 0 ? known : this.layouts.slice(0, 1));
  }

  /** Starts the others. */
  startAbsent(): void {
    this.#start(this.absent);
  }

  async stop(): Promise<void> {
    await Promise.all(this.processes.map((process) => process.stop()));
  }

  #start(layouts: readonly MemberLayout[]): void {
    for (const layout of layouts) {
      const process = new MemberProcess(layout, this.layouts, this.#tokens, this.#flags);
      this.#started.set(layout.name, process);
    }
  }
}
