/**
 * Mutations that are sent again with the same request id. Each goes to one member with a short deadline, then to another
 * one until that answers, whatever became of the first attempt, and once more to a third one. Before that, where a
 * second execution would change nothing, another request changes the same thing. So the state counts the executions.
 */

import { randomUUID } from "node:crypto";
import { type AcquireLockResponse, serviceDefinitions } from "@quoin/proto";
import { expect } from "chai";
import { seededRandom } from "../../src/replica/index.ts";
import { type Answer, type CallOptions, type ClusterUnderTest, GrpcCaller, ok, until } from "../harness/index.ts";

const {
  EventLogService: logs,
  KeyValueService: keys,
  LockService: locks,
  MemoryService: memory,
  SessionService: sessions,
  TransactionService: transactions,
} = serviceDefinitions;
const NAMESPACE = "default";
const NUMBER = "number";
const SUM = "sum";
const WRITTEN = "written";
const SEMAPHORE = "semaphore";
const PERMITS = 10_000;
/** Longer than any run. */
const LONG_SECONDS = 10_000n;
const LONGER_SECONDS = 80_000n;
const MS_PER_SECOND = 1_000n;
/** Of the first attempt: shorter than an election, and longer than most answers without one. */
const FIRST_TIMEOUT_MS = 300;
const TIMEOUT_MS = 2_000;
/** Codes of attempts that are followed by others. Any other code is the answer. */
const PASSING: ReadonlySet<string> = new Set(["UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED", "RESOURCE_EXHAUSTED"]);
const PAGE = 1_000;
/** Of all requests between two kills of the leader. */
const LIMIT_MS = 600_000;

/** Sends a request to a member. */
type Send<Response> = (caller: GrpcCaller, options: CallOptions) => Promise<Answer<Response>>;

interface RepeatOptions {
  /** What happens before the last attempt. */
  readonly between?: () => Promise<unknown>;
  /** Whether it asks for a lock: an attempt without an answer that comes last undoes it. */
  readonly mayBeUndone?: boolean;
}

/** A kind of request, which is performed with a number of its own. */
type Trial = (at: number) => Promise<void>;

export class RepeatedRequests {
  readonly #cluster: ClusterUnderTest;
  readonly #random: (bound: number) => number;
  readonly #callers = new Map<string, GrpcCaller>();
  /** By code and reason, the first attempts. */
  readonly #first = new Map<string, number>();
  /** Revisions of changes, and the number that each transaction got. */
  readonly #revisions: bigint[] = [];
  readonly #numbers: bigint[] = [];
  readonly #sums: bigint[] = [];
  /** Owners of the sessions that were created and not ended. */
  readonly #created: string[] = [];
  /** One after the other, each after a transaction. */
  readonly #others: readonly Trial[] = [
    (at) => this.#increment(at),
    (at) => this.#deletePrefix(at),
    (at) => this.#touch(at),
    (at) => this.#createSession(at),
    (at) => this.#endSession(at),
    (at) => this.#holdPermit(at),
    (at) => this.#setLockValue(at),
    (at) => this.#deleteNamespace(at),
  ];
  /** Ids of requests that had an attempt without an answer. */
  readonly #unanswered = new Set<string>();
  #logId = "";
  #regionId = "";
  #begun = 0;
  #done = 0;
  #repeats = 0;
  #replayed = 0;
  #undoable = 0;

  constructor(cluster: ClusterUnderTest, seed: number) {
    this.#cluster = cluster;
    this.#random = seededRandom(seed);
  }

  /** The number of transactions that have been executed and repeated. */
  get done(): number {
    return this.#done;
  }

  /** Runs so many transactions, and a request of another kind after each of them. Rejects if one is executed twice. */
  async run(count: number, clients: number): Promise<void> {
    const { log } = await this.#must((caller, options) => caller.ask(logs.createLog, { name: "repeated" }, options));
    this.#logId = log?.logId ?? "";
    const region = { namespace: NAMESPACE, sizeBytes: 64n };
    const allocated = await this.#must((caller, options) => caller.ask(memory.allocateMemory, region, options));
    this.#regionId = allocated.regionId;
    const semaphore = { namespace: NAMESPACE, name: SEMAPHORE, permits: PERMITS };
    await this.#must((caller, options) => caller.ask(locks.createSemaphore, semaphore, options));
    const work = async (): Promise<void> => {
      while (this.#begun < count) {
        const at = this.#begun++;
        await this.#transact(at);
        await this.#others[at % this.#others.length]?.(at);
        this.#done++;
      }
    };
    await Promise.all(Array.from({ length: clients }, work));
  }

  /** Compares the counters with the requests. Rejects if one was executed twice, or not at all. */
  async verify(): Promise<void> {
    const all = [...this.#numbers.keys()].map((at) => at + 1);
    const sorted = (numbers: readonly bigint[]): number[] => numbers.map(Number).sort((one, other) => one - other);
    expect(sorted(this.#numbers), "the numbers that transactions got").to.deep.equal(all);
    expect(sorted(this.#sums), "the sums that increments got").to.deep.equal(all.slice(0, this.#sums.length));
    expect(new Set(this.#revisions).size, "revisions of changes").to.equal(this.#revisions.length);
    const count = this.#numbers.length;
    expect(await this.#get(NUMBER)).to.include({ value: String(count), version: count });
    expect(await this.#get(SUM)).to.include({ value: String(this.#sums.length), version: this.#sums.length });
    expect((await this.#get(WRITTEN)).version, "versions of a key").to.equal(count);
    const region = { namespace: NAMESPACE, regionId: this.#regionId };
    const described = await this.#must((caller, options) => caller.ask(memory.describeMemory, region, options));
    expect(Number(described.region?.version), "versions of a region").to.equal(1 + count);
    const names = Array.from(all, (number) => `event ${number - 1}`);
    expect((await this.#events()).sort(), "events").to.deep.equal(names.sort());
    const semaphore = { namespace: NAMESPACE, name: SEMAPHORE };
    const { heldPermits } = await this.#must((caller, options) =>
      caller.ask(locks.describeSemaphore, semaphore, options),
    );
    expect(heldPermits, "permits that are held after all releases").to.equal(0);
    expect((await this.#owners()).sort(), "owners of sessions").to.deep.equal(this.#created.sort());
  }

  /** What became of the attempts, in words. */
  describe(): string {
    const first = [...this.#first].map(([what, times]) => `${what} ${times}`).join(", ");
    const sent = this.#repeats * 2;
    return `${this.#repeats} requests; first attempts ${first}; ${this.#replayed} of ${sent} repeats were replayed; ${this.#undoable} acquisitions may have been undone`;
  }

  close(): void {
    for (const caller of this.#callers.values()) {
      caller.close();
    }
  }

  async #transact(at: number): Promise<void> {
    const success = [
      { put: { key: WRITTEN, value: Buffer.from(`value ${at}`) } },
      { increment: { key: NUMBER, delta: 1n } },
      { append: { logId: this.#logId, payloads: [Buffer.from(`event ${at}`)] } },
      { writeMemory: { regionId: this.#regionId, data: Buffer.from(`${at}`.padStart(8)) } },
    ];
    const told = await this.#repeat(
      (caller, options) => caller.ask(transactions.transact, { namespace: NAMESPACE, success }, options),
      ({ revision, succeeded, results }) => ({ revision, succeeded, number: results[1]?.increment?.value ?? 0n }),
    );
    expect(told.succeeded).to.equal(true);
    this.#revisions.push(told.revision);
    this.#numbers.push(told.number);
  }

  async #increment(_at: number): Promise<void> {
    const success = [{ increment: { key: SUM, delta: 1n } }];
    const told = await this.#repeat(
      (caller, options) => caller.ask(transactions.transact, { namespace: NAMESPACE, success }, options),
      ({ revision, results }) => ({ revision, sum: results[0]?.increment?.value ?? 0n }),
    );
    this.#revisions.push(told.revision);
    this.#sums.push(told.sum);
  }

  /** A second deletion would delete the key that is put after the first one. */
  async #deletePrefix(at: number): Promise<void> {
    const prefix = `deleted/${at}/`;
    const success = [{ deletePrefix: { prefix } }];
    await this.#put(`${prefix}a`);
    await this.#put(`${prefix}b`);
    const told = await this.#repeat(
      (caller, options) => caller.ask(transactions.transact, { namespace: NAMESPACE, success }, options),
      ({ revision, results }) => ({ revision, deleted: results[0]?.deletePrefix?.deletedKeys }),
      { between: () => this.#put(`${prefix}later`) },
    );
    this.#revisions.push(told.revision);
    expect(told.deleted, `deleted keys of ${prefix}`).to.equal(2n);
    expect((await this.#get(`${prefix}later`)).version, "the key that was put after the deletion").to.equal(1);
  }

  /** A second touch would shorten the time that is given after the first one. */
  async #touch(at: number): Promise<void> {
    const key = `touched/${at}`;
    await this.#put(key);
    const touch = (ttlSeconds: bigint): Send<{ readonly modRevision: bigint }> => {
      return (caller, options) => caller.ask(keys.touchKey, { namespace: NAMESPACE, key, ttlSeconds }, options);
    };
    await this.#repeat(touch(LONG_SECONDS), ({ modRevision }) => ({ modRevision }), {
      between: () => this.#must(touch(LONGER_SECONDS)),
    });
    const { expiresInMs } = await this.#get(key);
    expect(expiresInMs, `milliseconds that ${key} has left`).to.be.above(Number(LONG_SECONDS * MS_PER_SECOND));
  }

  /** The sessions are counted at the end. */
  async #createSession(at: number): Promise<void> {
    const fields = { namespace: NAMESPACE, ttlSeconds: LONG_SECONDS, owner: ownerOf(at) };
    const told = await this.#repeat(
      (caller, options) => caller.ask(sessions.createSession, fields, options),
      ({ sessionId }) => ({ sessionId }),
    );
    this.#revisions.push(told.sessionId);
    this.#created.push(fields.owner);
  }

  /** A second execution would find no session. */
  async #endSession(at: number): Promise<void> {
    const created = { namespace: NAMESPACE, ttlSeconds: LONG_SECONDS, owner: "ended" };
    const { sessionId } = await this.#must((caller, options) => caller.ask(sessions.createSession, created, options));
    await this.#put(`of-a-session/${at}`, sessionId);
    const told = await this.#repeat(
      (caller, options) => caller.ask(sessions.endSession, { namespace: NAMESPACE, sessionId }, options),
      ({ endedObjects, revision }) => ({ endedObjects, revision }),
    );
    expect(told.endedObjects).to.equal(1n);
    this.#revisions.push(told.revision);
  }

  /**
   * A second acquisition would hold a second permit; a second release would find no hold. An attempt without an answer
   * may undo the acquisition if it comes last (S25). The request then gets another hold, but never two at a time.
   */
  async #holdPermit(at: number): Promise<void> {
    const name = SEMAPHORE;
    const owner = ownerOf(at);
    const tokens: bigint[] = [];
    const acquire = { namespace: NAMESPACE, name, permits: 1, ttlSeconds: LONG_SECONDS, owner };
    const { isUndoable } = await this.#repeat(
      (caller, options) => caller.ask(locks.acquireSemaphore, acquire, options),
      ({ acquired, fencingToken }) => {
        tokens.push(fencingToken);
        return { acquired };
      },
      { mayBeUndone: true },
    );
    const semaphore = { namespace: NAMESPACE, name };
    const { holders } = await this.#must((caller, options) => caller.ask(locks.describeSemaphore, semaphore, options));
    const held = holders.filter((hold) => hold.owner === owner).map(({ fencingToken }) => fencingToken);
    expect(held.length, `holds of ${owner}`).to.be.at.most(1);
    const fencingToken = tokens.at(-1) ?? 0n;
    const release: Send<{ readonly revision: bigint }> = (caller, options) => {
      return caller.ask(locks.releaseSemaphore, { ...semaphore, fencingToken }, options);
    };
    if (isUndoable) {
      expect(["OK", "FAILED_PRECONDITION"]).to.include((await this.#answer(release)).code);
      this.#undoable++;
      return;
    }
    expect(new Set(tokens).size, `tokens of ${owner}`).to.equal(1);
    expect(held, `holds of ${owner}`).to.deep.equal([fencingToken]);
    const { revision } = await this.#repeat(release, (response) => ({ revision: response.revision }));
    this.#revisions.push(fencingToken, revision);
  }

  /** A second execution would replace the value that is set after the first one. */
  async #setLockValue(at: number): Promise<void> {
    const { name, fencingToken } = await this.#holdNewLock(`elected-${at}`);
    const set = (value: string): Send<{ readonly revision: bigint }> => {
      const fields = { namespace: NAMESPACE, name, fencingToken, value: Buffer.from(value) };
      return (caller, options) => caller.ask(locks.setLockValue, fields, options);
    };
    const { revision } = await this.#repeat(set("first"), (response) => ({ revision: response.revision }), {
      between: () => this.#must(set("second")),
    });
    this.#revisions.push(revision);
    const { holder } = await this.#must((caller, options) =>
      caller.ask(locks.describeLock, { namespace: NAMESPACE, name }, options),
    );
    expect(Buffer.from(holder?.value ?? []).toString(), `value of ${name}`).to.equal("second");
  }

  /** A second deletion would delete the namespace that is created after the first one. */
  async #deleteNamespace(at: number): Promise<void> {
    const name = `deleted-${at}`;
    const create: Send<unknown> = (caller, options) => caller.ask(keys.createNamespace, { namespace: name }, options);
    await this.#must(create);
    await this.#put("key", 0n, name);
    const { revision } = await this.#repeat(
      (caller, options) => caller.ask(keys.deleteNamespace, { namespace: name, recursive: true }, options),
      (response) => ({ revision: response.revision }),
      {
        between: async () => {
          await until(`${name} to be gone`, async () => {
            const { namespaces } = await this.#must((caller, options) =>
              caller.ask(keys.listNamespaces, { prefix: name }, options),
            );
            return namespaces.every((one) => one.name !== name);
          });
          await this.#must(create);
          await this.#put("later", 0n, name);
        },
      },
    );
    this.#revisions.push(revision);
    expect((await this.#get("later", name)).version, `a key of ${name}, created again`).to.equal(1);
  }

  /** A hold of a new lock that no attempt without an answer can undo (S25). */
  async #holdNewLock(prefix: string): Promise<{ readonly name: string; readonly fencingToken: bigint }> {
    for (let at = 0; ; at++) {
      const name = `${prefix}-${at}`;
      const lock = { namespace: NAMESPACE, name };
      await this.#must((caller, options) => caller.ask(locks.createLock, lock, options));
      const requestId = randomUUID();
      const acquire = { ...lock, ttlSeconds: LONG_SECONDS };
      const from = this.#random(this.#cluster.endpoints.length);
      const send: Send<AcquireLockResponse> = (caller, options) => caller.ask(locks.acquireLock, acquire, options);
      const { fencingToken } = ok(await this.#answer(send, from, requestId));
      if (!this.#unanswered.has(requestId)) {
        return { name, fencingToken };
      }
    }
  }

  async #put(key: string, sessionId = 0n, within = NAMESPACE): Promise<void> {
    const fields = { namespace: within, key, sessionId };
    await this.#must((caller, options) => caller.ask(keys.putKey, fields, options));
  }

  async #get(key: string, within = NAMESPACE) {
    const found = await this.#must((caller, options) => caller.ask(keys.getKey, { namespace: within, key }, options));
    const { value, version, expiresInMs } = found;
    return { value: Buffer.from(value).toString(), version: Number(version), expiresInMs: Number(expiresInMs) };
  }

  async #events(): Promise<string[]> {
    const found: string[] = [];
    for (;;) {
      const page = { logId: this.#logId, fromSequence: BigInt(found.length + 1), pageSize: PAGE };
      const { events, lastSequence } = await this.#must((caller, options) =>
        caller.ask(logs.readEvents, page, options),
      );
      found.push(...events.map(({ payload }) => Buffer.from(payload).toString()));
      if (BigInt(found.length) >= lastSequence || events.length === 0) {
        return found;
      }
    }
  }

  /** The owners of all sessions. */
  async #owners(): Promise<string[]> {
    const found: string[] = [];
    let pageToken = "";
    do {
      const page = { namespace: NAMESPACE, pageSize: PAGE, pageToken };
      const { items, nextPageToken } = await this.#must((caller, options) =>
        caller.ask(sessions.listSessions, page, options),
      );
      found.push(...items.map(({ owner }) => owner));
      pageToken = nextPageToken;
    } while (pageToken !== "");
    return found;
  }

  /**
   * Sends the request to all members, one after the other, with one id. Returns what its answers tell, which must be the
   * same, and whether an attempt without an answer may have undone it.
   */
  async #repeat<Response, Told extends object>(
    send: Send<Response>,
    toldBy: (response: Response) => Told,
    { between, mayBeUndone = false }: RepeatOptions = {},
  ): Promise<Told & { readonly isUndoable: boolean }> {
    const requestId = randomUUID();
    const first = this.#random(this.#cluster.endpoints.length);
    const answer = await this.#attempt(send, first, requestId, FIRST_TIMEOUT_MS);
    const what = `${answer.code} ${answer.reason}`.trimEnd();
    this.#first.set(what, (this.#first.get(what) ?? 0) + 1);
    this.#repeats++;
    const second = await this.#answer(send, first + 1, requestId);
    const told = toldBy(ok(second));
    if (!PASSING.has(answer.code)) {
      expect(toldBy(ok(answer)), "the first answer, beside the second").to.deep.equal(told);
    }
    await between?.();
    const third = await this.#answer(send, first + 2, requestId);
    expect(toldBy(ok(third)), "the third answer, beside the second").to.deep.equal(told);
    const isUndoable = mayBeUndone && this.#unanswered.delete(requestId);
    if (!isUndoable) {
      expect(third.headers.get("replayed"), "marks of a replay").to.have.lengthOf(1);
    }
    this.#replayed += second.headers.get("replayed").length + third.headers.get("replayed").length;
    return { ...told, isUndoable };
  }

  /** The response of a request that must succeed. */
  async #must<Response>(send: Send<Response>): Promise<Response> {
    return ok(await this.#answer(send));
  }

  /** The answer of the first member that gives one, from this member on. */
  #answer<Response>(
    send: Send<Response>,
    from = this.#random(this.#cluster.endpoints.length),
    requestId: string = randomUUID(),
  ): Promise<Answer<Response>> {
    let at = from;
    return until("an answer", async () => {
      const answer = await this.#attempt(send, at++, requestId, TIMEOUT_MS);
      return PASSING.has(answer.code) ? null : answer;
    });
  }

  async #attempt<Response>(
    send: Send<Response>,
    at: number,
    requestId: string,
    timeoutMs: number,
  ): Promise<Answer<Response>> {
    const { endpoints, tokens } = this.#cluster;
    const endpoint = endpoints[at % endpoints.length] ?? "";
    const caller = this.#callers.get(endpoint) ?? new GrpcCaller(endpoint, new Map([["api-version", "v1"]]));
    this.#callers.set(endpoint, caller);
    const authorization = `Bearer ${await tokens.token()}`;
    const metadata = new Map(Object.entries({ authorization, "request-id": requestId }));
    const answer = await send(caller, { metadata, timeoutMs });
    if (PASSING.has(answer.code)) {
      this.#unanswered.add(requestId);
    }
    if (answer.code === "UNAVAILABLE" && answer.reason === "") {
      // An old connection to a member that was killed may wait for long before it is tried again.
      this.#callers.delete(endpoint);
      caller.close();
    }
    return answer;
  }
}

function ownerOf(at: number): string {
  return `owner ${at}`;
}

/**
 * Repeats so many transactions, and as many requests of other kinds, while the leader is killed so many times and started
 * again. Rejects if a request was executed twice, or not at all. Returns what became of the attempts, in words.
 */
export async function repeatRequests(
  cluster: ClusterUnderTest,
  options: { readonly transactions: number; readonly clients: number; readonly kills: number; readonly seed: number },
): Promise<string> {
  const { transactions: count, clients, kills, seed } = options;
  const requests = new RepeatedRequests(cluster, seed);
  let isOver = false;
  const killing = async (): Promise<void> => {
    for (let kill = 1; kill <= kills && !isOver; kill++) {
      await until(`kill ${kill}`, () => isOver || requests.done >= (count * kill) / (kills + 2), LIMIT_MS);
      await cluster.untilReady();
      const leader = await cluster.leader();
      await leader.kill();
      const { done } = requests;
      await until("requests to go on", () => isOver || requests.done > done + clients, LIMIT_MS);
      leader.start();
    }
    await cluster.untilReady();
  };
  try {
    const running = requests.run(count, clients).finally(() => {
      isOver = true;
    });
    await Promise.all([running, killing()]);
    await requests.verify();
    return requests.describe();
  } finally {
    requests.close();
  }
}
