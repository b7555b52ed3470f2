/**
 * A cluster in this process, with configurable faults. A spec can cause every fault here that a workload must detect,
 * which is impossible with a real cluster.
 */

import type {
  Connection,
  CreatedSession,
  Found,
  Hold,
  Leadership,
  MeasuredCluster,
  MeasuredMember,
  MemberReport,
  RegionPart,
  Swapped,
  WatchConnection,
  WatchedPut,
  WatchListener,
} from "../clusters/index.ts";

/** The faults that a spec can cause. */
export interface Faults {
  /** From this put on, every other one is acknowledged without being done. */
  losesFromPut: number;
  failsAtPut: number;
  /** A compare-and-swap always succeeds. */
  swapsAlways: boolean;
  /** The puts of a transaction have a revision each. */
  splitsTransactions: boolean;
  /** A transaction does only its first put. */
  cutsTransactions: boolean;
  /** Increments are acknowledged with a new revision, but the number stays. */
  forgetsIncrements: boolean;
  /** The system has no increments. */
  lacksIncrements: boolean;
  /** Creations of sessions are acknowledged with a new revision, but there is no session. */
  forgetsSessions: boolean;
  /** Renewals are acknowledged, but the sessions end. */
  endsSessions: boolean;
  /** Locks are granted while they are held. */
  grantsWhileHeld: boolean;
  /** The number of waiters that get the lock at each release. */
  grantsPerRelease: number;
  /** Every hold has the token of the first one. */
  repeatsTokens: boolean;
  /** Region writes are acknowledged with a new revision, but nothing is written. */
  forgetsWrites: boolean;
  /** Appends are acknowledged and delivered, but not stored. */
  forgetsAppends: boolean;
  /** The puts that watchers receive for a put; by default that put. */
  deliver: (put: WatchedPut, watcher: number) => readonly WatchedPut[];
}

interface LockState {
  isHeld: boolean;
  readonly queue: ((hold: Hold) => void)[];
}

interface Watch {
  readonly prefix: string;
  readonly member: MeasuredMember;
  readonly listener: WatchListener;
}

export class ClusterInMemory implements MeasuredCluster {
  readonly name = "memory";
  readonly version = "1";
  readonly settings: string = "";
  readonly members: MeasuredMember[] = ["a", "b", "c"].map((endpoint) => ({ endpoint, pid: process.pid }));
  readonly values = new Map<string, { value: Buffer; modRevision: bigint }>();
  readonly sessions = new Set<bigint>();
  /** Number of sessions of each renewal, by member. */
  readonly renewals: { readonly endpoint: string; readonly sessions: number }[] = [];
  readonly regions: { readonly bytes: Buffer; version: bigint }[] = [];
  readonly watches: Watch[] = [];
  /** The one event log: acknowledged events, stored events, and followers. */
  readonly events = { acknowledged: 0, kept: 0, followers: [] as ((sequence: number) => void)[] };
  /** Requests that each member answered. */
  readonly answeredBy = new Map<string, number>();
  readonly faults: Faults = {
    losesFromPut: Number.POSITIVE_INFINITY,
    failsAtPut: Number.POSITIVE_INFINITY,
    swapsAlways: false,
    splitsTransactions: false,
    cutsTransactions: false,
    forgetsIncrements: false,
    lacksIncrements: false,
    forgetsSessions: false,
    endsSessions: false,
    grantsWhileHeld: false,
    grantsPerRelease: 1,
    repeatsTokens: false,
    forgetsWrites: false,
    forgetsAppends: false,
    deliver: (put) => [put],
  };
  reports: readonly MemberReport[] | null = null;
  leader = this.members[1] as MeasuredMember;
  term = 7;
  loopDelaysMs: readonly number[] = [1, 2, 3];
  puts = 0;
  revision = 100n;
  openConnections = 0;
  readonly #locks = new Map<string, LockState>();
  #firstToken: bigint | null = null;

  async findLeader(): Promise<Leadership> {
    return { leader: this.leader, term: this.term };
  }

  async connect({ endpoint }: MeasuredMember): Promise<Connection> {
    this.openConnections++;
    const answer = <Answer>(result: Answer): Answer => {
      this.answeredBy.set(endpoint, (this.answeredBy.get(endpoint) ?? 0) + 1);
      return result;
    };
    return {
      keys: {
        put: async (key, value) => answer(this.#put(key, value)),
        get: async (key) => answer(this.#get(key)),
        swap: async (key, modRevision, value) => answer(this.#swap(key, modRevision, value)),
        transact: async (keys, value) => answer(this.#transact(keys, value)),
        increment: this.faults.lacksIncrements ? null : async (key) => answer(this.#increment(key)),
      },
      locks: {
        create: async () => answer(++this.revision),
        acquire: async (name) => answer(await this.#acquire(name)),
        countWaiters: async (name) => answer(this.#lock(name).queue.length),
      },
      sessions: {
        revisionsPerCreation: 1n,
        allowMany: async () => undefined,
        create: async () => answer(this.#createSession()),
        renew: async (ids) => answer(this.#renew(endpoint, ids)),
        count: async () => answer(this.sessions.size),
      },
      regions: {
        allocate: async (sizeBytes) => answer(this.#allocate(sizeBytes)),
        write: async (id, offset, data) => answer(this.#write(id, offset, data)),
        read: async (id, offset, length) => answer(this.#read(id, offset, length)),
      },
      logs: {
        create: async () => answer("log"),
        append: async () => answer(this.#append()),
        appendByHttp: async () => answer(this.#append()),
        appendBatch: async (_log, lines) =>
          answer(Array.from({ length: lines.toString().split("\n").length - 1 }, () => this.#append())),
        lastSequence: async () => answer(this.events.kept),
        follow: async (_log, fromSequence, onEvent) => {
          for (let sequence = fromSequence; sequence <= this.events.acknowledged; sequence++) {
            onEvent(sequence);
          }
          this.events.followers.push(onEvent);
        },
      },
      close: () => this.#close(),
    };
  }

  async connectWatches(member: MeasuredMember): Promise<WatchConnection> {
    this.openConnections++;
    return {
      watch: async (prefix, listener) => {
        this.watches.push({ prefix, member, listener });
      },
      close: () => this.#close(),
    };
  }

  async rawCalls(): Promise<null> {
    return null;
  }

  async takeLoopDelaysMs(): Promise<readonly number[]> {
    return this.loopDelaysMs;
  }

  async readReports(): Promise<readonly MemberReport[] | null> {
    return this.reports;
  }

  async stop(): Promise<void> {}

  #close(): void {
    this.openConnections--;
  }

  #put(key: string, value: Buffer): bigint {
    this.puts++;
    if (this.puts === this.faults.failsAtPut) {
      throw new Error("the disk is full");
    }
    if (this.puts < this.faults.losesFromPut || this.puts % 2 === 0) {
      this.#store(key, value);
    }
    return this.revision;
  }

  #get(key: string): Found {
    const found = this.values.get(key);
    if (found === undefined) {
      throw new Error(`there is no ${key}`);
    }
    return { ...found, revision: this.revision };
  }

  #swap(key: string, modRevision: bigint, value: Buffer): Swapped {
    const isDone = this.#get(key).modRevision === modRevision || this.faults.swapsAlways;
    if (isDone) {
      this.#store(key, value);
    }
    return { isDone, revision: this.revision };
  }

  #transact(keys: readonly string[], value: Buffer): bigint {
    const revision = this.revision + 1n;
    for (const key of this.faults.cutsTransactions ? keys.slice(0, 1) : keys) {
      this.#store(key, value, this.faults.splitsTransactions ? this.revision + 1n : revision);
    }
    return this.revision;
  }

  #increment(key: string): bigint {
    const { value } = this.#get(key);
    const more = this.faults.forgetsIncrements ? 0 : 1;
    this.#store(key, Buffer.from(String(Number(value.toString()) + more)));
    return this.revision;
  }

  #createSession(): CreatedSession {
    const id = ++this.revision;
    if (!this.faults.forgetsSessions) {
      this.sessions.add(id);
    }
    return { id, revision: id };
  }

  #renew(endpoint: string, ids: readonly bigint[]): bigint {
    this.renewals.push({ endpoint, sessions: ids.length });
    for (const id of this.faults.endsSessions ? ids : []) {
      this.sessions.delete(id);
    }
    return this.revision;
  }

  #store(key: string, value: Buffer, revision = this.revision + 1n): void {
    this.revision = revision;
    this.values.set(key, { value, modRevision: revision });
    for (const [watcher, { prefix, listener }] of this.watches.entries()) {
      const puts = key.startsWith(prefix) ? this.faults.deliver({ key, revision }, watcher) : [];
      if (puts.length > 0) {
        listener.onPuts(puts);
      }
    }
  }

  #lock(name: string): LockState {
    const lock = this.#locks.get(name) ?? { isHeld: false, queue: [] };
    this.#locks.set(name, lock);
    return lock;
  }

  #acquire(name: string): Hold | Promise<Hold> {
    const lock = this.#lock(name);
    if (!lock.isHeld || this.faults.grantsWhileHeld) {
      lock.isHeld = true;
      return this.#grant(lock);
    }
    return new Promise((resolve) => lock.queue.push(resolve));
  }

  #grant(lock: LockState): Hold {
    const token = ++this.revision;
    this.#firstToken ??= token;
    return {
      token: this.faults.repeatsTokens ? this.#firstToken : token,
      release: async () => {
        const revision = ++this.revision;
        const next = lock.queue.splice(0, this.faults.grantsPerRelease);
        lock.isHeld = next.length > 0;
        for (const resolve of next) {
          resolve(this.#grant(lock));
        }
        return revision;
      },
    };
  }

  #append(): number {
    const sequence = ++this.events.acknowledged;
    this.events.kept += this.faults.forgetsAppends ? 0 : 1;
    for (const onEvent of this.events.followers) {
      onEvent(sequence);
    }
    return sequence;
  }

  #allocate(sizeBytes: number): string {
    this.revision++;
    this.regions.push({ bytes: Buffer.alloc(sizeBytes), version: 1n });
    return String(this.regions.length - 1);
  }

  #write(id: string, offset: number, data: Buffer): bigint {
    const region = this.#region(id);
    if (!this.faults.forgetsWrites) {
      data.copy(region.bytes, offset);
    }
    region.version++;
    return ++this.revision;
  }

  #read(id: string, offset: number, length: number): RegionPart {
    const { bytes, version } = this.#region(id);
    return { data: bytes.subarray(offset, offset + length), version };
  }

  #region(id: string): { readonly bytes: Buffer; version: bigint } {
    const region = this.regions[Number(id)];
    if (region === undefined) {
      throw new Error(`there is no region ${id}`);
    }
    return region;
  }
}
