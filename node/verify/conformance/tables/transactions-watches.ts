/** Transact: watches deliver all changes of a small transaction in one message, and resume only between revisions. */

import { KeyEvent_Type, LockEvent_Action, type WatchKeysResponse } from "@quoin/proto";
import { expect } from "chai";
import {
  acquireLock,
  type Connection,
  committed,
  follow,
  type Operation,
  putKey,
  type Stream,
  type Table,
  type TestContext,
  watchKeys,
  watchLocks,
} from "../harness/index.ts";

const { PUT, DELETE } = KeyEvent_Type;
const { ACQUIRED, RELEASED } = LockEvent_Action;

interface Message {
  readonly created: boolean;
  readonly revision: bigint;
  readonly events: readonly object[];
}

/** The first message with events at or after the revision of the request. */
async function firstMessage<Request extends { readonly startRevision: bigint }, Response extends Message>(
  connection: Connection,
  operation: Operation<Request, Response>,
  fields: Partial<Request>,
): Promise<Response> {
  const watch: Stream<Response> = follow(connection, operation, fields);
  try {
    return await watch.until("events", (messages) => messages.find(({ events }) => events.length > 0));
  } finally {
    watch.cancel();
  }
}

/** The keys that have changed at the revision, and whether one message has had all of them. Ends the watch. */
async function changesAt(watch: Stream<WatchKeysResponse>, revision: bigint) {
  try {
    const messages = await watch.until(
      "the revision to be complete",
      (all) => (all.at(-1)?.revision ?? 0n) >= revision && all,
    );
    const events = messages.map((one) => one.events.filter(({ kv }) => kv?.modRevision === revision));
    // A watch that a member has ended meanwhile gets all of them again.
    const told = [...new Set(events.flat().map(({ kv }) => kv?.key))];
    return { told, isWhole: events.some(({ length }) => length === told.length) };
  } finally {
    watch.cancel();
  }
}

/** Five changes of keys, among them a key that a nested transaction writes. Returns their revision and what they are. */
async function change(context: TestContext, prefix: string) {
  const { namespace } = context;
  for (const end of ["old", "older"]) {
    await context.ask(putKey, { namespace, key: prefix + end, value: Buffer.from(end) });
  }
  const { revision } = await committed(context, [
    { put: { key: `${prefix}z`, value: Buffer.from("1") } },
    { get: { key: `${prefix}z` } },
    { touch: { key: `${prefix}old`, ttlSeconds: 90n } },
    { deletePrefix: { prefix: `${prefix}old` } },
    { transaction: { success: [{ increment: { key: `${prefix}a`, delta: 2n } }] } },
    { put: { key: `${prefix}b`, value: Buffer.from("3") } },
  ]);
  const changes = [
    [PUT, "z", "1"],
    [DELETE, "old", "old"],
    [DELETE, "older", "older"],
    [PUT, "a", "2"],
    [PUT, "b", "3"],
  ].map(([type, end, value]) => [type, `${prefix}${end}`, value]);
  return { revision, changes };
}

export const transactionWatches: Table = {
  name: "Transact: watches",
  entries: {
    "get all changes of keys in one message, in order, at one revision": async (context) => {
      const { namespace } = context;
      const prefix = `${context.name()}/`;
      const watch = follow(context.elsewhere, watchKeys, { namespace, prefix });
      try {
        await watch.until("the watch to be in place", ([first]) => first);
        const { revision, changes } = await change(context, prefix);
        const message = await watch.until("the transaction", (messages) =>
          messages.find((one) => one.revision >= revision && one.events.some(({ kv }) => kv?.modRevision === revision)),
        );
        const of = message.events.filter(({ kv }) => kv?.modRevision === revision);
        const told = of.map(({ type, kv }) => [type, kv?.key, Buffer.from(kv?.value ?? []).toString()]);
        expect(told).to.deep.equal(changes);
      } finally {
        watch.cancel();
      }
    },
    "resume at its revision with all of them, and behind it with none": async (context) => {
      const { namespace } = context;
      const prefix = `${context.name()}/`;
      const { revision, changes } = await change(context, prefix);
      const { revision: next } = await context.ask(putKey, { namespace, key: `${prefix}next` });
      for (const connection of [context.here, context.elsewhere]) {
        const at = { namespace, prefix, startRevision: revision };
        const { events } = await firstMessage(connection, watchKeys, at);
        expect(events.slice(0, changes.length).map(({ type, kv }) => [type, kv?.key])).to.deep.equal(
          changes.map(([type, key]) => [type, key]),
        );
        expect(events.slice(0, changes.length).every(({ kv }) => kv?.modRevision === revision)).to.equal(true);
        const behind = await firstMessage(connection, watchKeys, { ...at, startRevision: revision + 1n });
        expect(behind.events.map(({ kv }) => kv?.modRevision)).to.deep.equal([next]);
      }
    },
    "get 1,000 changes in one message, in parts only beyond 1 MiB, and resume between these with all of them": async (
      context,
    ) => {
      const { namespace } = context;
      for (const valueBytes of [100, 1_500]) {
        const prefix = `${context.name()}/`;
        const keys = Array.from({ length: 1_000 }, (_, at) => `${prefix}${at}`);
        const value = Buffer.alloc(valueBytes, "v");
        const watch = follow(context.elsewhere, watchKeys, { namespace, prefix });
        await watch.until("the watch to be in place", ([first]) => first);
        const { revision } = await committed(
          context,
          keys.map((key) => ({ put: { key, value } })),
        );
        const { isWhole, told } = await changesAt(watch, revision);
        expect(told).to.deep.equal(keys);
        expect(isWhole, `${valueBytes} bytes each`).to.equal(valueBytes === 100);
        const from = watch.messages.find(({ events }) => events.length > 0)?.revision ?? 0n;
        expect(from, "where a client resumes after the first of them").to.equal(isWhole ? revision : revision - 1n);
        const resumed = await changesAt(
          follow(context.here, watchKeys, { namespace, prefix, startRevision: revision }),
          revision,
        );
        expect(resumed.told).to.deep.equal(keys);
      }
    },
    "of locks get all of its releases, and then the next hold of the lock": async (context) => {
      const { namespace, prefix: namePrefix } = context;
      const locks = [await context.lock(), await context.lock()];
      const holds = [];
      for (const lock of locks) {
        const { fencingToken } = await context.ask(acquireLock, lock);
        holds.push({ lockName: lock.name, fencingToken });
      }
      const waiting = await context.queue(context.here, { ...locks[0], owner: "next" }, 0);
      const key = context.name();
      const { revision } = await committed(context, [
        ...holds.map((hold) => ({ release: { ...hold, rw: false } })),
        { put: { key } },
      ]);
      const { fencingToken } = await waiting.granted();
      const at = { namespace, namePrefix, startRevision: revision };
      const { events } = await firstMessage(context.elsewhere, watchLocks, at);
      expect(events.slice(0, 2).map((event) => [event.action, event.fencingToken, event.revision])).to.deep.equal(
        holds.map((hold) => [RELEASED, hold.fencingToken, revision]),
      );
      const behind = await firstMessage(context.here, watchLocks, { ...at, startRevision: revision + 1n });
      const [granted] = behind.events;
      expect([granted?.action, granted?.fencingToken, granted?.owner]).to.deep.equal([ACQUIRED, fencingToken, "next"]);
      const { events: changes } = await firstMessage(context.here, watchKeys, {
        namespace,
        prefix: key,
        startRevision: revision,
      });
      expect(changes.map(({ kv }) => kv?.modRevision)).to.deep.equal([revision]);
    },
  },
};
