/**
 * One member of a cluster, from the moment its data directory is opened until it stops.
 *
 * An empty directory waits to be told to found a cluster, and asks the seeds for a slot meanwhile; one with data serves
 * it; one whose data is removed, lost or somebody else's reports what is wrong and serves nothing. No member founds a
 * cluster by itself, and none ever deletes its data.
 */

import type { JoinAnswer } from "../peers/index.ts";
import { CLUSTER_VERSIONS, CoordinationError, type Founding, type MemberAddress, readCluster } from "../state/index.ts";
import {
  type DataDirectory,
  type DiskRoom,
  type MemberData,
  openDataDirectory,
  StoreError,
  usageOf,
} from "../storage/index.ts";
import { Asking, type Worth } from "./asking.ts";
import type { DiskSpace } from "./fitness.ts";
import { FOUNDER_ID, foundFrom, isFounder } from "./founding-backup.ts";
import { type Accepted, Joining, succeeded } from "./joining.ts";
import { MemberDisk } from "./member-disk.ts";
import type { MemberOptions, MemberState } from "./member-options.ts";
import { type Asker, MemberPeers, type PeerCertificate } from "./member-peers.ts";
import { LONE_TRANSPORT } from "./member-transport.ts";
import { OwnAddress } from "./own-address.ts";
import type { Told } from "./peer-directory.ts";
import { Replica } from "./replica.ts";

/** How often a member waits before it looks again at a record that denies its data, in milliseconds. */
const RECORD_INTERVAL_MS = 2_000;

const WHAT_TO_DO = {
  removed: "to use its name again, add it to the cluster and start it with an empty data directory",
  refused: "remove the member from its cluster, and add it again with an empty data directory",
} as const;

export class Member {
  readonly #options: MemberOptions;
  readonly #startedMs: number;
  readonly #peers: MemberPeers | null;
  readonly #disk: MemberDisk;
  #directory: DataDirectory;
  #data: MemberData | null = null;
  #replica: Replica | null = null;
  #state: MemberState = "EMPTY";
  #reason = "";
  #foundedFrom = "";
  #stateSinceMs: number;
  #endpoints: MemberAddress | null = null;
  #joining: Joining | null = null;
  /** Asks who the other members are, while this one cannot know it from its log, and says where this one is. */
  #inquiry: Asking | null = null;
  #ownAddress: OwnAddress | null = null;
  #stopped: Promise<void> | null = null;
  /** What happened to an empty directory: a founding or a slot. */
  #founding: { readonly clusterId: string; readonly result: Promise<number> } | null = null;
  #entering: Promise<void> | null = null;
  #isTooOld = false;
  /** What members of a cluster that took over the state of this one's have said; null if none has. */
  #succession: string | null = null;
  /** Ends the wait of a member whose data the record denies. */
  #cancelDenied: () => void = () => {};
  /** The end of the stores of a member that serves no more. */
  #retired: Promise<void> | null = null;

  private constructor(options: MemberOptions, directory: DataDirectory, peers: MemberPeers | null, disk: MemberDisk) {
    this.#options = options;
    this.#directory = directory;
    this.#peers = peers;
    this.#disk = disk;
    this.#startedMs = options.clock.monotonicMs();
    this.#stateSinceMs = this.#startedMs;
  }

  /**
   * Opens the data directory and, if it holds a member's data, starts serving it. Rejects with a StoreError, or with
   * what is wrong with the certificates.
   */
  static async open(options: MemberOptions): Promise<Member> {
    const { peering, clock, log } = options;
    const peers =
      peering === null
        ? null
        : await MemberPeers.open(clock, {
            log,
            joinTokens: peering.joinTokens,
            tls: peering.tls,
            random: peering.random,
            dialHint: peering.dialHint,
          });
    let member: Member | null = null;
    const disk = new MemberDisk({ ...options, onChange: (space) => member?.replica?.setDiskSpace(space) });
    let directory: DataDirectory | null = null;
    try {
      await disk.makeRoom();
      directory = await openDataDirectory(options);
    } finally {
      if (directory === null || directory.phase === "refused") {
        await peers?.stop();
      }
      if (directory === null) {
        await disk.stop();
      }
    }
    member = new Member(options, directory, directory.phase === "refused" ? null : peers, disk);
    member.#begin();
    return member;
  }

  get state(): MemberState {
    return this.#state;
  }

  /** Why the data is not served, or what an empty directory waits for; "" if there is nothing to say. */
  get reason(): string {
    return this.#reason;
  }

  /** The backup from which this process has founded the cluster, for people; empty if it has not. */
  get foundedFrom(): string {
    return this.#foundedFrom;
  }

  /**
   * What is wrong with its disk, between this member and others, and with its process, beside what `replica` says; for
   * people.
   */
  get alarms(): readonly string[] {
    return [
      ...this.#disk.alarms,
      ...(this.#peers?.alarms ?? []),
      ...this.#recordAlarms,
      ...(this.#options.processAlarms?.() ?? []),
    ];
  }

  /** The room on the disk as it was measured last, at most a second ago unless the disk hangs; null before that. */
  get diskRoom(): DiskRoom | null {
    return this.#disk.room;
  }

  /** How that is judged. */
  get diskSpace(): DiskSpace {
    return this.#disk.space;
  }

  /** A number that RocksDB tells of a store under this name; null while the store is not open. */
  storeProperty(store: "raft" | "state", name: string): number | null {
    return this.#data?.storeProperty(store, name) ?? null;
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

  /** What it shows to other members; null without TLS, and while it meets no others. */
  get certificate(): PeerCertificate | null {
    return this.#retired === null ? (this.#peers?.certificate ?? null) : null;
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
   * the same. Raises NOT_EMPTY if the directory belongs to another cluster, is not served, or is not the one that the
   * record names; BAD_FIELD if the call was meant for another data directory.
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
    if (
      this.#replica !== null &&
      this.clusterId === founding.clusterId &&
      isFounder(this.#replica.state, this.memberId)
    ) {
      return this.memberId;
    }
    if (this.#stopped !== null) {
      throw new CoordinationError("SHUTTING_DOWN", "this member is shutting down");
    }
    this.#requireEmpty();
    const objection = this.#options.record?.objectionToFounding(founding.clusterId, incarnation) ?? null;
    if (objection !== null) {
      throw new CoordinationError("NOT_EMPTY", `no cluster is founded: ${objection}`);
    }
    const result = this.#found(founding);
    this.#founding = { clusterId: founding.clusterId, result };
    return result;
  }

  /**
   * Accepts connections of other members; resolves with the port, or null if this member meets no others. Rejects if
   * the port cannot be had.
   */
  async listenForPeers(host: string, port: number): Promise<number | null> {
    return this.#peers === null ? null : this.#peers.listen(host, port);
  }

  /** Tells under which addresses this process is reached: it begins to dial other members, or to ask for a slot. */
  introduce(endpoints: MemberAddress): void {
    this.#endpoints = endpoints;
    if (this.#directory.phase === "empty") {
      this.#startJoining(this.#directory.identity.incarnation, endpoints);
    } else if (this.#replica !== null) {
      this.#meetOthers(this.#replica, null);
    }
  }

  /** Gives a leadership away before the servers are drained; resolves when it is given, or after the limit. */
  handOver(limitMs: number): Promise<void> {
    const replica = this.#replica;
    if (replica === null) {
      return Promise.resolve();
    }
    return new Promise((resolve) => replica.handOver(limitMs, resolve));
  }

  /** Stops serving and closes the stores, after a founding or a joining that runs. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    this.#cancelDenied();
    await this.#disk.stop();
    const joining = this.#joining?.stop();
    // Questions that wait for an answer end with the connections.
    await this.#peers?.stop();
    await joining;
    // A founding that failed has been reported.
    await this.#founding?.result.catch(() => undefined);
    await this.#entering;
    await this.#inquiry?.stop();
    this.#quit();
    await this.#retired;
    if (this.#retired !== null) {
      return;
    }
    if (this.#data !== null) {
      await this.#data.close();
    } else if (this.#directory.phase === "empty") {
      await this.#directory.close();
    }
  }

  get #identity() {
    return this.#data?.identity ?? (this.#directory.phase === "member" ? null : this.#directory.identity);
  }

  /** What the directory makes of this member. */
  #begin(): void {
    const directory = this.#directory;
    void this.#disk.look();
    switch (directory.phase) {
      case "empty":
        return;
      case "refused":
        this.#state = directory.state;
        this.#reason = directory.reason;
        return;
      case "member":
        this.#runUnlessDenied(directory.data);
        return;
    }
  }

  /** A record that comes, or changes, while a member serves is told as an alarm, and decides at its next start. */
  get #recordAlarms(): string[] {
    const { record } = this.#options;
    const objection = this.#replica === null ? null : record?.objectionTo(this.clusterId);
    return [record?.problem, objection, this.#succession].filter((alarm) => typeof alarm === "string");
  }

  /** Serves the data as soon as the record does not name another cluster. */
  #runUnlessDenied(data: MemberData): void {
    const { record, scheduler } = this.#options;
    const objection = record?.objectionTo(data.identity.clusterId) ?? null;
    if (objection === null) {
      this.#enter(data, null);
      return;
    }
    this.#data = data;
    this.#become("WRONG_CLUSTER", objection);
    const cancel = scheduler.every(RECORD_INTERVAL_MS, () => {
      cancel();
      this.#runUnlessDenied(data);
    });
    this.#cancelDenied = cancel;
  }

  /** Stops what runs beside the stores. */
  #quit(): void {
    this.#ownAddress?.stop();
    this.#replica?.stop();
    this.#replica = null;
  }

  #become(state: MemberState, reason: string): void {
    if (state === this.#state && reason === this.#reason) {
      return;
    }
    if (state !== this.#state) {
      this.#stateSinceMs = this.#options.clock.monotonicMs();
    }
    this.#state = state;
    this.#reason = reason;
    this.#options.log.info({ state, reason }, "the state of this member has changed");
  }

  #requireEmpty(): void {
    if (this.#state !== "EMPTY" || this.#founding !== null) {
      const why = this.#reason === "" ? "" : ` (${this.#reason})`;
      throw new CoordinationError(
        "NOT_EMPTY",
        `this member is ${this.#state} in cluster ${this.clusterId || "none"}${why}; only an EMPTY member founds a cluster`,
      );
    }
  }

  async #found(founding: Founding): Promise<number> {
    const objection = this.#joining === null ? null : await this.#joining.objection();
    const directory = this.#directory;
    if (objection !== null || this.#stopped !== null || directory.phase !== "empty") {
      this.#founding = null;
      this.#joining?.start();
      throw this.#stopped !== null
        ? new CoordinationError("SHUTTING_DOWN", "this member is shutting down")
        : new CoordinationError("NOT_EMPTY", `no cluster is founded: ${objection}`);
    }
    const { foundingBackup: backup = null, clock } = this.#options;
    const told = (reason: string): void => {
      if (this.#stopped !== null) {
        throw new CoordinationError("SHUTTING_DOWN", "this member is shutting down");
      }
      this.#become("EMPTY", reason);
    };
    try {
      const { data, from } = await this.#orFatal(
        foundFrom(directory, founding, { backup, told, wallMs: clock.wallMs() }),
      );
      this.#foundedFrom = from;
      this.#enter(data, null);
      return data.identity.memberId;
    } catch (error) {
      this.#onFailedFounding(error);
      throw error;
    }
  }

  /** What is left empty may be founded again. A store that has failed has been reported as fatal. */
  #onFailedFounding(error: unknown): void {
    if (error instanceof CoordinationError) {
      this.#founding = null;
      this.#become("EMPTY", error.message);
      if (this.#stopped === null) {
        this.#joining?.start();
      }
    }
  }

  #startJoining(incarnation: string, endpoints: MemberAddress): void {
    const { name, clusterName, peering, record, scheduler, log } = this.#options;
    const seeds = peering?.seeds.filter((seed) => seed !== endpoints.peerEndpoint) ?? [];
    const peers = this.#peers;
    if (peers === null || peering === null || seeds.length === 0) {
      return;
    }
    const asker: Asker = { clusterName, clusterId: "", memberId: 0, name, incarnation, endpoints };
    this.#joining = new Joining({
      ...{ name, clusterName, seeds, scheduler, log, random: peering.random },
      ask: (seed) => peers.ask(seed, { ...asker, clusterId: record?.clusterId ?? "" }),
      objectionTo: (clusterId) => record?.problem ?? record?.objectionTo(clusterId) ?? null,
      onWaiting: (state, reason) => this.#become(state, reason),
      onAccepted: (answer) => {
        this.#entering = this.#join(answer);
      },
    });
    this.#joining.start();
  }

  async #join(answer: Accepted): Promise<void> {
    const directory = this.#directory;
    if (directory.phase !== "empty" || this.#stopped !== null) {
      return;
    }
    const { clusterId, memberId } = answer;
    this.#become("JOINING", "");
    this.#options.log.info({ clusterId, memberId }, "a slot was given to this member");
    try {
      const data = await this.#orFatal(directory.join(clusterId, memberId));
      this.#enter(data, { members: answer.directory, index: answer.index });
    } catch (error) {
      // What the store could not do has been reported as fatal.
      if (!(error instanceof StoreError)) {
        throw error;
      }
    }
  }

  /** The directory is a member's, and may have become that only now. `told` are the others, if somebody named them. */
  #enter(data: MemberData, told: Told | null): void {
    this.#directory = { phase: "member", data };
    const replica = this.#run(data);
    if (this.#endpoints !== null) {
      this.#meetOthers(replica, told);
    }
  }

  /** Half a founding is completed by the next start, not by this process. */
  async #orFatal<T>(entering: Promise<T>): Promise<T> {
    try {
      return await entering;
    } catch (error) {
      if (error instanceof StoreError) {
        this.#options.onFatal(error);
      }
      throw error;
    }
  }

  #run(data: MemberData): Replica {
    const { clock, scheduler, limits, onRole, onDiskStuck } = this.#options;
    this.#data = data;
    const replica = new Replica({
      memberId: data.identity.memberId,
      clusterId: data.identity.clusterId,
      clusterVersionMax: CLUSTER_VERSIONS.max,
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
      transport: this.#peers?.transport ?? LONE_TRANSPORT,
      damaged: data.damaged,
      onRole,
      onMembers: () => this.#onMembers(replica),
      onLoss: (reason) => this.#retire("refused", reason),
      onDiverged: (reason) => this.#retire("refused", reason),
      onHealed: () => this.#onHealed(replica),
      onDiskCritical: () => void this.#disk.release(),
      onDiskStuck,
    });
    this.#replica = replica;
    replica.setDiskSpace(this.#disk.space);
    const { clusterId, memberId, incarnation } = data.identity;
    const self = { clusterId, memberId, incarnation, boot: data.boot, damaged: data.damaged };
    this.#peers?.serve(self, replica, {
      onRemoved: (peer) => this.#onRemoved(peer),
      onStale: (peer) => this.#onStale(peer),
      onTooOld: () => this.#onTooOld(),
      onUnlisted: () => this.#inquiry?.start(),
      onWrongCluster: () => this.#onWrongCluster(),
    });
    const isJoining = !data.damaged && !this.#isListed(replica);
    this.#become(data.damaged ? "MEMBER_DAMAGED" : isJoining ? "JOINING" : "RUNNING", data.loss);
    return replica;
  }

  /** Whether the log has made this process a member, as far as it is applied; the founder's log begins with that. */
  #isListed(replica: Replica): boolean {
    const isFounder = this.memberId === FOUNDER_ID && this.#data?.damaged === false;
    const own = readCluster(replica.state)?.members.find(({ id }) => id === this.memberId);
    return isFounder || own?.incarnation.toHex() === this.incarnation;
  }

  /** Whether there are members who cannot know where this one is, or whom this one cannot know. */
  get #isAstray(): boolean {
    return this.#peers?.hasUnlisted === true || this.#ownAddress?.isOutdated === true;
  }

  /** Dials the other members, and asks who they are if that is neither in the log nor told. */
  #meetOthers(replica: Replica, told: Told | null): void {
    const { memberId, incarnation } = this;
    const { clock, scheduler, peering, log } = this.#options;
    const address = this.#endpoints;
    const peers = this.#peers;
    if (address === null || this.#stopped !== null) {
      return;
    }
    this.#ownAddress = new OwnAddress({ memberId, incarnation, address, replica, clock, scheduler });
    this.#ownAddress.check();
    if (peers === null || peering === null) {
      return;
    }
    const { name, clusterName, clusterId } = this;
    const asker: Asker = { clusterName, clusterId, memberId, name, incarnation, endpoints: address };
    const isOther = (endpoint: string) => endpoint !== address.peerEndpoint;
    this.#inquiry = new Asking({
      ...{ scheduler, log, random: peering.random },
      addresses: () => [...new Set([...peers.addresses, ...peering.seeds])].filter(isOther),
      ask: (endpoint) => peers.ask(endpoint, asker),
      onAnswer: (_endpoint, answer) => this.#onInquired(answer),
    });
    if (told !== null) {
      peers.learn(told);
    }
    peers.dial();
    if (told === null && (!this.#isListed(replica) || this.#isAstray)) {
      this.#inquiry.start();
    }
  }

  /** Another member has said who there is. */
  #onInquired(answer: JoinAnswer): Worth {
    if (answer.result === "REMOVED") {
      this.#replica?.onRemoved();
      this.#retire("removed", "a member of the cluster says that this one was removed from it");
      return "enough";
    }
    if (answer.result === "WRONG_CLUSTER" && answer.successor !== undefined) {
      this.#succession = succeeded(answer.successor);
      this.#options.log.warn({ successor: answer.successor.clusterId }, this.#succession);
      return "enough";
    }
    if (answer.result !== "ACCEPTED") {
      return "ask-next";
    }
    this.#peers?.learn({ members: answer.directory, index: answer.index });
    // Who has moved tells all, until it is recorded: each member dials it where it is only by its own word.
    return this.#isAstray ? "ask-next" : "enough";
  }

  #onMembers(replica: Replica): void {
    if (this.#replica !== replica) {
      return;
    }
    this.#peers?.onMembers();
    this.#ownAddress?.check();
    if (this.#isListed(replica)) {
      if (this.#state === "JOINING") {
        this.#become("RUNNING", "");
      }
      if (!this.#isAstray) {
        void this.#inquiry?.stop();
      }
    }
  }

  #onHealed(replica: Replica): void {
    if (this.#replica === replica) {
      this.#peers?.onHealed();
      this.#become("RUNNING", "");
    }
  }

  #onRemoved(peer: number): void {
    this.#replica?.onRemoved();
    this.#retire("removed", `member ${peer} says that this member, ${this.memberId}, was removed from the cluster`);
  }

  #onStale(peer: number): void {
    this.#retire(
      "refused",
      `member ${peer} has met a later start of this data directory than the present one: this is an old copy of it, ` +
        "without votes and writes that the cluster relies on",
    );
  }

  /**
   * Asks why. Nothing is given up for the answer: a backup that was restored elsewhere must not end the cluster that it was
   * made of.
   */
  #onWrongCluster(): void {
    if (this.#succession === null) {
      this.#inquiry?.start();
    }
  }

  #onTooOld(): void {
    if (!this.#isTooOld) {
      this.#isTooOld = true;
      this.#options.onEnd("too-old", "all other members refuse the version of this program");
    }
  }

  /** Marks the data as not to be used any more, for good, and serves no more. */
  #retire(end: "removed" | "refused", reason: string): void {
    const data = this.#data;
    if (data === null || this.#retired !== null || this.#stopped !== null) {
      return;
    }
    this.#quit();
    try {
      data.retire(end, reason);
    } catch (error) {
      this.#options.onFatal(
        new StoreError("io", `the data directory could not be given up: ${reason}`, { cause: error }),
      );
      return;
    }
    this.#become(end === "removed" ? "MEMBER_REMOVED" : "MEMBER_REFUSED", `${reason}; ${WHAT_TO_DO[end]}`);
    this.#retired = this.#leave(data);
    this.#options.onEnd(end, reason);
  }

  async #leave(data: MemberData): Promise<void> {
    const inquiry = this.#inquiry?.stop();
    await this.#peers?.stop();
    await inquiry;
    await data.close();
  }
}
