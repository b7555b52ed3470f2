/**
 * One member of a cluster, from the opening of its data directory until it stops.
 *
 * With an empty directory it waits for a bootstrap call, and asks the seeds for a slot meanwhile. With data it serves
 * them. If its data is removed, lost or belongs to another member, it reports the problem and serves nothing. No member
 * founds a cluster by itself, and none ever deletes its data.
 *
 * `member-phases.ts` describes the phases of a member. This file has the steps between them, and what is the same in
 * all of them.
 */

import type { KeptTrace } from "../../peers/index.ts";
import { CoordinationError, type Founding, type MemberAddress } from "../../state/index.ts";
import {
  type DataDirectory,
  type FileSystemSpace,
  type Identity,
  openDataDirectory,
  type RefusedState,
  StoreError,
  usageOf,
} from "../../storage/index.ts";
import { type DiskSpaceLevel, shuttingDown } from "../context/index.ts";
import type { Replica } from "../driver/index.ts";
import { DeniedPhase } from "./denied-phase.ts";
import { EmptyPhase } from "./empty-phase.ts";
import { isFounder } from "./founding-backup.ts";
import type { MemberConnections, MemberContext, OwnData } from "./member-context.ts";
import { MemberDisk } from "./member-disk.ts";
import type { MemberOptions, MemberState } from "./member-options.ts";
import { MemberPeers, type PeerCertificate } from "./member-peers.ts";
import type { MemberPhase } from "./member-phases.ts";
import { type MemberStatus, StatusLog } from "./member-status.ts";
import type { MemberList } from "./peer-directory.ts";
import { type HaltedPhase, ServingPhase } from "./serving-phase.ts";

const WHAT_TO_DO = {
  removed: "to use its name again, add it to the cluster and start it with an empty data directory",
  refused: "remove the member from its cluster, and add it again with an empty data directory",
} as const;

const STATE_OF_END = { removed: "MEMBER_REMOVED", refused: "MEMBER_REFUSED" } as const;

export class Member {
  readonly #options: MemberOptions;
  readonly #context: MemberContext;
  readonly #startedMs: number;
  #phase: MemberPhase;
  /** The addresses at which others reach this process; null until they are known. */
  #endpoints: MemberAddress | null = null;
  /** The stop of this member; null until it is asked to stop. */
  #stopped: Promise<void> | null = null;

  private constructor(
    options: MemberOptions,
    directory: DataDirectory,
    connections: MemberConnections | null,
    disk: MemberDisk,
  ) {
    const { clock, log } = options;
    const first: MemberStatus = directory.phase === "refused" ? statusOf(directory) : { state: "EMPTY", reason: "" };
    const statusLog = new StatusLog(first, clock, log);
    this.#options = options;
    this.#context = { options, connections, disk, statusLog, isStopping: () => this.#stopped !== null };
    this.#startedMs = clock.monotonicMs();
    void disk.refresh();
    this.#phase = this.#firstPhase(directory);
    statusLog.note(this.#phase.status);
  }

  /**
   * Opens the data directory and starts serving its data, if it has any. Rejects with a StoreError, or with the reason
   * why the certificates cannot be used.
   */
  static async open(options: MemberOptions): Promise<Member> {
    const connections = await connectionsOf(options);
    let member: Member | null = null;
    const disk = new MemberDisk({ ...options, onChange: (space) => member?.replica?.setDiskSpace(space) });
    let directory: DataDirectory | null = null;
    try {
      await disk.ensureSpace();
      directory = await openDataDirectory(options);
    } finally {
      if (directory === null || directory.phase === "refused") {
        await connections?.peers.stop();
      }
      if (directory === null) {
        await disk.stop();
      }
    }
    member = new Member(options, directory, directory.phase === "refused" ? null : connections, disk);
    return member;
  }

  get state(): MemberState {
    return this.#phase.status.state;
  }

  /** Why the data is not served, or what an empty directory waits for; "" if neither. */
  get reason(): string {
    return this.#phase.status.reason;
  }

  /** The backup from which this process has founded the cluster, for people; empty if there was none. */
  get foundedFrom(): string {
    return this.#own?.foundedFrom ?? "";
  }

  /**
   * Problems with the disk, the connections to others and the process, for people. Those of `replica` are not included.
   */
  get alarms(): readonly string[] {
    return [
      ...this.#context.disk.alarms,
      ...(this.#context.connections?.peers.alarms ?? []),
      ...this.#clusterAlarms,
      ...(this.#options.processAlarms?.() ?? []),
    ];
  }

  /** The disk space of the last measurement, at most a second ago unless the disk hangs; null before the first one. */
  get fileSystemSpace(): FileSystemSpace | null {
    return this.#context.disk.fileSystemSpace;
  }

  /** Whether that is enough. */
  get diskSpace(): DiskSpaceLevel {
    return this.#context.disk.space;
  }

  /** The RocksDB property of the state's store; null while the store is not open. */
  stateProperty(name: string): number | null {
    return this.#own?.data.stateProperty(name) ?? null;
  }

  /** Bytes of the files of the log; null while it is not open. */
  get logBytes(): number | null {
    return this.#own?.data.logBytes ?? null;
  }

  /** Milliseconds since the state last changed. */
  get stateForMs(): number {
    return this.#context.statusLog.stateForMs;
  }

  /** Milliseconds since this process opened the directory. */
  get uptimeMs(): number {
    return Math.floor(this.#options.clock.monotonicMs() - this.#startedMs);
  }

  /** The time of day, Unix time in milliseconds. */
  get clockMs(): number {
    return this.#options.clock.wallMs();
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
    return this.#phase.kind === "serving" ? this.#phase.replica : null;
  }

  /** The certificate that it presents to other members; null without TLS, and while it has no connections to others. */
  get certificate(): PeerCertificate | null {
    return this.#phase.kind === "retired" ? null : (this.#context.connections?.peers.certificate ?? null);
  }

  /** Sends a trace that this member has kept to another member, or to all others (null). It may be lost. */
  sendKeptTrace(to: number | null, kept: KeptTrace): void {
    this.#context.connections?.peers.sendKeptTrace(to, kept);
  }

  /** Version of the program. */
  get version(): string {
    return this.#options.version;
  }

  /** Bytes of the files in the data directory. */
  get dbSizeBytes(): number {
    return usageOf(this.#options.directory).usedBytes;
  }

  /** Free bytes on its file system. */
  get diskFreeBytes(): number {
    return usageOf(this.#options.directory).freeBytes;
  }

  /**
   * Founds a cluster with this member as its first, and returns its member id. Idempotent for the same cluster. Raises
   * NOT_EMPTY if the directory belongs to another cluster, is not served, or is not the one that the record names.
   * Raises BAD_FIELD if the call names another data directory.
   */
  async bootstrap(founding: Founding): Promise<number> {
    const incarnation = Buffer.from(founding.incarnation).toString("hex");
    if (incarnation !== this.incarnation) {
      throw new CoordinationError(
        "BAD_FIELD",
        `incarnation ${incarnation} is not the one of this member's data directory, ${this.incarnation}`,
        { details: new Map([["field", "incarnation"]]) },
      );
    }
    const { clusterId } = founding;
    const inProgress = this.#phase.kind === "empty" ? this.#phase.foundingOf(clusterId) : null;
    if (inProgress !== null) {
      return inProgress;
    }
    if (this.#hasFounded(clusterId)) {
      return this.memberId;
    }
    if (this.#stopped !== null) {
      throw shuttingDown();
    }
    if (this.#phase.kind !== "empty" || !this.#phase.mayFound) {
      const why = this.reason === "" ? "" : ` (${this.reason})`;
      throw new CoordinationError(
        "NOT_EMPTY",
        `this member is ${this.state} in cluster ${this.clusterId || "none"}${why}; only an EMPTY member founds a cluster`,
      );
    }
    const objection = this.#options.record?.objectionToFounding(clusterId, incarnation) ?? null;
    if (objection !== null) {
      throw new CoordinationError("NOT_EMPTY", `no cluster is founded: ${objection}`);
    }
    return this.#phase.found(founding);
  }

  /**
   * Accepts connections of other members. Resolves with the port, or null if this member has no connections to others.
   * Rejects if the port is not available.
   */
  async listenForPeers(host: string, port: number): Promise<number | null> {
    const { connections } = this.#context;
    return connections === null ? null : connections.peers.listen(host, port);
  }

  /**
   * Sets the addresses at which others reach this process. It then begins to dial other members, or to ask for a slot.
   */
  setEndpoints(endpoints: MemberAddress): void {
    this.#endpoints = endpoints;
    if (this.#phase.kind === "empty") {
      this.#phase.introduce(endpoints);
    } else if (this.#phase.kind === "serving") {
      this.#phase.introduce(endpoints, null);
    }
  }

  /** Hands over the leadership before the servers drain; resolves when that is done, or after the limit. */
  handOver(limitMs: number): Promise<void> {
    const { replica } = this;
    if (replica === null) {
      return Promise.resolve();
    }
    return new Promise((resolve) => replica.handOver(limitMs, resolve));
  }

  /** Stops serving and closes the stores. Waits for a founding or joining in progress. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  get #identity(): Identity | null {
    const phase = this.#phase;
    return phase.kind === "empty" || phase.kind === "refused" ? phase.identity : phase.own.data.identity;
  }

  /** Null while the member belongs to no cluster, and if this process never opened its data. */
  get #own(): OwnData | null {
    const phase = this.#phase;
    return phase.kind === "empty" || phase.kind === "refused" ? null : phase.own;
  }

  /** If the record appears or changes while the member serves, that is an alarm; it takes effect at the next start. */
  get #clusterAlarms(): string[] {
    const { record } = this.#options;
    const objection = this.#phase.kind === "serving" ? record?.objectionTo(this.clusterId) : null;
    return [record?.problem, objection, this.#own?.succession].filter((alarm) => typeof alarm === "string");
  }

  /** Whether this member has founded the cluster: in this process, or in an earlier one as far as its state says. */
  #hasFounded(clusterId: string): boolean {
    const own = this.#own;
    if (own === null || own.data.identity.clusterId !== clusterId) {
      return false;
    }
    return own.foundedFrom !== null || (this.replica !== null && isFounder(this.replica.state, this.memberId));
  }

  // ---- Steps from one phase to the next ----

  /** The phase in which a member starts. */
  #firstPhase(directory: DataDirectory): MemberPhase {
    if (directory.phase === "refused") {
      return { kind: "refused", status: statusOf(directory), identity: directory.identity };
    }
    if (directory.phase === "empty") {
      return new EmptyPhase(this.#context, directory, (own, memberList) => this.#enter(own, memberList));
    }
    const own = { data: directory.data, foundedFrom: null, succession: null };
    const { record } = this.#options;
    const objection = record?.objectionTo(own.data.identity.clusterId) ?? null;
    if (record === null || objection === null) {
      return this.#serving(own);
    }
    return new DeniedPhase(this.#context, own, { record, objection, onAllowed: () => this.#enter(own, null) });
  }

  /** From `empty` or `denied` to `serving`. */
  #enter(own: OwnData, memberList: MemberList | null): void {
    const serving = this.#serving(own);
    this.#setState(serving);
    if (this.#endpoints !== null) {
      serving.introduce(this.#endpoints, memberList);
    }
  }

  #serving(own: OwnData): ServingPhase {
    return new ServingPhase(this.#context, own, (end, reason) => this.#retire(end, reason));
  }

  /**
   * From `serving` by way of `halted` to `retired`: marks the data as unusable for good. If the directory cannot be
   * written, the member stays `halted`, and the process must end.
   */
  #retire(end: "removed" | "refused", reason: string): void {
    const phase = this.#phase;
    if (this.#stopped !== null || (phase.kind !== "serving" && phase.kind !== "halted")) {
      return;
    }
    const halted = phase.kind === "serving" ? phase.halt() : phase;
    this.#setState(halted);
    const { own } = halted;
    try {
      own.data.retire(end, reason);
    } catch (error) {
      this.#options.onFatal(
        new StoreError("io", `the data directory could not be retired: ${reason}`, { cause: error }),
      );
      return;
    }
    const status = { state: STATE_OF_END[end], reason: `${reason}; ${WHAT_TO_DO[end]}` };
    // The log has the reason before the ends of the connections.
    this.#context.statusLog.note(status);
    this.#phase = { kind: "retired", status, own, closed: this.#closeAfterRetirement(halted) };
    this.#options.onEnd(end, reason);
  }

  async #closeAfterRetirement({ asked, own }: HaltedPhase): Promise<void> {
    await this.#context.connections?.peers.stop();
    await asked;
    await own.data.close();
  }

  #setState(phase: MemberPhase): void {
    this.#phase = phase;
    this.#context.statusLog.note(phase.status);
  }

  async #stop(): Promise<void> {
    if (this.#phase.kind === "denied") {
      this.#phase.cancel();
    }
    await this.#context.disk.stop();
    const empty = this.#phase.kind === "empty" ? this.#phase : null;
    const asked = empty?.stopAsking();
    // Requests in flight end with the connections.
    await this.#context.connections?.peers.stop();
    await asked;
    await empty?.settle();
    await this.#close(this.#phase);
  }

  /** Closes the stores, now that the connections have ended and nothing enters a cluster any more. */
  async #close(phase: MemberPhase): Promise<void> {
    switch (phase.kind) {
      case "empty":
        return phase.close();
      case "serving": {
        await phase.stopAsking();
        const halted = phase.halt();
        this.#setState(halted);
        return this.#close(halted);
      }
      case "denied":
        return phase.own.data.close();
      case "halted":
        await phase.asked;
        return phase.own.data.close();
      case "retired":
        return phase.closed;
      case "refused":
        return;
    }
  }
}

function statusOf({ state, reason }: DataDirectory & { readonly phase: "refused" }): MemberStatus<RefusedState> {
  return { state, reason };
}

async function connectionsOf({ peering, clock, log, tracer }: MemberOptions): Promise<MemberConnections | null> {
  if (peering === null) {
    return null;
  }
  const { joinTokens, tls, random, dialHint } = peering;
  const options = { log, joinTokens, tls, random, dialHint };
  return { peering, peers: await MemberPeers.open(clock, options, (kept) => tracer?.onKeptTrace(kept)) };
}
