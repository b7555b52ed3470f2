/**
 * A small world for the operator: an API server with the necessary controllers, members in memory behind real gRPC, and
 * a clock that moves only by hand. The operator can crash after each external write: then it gets no answers until the
 * next one starts.
 */
import { MemberRole, MemberState } from "@quoin/proto";
import { type Any, ApiServer, type Call, type Stored } from "../api-server/index.ts";
import { type AdminMethods, AdminPorts } from "./admin-ports.ts";
import { Controllers, type Kubelet } from "./controllers.ts";
import { MemberBackups } from "./member-backups.ts";
import { type Directory, MemberRefusal, Quorum, type QuorumSlot } from "./quorum.ts";
import { type PodEnd, StoppedMembers } from "./stopped-members.ts";

/** For one cluster, with some to spare. */
const PORTS = 6;
/** A member that is away reports a last contact this long ago. */
const AWAY_MS = 60_000;

interface Process {
  readonly pod: Stored;
  readonly directory: Directory;
  readonly methods: AdminMethods;
  readonly startedAt: number;
  readonly port: number;
  readonly alarms: string[];
  /** The backup flags with which it has founded the cluster. */
  foundedFrom: string;
}

export class World implements Kubelet {
  now = Date.UTC(2026, 0, 1);
  readonly api = new ApiServer(() => this.now);
  readonly backups = new MemberBackups(() => this.now);
  readonly stoppedMembers = new StoppedMembers();
  /** By name of the cluster: names are unique across namespaces. */
  readonly #quorums = new Map<string, Quorum>();
  /** The owner that the members of the one cluster know since a reset. */
  owner: Any = null;
  /** All external writes, in order. */
  readonly writes: string[] = [];
  /** Objects that Kubernetes does not create or place, and why. */
  refusalOf: Kubelet["refusalOf"] = () => null;
  /** Called after each settled change, to check invariants. */
  check: () => void = () => {};
  /** Result of a restore, by the flags of the member that founds its cluster from a backup. */
  restoreOf: (args: readonly string[]) => { readonly error: MemberRefusal; readonly alarm: string } | null = () => null;
  /** Storage classes that do not exist. */
  readonly missingClasses = new Set<string>();
  #crashAfter = Number.POSITIVE_INFINITY;
  #isDown = false;
  #incarnations = 0;
  readonly #ports = new AdminPorts();
  readonly #controllers = new Controllers(this.api, this);
  /** By UID of the pod. */
  readonly #processes = new Map<string, Process>();
  /** By UID of the claim. */
  readonly #directories = new Map<string, Directory>();

  /** Of the only cluster of most specs. */
  get quorum(): Quorum {
    return this.quorumOf("demo-0");
  }

  /** Of the cluster of this pod. */
  quorumOf(podName: string): Quorum {
    const cluster = clusterOf(podName);
    const quorum =
      this.#quorums.get(cluster) ??
      new Quorum(
        (name) => this.#processOf(name)?.directory ?? null,
        () => this.now,
      );
    this.#quorums.set(cluster, quorum);
    return quorum;
  }

  /** @param ports number of members that run at once */
  async open(ports = PORTS): Promise<void> {
    this.api.before = () => (this.#isDown ? "cut" : null);
    this.api.after = (call) => (this.#noteWrite(nameOf(call)) ? "cut" : null);
    this.api.settle = () => this.settle();
    await Promise.all([this.api.listen(), this.#ports.open(ports)]);
  }

  async close(): Promise<void> {
    this.#ports.close();
    await this.api.close();
  }

  get isDown(): boolean {
    return this.#isDown;
  }

  /** The operator crashes right after this many more writes. */
  crashAfter(writes: number): void {
    this.#crashAfter = this.writes.length + writes;
  }

  /** Another operator starts. */
  revive(): void {
    this.#isDown = false;
    this.#crashAfter = Number.POSITIVE_INFINITY;
  }

  advance(durationMs: number): void {
    this.now += durationMs;
    this.settle();
  }

  settle(): void {
    this.#controllers.settle();
    const names = this.#names();
    for (const [cluster, quorum] of this.#quorums) {
      quorum.tick(names.filter((name) => clusterOf(name) === cluster));
    }
    this.#controllers.settle();
    this.check();
  }

  portOf(uid: string): number | null {
    return this.#processes.get(uid)?.port ?? null;
  }

  /** Data directory of the process in this pod. */
  directoryOf(name: string): Directory | null {
    return this.#processOf(name)?.directory ?? null;
  }

  /** A disk is lost for good, and its pod must begin with another one. */
  loseDisk(name: string): void {
    const { store } = this.api;
    store.remove("persistentvolumeclaims", store.get("persistentvolumeclaims", "default", `data-${name}`));
    store.remove("pods", store.get("pods", "default", name));
    this.settle();
  }

  work(pod: Stored, claim: Stored): PodEnd | null {
    const member = claim.metadata.name.replace(/^data-/, "");
    if (this.#processOf(member) !== undefined) {
      throw new Error(`${pod.metadata.name} works on the volume of ${member}, which runs`);
    }
    return this.stoppedMembers.run(pod, member, this.#directoryOn(claim), this.quorumOf(member));
  }

  /** Data directory on a volume, with or without a running process. */
  directoryOn(claimName: string): Directory | undefined {
    const claim = this.api.store.find("persistentvolumeclaims", "default", claimName);
    return this.#directories.get(claim?.metadata.uid);
  }

  #directoryOn({ metadata }: Stored): Directory {
    const directory = this.#directories.get(metadata.uid) ?? {
      incarnation: (++this.#incarnations).toString(16).padStart(32, "0"),
      clusterId: null,
      memberId: null,
    };
    this.#directories.set(metadata.uid, directory);
    return directory;
  }

  start(pod: Stored, claim: Stored): string {
    const directory = this.#directoryOn(claim);
    const methods = this.#methodsOf(pod.metadata.uid, this.quorumOf(pod.metadata.name));
    const port = this.#ports.occupy(methods);
    const process = { pod, directory, methods, startedAt: this.now, port, alarms: [], foundedFrom: "" };
    this.#processes.set(pod.metadata.uid, process);
    return "127.0.0.1";
  }

  stop({ metadata }: Stored): void {
    const process = this.#processes.get(metadata.uid);
    if (process !== undefined) {
      this.#ports.leave(process.methods);
      this.#processes.delete(metadata.uid);
      this.backups.restart(metadata.uid);
    }
  }

  isRunning({ metadata }: Stored): boolean {
    return this.#processes.has(metadata.uid);
  }

  /** A voter in contact with a leader. */
  isReady({ metadata }: Stored): boolean {
    const quorum = this.quorumOf(metadata.name);
    const slot = quorum.slots.find(({ name }) => name === metadata.name);
    return this.isRunning({ metadata }) && slot?.voter === true && quorum.isAlive(slot) && quorum.hasQuorum;
  }

  wipe({ metadata }: Stored): void {
    this.#directories.delete(metadata.uid);
  }

  canStart({ spec }: Stored): boolean {
    return !spec.containers[0].image.endsWith(":0.0.0-missing");
  }

  canBind({ spec }: Stored): boolean {
    return !this.missingClasses.has(spec.storageClassName);
  }

  #processOf(name: string): Process | undefined {
    return [...this.#processes.values()].find(({ pod }) => pod.metadata.name === name);
  }

  #names(): string[] {
    return [...this.#processes.values()].map(({ pod }) => pod.metadata.name);
  }

  /** @returns whether the operator crashes now */
  #noteWrite(what: string): boolean {
    this.writes.push(what);
    this.#isDown ||= this.writes.length === this.#crashAfter;
    return this.#isDown;
  }

  /** Answers of a process on its admin port. */
  #methodsOf(podUid: string, quorum: Quorum): AdminMethods {
    const self = (): Process => {
      const process = this.#processes.get(podUid);
      if (process === undefined || this.#isDown) {
        throw new MemberRefusal("UNAVAILABLE", "");
      }
      return process;
    };
    const change = (what: string, work: (request: Any, requestId: string) => object) => (request: Any, id: string) => {
      self();
      const answer = work(request, id);
      this.settle();
      if (this.#noteWrite(what)) {
        throw new MemberRefusal("UNAVAILABLE", "");
      }
      return answer;
    };
    const location = (): string => this.backups.location ?? locationOf(self().pod);
    const ids = (request: Any): number[] => request.ids.map(Number);
    return {
      getStatus: () => this.#statusOf(self()),
      listMembers: () => {
        self();
        if (!quorum.hasQuorum) {
          throw new MemberRefusal("UNAVAILABLE", "NO_LEADER");
        }
        return membershipOf(quorum);
      },
      bootstrap: change("Bootstrap", ({ clusterId, incarnation, owner }) => {
        if (owner?.apiKey === undefined || owner.password.length < 8) {
          throw new MemberRefusal("FAILED_PRECONDITION", "BAD_FIELD");
        }
        this.#restore(self());
        quorum.bootstrap(self().pod.metadata.name, clusterId, incarnation);
        return { memberId: String(quorum.leaderId) };
      }),
      resetOwner: change("ResetOwner", ({ owner }) => {
        if (!quorum.hasQuorum) {
          throw new MemberRefusal("UNAVAILABLE", "NO_LEADER");
        }
        if (owner.password.length < 8) {
          throw new MemberRefusal("INVALID_ARGUMENT", "BAD_FIELD");
        }
        this.owner = owner;
        return { userId: "owner", created: false };
      }),
      addMember: change("AddMember", ({ name, ifConfigIndex }) => {
        quorum.addSlot(name, Number(ifConfigIndex));
        return { member: undefined, configIndex: BigInt(quorum.index) };
      }),
      promoteMembers: change("PromoteMembers", (request) => {
        quorum.promote(ids(request), Number(request.ifConfigIndex));
        return { configIndex: BigInt(quorum.index) };
      }),
      removeMembers: change("RemoveMembers", (request) => {
        quorum.remove(ids(request), Number(request.ifConfigIndex));
        return { configIndex: BigInt(quorum.index) };
      }),
      transferLeadership: change("TransferLeadership", ({ targetId, ifTerm }) => {
        quorum.transfer(Number(targetId), Number(ifTerm));
        return { leaderId: String(quorum.leaderId), term: BigInt(quorum.term) };
      }),
      startBackup: change("StartBackup", (request, id) => this.backups.start(podUid, id, request, location())),
      getBackupStatus: (request) => this.backups.status(podUid, request, location()),
      listBackups: () => {
        self();
        return this.backups.list();
      },
      putSettings: change("PutSettings", ({ values, ifSettingsRevision }) => ({
        settingsRevision: BigInt(quorum.putSettings(values, Number(ifSettingsRevision))),
      })),
    };
  }

  /** Does nothing for a member that founds an empty cluster. */
  #restore(process: Process): void {
    const args: readonly string[] = process.pod.spec.containers[0].args;
    const flags = args.filter((argument) => argument.startsWith("--restore-"));
    if (flags.length > 0) {
      const failure = this.restoreOf(flags);
      process.alarms.splice(0, 1, ...(failure === null ? [] : [failure.alarm]));
      if (failure !== null) {
        throw failure.error;
      }
      process.foundedFrom = flags.join(" ");
    }
  }

  #statusOf({ pod, directory, startedAt, alarms, foundedFrom }: Process): object {
    const quorum = this.quorumOf(pod.metadata.name);
    const slot = quorum.slots.find(({ id }) => id === directory.memberId);
    const hasData = directory.memberId !== null;
    const isMember = slot !== undefined && quorum.isAlive(slot);
    const status = {
      id: hasData ? String(directory.memberId) : "",
      name: pod.metadata.name,
      state: this.#stateOf(pod.metadata.name, directory, slot),
      stateForMs: BigInt(this.now - startedAt),
      role: isMember && slot.id === quorum.leaderId && quorum.hasQuorum ? MemberRole.LEADER : MemberRole.FOLLOWER,
      term: BigInt(quorum.term),
      leaderId: String(quorum.leaderId),
      commitIndex: 0n,
      appliedIndex: 0n,
      firstIndex: 0n,
      lastIndex: 0n,
      lastTerm: 0n,
      revision: 0n,
      dbSizeBytes: 0n,
      diskFreeBytes: 0n,
      uptimeMs: BigInt(this.now - startedAt),
      stateHashIndex: 0n,
      clockMs: BigInt(this.now),
      version: pod.metadata.annotations["quoin.dev/version"],
      downgradeFloor: "1.0.0",
      incarnation: directory.incarnation,
      clusterId: directory.clusterId ?? "",
      alarms,
      foundedFrom,
      stateHash: "",
      certificateSerial: "",
      trustedCas: [],
      settingsRevision: BigInt(quorum.settingsRevision),
    };
    const isServed = hasData && status.state !== MemberState.WRONG_CLUSTER;
    return { status, known: isServed ? membershipOf(quorum) : undefined };
  }

  #stateOf(name: string, { memberId, clusterId }: Directory, slot: QuorumSlot | undefined): MemberState {
    const identity = this.api.store.find("configmaps", "default", `${clusterOf(name)}-identity`);
    if (clusterId !== null && identity !== undefined && identity.data.clusterId !== clusterId) {
      return MemberState.WRONG_CLUSTER;
    }
    if (memberId !== null) {
      return slot === undefined ? MemberState.MEMBER_REMOVED : MemberState.RUNNING;
    }
    const taken = this.quorumOf(name).slots.find((each) => each.name === name && each.incarnation !== null);
    return taken === undefined ? MemberState.EMPTY : MemberState.MEMBER_DATA_LOST;
  }
}

function membershipOf(quorum: Quorum): object {
  return {
    clusterId: quorum.clusterId ?? "",
    term: BigInt(quorum.term),
    configIndex: BigInt(quorum.index),
    commitIndex: BigInt(quorum.index),
    changing: false,
    leaderId: String(quorum.leaderId),
    members: quorum.slots.map((slot) => ({
      id: String(slot.id),
      name: slot.name,
      peerEndpoint: "",
      grpcEndpoint: "",
      httpEndpoint: "",
      voter: slot.voter,
      incarnation: slot.incarnation ?? "",
      lagMs: 0n,
      contactAgeMs: quorum.isAlive(slot) ? 0n : BigInt(AWAY_MS),
      promotable: quorum.isPromotable(slot),
    })),
  };
}

/** The name of the pod without its ordinal. */
function clusterOf(podName: string): string {
  return podName.replace(/-[0-9]+$/, "");
}

function nameOf({ method, plural, name, subresource, body }: Call): string {
  return `${method} ${plural}/${name || body?.metadata?.name}${subresource === "" ? "" : `/${subresource}`}`;
}

/** The location in the member's flag; empty without the flag. */
function locationOf({ spec }: Stored): string {
  const flag = "--backup-store=";
  const found = spec.containers[0].args.find((argument: string) => argument.startsWith(flag));
  return found === undefined ? "" : found.slice(flag.length);
}
