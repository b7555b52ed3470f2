/**
 * Clients that have sessions of a few seconds. They put keys into them and acquire locks of all kinds in them, write keys
 * that they guard, renew them after a third of their time, and later end them or let them die. Other clients look at all
 * of it, and try to write under the guard, until some time after a session is gone.
 */

import type { MethodDefinition } from "@grpc/grpc-js";
import type { Client } from "@quoin/client";
import {
  CreateNamespaceRequest,
  CreateSessionRequest,
  DescribeSessionRequest,
  EndSessionRequest,
  GetKeyRequest,
  ListSessionsRequest,
  PutKeyRequest,
  RenewSessionsRequest,
  serviceDefinitions,
} from "@quoin/proto";
import { type ClusterUnderTest, until } from "../../test/harness/index.ts";
import {
  EXPIRY_LATE_MS_MAX,
  History,
  type LockMode,
  type LockRecord,
  lockCheck,
  type SessionAnswer,
  type SessionOperation,
  type SessionRecord,
  type Span,
  sessionCheck,
} from "../history/index.ts";
import { BackgroundLoad } from "./background-load.ts";
import { pick } from "./fault.ts";
import type { LockInUse } from "./lock-operations.ts";
import { type AskOptions, MemberCalls } from "./member-calls.ts";
import { type LockKind, RecordedLocks } from "./recorded-locks.ts";

const { KeyValueService, SessionService } = serviceDefinitions;
const CLIENTS = 4;
const REST_MS = 40;
/** Of its own, because watchers of locks in other namespaces know no sessions. */
const NAMESPACE = "sessions";
/** Locks in use at a time: the second has a lock delay, which begins when a session with its hold dies. */
const LOCKS: readonly LockKind[] = [
  { rw: false, permits: 0, delaySeconds: 0, hasRegion: false },
  { rw: false, permits: 0, delaySeconds: 1, hasRegion: false },
  { rw: true, permits: 0, delaySeconds: 0, hasRegion: false },
  { rw: false, permits: 4, delaySeconds: 0, hasRegion: false },
];
/** Longer than the lives of most sessions, and shorter than the wait for all holds at the end. */
const HOLD_TTL_MS = 5_000;
/** Sessions that a client keeps alive at a time. */
const OWN_MAX = 3;
const TTLS_MS = [2_000, 3_000, 5_000] as const;
/** Maximum time for which a client renews a session. */
const RENEWED_MS_MAX = 6_000;
const WAITS_MS = [0, 0, 300] as const;
/** Refusals that say that the session is gone, or the key. */
const ABSENCES: ReadonlySet<string> = new Set(["SESSION_NOT_FOUND", "KEY_NOT_FOUND", "FENCED"]);
/** Looks at a session after it was seen to be gone. */
const LOOKS_AFTER_END = 4;
const LAST_READ: AskOptions = { timeoutMs: 5_000, triesMax: 6 };
/** All processes share one clock, and the cluster counts whole milliseconds. */
const CLOCK = { clockDrift: 0, clockResolutionMs: 1 } as const;

/** A session, as its clients know it. */
interface Known {
  readonly id: number;
  readonly ttlMs: number;
  readonly keys: string[];
  readonly holds: { readonly lock: LockInUse; readonly token: number }[];
  /** When its client renews it next, and until when it does so. */
  renewMs: number;
  readonly untilMs: number;
  /** Looks at it since it was seen to be gone. */
  looks: number;
}

export class SessionLoad extends BackgroundLoad {
  readonly #calls: MemberCalls;
  readonly #random: (bound: number) => number;
  readonly #history = new History<SessionOperation, SessionAnswer>(() => performance.now());
  readonly #locks: RecordedLocks;
  /** By client, the sessions that it keeps alive. */
  readonly #own = new Map<string, Known[]>();
  /** All sessions that clients still look at. */
  readonly #known: Known[] = [];
  #hasNamespace = false;
  #keys = 0;
  #gone = 0;

  constructor(cluster: ClusterUnderTest, timeoutMs: number, random: (bound: number) => number) {
    super(cluster, { name: "session", clients: CLIENTS, timeoutMs, restMs: REST_MS });
    this.#random = random;
    this.#calls = new MemberCalls(cluster, random);
    this.#locks = new RecordedLocks(this.#calls, random, NAMESPACE, LOCKS);
  }

  get records(): readonly SessionRecord[] {
    return this.#history.operations;
  }

  get lockRecords(): readonly LockRecord[] {
    return this.#locks.records;
  }

  /** Waits until all sessions, keys and holds are gone. All members must serve again. Rejects if one stays. */
  async untilAllGone(): Promise<void> {
    await until("all sessions to be gone", async () => {
      const request = ListSessionsRequest.fromPartial({ namespace: NAMESPACE });
      const asked = await this.#calls.ask(SessionService.listSessions, request, LAST_READ);
      return asked.kind === "ok" && asked.response.items.length === 0;
    });
    for (const session of this.#known) {
      await this.#describe("last-reader", session.id, LAST_READ);
      for (const key of session.keys) {
        await this.#get("last-reader", session.id, key, LAST_READ);
      }
    }
    await this.#locks.untilAllFree();
  }

  /** Closes the connections. */
  close(): void {
    this.#calls.close();
  }

  /** Descriptions of contradictions in the histories, given that there was a leader at all times except these. */
  judge(leaderless: readonly Span[]): readonly string[] {
    const limits = { ...CLOCK, lateMsMax: EXPIRY_LATE_MS_MAX, leaderless };
    return [...sessionCheck(this.records, this.lockRecords, limits), ...lockCheck(this.lockRecords, limits)];
  }

  /** Results of the load, in words. */
  describe(): readonly string[] {
    const count = (kind: SessionAnswer["kind"]): number => {
      return this.records.filter(({ outcome }) => outcome.kind === "ok" && outcome.answer.kind === kind).length;
    };
    const holds = this.lockRecords.filter(({ operation, outcome }) => {
      return operation.kind === "acquire" && outcome.kind === "ok" && outcome.answer.kind === "acquired";
    });
    return [
      `sessions created ${count("created")}, ended ${count("ended")}, seen gone ${this.#gone}`,
      `sessions: renewals ${count("renewed")}  keys put ${count("put")}  guarded writes ${count("written")}`,
      `locks of all kinds with sessions: holds granted ${holds.length}`,
    ];
  }

  protected override async turn(_client: Client, name: string): Promise<void> {
    if (!this.#hasNamespace) {
      await this.#createNamespace();
      return;
    }
    const own = this.#own.get(name) ?? [];
    this.#own.set(name, own);
    if (await this.#renewDue(name, own)) {
      return;
    }
    const session = own[this.#random(own.length + 1)];
    const dice = this.#random(100);
    if (session === undefined && own.length < OWN_MAX) {
      await this.#create(name, own);
    } else if (session === undefined || dice < 30) {
      await this.#look(name);
    } else if (performance.now() >= session.untilMs) {
      await this.#leave(name, own, session);
    } else if (dice < 50) {
      await this.#put(name, session);
    } else if (dice < 60) {
      await this.#guardedWrite(name, session.id);
    } else {
      await this.#useLock(name, session);
    }
  }

  async #createNamespace(): Promise<void> {
    const request = CreateNamespaceRequest.fromPartial({ namespace: NAMESPACE });
    const asked = await this.#calls.ask(KeyValueService.createNamespace, request);
    this.#hasNamespace ||= asked.kind === "ok" || asked.kind === "refused";
  }

  async #create(name: string, own: Known[]): Promise<void> {
    const ttlMs = pick(this.#random, TTLS_MS);
    const untilMs = performance.now() + this.#random(RENEWED_MS_MAX);
    const request = CreateSessionRequest.fromPartial({ namespace: NAMESPACE, ttlSeconds: BigInt(ttlMs / 1_000) });
    const sentMs = performance.now();
    const answer = await this.#record(
      name,
      { kind: "create", ttlMs },
      SessionService.createSession,
      request,
      ({ sessionId, expiresInMs }) => ({ kind: "created", session: Number(sessionId), lifeMs: Number(expiresInMs) }),
    );
    if (answer?.kind === "created") {
      const { session: id } = answer;
      const session = { id, ttlMs, keys: [], holds: [], renewMs: sentMs + ttlMs / 3, untilMs, looks: 0 };
      own.push(session);
      this.#known.push(session);
    }
  }

  /** Renews the sessions of the client whose time it is, in one call. Returns whether there were any. */
  async #renewDue(name: string, own: Known[]): Promise<boolean> {
    const nowMs = performance.now();
    const due = own.filter(({ renewMs, untilMs }) => renewMs <= nowMs && nowMs < untilMs);
    if (due.length === 0) {
      return false;
    }
    const answers = await this.#renew(
      name,
      due.map(({ id }) => id),
    );
    for (const [at, session] of due.entries()) {
      // Without an answer it is renewed again at once.
      session.renewMs = answers === null ? nowMs : nowMs + session.ttlMs / 3;
      if (answers?.[at]?.kind === "gone") {
        own.splice(own.indexOf(session), 1);
      }
    }
    return true;
  }

  /** The answers in the order of the ids; null if there is none. */
  async #renew(name: string, ids: readonly number[]): Promise<readonly SessionAnswer[] | null> {
    const open = ids.map((session) => this.#history.begin(name, { kind: "renew", session }));
    const request = RenewSessionsRequest.fromPartial({
      namespace: NAMESPACE,
      sessions: ids.map((id) => ({ sessionId: BigInt(id) })),
    });
    const asked = await this.#calls.ask(SessionService.renewSessions, request);
    if (asked.kind !== "ok") {
      for (const one of open) {
        one.end({ kind: asked.kind === "unknown" ? "unknown" : "not-executed" });
      }
      return null;
    }
    const revision = Number(asked.response.revision);
    return open.map((one, at) => {
      const lifeMs = Number(asked.response.sessions[at]?.expiresInMs);
      const answer: SessionAnswer = lifeMs > 0 ? { kind: "renewed", lifeMs, revision } : { kind: "gone", revision };
      one.end({ kind: "ok", answer });
      return answer;
    });
  }

  /** Ends the session, or lets it die. */
  async #leave(name: string, own: Known[], session: Known): Promise<void> {
    own.splice(own.indexOf(session), 1);
    if (this.#random(2) === 0) {
      const request = EndSessionRequest.fromPartial({ namespace: NAMESPACE, sessionId: BigInt(session.id) });
      await this.#record(
        name,
        { kind: "end", session: session.id },
        SessionService.endSession,
        request,
        ({ revision }) => ({ kind: "ended", revision: Number(revision) }),
      );
    }
  }

  async #put(name: string, session: Known): Promise<void> {
    this.#keys++;
    const key = `session-key-${this.#keys}`;
    const request = PutKeyRequest.fromPartial({ namespace: NAMESPACE, key, sessionId: BigInt(session.id) });
    session.keys.push(key);
    await this.#record(
      name,
      { kind: "put", session: session.id, key },
      KeyValueService.putKey,
      request,
      ({ modRevision }) => ({ kind: "put", revision: Number(modRevision) }),
    );
  }

  /** Writes a key of the client, guarded by the session. */
  #guardedWrite(name: string, session: number): Promise<SessionAnswer | null> {
    const guard = { sessionId: BigInt(session) };
    const request = PutKeyRequest.fromPartial({ namespace: NAMESPACE, key: `guarded-by-a-session-${name}`, guard });
    return this.#record(
      name,
      { kind: "guarded-write", session },
      KeyValueService.putKey,
      request,
      ({ modRevision }) => ({ kind: "written", revision: Number(modRevision) }),
    );
  }

  /** Acquires a lock in the session, or permits without it; releases a hold of it, or reads a lock. */
  async #useLock(name: string, session: Known): Promise<void> {
    const lock = await this.#locks.some();
    if (lock === null) {
      return;
    }
    const dice = this.#random(10);
    const held = session.holds[0];
    if (dice < 5) {
      const asked = { kind: "acquire", lock: lock.name, owner: this.#locks.newOwner() } as const;
      const waitMs = pick(this.#random, WAITS_MS);
      const isPermits = lock.permits > 0;
      const mode: LockMode = isPermits ? "permits" : !lock.rw ? "exclusive" : this.#random(2) === 0 ? "write" : "read";
      const permits = isPermits ? { permits: 1 + this.#random(lock.permits) } : {};
      // Holds with a time to live compete with those of sessions for permits.
      const isIn = !isPermits || this.#random(3) > 0;
      const life = isIn ? { ttlMs: 0, session: session.id } : { ttlMs: HOLD_TTL_MS };
      const answer = await this.#locks.do(name, lock, { ...asked, mode, waitMs, ...permits, ...life });
      if (answer?.kind === "acquired") {
        session.holds.push({ lock, token: answer.token });
      }
    } else if (dice < 7 && held !== undefined) {
      session.holds.shift();
      await this.#locks.do(name, held.lock, { kind: "release", lock: held.lock.name, token: held.token });
    } else {
      await this.#locks.do(name, lock, { kind: "describe", lock: lock.name });
    }
  }

  /** Looks at a session of any client, at one of its keys, or at the lock of one of its holds. */
  async #look(name: string): Promise<void> {
    const session = this.#known[this.#random(this.#known.length)];
    if (session === undefined) {
      return;
    }
    const { id, keys, holds } = session;
    const held = holds[this.#random(holds.length + 1)];
    const dice = this.#random(3);
    if (dice === 0 && held !== undefined) {
      await this.#locks.do(name, held.lock, { kind: "describe", lock: held.lock.name });
      return;
    }
    const isKey = dice === 1 && keys.length > 0;
    const answer = isKey
      ? await this.#get(name, id, pick(this.#random, keys), {})
      : session.looks === 0
        ? await this.#describe(name, id, {})
        : this.#random(2) === 0
          ? await this.#guardedWrite(name, id)
          : ((await this.#renew(name, [id]))?.[0] ?? null);
    // The put of a key may have failed: only the session itself shows that it is gone.
    if (answer?.kind === "gone" && !isKey) {
      this.#gone += Number(session.looks === 0);
      session.looks++;
    }
    if (session.looks > LOOKS_AFTER_END && this.#known.includes(session)) {
      this.#known.splice(this.#known.indexOf(session), 1);
    }
  }

  #get(name: string, session: number, key: string, options: AskOptions): Promise<SessionAnswer | null> {
    const request = GetKeyRequest.fromPartial({ namespace: NAMESPACE, key });
    return this.#record(
      name,
      { kind: "get", session, key },
      KeyValueService.getKey,
      request,
      ({ sessionId, revision }) => ({ kind: "found", session: Number(sessionId), revision: Number(revision) }),
      options,
    );
  }

  #describe(name: string, session: number, options: AskOptions): Promise<SessionAnswer | null> {
    const request = DescribeSessionRequest.fromPartial({ namespace: NAMESPACE, sessionId: BigInt(session) });
    return this.#record(
      name,
      { kind: "describe", session },
      SessionService.describeSession,
      request,
      ({ keys, holds, revision }) => {
        const tokens = holds.map(({ fencingToken }) => Number(fencingToken));
        return { kind: "described", keys, tokens, revision: Number(revision) };
      },
      options,
    );
  }

  /** Performs and records the operation. Returns the answer; null if it is not known. */
  async #record<Request, Response>(
    name: string,
    operation: SessionOperation,
    method: MethodDefinition<Request, Response>,
    request: Request,
    answerOf: (response: Response) => SessionAnswer,
    options: AskOptions = {},
  ): Promise<SessionAnswer | null> {
    const open = this.#history.begin(name, operation);
    const asked = await this.#calls.ask(method, request, options);
    if (asked.kind === "ok" || asked.kind === "refused") {
      const answer = asked.kind === "ok" ? answerOf(asked.response) : absenceFor(asked.reason);
      open.end({ kind: "ok", answer });
      return answer;
    }
    // A read has no effect, so without an answer it counts as not executed.
    const isRead = operation.kind === "get" || operation.kind === "describe";
    open.end({ kind: asked.kind === "unknown" && !isRead ? "unknown" : "not-executed" });
    return null;
  }
}

/** Throws an Error for a refusal that says anything else. */
function absenceFor(reason: string): SessionAnswer {
  if (!ABSENCES.has(reason)) {
    throw new Error(`a request about a session was refused because of ${reason}`);
  }
  return { kind: "gone", revision: null };
}
