/** WatchKeys: every change once and in order, from any revision that is still kept. */

import {
  type KeyEvent,
  KeyEvent_Type,
  type KeyValue,
  type WatchKeysRequest,
  type WatchKeysResponse,
} from "@quoin/proto";
import { expect } from "chai";
import {
  type Connection,
  compareAndSwap,
  deleteKey,
  expectFields,
  follow,
  isAtLeast,
  isWithinSeconds,
  putKey,
  type Stream,
  type Table,
  type TestContext,
  touchKey,
  watchKeys,
} from "../harness/index.ts";

const { PUT, DELETE, EXPIRE } = KeyEvent_Type;
const EMPTY = Buffer.alloc(0);
const PREFIX_BYTES_MAX = 1_024;
const INTERVAL_MS_MIN = 100n;
const INTERVAL_MS_MAX = 60_000n;

type Watch = Stream<WatchKeysResponse>;

/** Opens a watch of everything that the entry writes, waits until it is in place, and cancels it after `use`. */
async function watching(
  connection: Connection,
  fields: Partial<WatchKeysRequest>,
  use: (watch: Watch, created: WatchKeysResponse) => Promise<void>,
): Promise<void> {
  const watch = follow(connection, watchKeys, fields);
  try {
    const created = await watch.until("the watch to be in place", ([first]) => first);
    await use(watch, created);
    for (const [at, message] of watch.messages.entries()) {
      expect(message.created, `created in message ${at}`).to.equal(at === 0);
      expect(message.progress && message.events.length > 0, "progress has no events").to.equal(false);
    }
    const revisions = watch.messages.map(({ revision }) => revision);
    expect(
      revisions.toSorted((a, b) => Number(a - b)),
      "revisions only grow",
    ).to.deep.equal(revisions);
  } finally {
    watch.cancel();
  }
}

/** Waits for `count` events, and returns all events so far. */
function events(watch: Watch, count: number): Promise<readonly KeyEvent[]> {
  return watch.until(`${count} events`, (messages) => {
    const all = messages.flatMap((message) => message.events);
    return all.length >= count ? all : null;
  });
}

/** Waits for a message that says that everything up to the revision was delivered. */
function delivered(watch: Watch, revision: bigint): Promise<unknown> {
  return watch.until(`all up to revision ${revision}`, (messages) =>
    messages.some((message) => message.revision >= revision),
  );
}

function revisionOf(event: KeyEvent | undefined): bigint {
  return event?.kv?.modRevision ?? 0n;
}

/** Puts this many keys below the prefix, one after the other, and returns their revisions. */
async function putSome(context: TestContext, prefix: string, count: number): Promise<bigint[]> {
  const revisions: bigint[] = [];
  for (let at = 0; at < count; at++) {
    const connection = at % 2 === 0 ? context.elsewhere : context.here;
    const key = { namespace: context.namespace, key: `${prefix}${at % 3}`, value: Buffer.from(String(at)) };
    const answer = await connection.call(putKey, key);
    revisions.push(answer.response?.modRevision ?? 0n);
  }
  return revisions;
}

function prefixOf(context: TestContext): { readonly namespace: string; readonly prefix: string } {
  return { namespace: context.namespace, prefix: `${context.name()}/` };
}

export const keyWatches: Table = {
  name: "WatchKeys",
  entries: {
    "says first that it is in place, then sends each kind of change": async (context) => {
      const watched = prefixOf(context);
      const key = { namespace: context.namespace, key: `${watched.prefix}k` };
      await watching(context.here, watched, async (watch, created) => {
        expectFields(created, { events: [], created: true, progress: false, partial: false, revision: isAtLeast(1n) });
        const first = await context.askElsewhere(putKey, { ...key, value: Buffer.from("1") });
        const swap = { ...key, expectedValue: Buffer.from("1"), newValue: Buffer.from("2") };
        const second = await context.askElsewhere(compareAndSwap, swap);
        const gone = await context.askElsewhere(deleteKey, key);
        const told = await events(watch, 3);
        const base = { key: key.key, createRevision: first.modRevision, expiresInMs: 0n, sessionId: 0n };
        const [one, two] = [
          { ...base, value: Buffer.from("1"), modRevision: first.modRevision, version: 1n },
          { ...base, value: Buffer.from("2"), modRevision: second.modRevision, version: 2n },
        ];
        expect(told.slice(0, 2)).to.deep.equal([
          { type: PUT, kv: one, previous: undefined },
          { type: PUT, kv: two, previous: undefined },
        ]);
        const { kv, ...last } = told[2] as KeyEvent;
        expect(last).to.deep.equal({ type: DELETE, previous: undefined });
        expect([kv?.key, kv?.value, kv?.modRevision]).to.deep.equal([key.key, Buffer.from("2"), gone.revision]);
      });
    },
    "sends the changes of one key, and not of those that begin with it": async (context) => {
      const { namespace } = context;
      const key = context.name();
      await watching(context.here, { namespace, key }, async (watch) => {
        await context.askElsewhere(putKey, { namespace, key: `${key}k` });
        const { modRevision } = await context.askElsewhere(putKey, { namespace, key });
        const [told] = await events(watch, 1);
        expect([told?.kv?.key, told?.kv?.modRevision]).to.deep.equal([key, modRevision]);
      });
    },
    "sends nothing of a touch, and the end of the life that it gave with the last value": async (context) => {
      const watched = prefixOf(context);
      const key = { namespace: context.namespace, key: `${watched.prefix}k` };
      await watching(context.here, watched, async (watch) => {
        const { modRevision } = await context.ask(putKey, { ...key, value: Buffer.from("v"), ttlSeconds: 60n });
        const sentMs = performance.now();
        await context.askElsewhere(touchKey, { ...key, ttlSeconds: 1n });
        const told = await events(watch, 2);
        expect(performance.now() - sentMs, "S21: never early").to.be.at.least(1_000);
        expect(told.map(({ type }) => type)).to.deep.equal([PUT, EXPIRE]);
        const [put, expire] = told.map(({ kv }) => kv as KeyValue) as [KeyValue, KeyValue];
        expect([put.modRevision, expire.value]).to.deep.equal([modRevision, Buffer.from("v")]);
      });
    },
    "sends the end of a key's life, once, and with its last value": async (context) => {
      const watched = prefixOf(context);
      const key = { namespace: context.namespace, key: `${watched.prefix}k`, value: Buffer.from("v") };
      await watching(context.here, { ...watched, includePrevious: true }, async (watch) => {
        const sentMs = performance.now();
        const { modRevision } = await context.askElsewhere(putKey, { ...key, ttlSeconds: 1n });
        const told = await events(watch, 2);
        expect(performance.now() - sentMs, "S21: never early").to.be.at.least(1_000);
        const [put, expire] = told as [KeyEvent, KeyEvent];
        expect([put.type, expire.type]).to.deep.equal([PUT, EXPIRE]);
        expect(isWithinSeconds(1n)(put.kv?.expiresInMs ?? 0n)).to.equal(true);
        expect([expire.kv?.key, expire.kv?.value]).to.deep.equal([key.key, key.value]);
        expect([revisionOf(expire) > modRevision, expire.previous?.modRevision]).to.deep.equal([true, modRevision]);
        const { modRevision: later } = await context.ask(putKey, { namespace: context.namespace, key: context.name() });
        await delivered(watch, later);
        expect(watch.messages.flatMap((message) => message.events)).to.have.lengthOf(2);
      });
    },
    "S37: resumes behind any revision, at any member, with all that followed and nothing else": async (context) => {
      const watched = prefixOf(context);
      const revisions = await putSome(context, watched.prefix, 12);
      for (const [at, revision] of revisions.entries()) {
        const connection = at % 2 === 0 ? context.here : context.elsewhere;
        await watching(connection, { ...watched, startRevision: revision + 1n }, async (watch) => {
          await delivered(watch, revisions.at(-1) as bigint);
          const told = watch.messages.flatMap((message) => message.events).map(revisionOf);
          expect(told).to.deep.equal(revisions.slice(at + 1));
        });
      }
      await watching(context.here, { ...watched, startRevision: revisions[0] as bigint }, async (watch) => {
        expect((await events(watch, revisions.length)).map(revisionOf), "the start is included").to.deep.equal(
          revisions,
        );
      });
    },
    "S37: waits for a revision that is still to come": async (context) => {
      const watched = prefixOf(context);
      const key = { namespace: context.namespace, key: `${watched.prefix}k` };
      const { modRevision } = await context.ask(putKey, key);
      // Other entries write meanwhile: some of these revisions may be theirs.
      const startRevision = modRevision + 5n;
      await watching(context.here, { ...watched, startRevision }, async (watch) => {
        const written: bigint[] = [];
        while ((written.at(-1) ?? 0n) < startRevision) {
          written.push((await context.askElsewhere(putKey, key)).modRevision);
        }
        const [first] = await events(watch, 1);
        expect(revisionOf(first)).to.equal(written.at(-1));
      });
    },
    "sends the previous value, if requested": async (context) => {
      const watched = prefixOf(context);
      const key = { namespace: context.namespace, key: `${watched.prefix}k` };
      await watching(context.here, { ...watched, includePrevious: true }, async (watch) => {
        await context.ask(putKey, { ...key, value: Buffer.from("1") });
        await context.askElsewhere(putKey, { ...key, value: Buffer.from("2") });
        await context.ask(deleteKey, key);
        const told = await events(watch, 3);
        const kvs = told.map(({ kv }) => kv as KeyValue);
        expect(told.map(({ previous }) => previous)).to.deep.equal([undefined, kvs[0], kvs[1]]);
      });
    },
    "leaves out values, if asked": async (context) => {
      const watched = prefixOf(context);
      const key = { namespace: context.namespace, key: `${watched.prefix}k` };
      await watching(context.here, { ...watched, keysOnly: true, includePrevious: true }, async (watch) => {
        await context.ask(putKey, { ...key, value: Buffer.from("1") });
        await context.ask(deleteKey, key);
        const told = await events(watch, 2);
        const values = told.flatMap(({ kv, previous }) => [kv?.value, previous?.value]);
        expect(values).to.deep.equal([EMPTY, undefined, EMPTY, EMPTY]);
        expect(told.map(({ kv }) => kv?.key)).to.deep.equal([key.key, key.key]);
      });
    },
    "sends only changes of its prefix and namespace": async (context) => {
      const watched = prefixOf(context);
      const { namespace, prefix } = watched;
      const other = await context.newNamespace();
      await watching(context.here, watched, async (watch) => {
        for (const key of [prefix, `${prefix}a`, prefix.slice(0, -1), `${prefix.slice(0, -1)}0`, `x${prefix}`]) {
          await context.ask(putKey, { namespace, key });
        }
        await context.ask(putKey, { namespace: other, key: `${prefix}a` });
        const { modRevision } = await context.ask(putKey, { namespace, key: `${prefix}z` });
        await delivered(watch, modRevision);
        const told = watch.messages.flatMap((message) => message.events).map(({ kv }) => kv?.key);
        expect(told).to.deep.equal([prefix, `${prefix}a`, `${prefix}z`]);
      });
      await watching(context.here, { namespace: other }, async (watch) => {
        await context.askElsewhere(putKey, { namespace: other, key: "k" });
        expect((await events(watch, 1))[0]?.kv?.key, "an empty prefix is every key").to.equal("k");
      });
    },
    "sends its progress when nothing happens, and never less than before": async (context) => {
      const watched = prefixOf(context);
      await watching(context.here, { ...watched, progressIntervalMs: INTERVAL_MS_MIN }, async (watch) => {
        const { modRevision } = await context.askElsewhere(putKey, {
          namespace: context.namespace,
          key: context.name(),
        });
        const progress = await watch.until("progress", (messages) =>
          messages.find((message) => message.progress && message.revision >= modRevision),
        );
        expectFields(progress, {
          events: [],
          created: false,
          progress: true,
          partial: false,
          revision: isAtLeast(modRevision),
        });
      });
    },
    "shows every change once to many watchers, and in one order": async (context) => {
      const watched = prefixOf(context);
      const watches = [context.here, context.elsewhere, context.here].map((at) => follow(at, watchKeys, watched));
      try {
        await Promise.all(watches.map((watch) => watch.until("it to be in place", (messages) => messages.length > 0)));
        const revisions = await putSome(context, watched.prefix, 20);
        for (const watch of watches) {
          expect((await events(watch, revisions.length)).map(revisionOf)).to.deep.equal(revisions);
        }
      } finally {
        for (const watch of watches) {
          watch.cancel();
        }
      }
    },
    "ends when the client's deadline does": async (context) => {
      const watch = context.here.stream(watchKeys, prefixOf(context), { timeoutMs: 300 });
      expect((await watch.ended()).code).to.equal("DEADLINE_EXCEEDED");
    },
    "takes prefixes of 1,024 bytes and intervals of 100 to 60,000 ms, not of one more or less": async (context) => {
      const { namespace } = context;
      const prefix = context.name().padEnd(PREFIX_BYTES_MAX, "p");
      await watching(context.here, { namespace, prefix, progressIntervalMs: INTERVAL_MS_MAX }, async () => undefined);
      const longer = { namespace, prefix: `${prefix}p` };
      await context.refuses(watchKeys, longer, "TOO_LARGE", { field: "prefix", limit: PREFIX_BYTES_MAX });
      for (const progressIntervalMs of [INTERVAL_MS_MIN - 1n, INTERVAL_MS_MAX + 1n, -1n]) {
        const fields = { namespace, progressIntervalMs };
        await context.refuses(watchKeys, fields, "BAD_FIELD", { field: "progress_interval_ms" });
      }
      await context.refuses(watchKeys, { namespace, startRevision: -1n }, "BAD_FIELD", { field: "start_revision" });
    },
  },
};
