/**
 * One member of a cluster, from the moment its data directory is opened until it stops.
 *
 * An empty directory waits to be told to found a cluster; one with data serves it; one whose data is lost, damaged or
 * somebody else's reports what is wrong and serves nothing. No member founds a cluster by itself.
 */

import { CoordinationError, type Founding } from "../state/index.ts";
import {
  type DataDirectory,
  type DataDirectoryOptions,
  type MemberData,
  openDataDirectory,
  StoreError,
  usageOf,
} from "../storage/index.ts";
import type { Clock, Scheduler } from "./clock.ts";
import { Replica, type ReplicaLimits, type ReplicaOptions } from "./replica.ts";

/** What a member is, for operators; the names of the wire contract. */
export type MemberState = "EMPTY" | "RUNNING" | "MEMBER_DAMAGED" | "MEMBER_REFUSED";

export interface MemberOptions extends DataDirectoryOptions {
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly limits: ReplicaLimits;
  /** Version of the program. */
  readonly version: string;
  readonly onRole: ReplicaOptions["onRole"];
}

export class Member {
  readonly #options: MemberOptions;
  readonly #startedMs: number;
  #directory: DataDirectory;
  #data: MemberData | null = null;
  #replica: Replica | null = null;
  #state: MemberState;
  #stateSinceMs: number;
  #stopped: Promise<void> | null = null;
  #founding: { readonly clusterId: string; readonly result: Promise<number> } | null = null;

  private constructor(options: MemberOptions, directory: DataDirectory) {
    this.#options = options;
    this.#directory = directory;
    this.#startedMs = options.clock.monotonicMs();
    this.#stateSinceMs = this.#startedMs;
    switch (directory.phase) {
      case "empty":
        this.#state = "EMPTY";
        return;
      case "refused":
        this.#state = directory.state;
        return;
      case "member":
        this.#state = "RUNNING";
        this.#run(directory.data);
        return;
    }
  }

  /** Opens the data directory and, if it holds a member's data, starts serving it. Raises a StoreError. */
  static async open(options: MemberOptions): Promise<Member> {
    return new Member(options, await openDataDirectory(options));
  }

  get state(): MemberState {
    return this.#state;
  }

  /** Why the data is not served; "" if it is, or if there is none. */
  get reason(): string {
    return this.#directory.phase === "refused" ? this.#directory.reason : "";
  }

  /** Milliseconds since the state last changed. */
  get stateForMs(): number {
    return Math.floor(this.#options.clock.monotonicMs() - this.#stateSinceMs);
  }

  /** Milliseconds since this process opened the directory. */
  get uptimeMs(): number {
    return Math.floor(this.#options.clock.monotonicMs() - this.#startedMs);
  }

  get name(): string {
    return this.#options.name;
  }

  get clusterName(): string {
    return this.#options.clusterName;
  }

  /** 32 hexadecimal digits; "" if the directory has no readable identity. */
  get incarnation(): string {
    return this.#identity?.incarnation ?? "";
  }

  /** "" before the cluster is founded. */
  get clusterId(): string {
    return this.#identity?.clusterId ?? "";
  }

  /** 0 before the member belongs to a cluster. */
  get memberId(): number {
    return this.#identity?.memberId ?? 0;
  }

  /** The driver, while there is data to serve. */
  get replica(): Replica | null {
    return this.#replica;
  }

  /** Version of the program. */
  get version(): string {
    return this.#options.version;
  }

  /** Bytes of the files in the data directory. */
  get dbSizeBytes(): number {
    return usageOf(this.#options.directory).usedBytes;
  }

  /** Bytes that may still be written to its file system. */
  get diskFreeBytes(): number {
    return usageOf(this.#options.directory).freeBytes;
  }

  /**
   * Founds a cluster with this member as its first, and returns its member id. A repeat for the same cluster returns
   * the same. Raises NOT_EMPTY if the directory belongs to another cluster or is not served, BAD_FIELD if the call was
   * meant for another data directory.
   */
  async bootstrap(founding: Founding): Promise<number> {
    const incarnation = Buffer.from(founding.incarnation).toString("hex");
    if (incarnation !== this.incarnation) {
      throw new CoordinationError(
        "BAD_FIELD",
        `incarnation ${incarnation} is not that of this member's data directory, which is ${this.incarnation}`,
        { details: new Map([["field", "incarnation"]]) },
      );
    }
    if (this.#founding !== null && this.#founding.clusterId === founding.clusterId) {
      return this.#founding.result;
    }
    if (this.#state === "RUNNING" && this.clusterId === founding.clusterId) {
      return this.memberId;
    }
    if (this.#stopped !== null) {
      throw new CoordinationError("SHUTTING_DOWN", "this member is shutting down");
    }
    if (this.#directory.phase !== "empty" || this.#founding !== null) {
      throw new CoordinationError(
        "NOT_EMPTY",
        `this member is ${this.#state} in cluster ${this.clusterId || "none"}; only an EMPTY member founds a cluster`,
      );
    }
    const result = this.#found(this.#directory, founding);
    this.#founding = { clusterId: founding.clusterId, result };
    return result;
  }

  /** Stops serving and closes the stores, after a founding that runs. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    // A founding that failed has been reported.
    await this.#founding?.result.catch(() => undefined);
    this.#replica?.stop();
    this.#replica = null;
    if (this.#data !== null) {
      await this.#data.close();
    } else if (this.#directory.phase === "empty") {
      await this.#directory.close();
    }
  }

  get #identity() {
    return this.#data?.identity ?? (this.#directory.phase === "member" ? null : this.#directory.identity);
  }

  async #found(directory: DataDirectory & { readonly phase: "empty" }, founding: Founding): Promise<number> {
    const data = await this.#orFatal(directory.found(founding, { tickMs: 0, wallMs: this.#options.clock.wallMs() }));
    this.#directory = { phase: "member", data };
    this.#state = "RUNNING";
    this.#stateSinceMs = this.#options.clock.monotonicMs();
    this.#run(data);
    return data.identity.memberId;
  }

  /** Half a founding is completed by the next start, not by this process. */
  async #orFatal<T>(founding: Promise<T>): Promise<T> {
    try {
      return await founding;
    } catch (error) {
      if (error instanceof StoreError) {
        this.#options.onFatal(error);
      }
      throw error;
    }
  }

  #run(data: MemberData): void {
    const { clock, scheduler, limits, onRole } = this.#options;
    this.#data = data;
    this.#replica = new Replica({
      memberId: data.identity.memberId,
      boot: data.boot,
      term: data.term,
      vote: data.vote,
      commit: data.commit,
      writeSeq: data.writeSeq,
      bounds: data.bounds,
      log: data.log,
      state: data.state,
      clock,
      scheduler,
      limits,
      onRole,
    });
  }
}
