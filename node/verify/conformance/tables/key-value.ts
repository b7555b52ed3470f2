/** KeyValueService: answers of each operation, refusals because of the state, and limits of fields. */

import type { KeyValue } from "@quoin/proto";
import { ReadConsistency } from "@quoin/proto";
import { expect } from "chai";
import {
  areSameBytes,
  compareAndSwap,
  createNamespace,
  deleteKey,
  expectFields,
  type Fields,
  getKey,
  isAbove,
  isAtLeast,
  isPositive,
  isUnixMs,
  isWithinSeconds,
  listKeys,
  listKeyVersions,
  putKey,
  type Table,
  type TestContext,
  touchKey,
  until,
} from "../harness/index.ts";

const KEY_BYTES_MAX = 1_024;
const VALUE_BYTES_MAX = 1024 * 1024;
/** A page of a listing ends at about so many bytes. */
const PAGE_BYTES_MAX = 256 * 1024;
const TTL_SECONDS_MAX = 31_536_000;
const VALUE = Buffer.from("first value");
const OTHER = Buffer.from("second value");
const EMPTY = Buffer.alloc(0);

/** The namespace and name of a key that does not exist. */
function freeKey(context: TestContext): { readonly namespace: string; readonly key: string } {
  return { namespace: context.namespace, key: context.name() };
}

/** A text of this many bytes, with the prefix of the entry's names. */
function textOfBytes(context: TestContext, bytes: number): string {
  const name = `${context.name()}/`;
  return name + "k".repeat(bytes - name.length);
}

function items(response: { readonly items: readonly KeyValue[] }): string[] {
  return response.items.map(({ key }) => key);
}

const creating: Table = {
  name: "CreateNamespace",
  entries: {
    "answers the name, when and at which revision, and everybody sees it": async (context) => {
      const namespace = context.freeNamespaceName();
      const created = await context.ask(createNamespace, { namespace });
      expectFields(created, { namespace, createdAtMs: isUnixMs, revision: isPositive });
      const listed = await context.askElsewhere(listKeys, { namespace });
      expectFields(listed, { items: [], nextPageToken: "", revision: isAtLeast(created.revision) });
      await context.refuses(getKey, { namespace, key: "k" }, "KEY_NOT_FOUND", { connection: context.elsewhere });
    },
    "refuses an existing name, whichever client created it": async (context) => {
      const namespace = context.freeNamespaceName();
      await context.askElsewhere(createNamespace, { namespace });
      await context.refuses(createNamespace, { namespace }, "NAMESPACE_EXISTS");
    },
    "takes 63 characters and one, and all that there may be": async (context) => {
      const start = context.freeNamespaceName();
      await context.ask(createNamespace, { namespace: `${start}${"-".repeat(62 - start.length)}z` });
      await context.ask(createNamespace, { namespace: `${start}..__--0` });
      const tooLong = `${start}${"-".repeat(63 - start.length)}z`;
      await context.refuses(createNamespace, { namespace: tooLong }, "BAD_FIELD", { field: "namespace" });
    },
  },
};

const reading: Table = {
  name: "GetKey",
  entries: {
    "answers value, revisions, version, and no expiry": async (context) => {
      const key = freeKey(context);
      const { modRevision: created } = await context.askElsewhere(putKey, { ...key, value: OTHER });
      const { modRevision } = await context.askElsewhere(putKey, { ...key, value: VALUE });
      expectFields(await context.ask(getKey, key), {
        value: VALUE,
        createRevision: created,
        modRevision,
        version: 2n,
        expiresInMs: 0n,
        sessionId: 0n,
        revision: isAtLeast(modRevision),
      });
    },
    "S14: distinguishes an empty value from an absent key": async (context) => {
      const key = freeKey(context);
      await context.refuses(getKey, key, "KEY_NOT_FOUND");
      await context.ask(putKey, key);
      expect((await context.ask(getKey, key)).value).to.deep.equal(EMPTY);
    },
    "sees what was acknowledged before, and SERIALIZABLE comes to see it": async (context) => {
      const key = freeKey(context);
      for (let turn = 1n; turn <= 5n; turn++) {
        await context.askElsewhere(putKey, { ...key, value: Buffer.from(String(turn)) });
        expect((await context.ask(getKey, key)).version).to.equal(turn);
      }
      await until("the member to have applied it", async () => {
        const answer = await context.here.call(getKey, { ...key, consistency: ReadConsistency.SERIALIZABLE });
        return answer.response?.version === 5n;
      });
    },
    "takes keys of 1,024 bytes, not of one more": async (context) => {
      const key = textOfBytes(context, KEY_BYTES_MAX);
      const { namespace } = context;
      await context.refuses(getKey, { namespace, key }, "KEY_NOT_FOUND");
      await context.refuses(getKey, { namespace, key: `${key}k` }, "TOO_LARGE", { field: "key", limit: KEY_BYTES_MAX });
    },
  },
};

const putting: Table = {
  name: "PutKey",
  entries: {
    "creates and overwrites, and answers what was before if asked": async (context) => {
      const key = freeKey(context);
      const first = await context.ask(putKey, { ...key, value: VALUE, returnPrevious: true });
      const { modRevision } = first;
      expectFields(first, {
        modRevision: isPositive,
        created: true,
        previous: undefined,
        previousValueOmitted: false,
        revision: modRevision,
      });
      const second = await context.ask(putKey, { ...key, value: OTHER, returnPrevious: true });
      expectFields(second, {
        modRevision: isAbove(modRevision),
        created: false,
        previous: {
          key: key.key,
          value: VALUE,
          createRevision: modRevision,
          modRevision,
          version: 1n,
          expiresInMs: 0n,
          sessionId: 0n,
        },
        previousValueOmitted: false,
        revision: second.modRevision,
      });
      const third = await context.ask(putKey, key);
      expect(third.previous).to.equal(undefined);
      expect((await context.askElsewhere(getKey, key)).version).to.equal(3n);
    },
    "writes only over the revision that is expected, 0 = none": async (context) => {
      const key = freeKey(context);
      await context.refuses(putKey, { ...key, expectedModRevision: 1n }, "REVISION_MISMATCH");
      const { modRevision } = await context.ask(putKey, { ...key, expectedModRevision: 0n });
      await context.refuses(putKey, { ...key, expectedModRevision: 0n }, "REVISION_MISMATCH");
      await context.refuses(putKey, { ...key, expectedModRevision: modRevision - 1n }, "REVISION_MISMATCH");
      await context.refuses(putKey, { ...key, expectedModRevision: 2n ** 53n - 1n }, "REVISION_MISMATCH");
      await context.refuses(putKey, { ...key, expectedModRevision: -1n }, "BAD_FIELD", {
        field: "expected_mod_revision",
      });
      await context.ask(putKey, { ...key, expectedModRevision: modRevision });
      expect((await context.askElsewhere(getKey, key)).version).to.equal(2n);
    },
    "S21: a key with a life is there until it ends, then gone, and can be created again": async (context) => {
      const key = freeKey(context);
      const sentMs = performance.now();
      const { modRevision } = await context.ask(putKey, { ...key, value: VALUE, ttlSeconds: 1n });
      const found = await context.elsewhere.call(getKey, key);
      if (found.response !== undefined) {
        expectFields(found.response, {
          value: VALUE,
          createRevision: modRevision,
          modRevision,
          version: 1n,
          expiresInMs: isWithinSeconds(1n),
          sessionId: 0n,
          revision: isAtLeast(modRevision),
        });
      }
      const goneMs = await until("the key to be gone", async () => {
        const answer = await context.elsewhere.call(getKey, key);
        return answer.code === "NOT_FOUND" ? performance.now() : null;
      });
      expect(goneMs - sentMs, "milliseconds that it lived").to.be.at.least(1_000);
      expect((await context.ask(putKey, key)).created).to.equal(true);
      expect((await context.ask(getKey, key)).version).to.equal(1n);
    },
    "a put without a life removes an earlier one": async (context) => {
      const key = freeKey(context);
      await context.ask(putKey, { ...key, ttlSeconds: 60n });
      expect((await context.askElsewhere(getKey, key)).expiresInMs > 0n).to.equal(true);
      await context.ask(putKey, key);
      expect((await context.askElsewhere(getKey, key)).expiresInMs).to.equal(0n);
    },
    "takes a life of one second to one year": async (context) => {
      const key = freeKey(context);
      const limit = { field: "ttl_seconds", limit: TTL_SECONDS_MAX };
      await context.ask(putKey, { ...key, ttlSeconds: BigInt(TTL_SECONDS_MAX) });
      const found = await context.ask(getKey, key);
      expect(found.expiresInMs > BigInt(TTL_SECONDS_MAX - 60) * 1000n).to.equal(true);
      await context.refuses(putKey, { ...key, ttlSeconds: BigInt(TTL_SECONDS_MAX + 1) }, "BAD_FIELD", limit);
      await context.refuses(putKey, { ...key, ttlSeconds: -1n }, "BAD_FIELD", { field: "ttl_seconds" });
    },
    "takes keys of 1,024 bytes and values of 1 MiB, not of one more": async (context) => {
      const named = { namespace: context.namespace, key: textOfBytes(context, KEY_BYTES_MAX) };
      const value = Buffer.alloc(VALUE_BYTES_MAX, "v");
      await context.ask(putKey, { ...named, value });
      expect(areSameBytes((await context.askElsewhere(getKey, named)).value, value)).to.equal(true);
      const larger = Buffer.alloc(VALUE_BYTES_MAX + 1);
      const limits = { field: "value", limit: VALUE_BYTES_MAX };
      await context.refuses(putKey, { ...named, value: larger }, "TOO_LARGE", limits);
      const longer = { ...named, key: `${named.key}k` };
      await context.refuses(putKey, longer, "TOO_LARGE", { field: "key", limit: KEY_BYTES_MAX });
    },
    "counts the bytes of a key, not its characters": async (context) => {
      const short = textOfBytes(context, KEY_BYTES_MAX - 2);
      await context.ask(putKey, { namespace: context.namespace, key: `${short}ä` });
      const { namespace } = context;
      await context.refuses(putKey, { namespace, key: `${short}äa` }, "TOO_LARGE", { field: "key" });
    },
    "refuses a message of more than 4 MiB as gRPC does": async (context) => {
      const fields = { ...freeKey(context), value: Buffer.alloc(5 * 1024 * 1024) };
      expect((await context.here.call(putKey, fields)).code).to.equal("RESOURCE_EXHAUSTED");
    },
    "S19: takes any name, also those that programs have taken": async (context) => {
      for (const end of ["__proto__", "constructor", "toString", "\0", " ", "ı", "\u{1F600}"]) {
        const key = { namespace: context.namespace, key: context.name() + end };
        await context.ask(putKey, { ...key, value: Buffer.from(end) });
        expect((await context.askElsewhere(getKey, key)).value.toString()).to.equal(end);
      }
    },
  },
};

const deleting: Table = {
  name: "DeleteKey",
  entries: {
    "removes a key, and answers what it was if asked": async (context) => {
      const key = freeKey(context);
      const { modRevision } = await context.askElsewhere(putKey, { ...key, value: VALUE });
      const gone = await context.ask(deleteKey, { ...key, returnPrevious: true });
      expectFields(gone, {
        deleted: true,
        previous: {
          key: key.key,
          value: VALUE,
          createRevision: modRevision,
          modRevision,
          version: 1n,
          expiresInMs: 0n,
          sessionId: 0n,
        },
        previousValueOmitted: false,
        revision: isAbove(modRevision),
      });
      await context.refuses(getKey, key, "KEY_NOT_FOUND", { connection: context.elsewhere });
      await context.refuses(deleteKey, key, "KEY_NOT_FOUND");
      const again = await context.ask(putKey, key);
      expect(again.created && again.modRevision > gone.revision).to.equal(true);
      const silent = await context.ask(deleteKey, key);
      expectFields(silent, {
        deleted: true,
        previous: undefined,
        previousValueOmitted: false,
        revision: isAbove(again.revision),
      });
    },
    "removes only the revision that is expected": async (context) => {
      const key = freeKey(context);
      await context.refuses(deleteKey, { ...key, expectedModRevision: 1n }, "KEY_NOT_FOUND");
      const { modRevision } = await context.ask(putKey, key);
      await context.refuses(deleteKey, { ...key, expectedModRevision: modRevision + 1n }, "REVISION_MISMATCH");
      await context.refuses(deleteKey, { ...key, expectedModRevision: 0n }, "REVISION_MISMATCH");
      await context.refuses(deleteKey, { ...key, expectedModRevision: -1n }, "BAD_FIELD", {
        field: "expected_mod_revision",
      });
      await context.ask(deleteKey, { ...key, expectedModRevision: modRevision });
    },
    "takes keys of 1,024 bytes, not of one more": async (context) => {
      const named = { namespace: context.namespace, key: textOfBytes(context, KEY_BYTES_MAX) };
      await context.ask(putKey, named);
      await context.ask(deleteKey, named);
      const longer = { ...named, key: `${named.key}k` };
      await context.refuses(deleteKey, longer, "TOO_LARGE", { field: "key", limit: KEY_BYTES_MAX });
    },
  },
};

const listing: Table = {
  name: "ListKeys",
  entries: {
    "S16: answers keys with all their fields, ordered by the bytes of UTF-8": async (context) => {
      const { namespace } = context;
      const prefix = `${context.name()}/`;
      const expected: Fields<KeyValue>[] = [];
      const ends = ["", "a", "a\0", "b", "ä", "\uffff", "\u{1f600}"];
      for (const end of ends.toReversed()) {
        const value = Buffer.from(`value of ${end}`);
        const { modRevision } = await context.askElsewhere(putKey, { namespace, key: prefix + end, value });
        expected.unshift({
          key: prefix + end,
          value,
          createRevision: modRevision,
          modRevision,
          version: 1n,
          expiresInMs: 0n,
          sessionId: 0n,
        });
      }
      await context.ask(putKey, { namespace, key: `${prefix.slice(0, -1)}0`, value: VALUE });
      const page = await context.ask(listKeys, { namespace, prefix });
      expect(page.items).to.deep.equal(expected);
      expect(page.nextPageToken).to.equal("");
      expect(page.revision >= (page.items[0]?.modRevision ?? 0n)).to.equal(true);
      const names = await context.ask(listKeys, { namespace, prefix, keysOnly: true });
      expect(names.items).to.deep.equal(expected.map((item) => ({ ...item, value: EMPTY })));
    },
    "returns the remaining life of keys that have one": async (context) => {
      const key = freeKey(context);
      await context.ask(putKey, { ...key, ttlSeconds: 60n });
      const { items: found } = await context.ask(listKeys, { namespace: key.namespace, prefix: key.key });
      expect(found.map(({ expiresInMs }) => isWithinSeconds(60n)(expiresInMs))).to.deep.equal([true]);
    },
    "answers page by page, 100 keys unless asked for up to 1,000": async (context) => {
      const { namespace } = context;
      const prefix = `${context.name()}/`;
      const keys = Array.from({ length: 101 }, (_, at) => prefix + String(at).padStart(3, "0"));
      await Promise.all(keys.map((key) => context.ask(putKey, { namespace, key })));
      const first = await context.ask(listKeys, { namespace, prefix });
      expect(items(first)).to.deep.equal(keys.slice(0, 100));
      const second = await context.askElsewhere(listKeys, { namespace, prefix, pageToken: first.nextPageToken });
      expect([items(second), second.nextPageToken]).to.deep.equal([keys.slice(100), ""]);
      expect(items(await context.ask(listKeys, { namespace, prefix, pageSize: 1_000 }))).to.deep.equal(keys);
      const seen: string[] = [];
      for (let pageToken = ""; ; ) {
        const page = await context.ask(listKeys, { namespace, prefix, pageSize: 40, pageToken });
        seen.push(...items(page));
        pageToken = page.nextPageToken;
        if (pageToken === "") {
          break;
        }
      }
      expect(seen).to.deep.equal(keys);
    },
    "ends a page at 256 KiB": async (context) => {
      const { namespace } = context;
      const prefix = `${context.name()}/`;
      const value = Buffer.alloc(PAGE_BYTES_MAX / 2, "v");
      for (const end of ["a", "b", "c"]) {
        await context.ask(putKey, { namespace, key: prefix + end, value });
      }
      const first = await context.ask(listKeys, { namespace, prefix });
      expect(first.items.length).to.be.within(1, 2);
      expect(first.nextPageToken).to.not.equal("");
      expect((await context.ask(listKeys, { namespace, prefix, keysOnly: true })).items).to.have.lengthOf(3);
    },
    "S18: takes a page token only for the listing that it is of, and only as it was given": async (context) => {
      const { namespace } = context;
      const prefix = `${context.name()}/`;
      for (const end of ["a", "b"]) {
        await context.ask(putKey, { namespace, key: prefix + end });
      }
      const { nextPageToken: pageToken } = await context.ask(listKeys, { namespace, prefix, pageSize: 1 });
      const last = pageToken.at(-1) === "A" ? "B" : "A";
      const first = pageToken.at(0) === "A" ? "B" : "A";
      const elsewhere = await context.newNamespace();
      for (const fields of [
        { namespace, prefix: `${prefix}a`, pageToken },
        { namespace, prefix: "", pageToken },
        { namespace: elsewhere, prefix, pageToken },
        { namespace, prefix, pageToken: pageToken.slice(0, -4) },
        { namespace, prefix, pageToken: first + pageToken.slice(1) },
        { namespace, prefix, pageToken: `${pageToken.slice(0, -6)}${last.repeat(6)}` },
        { namespace, prefix, pageToken: "x" },
      ]) {
        await context.refuses(listKeys, fields, "BAD_FIELD", { field: "page_token" });
      }
    },
    "takes prefixes of 1,024 bytes and pages of 1,000, not of one more": async (context) => {
      const { namespace } = context;
      const prefix = textOfBytes(context, KEY_BYTES_MAX);
      await context.ask(listKeys, { namespace, prefix, pageSize: 1_000 });
      const tooLong = { namespace, prefix: `${prefix}k` };
      await context.refuses(listKeys, tooLong, "TOO_LARGE", { field: "prefix", limit: KEY_BYTES_MAX });
      const limit = { field: "page_size", limit: 1_000 };
      await context.refuses(listKeys, { namespace, pageSize: 1_001 }, "BAD_FIELD", limit);
      await context.refuses(listKeys, { namespace, pageSize: -1 }, "BAD_FIELD", { field: "page_size" });
    },
    "SERIALIZABLE comes to see what was written": async (context) => {
      const key = freeKey(context);
      await context.askElsewhere(putKey, key);
      const fields = { namespace: key.namespace, prefix: key.key, consistency: ReadConsistency.SERIALIZABLE };
      await until("the member to have applied it", async () => {
        const answer = await context.here.call(listKeys, fields);
        return answer.response?.items.length === 1;
      });
    },
  },
};

const swapping: Table = {
  name: "CompareAndSwap",
  entries: {
    "without expectations creates a key, and only that": async (context) => {
      const key = freeKey(context);
      const made = await context.ask(compareAndSwap, { ...key, newValue: VALUE });
      const { modRevision } = made;
      expectFields(made, {
        success: true,
        currentExists: true,
        currentValue: VALUE,
        currentValueOmitted: false,
        modRevision: isPositive,
        revision: modRevision,
      });
      const refused = await context.ask(compareAndSwap, { ...key, newValue: OTHER });
      expectFields(refused, {
        success: false,
        currentExists: true,
        currentValue: VALUE,
        currentValueOmitted: false,
        modRevision,
        revision: isAtLeast(modRevision),
      });
      expect((await context.askElsewhere(getKey, key)).value).to.deep.equal(VALUE);
    },
    "answers an absent key as a failed comparison": async (context) => {
      const key = freeKey(context);
      for (const expectation of [{ expectedValue: VALUE }, { expectedValue: EMPTY }, { expectedModRevision: 1n }]) {
        expectFields(await context.ask(compareAndSwap, { ...key, ...expectation, newValue: OTHER }), {
          success: false,
          currentExists: false,
          currentValue: EMPTY,
          currentValueOmitted: false,
          modRevision: 0n,
          revision: isPositive,
        });
      }
      await context.refuses(getKey, key, "KEY_NOT_FOUND");
    },
    "S14: compares values, an empty one too": async (context) => {
      const key = freeKey(context);
      await context.askElsewhere(putKey, key);
      const other = await context.ask(compareAndSwap, { ...key, expectedValue: VALUE, newValue: VALUE });
      expect([other.success, other.currentValue]).to.deep.equal([false, EMPTY]);
      const made = await context.ask(compareAndSwap, { ...key, expectedValue: EMPTY, newValue: VALUE });
      expect([made.success, made.currentValue]).to.deep.equal([true, VALUE]);
      const emptied = await context.ask(compareAndSwap, { ...key, expectedValue: VALUE, newValue: EMPTY });
      expectFields(emptied, {
        success: true,
        currentExists: true,
        currentValue: EMPTY,
        currentValueOmitted: false,
        modRevision: isAbove(made.modRevision),
        revision: emptied.modRevision,
      });
      expect((await context.ask(getKey, key)).version).to.equal(3n);
    },
    "S15: an expected revision distinguishes a restored value from one that stayed": async (context) => {
      const key = freeKey(context);
      const { modRevision } = await context.ask(putKey, { ...key, value: VALUE });
      await context.ask(putKey, { ...key, value: OTHER });
      const { modRevision: back } = await context.ask(putKey, { ...key, value: VALUE });
      const both = { ...key, expectedValue: VALUE, expectedModRevision: modRevision, newValue: OTHER };
      expect((await context.ask(compareAndSwap, both)).success, "both must hold").to.equal(false);
      const wrong = { ...both, expectedValue: OTHER, expectedModRevision: back };
      expect((await context.ask(compareAndSwap, wrong)).success, "both must hold").to.equal(false);
      const right = { ...both, expectedModRevision: back };
      expect((await context.ask(compareAndSwap, right)).success).to.equal(true);
      const none = { ...key, expectedModRevision: 0n, newValue: OTHER };
      expect((await context.ask(compareAndSwap, none)).success, "0 = no such key").to.equal(false);
      await context.ask(deleteKey, key);
      expect((await context.ask(compareAndSwap, none)).success).to.equal(true);
    },
    "gives the key a life on success, and takes an earlier one away": async (context) => {
      const key = freeKey(context);
      await context.ask(compareAndSwap, { ...key, ttlSeconds: 60n });
      expect(isWithinSeconds(60n)((await context.askElsewhere(getKey, key)).expiresInMs)).to.equal(true);
      await context.ask(compareAndSwap, { ...key, expectedValue: EMPTY });
      expect((await context.askElsewhere(getKey, key)).expiresInMs).to.equal(0n);
    },
    "of many at the same time, one wins": async (context) => {
      const key = freeKey(context);
      const attempts = [context.here, context.elsewhere, context.here, context.elsewhere].map(
        async (connection, at) => {
          const answer = await connection.call(compareAndSwap, { ...key, newValue: Buffer.from(String(at)) });
          return answer.response;
        },
      );
      const answers = await Promise.all(attempts);
      const winners = answers.filter((answer) => answer?.success);
      expect(winners).to.have.lengthOf(1);
      const { value } = await context.ask(getKey, key);
      expect(answers.map((answer) => answer?.currentValue)).to.deep.equal(answers.map(() => value));
    },
    "takes keys of 1,024 bytes, values of 1 MiB and lives of a year, not of one more": async (context) => {
      const named = { namespace: context.namespace, key: textOfBytes(context, KEY_BYTES_MAX) };
      const value = Buffer.alloc(VALUE_BYTES_MAX, "v");
      const ttlSeconds = BigInt(TTL_SECONDS_MAX);
      await context.ask(compareAndSwap, { ...named, newValue: value, ttlSeconds });
      const swapped = await context.ask(compareAndSwap, { ...named, expectedValue: value, newValue: EMPTY });
      expect(swapped.success).to.equal(true);
      const larger = Buffer.alloc(VALUE_BYTES_MAX + 1);
      const limit = VALUE_BYTES_MAX;
      await context.refuses(compareAndSwap, { ...named, newValue: larger }, "TOO_LARGE", { field: "new_value", limit });
      const expected = { ...named, expectedValue: larger };
      await context.refuses(compareAndSwap, expected, "TOO_LARGE", { field: "expected_value", limit });
      const longer = { ...named, key: `${named.key}k` };
      await context.refuses(compareAndSwap, longer, "TOO_LARGE", { field: "key", limit: KEY_BYTES_MAX });
      const older = { ...named, ttlSeconds: ttlSeconds + 1n };
      await context.refuses(compareAndSwap, older, "BAD_FIELD", { field: "ttl_seconds", limit: TTL_SECONDS_MAX });
      const before = { ...named, expectedModRevision: -1n };
      await context.refuses(compareAndSwap, before, "BAD_FIELD", { field: "expected_mod_revision" });
    },
  },
};

const touching: Table = {
  name: "TouchKey",
  entries: {
    "gives a key another life, and changes nothing else": async (context) => {
      const key = freeKey(context);
      const { modRevision } = await context.askElsewhere(putKey, { ...key, value: VALUE, ttlSeconds: 5n });
      const touched = await context.ask(touchKey, { ...key, ttlSeconds: 60n });
      expectFields(touched, { modRevision, expiresInMs: isWithinSeconds(60n), revision: isAtLeast(modRevision) });
      expectFields(await context.askElsewhere(getKey, key), {
        value: VALUE,
        createRevision: modRevision,
        modRevision,
        version: 1n,
        expiresInMs: isWithinSeconds(60n),
        sessionId: 0n,
        revision: isAtLeast(touched.revision),
      });
      const { versions } = await context.ask(listKeyVersions, key);
      expect(versions.map(({ kv }) => kv?.modRevision)).to.deep.equal([modRevision]);
      await context.ask(touchKey, key);
      expect((await context.askElsewhere(getKey, key)).expiresInMs, "0 = it does not expire").to.equal(0n);
    },
    "S21: keeps a key for longer than its first life": async (context) => {
      const key = freeKey(context);
      const other = freeKey(context);
      const { modRevision } = await context.ask(putKey, { ...key, ttlSeconds: 1n });
      await context.ask(touchKey, { ...key, ttlSeconds: 60n });
      await context.ask(putKey, { ...other, ttlSeconds: 1n });
      await until("the other key to expire", async () => (await context.here.call(getKey, other)).code === "NOT_FOUND");
      expect((await context.ask(getKey, key)).modRevision).to.equal(modRevision);
      await context.ask(touchKey, { ...key, ttlSeconds: 1n });
      await until("the key to expire", async () => (await context.here.call(getKey, key)).code === "NOT_FOUND");
      await context.refuses(touchKey, key, "KEY_NOT_FOUND");
    },
    "touches only the revision that is expected": async (context) => {
      const key = freeKey(context);
      await context.refuses(touchKey, { ...key, expectedModRevision: 1n }, "KEY_NOT_FOUND");
      const { modRevision } = await context.ask(putKey, key);
      await context.refuses(touchKey, { ...key, expectedModRevision: modRevision + 1n }, "REVISION_MISMATCH");
      await context.refuses(touchKey, { ...key, expectedModRevision: 0n }, "REVISION_MISMATCH");
      const before = { ...key, expectedModRevision: -1n };
      await context.refuses(touchKey, before, "BAD_FIELD", { field: "expected_mod_revision" });
      await context.ask(touchKey, { ...key, expectedModRevision: modRevision });
      await context.ask(touchKey, { ...key, expectedModRevision: modRevision });
    },
    "takes keys of 1,024 bytes and lives of a year, not of one more": async (context) => {
      const named = { namespace: context.namespace, key: textOfBytes(context, KEY_BYTES_MAX) };
      const ttlSeconds = BigInt(TTL_SECONDS_MAX);
      await context.ask(putKey, named);
      await context.ask(touchKey, { ...named, ttlSeconds });
      const longer = { ...named, key: `${named.key}k` };
      await context.refuses(touchKey, longer, "TOO_LARGE", { field: "key", limit: KEY_BYTES_MAX });
      const older = { ...named, ttlSeconds: ttlSeconds + 1n };
      await context.refuses(touchKey, older, "BAD_FIELD", { field: "ttl_seconds", limit: TTL_SECONDS_MAX });
    },
  },
};

export const keyValue: readonly Table[] = [creating, reading, putting, deleting, listing, swapping, touching];
