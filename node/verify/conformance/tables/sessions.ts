/** SessionService: creation, renewal, end and time to live of sessions, and the keys that belong to them. */

import { KeyEvent_Type, ReadConsistency, RWMode, type Session } from "@quoin/proto";
import { expect } from "chai";
import {
  acquireLock,
  acquireRWLock,
  acquireSemaphore,
  type Connection,
  compareAndSwap,
  createLock,
  createRWLock,
  createSemaphore,
  createSession,
  deleteKey,
  describeRWLock,
  describeSemaphore,
  describeSession,
  endSession,
  expectFields,
  expectReplay,
  follow,
  getKey,
  isAbove,
  isAtLeast,
  isPositive,
  isUnixMs,
  isWithinSeconds,
  listKeys,
  listSessions,
  type Operation,
  putKey,
  refusesTransaction,
  renewSessions,
  succeeded,
  type Table,
  type TestContext,
  touchKey,
  transact,
  transaction,
  until,
  watchKeys,
} from "../harness/index.ts";

const TTL_SECONDS_MAX = 86_400n;
const LABEL_BYTES_MAX = 256;
const METADATA_BYTES_MAX = 1_024;
const RENEWED_MAX = 500;
const OBJECTS_MAX = 1_000;
const SESSION_BYTES_MAX = 4 * 1_024 * 1_024;
const VALUE_BYTES_MAX = 1_024 * 1_024;
/** No revision is so high, so no session ever has this id. */
const NO_SESSION = 2n ** 52n;
const VALUE = Buffer.from("v");

/** A session of the caller, which ends with the entry. */
async function newSession(context: TestContext, ttlSeconds = 600n) {
  const { namespace } = context;
  const { sessionId } = await context.ask(createSession, { namespace, ttlSeconds });
  context.atEnd(() => context.here.call(endSession, { namespace, sessionId }));
  return { namespace, sessionId };
}

/** The member under test, as another user who may write. */
async function otherUser(context: TestContext): Promise<Connection> {
  const { token } = await context.newUser("member");
  return context.testRun.at(context.here.endpoint, token);
}

/** Puts this many keys into the session, in turns at both members. */
async function putInto(context: TestContext, sessionId: bigint, count: number): Promise<readonly string[]> {
  const { namespace } = context;
  const prefix = `${context.name()}/`;
  const keys = Array.from({ length: count }, (_, at) => `${prefix}${at}`);
  for (const [at, key] of keys.entries()) {
    const ask = at % 2 === 0 ? context.ask.bind(context) : context.askElsewhere.bind(context);
    await ask(putKey, { namespace, key, value: VALUE, sessionId });
  }
  return keys;
}

const creating: Table = {
  name: "CreateSession",
  entries: {
    "answers the id, which is the revision, and everybody sees the session": async (context) => {
      const { namespace } = context;
      const metadata = Buffer.from([0, 255]);
      const fields = { namespace, ttlSeconds: 60n, owner: "o", metadata };
      const created = await context.ask(createSession, fields);
      expectFields(created, { sessionId: isPositive, expiresInMs: isWithinSeconds(60n), revision: created.sessionId });
      const target = { namespace, sessionId: created.sessionId };
      context.atEnd(() => context.here.call(endSession, target));
      const described = await context.askElsewhere(describeSession, target);
      expectFields(described, {
        session: (value: object) => value === described.session,
        keys: (value: unknown) => Array.isArray(value) && value.length === 0,
        holds: (value: unknown) => Array.isArray(value) && value.length === 0,
        revision: isAtLeast(created.revision),
      });
      expectFields(described.session as Session, {
        sessionId: created.sessionId,
        owner: "o",
        subject: context.testRun.claims.sub,
        metadata: (value: Uint8Array) => Buffer.from(value).equals(metadata),
        ttlSeconds: 60n,
        expiresInMs: isWithinSeconds(60n),
        createdAtMs: isUnixMs,
        objects: 0n,
      });
    },
    "gives it the caller's id as its label if there is none, and each an id of its own": async (context) => {
      const [one, other] = [await newSession(context), await newSession(context)];
      expect(other.sessionId > one.sessionId).to.equal(true);
      const { session } = await context.ask(describeSession, one);
      expect(session?.owner).to.equal(context.testRun.claims.sub);
    },
    "takes lives of 1 s to a day, labels of 256 bytes and metadata of 1 KiB, not of one more": async (context) => {
      const { namespace } = context;
      const owner = "ä".repeat(LABEL_BYTES_MAX / 2);
      const metadata = Buffer.alloc(METADATA_BYTES_MAX);
      for (const ttlSeconds of [1n, TTL_SECONDS_MAX]) {
        const created = await context.ask(createSession, { namespace, ttlSeconds, owner, metadata });
        expect(isWithinSeconds(ttlSeconds)(created.expiresInMs)).to.equal(true);
        await context.ask(endSession, { namespace, sessionId: created.sessionId });
      }
      for (const ttlSeconds of [0n, -1n, TTL_SECONDS_MAX + 1n]) {
        const details = { field: "ttl_seconds", limit: Number(TTL_SECONDS_MAX) };
        await context.refuses(createSession, { namespace, ttlSeconds }, "BAD_FIELD", details);
      }
      const valid = { namespace, ttlSeconds: 1n };
      const longer = { ...valid, owner: `${owner}o` };
      await context.refuses(createSession, longer, "TOO_LARGE", { field: "owner", limit: LABEL_BYTES_MAX });
      const larger = { ...valid, metadata: Buffer.alloc(METADATA_BYTES_MAX + 1) };
      await context.refuses(createSession, larger, "BAD_FIELD", { field: "metadata", limit: METADATA_BYTES_MAX });
    },
    "is executed once, however often it is repeated": async (context) => {
      const namespace = await context.newNamespace();
      await expectReplay(context, createSession, { namespace, ttlSeconds: 600n });
      const { items } = await context.ask(listSessions, { namespace });
      expect(items).to.have.lengthOf(1);
    },
  },
};

const renewing: Table = {
  name: "RenewSessions",
  entries: {
    "lets each live for its whole time again, in the order of the request, and tells which have ended": async (
      context,
    ) => {
      const { namespace } = context;
      const [one, ended, other] = [
        await newSession(context, 60n),
        await newSession(context),
        await newSession(context),
      ];
      await context.ask(endSession, ended);
      const sessions = [other, ended, one, { sessionId: NO_SESSION }, one].map(({ sessionId }) => ({ sessionId }));
      const { revision } = await context.ask(describeSession, one);
      const renewed = await context.askElsewhere(renewSessions, { namespace, sessions });
      expect(renewed.sessions).to.deep.equal([
        { sessionId: other.sessionId, expiresInMs: 600_000n },
        { sessionId: ended.sessionId, expiresInMs: 0n },
        { sessionId: one.sessionId, expiresInMs: 60_000n },
        { sessionId: NO_SESSION, expiresInMs: 0n },
        { sessionId: one.sessionId, expiresInMs: 60_000n },
      ]);
      expect(renewed.revision >= revision).to.equal(true);
    },
    "takes 1 to 500 sessions, not one more": async (context) => {
      // These are the whole share of a user, and other entries renew meanwhile.
      const connection = await otherUser(context);
      const { namespace } = context;
      const { sessionId } = succeeded(await connection.call(createSession, { namespace, ttlSeconds: 600n }));
      context.atEnd(() => context.here.call(endSession, { namespace, sessionId, force: true }));
      const sessions = Array.from({ length: RENEWED_MAX }, () => ({ sessionId }));
      const renewed = succeeded(await connection.call(renewSessions, { namespace, sessions }));
      expect(renewed.sessions).to.have.lengthOf(RENEWED_MAX);
      for (const wrong of [[], [...sessions, { sessionId }]]) {
        const details = { field: "sessions", limit: RENEWED_MAX };
        await context.refuses(renewSessions, { namespace, sessions: wrong }, "BAD_FIELD", details);
      }
      const bad = { namespace, sessions: [{ sessionId }, { sessionId: 0n }] };
      await context.refuses(renewSessions, bad, "BAD_FIELD", { field: "sessions[1].session_id" });
    },
    "changes nothing for a session of another user, and knows a session only in its namespace": async (context) => {
      const { namespace, sessionId } = await newSession(context);
      const elsewhere = await context.newNamespace();
      const sessions = [{ sessionId }];
      const inOther = await context.ask(renewSessions, { namespace: elsewhere, sessions });
      expect(inOther.sessions).to.deep.equal([{ sessionId, expiresInMs: 0n }]);
      const connection = await otherUser(context);
      const byOther = succeeded(await connection.call(renewSessions, { namespace, sessions }));
      expect(byOther.sessions).to.deep.equal([{ sessionId, expiresInMs: 0n }]);
      await context.ask(describeSession, { namespace, sessionId });
    },
    "keeps a session beyond its first life": async (context) => {
      const kept = await newSession(context, 2n);
      const bystander = await newSession(context, 2n);
      const sessions = [{ sessionId: kept.sessionId }];
      await until("a session of the same first life to end", async () => {
        await context.ask(renewSessions, { namespace: kept.namespace, sessions });
        return (await context.here.call(describeSession, bystander)).code !== "OK";
      });
      await context.askElsewhere(describeSession, kept);
      await context.refuses(describeSession, bystander, "SESSION_NOT_FOUND");
    },
  },
};

const ending: Table = {
  name: "EndSession",
  entries: {
    "ends it with all of its keys at one revision, which watches see as deletions": async (context) => {
      const { namespace, sessionId } = await newSession(context);
      const keys = await putInto(context, sessionId, 3);
      const [first = ""] = keys;
      const prefix = first.slice(0, -1);
      const watch = follow(context.elsewhere, watchKeys, { namespace, prefix });
      await watch.until("the watch", (messages) => messages.length > 0);
      const ended = await context.askElsewhere(endSession, { namespace, sessionId });
      expectFields(ended, { endedObjects: 3n, revision: isAbove(sessionId) });
      const { events } = await watch.until("the deletions", (messages) =>
        messages.find((one) => one.events.length > 0),
      );
      watch.cancel();
      expect(events.map(({ type, kv }) => [type, kv?.key, kv?.modRevision])).to.deep.equal(
        keys.map((key) => [KeyEvent_Type.DELETE, key, ended.revision]),
      );
      expect((await context.ask(listKeys, { namespace, prefix })).items).to.deep.equal([]);
      await context.refuses(endSession, { namespace, sessionId }, "SESSION_NOT_FOUND");
      await context.refuses(describeSession, { namespace, sessionId }, "SESSION_NOT_FOUND");
    },
    "is a change also without keys": async (context) => {
      const target = await newSession(context);
      const ended = await context.ask(endSession, target);
      expectFields(ended, { endedObjects: 0n, revision: isAbove(target.sessionId) });
    },
    "of another user's session needs force, and the access admin for it": async (context) => {
      const target = await newSession(context);
      const connection = await otherUser(context);
      await context.refuses(endSession, target, "ACCESS_DENIED", { connection });
      await context.refuses(endSession, { ...target, force: true }, "ACCESS_DENIED", { connection });
      const fields = { namespace: context.namespace, ttlSeconds: 600n };
      const { sessionId } = succeeded(await connection.call(createSession, fields));
      const ofOther = { namespace: context.namespace, sessionId };
      await context.refuses(endSession, ofOther, "ACCESS_DENIED");
      await context.ask(endSession, { ...ofOther, force: true });
    },
    "is executed once, however often it is repeated": async (context) => {
      const target = await newSession(context);
      await putInto(context, target.sessionId, 1);
      await expectReplay(context, endSession, target);
    },
  },
};

const living: Table = {
  name: "Sessions: time to live",
  entries: {
    "S21, S22: end when their life is over, never early, with all keys at one revision": async (context) => {
      const { namespace } = context;
      const sentMs = performance.now();
      const { sessionId } = await context.ask(createSession, { namespace, ttlSeconds: 1n });
      const prefix = `${context.name()}/`;
      const watch = follow(context.elsewhere, watchKeys, { namespace, prefix });
      await watch.until("the watch", (messages) => messages.length > 0);
      const put = transaction(context, {
        success: ["a", "b"].map((name) => ({ put: { key: prefix + name, value: VALUE, sessionId } })),
      });
      await context.ask(transact, put);
      const events = () => watch.messages.flatMap(({ events: some }) => some);
      await watch.until("the end of both keys", () => events().length === 4);
      expect(performance.now() - sentMs, "milliseconds that it lived").to.be.at.least(1_000);
      watch.cancel();
      const [, , ...ends] = events();
      expect(ends.map(({ type, kv }) => [type, kv?.key])).to.deep.equal([
        [KeyEvent_Type.EXPIRE, `${prefix}a`],
        [KeyEvent_Type.EXPIRE, `${prefix}b`],
      ]);
      expect(ends[0]?.kv?.modRevision).to.equal(ends[1]?.kv?.modRevision);
      await context.refuses(describeSession, { namespace, sessionId }, "SESSION_NOT_FOUND");
    },
    "a key with a shorter life of its own ends before its session": async (context) => {
      const target = await newSession(context);
      const key = { namespace: target.namespace, key: context.name() };
      await context.ask(putKey, { ...key, ttlSeconds: 1n, sessionId: target.sessionId });
      await until("the key to end", async () => (await context.elsewhere.call(getKey, key)).code === "NOT_FOUND");
      expect((await context.ask(describeSession, target)).session?.objects).to.equal(0n);
    },
  },
};

const owning: Table = {
  name: "Sessions: keys",
  entries: {
    "have the keys that were last written with their id": async (context) => {
      const one = await newSession(context);
      const other = await newSession(context);
      const { namespace, sessionId } = one;
      const [kept = "", freed = "", moved = "", swapped = "", removed = ""] = await putInto(context, sessionId, 5);
      await context.ask(putKey, { namespace, key: freed });
      await context.askElsewhere(putKey, { namespace, key: moved, sessionId: other.sessionId });
      await context.ask(compareAndSwap, { namespace, key: swapped, expectedValue: VALUE, newValue: VALUE });
      await context.ask(deleteKey, { namespace, key: removed });
      await context.ask(touchKey, { namespace, key: kept, ttlSeconds: 600n });
      const keysOf = async (target: typeof one) => (await context.askElsewhere(describeSession, target)).keys;
      expect([await keysOf(one), await keysOf(other)]).to.deep.equal([[kept], [moved]]);
      const increment = { success: [{ increment: { key: `${kept}n` } }, { put: { key: `${kept}p`, sessionId } }] };
      await context.ask(transact, transaction(context, increment));
      const swap = { namespace, key: swapped, expectedValue: VALUE, sessionId };
      expect((await context.ask(compareAndSwap, swap)).success).to.equal(true);
      expect(await keysOf(one)).to.deep.equal([kept, `${kept}p`, swapped]);
      expect((await context.ask(getKey, { namespace, key: swapped })).sessionId).to.equal(sessionId);
      expect((await context.ask(describeSession, one)).session?.objects).to.equal(3n);
      expect((await context.ask(getKey, { namespace, key: freed })).sessionId).to.equal(0n);
    },
    "are refused if there is no such session, or it belongs to another user": async (context) => {
      const { namespace, sessionId } = await newSession(context);
      const key = { namespace, key: context.name() };
      const connection = await otherUser(context);
      const refusals = async <Request, Response>(operation: Operation<Request, Response>, fields: Partial<Request>) => {
        const into = (id: bigint) => ({ ...fields, sessionId: id });
        await context.refuses(operation, into(NO_SESSION), "SESSION_NOT_FOUND");
        await context.refuses(operation, into(sessionId), "ACCESS_DENIED", { connection });
        await context.refuses(operation, into(-1n), "BAD_FIELD", { field: "session_id" });
      };
      await refusals(putKey, key);
      await refusals(compareAndSwap, key);
      const put = { success: [{ put: { key: key.key, sessionId: NO_SESSION } }] };
      await refusesTransaction(context, put, "SESSION_NOT_FOUND", "success[0]");
      await context.refuses(getKey, key, "KEY_NOT_FOUND");
    },
    "are compared in transactions, as is whether a session lives": async (context) => {
      const target = await newSession(context);
      const { sessionId } = target;
      const [key = ""] = await putInto(context, sessionId, 1);
      const holds = async (compare: object) =>
        (await context.ask(transact, transaction(context, { compare: [compare] }))).succeeded;
      expect(await holds({ sessionId })).to.equal(true);
      expect(await holds({ key: { key, sessionId } })).to.equal(true);
      expect(await holds({ key: { key, sessionId: sessionId + 1n } })).to.equal(false);
      expect(await holds({ key: { key: context.name(), sessionId: 0n } })).to.equal(true);
      await context.ask(endSession, target);
      expect(await holds({ sessionId })).to.equal(false);
      const wrong = { compare: [{ sessionId: 0n }] };
      await refusesTransaction(context, wrong, "BAD_FIELD", undefined, { field: "compare[0].session_id" });
    },
    "SERIALIZABLE comes to see a session": async (context) => {
      const target = await newSession(context);
      const fields = { ...target, consistency: ReadConsistency.SERIALIZABLE };
      await until("the member to have applied it", async () => {
        return (await context.elsewhere.call(describeSession, fields)).code === "OK";
      });
    },
  },
};

const holding: Table = {
  name: "Sessions: holds",
  entries: {
    "locks, read-write locks and semaphores can be held in a session, and are free when it ends": async (context) => {
      const { namespace, sessionId } = await newSession(context);
      const [lock, rwLock, semaphore] = [context.name(), context.name(), context.name()];
      await context.ask(createLock, { namespace, name: lock });
      await context.ask(createRWLock, { namespace, name: rwLock });
      await context.ask(createSemaphore, { namespace, name: semaphore, permits: 2 });
      const held = await context.ask(acquireLock, { namespace, name: lock, sessionId });
      expect([held.acquired, held.ttlSeconds, held.expiresInMs, held.holder?.sessionId]).to.deep.equal([
        true,
        0n,
        0n,
        sessionId,
      ]);
      const read = await context.ask(acquireRWLock, { namespace, name: rwLock, mode: RWMode.READ, sessionId });
      const permit = await context.askElsewhere(acquireSemaphore, {
        namespace,
        name: semaphore,
        permits: 2,
        sessionId,
      });
      const { session, holds } = await context.ask(describeSession, { namespace, sessionId });
      expect(session?.objects).to.equal(3n);
      const shown = holds.map(({ lockName, fencingToken, rw }) => [lockName, fencingToken, rw]);
      expect(shown).to.have.deep.members([
        [lock, held.fencingToken, false],
        [rwLock, read.fencingToken, true],
        [semaphore, permit.fencingToken, false],
      ]);
      const next = context.elsewhere.call(acquireLock, { namespace, name: lock, waitMs: 20_000n });
      expect((await context.ask(endSession, { namespace, sessionId })).endedObjects).to.equal(3n);
      expect(succeeded(await next).acquired).to.equal(true);
      expect((await context.ask(describeRWLock, { namespace, name: rwLock })).holders).to.deep.equal([]);
      expect((await context.askElsewhere(describeSemaphore, { namespace, name: semaphore })).heldPermits).to.equal(0);
    },
    "a hold in a session has no time to live of its own, and a renewal takes no session": async (context) => {
      const { namespace, sessionId } = await newSession(context);
      const name = context.name();
      await context.ask(createLock, { namespace, name });
      const both = { namespace, name, sessionId, ttlSeconds: 5n };
      await context.refuses(acquireLock, both, "BAD_FIELD", { field: "ttl_seconds" });
      await context.refuses(acquireLock, { namespace, name, sessionId: -1n }, "BAD_FIELD", { field: "session_id" });
      const { fencingToken } = await context.ask(acquireLock, { namespace, name, sessionId });
      const renewal = { namespace, name, fencingToken };
      await context.refuses(acquireLock, { ...renewal, sessionId }, "BAD_FIELD", { field: "session_id" });
      expect((await context.ask(acquireLock, renewal)).holder?.sessionId).to.equal(sessionId);
    },
    "refuses holds in a session that is not there, or not the caller's": async (context) => {
      const { namespace, sessionId } = await newSession(context);
      const name = context.name();
      await context.ask(createLock, { namespace, name });
      await context.refuses(acquireLock, { namespace, name, sessionId: NO_SESSION }, "SESSION_NOT_FOUND");
      const other = await otherUser(context);
      const { code } = await other.call(acquireLock, { namespace, name, sessionId });
      expect(code).to.equal("PERMISSION_DENIED");
    },
    "a session guards writes, also those of others, until it ends": async (context) => {
      const { namespace, sessionId } = await newSession(context);
      const key = context.name();
      const guard = { lockName: "", fencingToken: 0n, rw: false, sessionId };
      await context.ask(putKey, { namespace, key, value: VALUE, guard });
      const named = { namespace, key, guard: { ...guard, lockName: "l" } };
      await context.refuses(putKey, named, "BAD_FIELD", { field: "guard.session_id" });
      const none = { namespace, key, guard: { ...guard, sessionId: 0n } };
      await context.refuses(putKey, none, "BAD_FIELD", { field: "guard.session_id" });
      await context.ask(endSession, { namespace, sessionId });
      await context.refuses(putKey, { namespace, key, value: VALUE, guard }, "FENCED");
    },
  },
};

const listing: Table = {
  name: "ListSessions",
  entries: {
    "has all of the namespace in the order of their creation, page by page": async (context) => {
      const namespace = await context.newNamespace();
      const ids: bigint[] = [];
      for (let at = 0; at < 3; at++) {
        ids.push((await context.ask(createSession, { namespace, ttlSeconds: 600n })).sessionId);
      }
      const first = await context.ask(listSessions, { namespace, pageSize: 2 });
      expect(first.nextPageToken).to.not.equal("");
      const fields = { namespace, pageSize: 2, pageToken: first.nextPageToken };
      const second = await context.askElsewhere(listSessions, fields);
      expect([...first.items, ...second.items].map(({ sessionId }) => sessionId)).to.deep.equal(ids);
      expect(second.nextPageToken).to.equal("");
      await context.refuses(listSessions, { ...fields, namespace: context.namespace }, "BAD_FIELD", {
        field: "page_token",
      });
    },
  },
};

const bounds: Table = {
  name: "Sessions: bounds",
  alone: true,
  entries: {
    "1,000 keys of one session, which end together": async (context) => {
      const { namespace, sessionId } = await newSession(context);
      const prefix = `${context.name()}/`;
      const put = (at: number) => ({ put: { key: `${prefix}${at}`, sessionId } });
      const puts = Array.from({ length: OBJECTS_MAX }, (_, at) => put(at));
      await context.ask(transact, transaction(context, { success: puts }));
      const one = await context.refuses(putKey, { namespace, key: context.name(), sessionId }, "QUOTA");
      expect(one.details?.metadata.get("quota")).to.equal("session.objects");
      await context.ask(putKey, { namespace, key: `${prefix}0`, value: VALUE, sessionId });
      expect((await context.ask(endSession, { namespace, sessionId })).endedObjects).to.equal(BigInt(OBJECTS_MAX));
      expect((await context.askElsewhere(listKeys, { namespace, prefix })).items).to.deep.equal([]);
    },
    "4 MiB of keys with their values": async (context) => {
      const { namespace, sessionId } = await newSession(context);
      const prefix = `${context.name()}/`;
      let left = SESSION_BYTES_MAX;
      for (let at = 0; left > 0; at++) {
        const key = `${prefix}${at}`;
        const value = Buffer.alloc(Math.min(VALUE_BYTES_MAX, left - Buffer.byteLength(key)));
        await context.ask(putKey, { namespace, key, value, sessionId });
        left -= value.length + Buffer.byteLength(key);
      }
      const more = await context.refuses(putKey, { namespace, key: `${prefix}n`, sessionId }, "QUOTA");
      expect(more.details?.metadata.get("quota")).to.equal("session.bytes");
    },
  },
};

export const sessions: readonly Table[] = [creating, renewing, ending, living, owning, holding, listing, bounds];
