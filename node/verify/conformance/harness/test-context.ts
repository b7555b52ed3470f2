/**
 * Where an entry runs: at one member, with another one to compare with, and with unique names.
 */

import type {
  AcquireLockRequest,
  AcquireLockResponse,
  AcquireRWLockRequest,
  AcquireRWLockResponse,
  AcquireSemaphoreRequest,
  AcquireSemaphoreResponse,
} from "@quoin/proto";
import { expect } from "chai";
import type { Role, TestUser } from "./accounts.ts";
import type { Answer } from "./answer.ts";
import type { CallOptions, Connection, Pending, Protocol } from "./connection.ts";
import { succeeded } from "./expectations.ts";
import type { HttpConnection } from "./http-connection.ts";
import { NotApplicable } from "./not-applicable.ts";
import {
  acquireLock,
  acquireRWLock,
  acquireSemaphore,
  createLock,
  createRWLock,
  createSemaphore,
  describeLock,
  describeRWLock,
  describeSemaphore,
  forceReleaseLock,
  type Operation,
} from "./operations.ts";
import type { RawAnswer } from "./raw-call.ts";
import { CODES, type Reason } from "./reasons.ts";
import type { Claims } from "./target.ts";
import type { StockUsers, TestRun } from "./test-run.ts";
import { until } from "./until.ts";

/** Further requirements for a refusal. */
export interface RefusalDetails extends CallOptions {
  /** The wrong field, as written in the protobuf definition. */
  readonly field?: string;
  readonly limit?: number;
  /** The connection to use; by default that of the member under test. */
  readonly connection?: Connection;
}

interface LockFields {
  readonly ttlSeconds?: bigint;
  readonly lockDelaySeconds?: bigint;
}

export class TestContext {
  readonly testRun: TestRun;
  /** The member under test. */
  readonly here: Connection;
  /** Another member; the same one if only one endpoint is tested. */
  readonly elsewhere: Connection;
  readonly namespace: string;
  /** Prefix of all names that the entry creates. */
  readonly prefix: string;
  readonly #locks: { readonly name: string; readonly rw: boolean }[] = [];
  /** The term in which the entry began. */
  readonly #term: bigint;
  readonly #queued: Pending<unknown>[] = [];
  readonly #atEnd: (() => Promise<unknown>)[] = [];
  #names = 0;

  constructor(testRun: TestRun, at: number, entry: number) {
    const { endpoints } = testRun.target;
    this.testRun = testRun;
    this.here = testRun.at(endpoints[at] as string);
    this.elsewhere = testRun.at(endpoints[(at + 1) % endpoints.length] as string);
    this.namespace = testRun.namespace;
    this.#term = testRun.leadership.term;
    this.prefix = `${testRun.prefix}/${entry}/${at}/`;
  }

  /** HTTP at the member under test, with the token of the run unless another one is given; null = no token. */
  http(token?: string | null): HttpConnection {
    return this.#httpAt(this.here.endpoint, token);
  }

  /** HTTP at the other member. */
  httpElsewhere(token?: string | null): HttpConnection {
    return this.#httpAt(this.elsewhere.endpoint, token);
  }

  /** Users that entries share and do not change. The entry is skipped if there are none. */
  get users(): StockUsers {
    const users = this.testRun.stockUsers;
    if (users === null) {
      throw new NotApplicable("no other users can be created: name the logs of the members with --mail-log");
    }
    return users;
  }

  /** Creates a user for this entry, and logs the user in. */
  newUser(role: Role, namespaces: readonly string[] = ["*"]): Promise<TestUser> {
    return this.testRun.accounts.logInNew(this.http(), role, namespaces);
  }

  /** An unused name for a key, a lock or an owner. */
  name(): string {
    this.#names++;
    return `${this.prefix}${this.#names}`;
  }

  /** Creates a namespace for this entry. */
  async newNamespace(): Promise<string> {
    const namespace = this.freeNamespaceName();
    await this.testRun.makeNamespace(namespace);
    return namespace;
  }

  /** The name of a namespace that does not exist. */
  freeNamespaceName(): string {
    return this.name().replaceAll("/", ".");
  }

  /** The response of this member. The call must succeed. */
  async ask<Request, Response>(
    operation: Operation<Request, Response>,
    fields: Partial<Request>,
    options?: CallOptions,
  ): Promise<Response> {
    return succeeded(await this.here.call(operation, fields, options));
  }

  /** The response of the other member. The call must succeed. */
  async askElsewhere<Request, Response>(
    operation: Operation<Request, Response>,
    fields: Partial<Request>,
    options?: CallOptions,
  ): Promise<Response> {
    return succeeded(await this.elsewhere.call(operation, fields, options));
  }

  /** Requires that this member refuses the call for the reason, with everything that a refusal must have. */
  async refuses<Request, Response>(
    operation: Operation<Request, Response>,
    fields: Partial<Request> | Buffer,
    reason: Reason,
    details: RefusalDetails = {},
  ): Promise<Answer<unknown>> {
    const { connection = this.here } = details;
    const answer = operation.method.responseStream
      ? await streamEnd(connection, operation, fields, details)
      : await connection.call(operation, fields, details);
    await this.expectRefusal(answer, reason, details);
    return answer;
  }

  /** Requires that the answer is a refusal for the reason, with everything that a refusal must have. */
  async expectRefusal(
    answer: Answer<unknown> | RawAnswer,
    reason: Reason,
    { field, limit }: RefusalDetails = {},
  ): Promise<void> {
    const { code, message, details } = answer;
    const trailer = (name: string) =>
      "trailers" in answer ? answer.trailers.get(name)[0]?.toString() : answer.headers[name];
    const told = `${code} ${details?.reason}: ${message}`;
    expect(`${code} ${details?.reason}`, told).to.equal(`${CODES[reason]} ${reason}`);
    expect(message, "a message for people").to.not.equal("");
    expect([details?.domain, details?.message], "details").to.deep.equal(["quoin.dev", message]);
    expect(trailer("error-reason"), "trailer error-reason").to.equal(reason);
    const outcome = reason === "DEADLINE" ? "unknown" : "not-executed";
    expect(trailer("outcome"), "trailer outcome").to.equal(outcome);
    if (field !== undefined) {
      expect(details?.metadata.get("field"), told).to.equal(field);
      expect(message, "the field is named").to.include(field);
    }
    if (limit !== undefined) {
      expect(details?.metadata.get("limit"), told).to.equal(String(limit));
      expect(message, "the limit is named").to.include(String(limit));
    }
    // A raw answer is always one of gRPC.
    const protocol = "trailers" in answer ? this.here.protocol : "grpc";
    await this.#expectLeader(trailer("leader-endpoint")?.toString() ?? "", protocol);
  }

  #httpAt(endpoint: string, token: string | null | undefined): HttpConnection {
    const connection = this.testRun.httpAt(endpoint, token);
    if (connection === undefined) {
      throw new NotApplicable(`it is not known where ${endpoint} serves HTTP: name it with --http-endpoint`);
    }
    return connection;
  }

  /** Checks the hint. After an election during the entry it may be outdated or missing. */
  async #expectLeader(hint: string, protocol: Protocol): Promise<void> {
    if (hint === this.testRun.leadership.endpoint[protocol]) {
      return;
    }
    const { term, endpoint, endpoints } = await this.testRun.findLeader(this.here);
    if (term === this.#term) {
      expect(hint, "trailer leader-endpoint").to.equal(endpoint[protocol]);
    } else {
      expect(hint, "trailer leader-endpoint").to.be.oneOf(["", ...endpoints[protocol]]);
    }
  }

  /** A token whose claims match. The entry is skipped if the run has none. */
  otherToken(what: string, isWanted: (claims: Claims) => boolean, expired = false): string {
    const token = this.testRun.otherToken(isWanted, expired);
    if (token === undefined) {
      throw new NotApplicable(`there is no token ${what}`);
    }
    return token;
  }

  /** The name of a new exclusive lock. */
  async lock(fields: LockFields = {}): Promise<{ readonly namespace: string; readonly name: string }> {
    const lock = { namespace: this.namespace, name: this.name() };
    this.#locks.push({ name: lock.name, rw: false });
    await this.ask(createLock, { ...lock, ...fields });
    return lock;
  }

  /** The name of a new read-write lock. */
  async readWriteLock(fields: LockFields = {}): Promise<{ readonly namespace: string; readonly name: string }> {
    const lock = { namespace: this.namespace, name: this.name() };
    this.#locks.push({ name: lock.name, rw: true });
    await this.ask(createRWLock, { ...lock, ...fields });
    return lock;
  }

  /** The name of a new semaphore. */
  async semaphore(permits: number, ttlSeconds = 0n): Promise<{ readonly namespace: string; readonly name: string }> {
    const semaphore = { namespace: this.namespace, name: this.name() };
    this.#locks.push({ name: semaphore.name, rw: false });
    await this.ask(createSemaphore, { ...semaphore, permits, ttlSeconds });
    return semaphore;
  }

  /** Requests the exclusive lock, with a wait, and returns when the request is queued behind `ahead` others. */
  async queue(
    connection: Connection,
    fields: Partial<AcquireLockRequest>,
    ahead: number,
    options: CallOptions = {},
  ): Promise<Queued<AcquireLockResponse>> {
    const pending = connection.begin(acquireLock, { waitMs: WAIT_MS, ...fields }, options);
    this.#queued.push(pending);
    const { namespace = "", name = "" } = fields;
    return queued(pending, () =>
      until("the request waits", async () => {
        const { waiters } = await this.askElsewhere(describeLock, { namespace, name });
        return waiters === ahead + 1;
      }),
    );
  }

  /** The same for a read-write lock. */
  async queueRW(
    connection: Connection,
    fields: Partial<AcquireRWLockRequest>,
    ahead: number,
    options: CallOptions = {},
  ): Promise<Queued<AcquireRWLockResponse>> {
    const pending = connection.begin(acquireRWLock, { waitMs: WAIT_MS, ...fields }, options);
    this.#queued.push(pending);
    const { namespace = "", name = "" } = fields;
    return queued(pending, () =>
      until("the request waits", async () => {
        const { waitingReaders, waitingWriters } = await this.askElsewhere(describeRWLock, { namespace, name });
        return waitingReaders + waitingWriters === ahead + 1;
      }),
    );
  }

  /** The same for a semaphore. */
  async queueSemaphore(
    connection: Connection,
    fields: Partial<AcquireSemaphoreRequest>,
    ahead: number,
    options: CallOptions = {},
  ): Promise<Queued<AcquireSemaphoreResponse>> {
    const pending = connection.begin(acquireSemaphore, { waitMs: WAIT_MS, ...fields }, options);
    this.#queued.push(pending);
    const { namespace = "", name = "" } = fields;
    return queued(pending, () =>
      until("the request waits", async () => {
        const { waiters } = await this.askElsewhere(describeSemaphore, { namespace, name });
        return waiters === ahead + 1;
      }),
    );
  }

  /** Runs the action at the end of the entry, whether it passed or not. */
  atEnd(action: () => Promise<unknown>): void {
    this.#atEnd.push(action);
  }

  /** Cancels all waiting requests, and releases all holds of the entry. */
  async leave(): Promise<void> {
    for (const action of this.#atEnd) {
      await action();
    }
    for (const { answer, cancel } of this.#queued) {
      cancel();
      await answer;
    }
    for (const { name, rw } of this.#locks) {
      await this.here.call(forceReleaseLock, { namespace: this.namespace, name, rw });
    }
  }
}

/** The end of a refused stream. Opens the stream again while there is no leader. */
function streamEnd<Request, Response>(
  connection: Connection,
  operation: Operation<Request, Response>,
  fields: Partial<Request> | Buffer,
  options: CallOptions,
): Promise<Answer<unknown>> {
  return until(`${operation.name} to be refused`, async () => {
    const answer = await connection.stream(operation, fields, options).ended();
    return answer.code === "UNAVAILABLE" ? null : answer;
  });
}

/** A request that waits for a lock. */
export interface Queued<Response> {
  /** Waits for the response; the call must succeed. */
  granted(): Promise<Response>;
  /** Resolves with any answer. */
  readonly answer: Promise<Answer<Response>>;
  cancel(): void;
}

/** Longer than any entry makes a request wait. */
const WAIT_MS = 45_000n;

async function queued<Response>(
  pending: Pending<Response>,
  untilQueued: () => Promise<unknown>,
): Promise<Queued<Response>> {
  const early = pending.answer.then(({ code, message }) => `answered at once: ${code} ${message}`);
  const first = await Promise.race([untilQueued(), early]);
  if (typeof first === "string") {
    throw new Error(first);
  }
  return {
    answer: pending.answer,
    granted: async () => succeeded(await pending.answer),
    cancel: () => pending.cancel(),
  };
}
