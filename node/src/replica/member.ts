/**
 * One member of a cluster, from the opening of its data directory until it stops.
 *
 * With an empty directory it waits for a bootstrap call, and asks the seeds for a slot meanwhile. With data it serves
 * them. If its data is removed, lost or belongs to another member, it reports the problem and serves nothing. No member
 * founds a cluster by itself, and none ever deletes its data.
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

/** Interval at which a member checks again a record that denies its data, in milliseconds. */
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
  /** Asks for the other members while this one's log does not have them, and announces this member's address. */
  #inquiry: Asking | null = null;
  #ownAddress: OwnAddress | null = null;
  #stopped: Promise<void> | null = null;
  /** The founding of this process, if there was a bootstrap call. */
  #founding: { readonly clusterId: string; readonly result: Promise<number> } | null = null;
  #entering: Promise<void> | null = null;
  #isTooOld = false;
  /** What a member of the successor of this cluster has answered; null if none has. */
  #succession: string | null = null;
  /** Cancels the wait of a member whose data the record denies. */
  #cancelDenied: () => void = () => {};
  /** Resolves when the stores of a retired member are closed. */
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
   * Opens the data directory and starts serving its data, if it has any. Rejects with a StoreError, or with the reason
   * why the certificates cannot be used.
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

  /** Why the data is not served, or what an empty directory waits for; "" if neither. */
  get reason(): string {
    return this.#reason;
  }

  /** The backup from which this process has founded the cluster, for people; empty if there was none. */
  get foundedFrom(): string {
    return this.#foundedFrom;
  }

  /**
   * Problems with the disk, the connections to others and the process, for people. Those of `replica` are not included.
   */
  get alarms(): readonly string[] {
    return [
      ...this.#disk.alarms,
      ...(this.#peers?.alarms ?? []),
      ...this.#recordAlarms,
      ...(this.#options.processAlarms?.() ?? []),
    ];
  }

  /** The disk space of the last measurement, at most a second ago unless the disk hangs; null before the first one. */
  get diskRoom(): DiskRoom | null {
    return this.#disk.room;
  }

  /** Whether that is enough. */
  get diskSpace(): DiskSpace {
    return this.#disk.space;
  }

  /** The RocksDB property of a store; null while the store is not open. */
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

  /** The certificate that it presents to other members; null without TLS, and while it has no connections to others. */
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
   * Accepts connections of other members. Resolves with the port, or null if this member has no connections to others.
   * Rejects if the port is not available.
   */
  async listenForPeers(host: string, port: number): Promise<number | null> {
    return this.#peers === null ? null : this.#peers.listen(host, port);
  }

  /**
   * Sets the addresses at which others reach this process. It then begins to dial other members, or to ask for a slot.
   */
  introduce(endpoints: MemberAddress): void {
    this.#endpoints = endpoints;
    if (this.#directory.phase === "empty") {
      this.#startJoining(this.#directory.identity.incarnation, endpoints);
    } else if (this.#replica !== null) {
      this.#meetOthers(this.#replica, null);
    }
  }

  /** Hands over the leadership before the servers drain; resolves when that is done, or after the limit. */
  handOver(limitMs: number): Promise<void> {
    const replica = this.#replica;
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

  async #stop(): Promise<void> {
    this.#cancelDenied();
    await this.#disk.stop();
    const joining = this.#joining?.stop();
    // Requests in flight end with the connections.
    await this.#peers?.stop();
    await joining;
    // A failed founding was reported already.
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

  /** Starts the member as the phase of its directory requires. */
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

  /** If the record appears or changes while the member serves, that is an alarm; it takes effect at the next start. */
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

  /** Stops everything but the stores. */
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

  /** Allows another founding if the directory is still empty. A failed store was reported as fatal already. */
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
    this.#options.log.info({ clusterId, memberId }, "this member got a slot");
    try {
      const data = await this.#orFatal(directory.join(clusterId, memberId));
      this.#enter(data, { members: answer.directory, index: answer.index });
    } catch (error) {
      // A StoreError was reported as fatal already.
      if (!(error instanceof StoreError)) {
        throw error;
      }
    }
  }

  /** Serves a directory with data, possibly new. `told` is the list of members if another member has sent it. */
  #enter(data: MemberData, told: Told | null): void {
    this.#directory = { phase: "member", data };
    const replica = this.#run(data);
    if (this.#endpoints !== null) {
      this.#meetOthers(replica, told);
    }
  }

  /** Reports a StoreError as fatal: the next start completes a partial founding, not this process. */
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

  /** Whether the applied entries have made this process a member. The founder is one from the start. */
  #isListed(replica: Replica): boolean {
    const isFounder = this.memberId === FOUNDER_ID && this.#data?.damaged === false;
    const own = readCluster(replica.state)?.members.find(({ id }) => id === this.memberId);
    return isFounder || own?.incarnation.toHex() === this.incarnation;
  }

  /** Whether some members cannot know the address of this one, or this one cannot know theirs. */
  get #isAstray(): boolean {
    return this.#peers?.hasUnlisted === true || this.#ownAddress?.isOutdated === true;
  }

  /** Dials the other members, and asks for their list if neither the log nor `told` has it. */
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

  /** Processes another member's answer to the inquiry. */
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
    // A member that has moved tells every other one until the move is recorded: only then do they dial the new address.
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
      `member ${peer} has met a later start of this data directory than this one: the directory is an old copy, ` +
        "without votes and writes that the cluster relies on",
    );
  }

  /**
   * Asks for the reason. The member gives up nothing because of the answer: a backup that is restored elsewhere must
   * not end the cluster from which it was made.
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

  /** Marks the data as unusable for good, and stops serving. */
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
        new StoreError("io", `the data directory could not be retired: ${reason}`, { cause: error }),
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
