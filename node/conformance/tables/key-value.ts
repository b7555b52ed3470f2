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
  type Place,
  putKey,
  type Table,
  until,
} from "../harness/index.ts";

const KEY_BYTES_MAX = 1_024;
const VALUE_BYTES_MAX = 1024 * 1024;
const TTL_SECONDS_MAX = 31_536_000;
const VALUE = Buffer.from("first value");
const OTHER = Buffer.from("second value");
const EMPTY = Buffer.alloc(0);

/** The namespace and name of a key that does not exist. */
function freeKey(place: Place): { readonly namespace: string; readonly key: string } {
  return { namespace: place.namespace, key: place.name() };
}

/** A text of this many bytes, with the prefix of the entry's names. */
function textOfBytes(place: Place, bytes: number): string {
  const name = `${place.name()}/`;
  return name + "k".repeat(bytes - name.length);
}

function items(response: { readonly items: readonly KeyValue[] }): string[] {
  return response.items.map(({ key }) => key);
}

const creating: Table = {
  name: "CreateNamespace",
  entries: {
    "answers the name, when and at which revision, and everybody sees it": async (place) => {
      const namespace = place.freeNamespaceName();
      const created = await place.ask(createNamespace, { namespace });
      expectFields(created, { namespace, createdAtMs: isUnixMs, revision: isPositive });
      const listed = await place.askElsewhere(listKeys, { namespace });
      expectFields(listed, { items: [], nextPageToken: "", revision: isAtLeast(created.revision) });
      await place.refuses(getKey, { namespace, key: "k" }, "KEY_NOT_FOUND", { connection: place.elsewhere });
    },
    "refuses an existing name, whichever client created it": async (place) => {
      const namespace = place.freeNamespaceName();
      await place.askElsewhere(createNamespace, { namespace });
      await place.refuses(createNamespace, { namespace }, "NAMESPACE_EXISTS");
    },
    "takes 63 characters and one, and all that there may be": async (place) => {
      const start = place.freeNamespaceName();
      await place.ask(createNamespace, { namespace: `${start}${"-".repeat(62 - start.length)}z` });
      await place.ask(createNamespace, { namespace: `${start}..__--0` });
      const tooLong = `${start}${"-".repeat(63 - start.length)}z`;
      await place.refuses(createNamespace, { namespace: tooLong }, "BAD_FIELD", { field: "namespace" });
    },
  },
};

const reading: Table = {
  name: "GetKey",
  entries: {
    "answers value, revisions, version, and no expiry": async (place) => {
      const key = freeKey(place);
      const { modRevision: created } = await place.askElsewhere(putKey, { ...key, value: OTHER });
      const { modRevision } = await place.askElsewhere(putKey, { ...key, value: VALUE });
      expectFields(await place.ask(getKey, key), {
        value: VALUE,
        createRevision: created,
        modRevision,
        version: 2n,
        expiresInMs: 0n,
        revision: isAtLeast(modRevision),
      });
    },
    "S14: distinguishes an empty value from an absent key": async (place) => {
      const key = freeKey(place);
      await place.refuses(getKey, key, "KEY_NOT_FOUND");
      await place.ask(putKey, key);
      expect((await place.ask(getKey, key)).value).to.deep.equal(EMPTY);
    },
    "sees what was acknowledged before, and SERIALIZABLE comes to see it": async (place) => {
      const key = freeKey(place);
      for (let turn = 1n; turn <= 5n; turn++) {
        await place.askElsewhere(putKey, { ...key, value: Buffer.from(String(turn)) });
        expect((await place.ask(getKey, key)).version).to.equal(turn);
      }
      await until("the member to have applied it", async () => {
        const answer = await place.here.call(getKey, { ...key, consistency: ReadConsistency.SERIALIZABLE });
        return answer.response?.version === 5n;
      });
    },
    "takes keys of 1,024 bytes, not of one more": async (place) => {
      const key = textOfBytes(place, KEY_BYTES_MAX);
      const { namespace } = place;
      await place.refuses(getKey, { namespace, key }, "KEY_NOT_FOUND");
      await place.refuses(getKey, { namespace, key: `${key}k` }, "TOO_LARGE", { field: "key", limit: KEY_BYTES_MAX });
    },
  },
};

const putting: Table = {
  name: "PutKey",
  entries: {
    "creates and overwrites, and answers what was before if asked": async (place) => {
      const key = freeKey(place);
      const first = await place.ask(putKey, { ...key, value: VALUE, returnPrevious: true });
      const { modRevision } = first;
      expectFields(first, {
        modRevision: isPositive,
        created: true,
        previous: undefined,
        previousValueOmitted: false,
        revision: modRevision,
      });
      const second = await place.ask(putKey, { ...key, value: OTHER, returnPrevious: true });
      expectFields(second, {
        modRevision: isAbove(modRevision),
        created: false,
        previous: {
          ...{ key: key.key, value: VALUE, createRevision: modRevision, modRevision, version: 1n, expiresInMs: 0n },
        },
        previousValueOmitted: false,
        revision: second.modRevision,
      });
      const third = await place.ask(putKey, key);
      expect(third.previous).to.equal(undefined);
      expect((await place.askElsewhere(getKey, key)).version).to.equal(3n);
    },
    "writes only over the revision that is expected, 0 = none": async (place) => {
      const key = freeKey(place);
      await place.refuses(putKey, { ...key, expectedModRevision: 1n }, "REVISION_MISMATCH");
      const { modRevision } = await place.ask(putKey, { ...key, expectedModRevision: 0n });
      await place.refuses(putKey, { ...key, expectedModRevision: 0n }, "REVISION_MISMATCH");
      await place.refuses(putKey, { ...key, expectedModRevision: modRevision - 1n }, "REVISION_MISMATCH");
      await place.refuses(putKey, { ...key, expectedModRevision: 2n ** 53n - 1n }, "REVISION_MISMATCH");
      await place.refuses(putKey, { ...key, expectedModRevision: -1n }, "BAD_FIELD", {
        field: "expected_mod_revision",
      });
      await place.ask(putKey, { ...key, expectedModRevision: modRevision });
      expect((await place.askElsewhere(getKey, key)).version).to.equal(2n);
    },
    "S21: a key with a life is there until it ends, then gone, and can be created again": async (place) => {
      const key = freeKey(place);
      const sentMs = performance.now();
      const { modRevision } = await place.ask(putKey, { ...key, value: VALUE, ttlSeconds: 1n });
      const found = await place.elsewhere.call(getKey, key);
      if (found.response !== undefined) {
        expectFields(found.response, {
          value: VALUE,
          createRevision: modRevision,
          modRevision,
          version: 1n,
          expiresInMs: isWithinSeconds(1n),
          revision: isAtLeast(modRevision),
        });
      }
      const goneMs = await until("the key to be gone", async () => {
        const answer = await place.elsewhere.call(getKey, key);
        return answer.code === "NOT_FOUND" ? performance.now() : null;
      });
      expect(goneMs - sentMs, "milliseconds that it lived").to.be.at.least(1_000);
      expect((await place.ask(putKey, key)).created).to.equal(true);
      expect((await place.ask(getKey, key)).version).to.equal(1n);
    },
    "a put without a life removes an earlier one": async (place) => {
      const key = freeKey(place);
      await place.ask(putKey, { ...key, ttlSeconds: 60n });
      expect((await place.askElsewhere(getKey, key)).expiresInMs > 0n).to.equal(true);
      await place.ask(putKey, key);
      expect((await place.askElsewhere(getKey, key)).expiresInMs).to.equal(0n);
    },
    "takes a life of one second to one year": async (place) => {
      const key = freeKey(place);
      const limit = { field: "ttl_seconds", limit: TTL_SECONDS_MAX };
      await place.ask(putKey, { ...key, ttlSeconds: BigInt(TTL_SECONDS_MAX) });
      const found = await place.ask(getKey, key);
      expect(found.expiresInMs > BigInt(TTL_SECONDS_MAX - 60) * 1000n).to.equal(true);
      await place.refuses(putKey, { ...key, ttlSeconds: BigInt(TTL_SECONDS_MAX + 1) }, "BAD_FIELD", limit);
      await place.refuses(putKey, { ...key, ttlSeconds: -1n }, "BAD_FIELD", { field: "ttl_seconds" });
    },
    "takes keys of 1,024 bytes and values of 1 MiB, not of one more": async (place) => {
      const named = { namespace: place.namespace, key: textOfBytes(place, KEY_BYTES_MAX) };
      const value = Buffer.alloc(VALUE_BYTES_MAX, "v");
      await place.ask(putKey, { ...named, value });
      expect(areSameBytes((await place.askElsewhere(getKey, named)).value, value)).to.equal(true);
      const larger = Buffer.alloc(VALUE_BYTES_MAX + 1);
      const limits = { field: "value", limit: VALUE_BYTES_MAX };
      await place.refuses(putKey, { ...named, value: larger }, "TOO_LARGE", limits);
      const longer = { ...named, key: `${named.key}k` };
      await place.refuses(putKey, longer, "TOO_LARGE", { field: "key", limit: KEY_BYTES_MAX });
    },
    "counts the bytes of a key, not its characters": async (place) => {
      const short = textOfBytes(place, KEY_BYTES_MAX - 2);
      await place.ask(putKey, { namespace: place.namespace, key: `${short}ä` });
      const { namespace } = place;
      await place.refuses(putKey, { namespace, key: `${short}äa` }, "TOO_LARGE", { field: "key" });
    },
    "refuses a message of more than 4 MiB as gRPC does": async (place) => {
      const fields = { ...freeKey(place), value: Buffer.alloc(5 * 1024 * 1024) };
      expect((await place.here.call(putKey, fields)).code).to.equal("RESOURCE_EXHAUSTED");
    },
    "S19: takes any name, also those that programs have taken": async (place) => {
      for (const end of ["__proto__", "constructor", "toString", "\0", " ", "ı", "\u{1F600}"]) {
        const key = { namespace: place.namespace, key: place.name() + end };
        await place.ask(putKey, { ...key, value: Buffer.from(end) });
        expect((await place.askElsewhere(getKey, key)).value.toString()).to.equal(end);
      }
    },
  },
};

const deleting: Table = {
  name: "DeleteKey",
  entries: {
    "removes a key, and answers what it was if asked": async (place) => {
      const key = freeKey(place);
      const { modRevision } = await place.askElsewhere(putKey, { ...key, value: VALUE });
      const gone = await place.ask(deleteKey, { ...key, returnPrevious: true });
      expectFields(gone, {
        deleted: true,
        previous: {
          ...{ key: key.key, value: VALUE, createRevision: modRevision, modRevision, version: 1n, expiresInMs: 0n },
        },
        previousValueOmitted: false,
        revision: isAbove(modRevision),
      });
      await place.refuses(getKey, key, "KEY_NOT_FOUND", { connection: place.elsewhere });
      await place.refuses(deleteKey, key, "KEY_NOT_FOUND");
      const again = await place.ask(putKey, key);
      expect(again.created && again.modRevision > gone.revision).to.equal(true);
      const silent = await place.ask(deleteKey, key);
      expectFields(silent, {
        deleted: true,
        previous: undefined,
        previousValueOmitted: false,
        revision: isAbove(again.revision),
      });
    },
    "removes only the revision that is expected": async (place) => {
      const key = freeKey(place);
      await place.refuses(deleteKey, { ...key, expectedModRevision: 1n }, "KEY_NOT_FOUND");
      const { modRevision } = await place.ask(putKey, key);
      await place.refuses(deleteKey, { ...key, expectedModRevision: modRevision + 1n }, "REVISION_MISMATCH");
      await place.refuses(deleteKey, { ...key, expectedModRevision: 0n }, "REVISION_MISMATCH");
      await place.refuses(deleteKey, { ...key, expectedModRevision: -1n }, "BAD_FIELD", {
        field: "expected_mod_revision",
      });
      await place.ask(deleteKey, { ...key, expectedModRevision: modRevision });
    },
    "takes keys of 1,024 bytes, not of one more": async (place) => {
      const named = { namespace: place.namespace, key: textOfBytes(place, KEY_BYTES_MAX) };
      await place.ask(putKey, named);
      await place.ask(deleteKey, named);
      const longer = { ...named, key: `${named.key}k` };
      await place.refuses(deleteKey, longer, "TOO_LARGE", { field: "key", limit: KEY_BYTES_MAX });
    },
  },
};

const listing: Table = {
  name: "ListKeys",
  entries: {
    "S16: answers keys with all their fields, ordered by the bytes of UTF-8": async (place) => {
      const { namespace } = place;
      const prefix = `${place.name()}/`;
      const expected: Fields<KeyValue>[] = [];
      const ends = ["", "a", "a\0", "b", "ä", "\uffff", "\u{1f600}"];
      for (const end of ends.toReversed()) {
        const value = Buffer.from(`value of ${end}`);
        const { modRevision } = await place.askElsewhere(putKey, { namespace, key: prefix + end, value });
        expected.unshift({
          ...{ key: prefix + end, value, createRevision: modRevision, modRevision, version: 1n, expiresInMs: 0n },
        });
      }
      await place.ask(putKey, { namespace, key: `${prefix.slice(0, -1)}0`, value: VALUE });
      const page = await place.ask(listKeys, { namespace, prefix });
      expect(page.items).to.deep.equal(expected);
      expect(page.nextPageToken).to.equal("");
      expect(page.revision >= (page.items[0]?.modRevision ?? 0n)).to.equal(true);
      const names = await place.ask(listKeys, { namespace, prefix, keysOnly: true });
      expect(names.items).to.deep.equal(expected.map((item) => ({ ...item, value: EMPTY })));
    },
    "returns the remaining life of keys that have one": async (place) => {
      const key = freeKey(place);
      await place.ask(putKey, { ...key, ttlSeconds: 60n });
      const { items: found } = await place.ask(listKeys, { namespace: key.namespace, prefix: key.key });
      expect(found.map(({ expiresInMs }) => isWithinSeconds(60n)(expiresInMs))).to.deep.equal([true]);
    },
    "answers page by page, 100 keys unless asked for up to 1,000": async (place) => {
      const { namespace } = place;
      const prefix = `${place.name()}/`;
      const keys = Array.from({ length: 101 }, (_, at) => prefix + String(at).padStart(3, "0"));
      await Promise.all(keys.map((key) => place.ask(putKey, { namespace, key })));
      const first = await place.ask(listKeys, { namespace, prefix });
      expect(items(first)).to.deep.equal(keys.slice(0, 100));
      const second = await place.askElsewhere(listKeys, { namespace, prefix, pageToken: first.nextPageToken });
      expect([items(second), second.nextPageToken]).to.deep.equal([keys.slice(100), ""]);
      expect(items(await place.ask(listKeys, { namespace, prefix, pageSize: 1_000 }))).to.deep.equal(keys);
      const seen: string[] = [];
      for (let pageToken = ""; ; ) {
        const page = await place.ask(listKeys, { namespace, prefix, pageSize: 40, pageToken });
        seen.push(...items(page));
        pageToken = page.nextPageToken;
        if (pageToken === "") {
          break;
        }
      }
      expect(seen).to.deep.equal(keys);
    },
    "ends a page at 1 MiB": async (place) => {
      const { namespace } = place;
      const prefix = `${place.name()}/`;
      const value = Buffer.alloc(VALUE_BYTES_MAX / 2, "v");
      for (const end of ["a", "b", "c"]) {
        await place.ask(putKey, { namespace, key: prefix + end, value });
      }
      const first = await place.ask(listKeys, { namespace, prefix });
      expect(first.items.length).to.be.within(1, 2);
      expect(first.nextPageToken).to.not.equal("");
      expect((await place.ask(listKeys, { namespace, prefix, keysOnly: true })).items).to.have.lengthOf(3);
    },
    "S18: takes a page token only for the listing that it is of, and only as it was given": async (place) => {
      const { namespace } = place;
      const prefix = `${place.name()}/`;
      for (const end of ["a", "b"]) {
        await place.ask(putKey, { namespace, key: prefix + end });
      }
      const { nextPageToken: pageToken } = await place.ask(listKeys, { namespace, prefix, pageSize: 1 });
      const last = pageToken.at(-1) === "A" ? "B" : "A";
      const first = pageToken.at(0) === "A" ? "B" : "A";
      const elsewhere = await place.newNamespace();
      for (const fields of [
        { namespace, prefix: `${prefix}a`, pageToken },
        { namespace, prefix: "", pageToken },
        { namespace: elsewhere, prefix, pageToken },
        { namespace, prefix, pageToken: pageToken.slice(0, -4) },
        { namespace, prefix, pageToken: first + pageToken.slice(1) },
        { namespace, prefix, pageToken: `${pageToken.slice(0, -6)}${last.repeat(6)}` },
        { namespace, prefix, pageToken: "x" },
      ]) {
        await place.refuses(listKeys, fields, "BAD_FIELD", { field: "page_token" });
      }
    },
    "takes prefixes of 1,024 bytes and pages of 1,000, not of one more": async (place) => {
      const { namespace } = place;
      const prefix = textOfBytes(place, KEY_BYTES_MAX);
      await place.ask(listKeys, { namespace, prefix, pageSize: 1_000 });
      const tooLong = { namespace, prefix: `${prefix}k` };
      await place.refuses(listKeys, tooLong, "TOO_LARGE", { field: "prefix", limit: KEY_BYTES_MAX });
      const limit = { field: "page_size", limit: 1_000 };
      await place.refuses(listKeys, { namespace, pageSize: 1_001 }, "BAD_FIELD", limit);
      await place.refuses(listKeys, { namespace, pageSize: -1 }, "BAD_FIELD", { field: "page_size" });
    },
    "SERIALIZABLE comes to see what was written": async (place) => {
      const key = freeKey(place);
      await place.askElsewhere(putKey, key);
      const fields = { namespace: key.namespace, prefix: key.key, consistency: ReadConsistency.SERIALIZABLE };
      await until("the member to have applied it", async () => {
        const answer = await place.here.call(listKeys, fields);
        return answer.response?.items.length === 1;
      });
    },
  },
};

const swapping: Table = {
  name: "CompareAndSwap",
  entries: {
    "without expectations creates a key, and only that": async (place) => {
      const key = freeKey(place);
      const made = await place.ask(compareAndSwap, { ...key, newValue: VALUE });
      const { modRevision } = made;
      expectFields(made, {
        success: true,
        currentExists: true,
        currentValue: VALUE,
        currentValueOmitted: false,
        modRevision: isPositive,
        revision: modRevision,
      });
      const refused = await place.ask(compareAndSwap, { ...key, newValue: OTHER });
      expectFields(refused, {
        success: false,
        currentExists: true,
        currentValue: VALUE,
        currentValueOmitted: false,
        modRevision,
        revision: isAtLeast(modRevision),
      });
      expect((await place.askElsewhere(getKey, key)).value).to.deep.equal(VALUE);
    },
    "answers an absent key as a failed comparison": async (place) => {
      const key = freeKey(place);
      for (const expectation of [{ expectedValue: VALUE }, { expectedValue: EMPTY }, { expectedModRevision: 1n }]) {
        expectFields(await place.ask(compareAndSwap, { ...key, ...expectation, newValue: OTHER }), {
          success: false,
          currentExists: false,
          currentValue: EMPTY,
          currentValueOmitted: false,
          modRevision: 0n,
          revision: isPositive,
        });
      }
      await place.refuses(getKey, key, "KEY_NOT_FOUND");
    },
    "S14: compares values, an empty one too": async (place) => {
      const key = freeKey(place);
      await place.askElsewhere(putKey, key);
      const other = await place.ask(compareAndSwap, { ...key, expectedValue: VALUE, newValue: VALUE });
      expect([other.success, other.currentValue]).to.deep.equal([false, EMPTY]);
      const made = await place.ask(compareAndSwap, { ...key, expectedValue: EMPTY, newValue: VALUE });
      expect([made.success, made.currentValue]).to.deep.equal([true, VALUE]);
      const emptied = await place.ask(compareAndSwap, { ...key, expectedValue: VALUE, newValue: EMPTY });
      expectFields(emptied, {
        success: true,
        currentExists: true,
        currentValue: EMPTY,
        currentValueOmitted: false,
        modRevision: isAbove(made.modRevision),
        revision: emptied.modRevision,
      });
      expect((await place.ask(getKey, key)).version).to.equal(3n);
    },
    "S15: an expected revision distinguishes a restored value from one that stayed": async (place) => {
      const key = freeKey(place);
      const { modRevision } = await place.ask(putKey, { ...key, value: VALUE });
      await place.ask(putKey, { ...key, value: OTHER });
      const { modRevision: back } = await place.ask(putKey, { ...key, value: VALUE });
      const both = { ...key, expectedValue: VALUE, expectedModRevision: modRevision, newValue: OTHER };
      expect((await place.ask(compareAndSwap, both)).success, "both must hold").to.equal(false);
      const wrong = { ...both, expectedValue: OTHER, expectedModRevision: back };
      expect((await place.ask(compareAndSwap, wrong)).success, "both must hold").to.equal(false);
      const right = { ...both, expectedModRevision: back };
      expect((await place.ask(compareAndSwap, right)).success).to.equal(true);
      const none = { ...key, expectedModRevision: 0n, newValue: OTHER };
      expect((await place.ask(compareAndSwap, none)).success, "0 = no such key").to.equal(false);
      await place.ask(deleteKey, key);
      expect((await place.ask(compareAndSwap, none)).success).to.equal(true);
    },
    "gives the key a life on success, and takes an earlier one away": async (place) => {
      const key = freeKey(place);
      await place.ask(compareAndSwap, { ...key, ttlSeconds: 60n });
      expect(isWithinSeconds(60n)((await place.askElsewhere(getKey, key)).expiresInMs)).to.equal(true);
      await place.ask(compareAndSwap, { ...key, expectedValue: EMPTY });
      expect((await place.askElsewhere(getKey, key)).expiresInMs).to.equal(0n);
    },
    "of many at the same time, one wins": async (place) => {
      const key = freeKey(place);
      const attempts = [place.here, place.elsewhere, place.here, place.elsewhere].map(async (connection, at) => {
        const answer = await connection.call(compareAndSwap, { ...key, newValue: Buffer.from(String(at)) });
        return answer.response;
      });
      const answers = await Promise.all(attempts);
      const winners = answers.filter((answer) => answer?.success);
      expect(winners).to.have.lengthOf(1);
      const { value } = await place.ask(getKey, key);
      expect(answers.map((answer) => answer?.currentValue)).to.deep.equal(answers.map(() => value));
    },
    "takes keys of 1,024 bytes, values of 1 MiB and lives of a year, not of one more": async (place) => {
      const named = { namespace: place.namespace, key: textOfBytes(place, KEY_BYTES_MAX) };
      const value = Buffer.alloc(VALUE_BYTES_MAX, "v");
      const ttlSeconds = BigInt(TTL_SECONDS_MAX);
      await place.ask(compareAndSwap, { ...named, newValue: value, ttlSeconds });
      const swapped = await place.ask(compareAndSwap, { ...named, expectedValue: value, newValue: EMPTY });
      expect(swapped.success).to.equal(true);
      const larger = Buffer.alloc(VALUE_BYTES_MAX + 1);
      const limit = VALUE_BYTES_MAX;
      await place.refuses(compareAndSwap, { ...named, newValue: larger }, "TOO_LARGE", { field: "new_value", limit });
      const expected = { ...named, expectedValue: larger };
      await place.refuses(compareAndSwap, expected, "TOO_LARGE", { field: "expected_value", limit });
      const longer = { ...named, key: `${named.key}k` };
      await place.refuses(compareAndSwap, longer, "TOO_LARGE", { field: "key", limit: KEY_BYTES_MAX });
      const older = { ...named, ttlSeconds: ttlSeconds + 1n };
      await place.refuses(compareAndSwap, older, "BAD_FIELD", { field: "ttl_seconds", limit: TTL_SECONDS_MAX });
      const before = { ...named, expectedModRevision: -1n };
      await place.refuses(compareAndSwap, before, "BAD_FIELD", { field: "expected_mod_revision" });
    },
  },
};

export const keyValue: readonly Table[] = [creating, reading, putting, deleting, listing, swapping];
