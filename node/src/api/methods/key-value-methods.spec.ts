import {
  CreateNamespaceRequest,
  GetKeyRequest,
  type KeyValue,
  type ListKeysRequest,
  type ListKeysResponse,
  ReadConsistency,
  serviceDefinitions,
} from "@quoin/proto";
import { expect } from "chai";
import { type FieldsOf, GrpcPorts, ok, verdict } from "../../../test/harness/index.ts";
import { CoordinationError } from "../../state/index.ts";

const service = serviceDefinitions.KeyValueService;

function text(bytes: Uint8Array | undefined): string | undefined {
  return bytes === undefined ? undefined : Buffer.from(bytes).toString();
}

describe("KeyValueService", () => {
  let ports: GrpcPorts;

  beforeEach(async () => {
    ports = await GrpcPorts.founded();
  });

  afterEach(() => ports.close());

  const put = (fields: FieldsOf<typeof service.putKey>) =>
    ports.owner.ask(service.putKey, { namespace: "default", ...fields });
  const get = (fields: FieldsOf<typeof service.getKey>) =>
    ports.owner.ask(service.getKey, { namespace: "default", ...fields });
  const remove = (fields: FieldsOf<typeof service.deleteKey>) =>
    ports.owner.ask(service.deleteKey, { namespace: "default", ...fields });
  const swap = (fields: FieldsOf<typeof service.compareAndSwap>) =>
    ports.owner.ask(service.compareAndSwap, { namespace: "default", ...fields });
  const touch = (fields: FieldsOf<typeof service.touchKey>) =>
    ports.owner.ask(service.touchKey, { namespace: "default", ...fields });
  const list = (fields: FieldsOf<typeof service.listKeys>) =>
    ports.owner.ask(service.listKeys, { namespace: "default", ...fields });

  /** Every page, from the first to the last. */
  async function pages(fields: Parameters<typeof ListKeysRequest.fromPartial>[0]): Promise<ListKeysResponse[]> {
    const all: ListKeysResponse[] = [];
    let pageToken = "";
    do {
      const page = ok(await list({ ...fields, pageToken }));
      all.push(page);
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    return all;
  }

  describe("CreateNamespace", () => {
    const create = (namespace: string) => ports.owner.ask(service.createNamespace, { namespace });

    it("creates a namespace once, at its own revision and time", async () => {
      expect(ok(await create("prod"))).deep.equal({
        namespace: "prod",
        createdAtMs: BigInt(ports.member.cluster.clock.wall),
        revision: 2n,
      });
      expect(verdict(await create("prod"))).deep.equal(["ALREADY_EXISTS", "NAMESPACE_EXISTS"]);
      expect(verdict(await create("default"))).deep.equal(["ALREADY_EXISTS", "NAMESPACE_EXISTS"]);
      expect((await put({ namespace: "prod", key: "k" })).code).equal("OK");
    });

    it("takes names of 63 characters and names with a meaning in JavaScript; not __proto__, for its edges (S19)", async () => {
      for (const name of ["a".repeat(63), "constructor", "tostring", "valueof"]) {
        expect((await create(name)).code, name).equal("OK");
        expect((await put({ namespace: name, key: "k" })).code).equal("OK");
      }
      for (const name of ["a".repeat(64), "__proto__", "A", ""]) {
        expect(verdict(await create(name)), name).deep.equal(["INVALID_ARGUMENT", "BAD_FIELD", "namespace"]);
      }
    });

    it("needs the access admin, and the name in the token's list or *", async () => {
      const request = CreateNamespaceRequest.fromPartial({ namespace: "prod" });
      const member = ports.caller(await ports.token({ role: "member" }));
      expect(verdict(await member.call(service.createNamespace, request))).deep.equal([
        ...["PERMISSION_DENIED", "ACCESS_DENIED"],
      ]);
      const elsewhere = ports.caller(await ports.token({ role: "admin", namespaces: ["prod-eu"] }));
      expect(verdict(await elsewhere.call(service.createNamespace, request))).deep.equal([
        ...["PERMISSION_DENIED", "NAMESPACE_DENIED"],
      ]);
      const admin = ports.caller(await ports.token({ role: "admin", namespaces: ["prod"] }));
      expect((await admin.call(service.createNamespace, request)).code).equal("OK");
    });
  });

  describe("DeleteNamespace", () => {
    const listed = async () => ok(await ports.owner.ask(service.listNamespaces, { prefix: "prod" })).namespaces;
    const deletion = (fields: FieldsOf<typeof service.deleteNamespace>) =>
      ports.owner.ask(service.deleteNamespace, fields);

    it("deletes a namespace, which is listed as one that is being deleted until nothing of it is left", async () => {
      ok(await ports.owner.ask(service.createNamespace, { namespace: "prod" }));
      ok(await put({ namespace: "prod", key: "k" }));
      const refused = await deletion({ namespace: "prod" });
      expect(verdict(refused)).deep.equal(["FAILED_PRECONDITION", "NOT_EMPTY"]);
      expect(refused.details?.metadata.get("keys")).equal("1");
      expect((await listed())[0]).include({ name: "prod", deleting: false });
      expect(ok(await deletion({ namespace: "prod", recursive: true }))).deep.equal({ revision: 4n });
      expect(ok(await deletion({ namespace: "prod" }))).deep.equal({ revision: 4n });
      const [prod] = await listed();
      expect(prod?.deleting).equal(true);
      expect(prod?.quotas.find(({ name }) => name === "keys")?.used).equal(1n);
      expect(verdict(await get({ namespace: "prod", key: "k" }))).deep.equal(["NOT_FOUND", "NAMESPACE_NOT_FOUND"]);
      const again = await ports.owner.ask(service.createNamespace, { namespace: "prod" });
      expect(verdict(again)).deep.equal(["FAILED_PRECONDITION", "NAMESPACE_DELETING"]);
      ports.replica.lead({ kind: "erase-namespaces", rowsMax: 100 });
      ports.replica.lead({ kind: "erase-namespaces", rowsMax: 100 });
      expect(await listed()).deep.equal([]);
      expect(verdict(await deletion({ namespace: "prod" }))).deep.equal(["NOT_FOUND", "NAMESPACE_NOT_FOUND"]);
      ok(await ports.owner.ask(service.createNamespace, { namespace: "prod" }));
    });

    it("never deletes the namespace that every cluster has", async () => {
      const refused = await deletion({ namespace: "default", recursive: true });
      expect(verdict(refused)).deep.equal(["INVALID_ARGUMENT", "BAD_FIELD", "namespace"]);
    });
  });

  describe("GetKey", () => {
    it("returns the value, its history and the revision at which they are true (S48)", async () => {
      ok(await put({ key: "k", value: Buffer.from("one") }));
      ok(await put({ key: "k", value: Buffer.from("two") }));
      ok(await put({ key: "other" }));
      const { value, ...rest } = ok(await get({ key: "k" }));
      expect(text(value)).equal("two");
      expect(rest).deep.equal({
        createRevision: 2n,
        modRevision: 3n,
        version: 2n,
        expiresInMs: 0n,
        sessionId: 0n,
        revision: 4n,
      });
    });

    it("distinguishes an empty value from a missing key (S14)", async () => {
      ok(await put({ key: "empty" }));
      expect(ok(await get({ key: "empty" })).value).have.length(0);
      expect(verdict(await get({ key: "absent" }))).deep.equal(["NOT_FOUND", "KEY_NOT_FOUND"]);
      expect(verdict(await get({ namespace: "nowhere", key: "k" }))).deep.equal(["NOT_FOUND", "NAMESPACE_NOT_FOUND"]);
    });

    it("reads after one read barrier, and not at all if the barrier fails", async () => {
      const { cluster } = ports.member;
      ok(await put({ key: "k" }));
      cluster.barriers.length = 0;
      ok(await get({ key: "k" }));
      expect(cluster.barriers).have.length(1);
      cluster.onBarrier = (done) => done(new CoordinationError("NO_LEADER", "no leader"));
      expect(verdict(await get({ key: "k" }))).deep.equal(["UNAVAILABLE", "NO_LEADER"]);
    });

    it("reads the state after the barrier, never the state before it", async () => {
      const { cluster } = ports.member;
      ok(await put({ key: "k", value: Buffer.from("old") }));
      cluster.onBarrier = (done) => {
        ports.replica.execute({
          principal: { subject: cluster.ownerId, apiKeyId: cluster.apiKeyId },
          request: { requestId: new Uint8Array(16) },
          operation: {
            kind: "put-key",
            namespace: "default",
            key: Buffer.from("k"),
            value: Buffer.from("new"),
            ttlSeconds: 0,
            expectedModRevision: undefined,
            returnPrevious: false,
          },
        });
        done(null);
      };
      expect(text(ok(await get({ key: "k" })).value)).equal("new");
    });

    it("checks the caller again after the barrier, so that a revocation takes effect", async () => {
      const { cluster } = ports.member;
      ok(await put({ key: "k" }));
      cluster.onBarrier = (done) => {
        cluster.changeApiKey({ revokedAtMs: 1 });
        done(null);
      };
      expect(verdict(await get({ key: "k" }))).deep.equal(["UNAUTHENTICATED", "TOKEN_REVOKED"]);
    });

    it("reads serializable, but not on a member without a leader", async () => {
      ok(await put({ key: "k", value: Buffer.from("v") }));
      const request = { key: "k", consistency: ReadConsistency.SERIALIZABLE };
      expect(text(ok(await get(request)).value)).equal("v");
      ports.replica.leaderId = 0;
      const refused = await get(request);
      expect(verdict(refused)).deep.equal(["UNAVAILABLE", "NO_LEADER"]);
      expect(refused.trailers.get("outcome")).deep.equal(["not-executed"]);
    });

    it("needs the access read", async () => {
      ok(await put({ key: "k" }));
      const viewer = ports.caller(await ports.token({ role: "viewer", namespaces: ["default"] }));
      const request = GetKeyRequest.fromPartial({ namespace: "default", key: "k" });
      expect((await viewer.call(service.getKey, request)).code).equal("OK");
    });
  });

  describe("PutKey", () => {
    it("creates, overwrites and counts", async () => {
      expect(ok(await put({ key: "k" }))).deep.equal({
        modRevision: 2n,
        created: true,
        previous: undefined,
        previousValueOmitted: false,
        revision: 2n,
      });
      expect(ok(await put({ key: "k" }))).deep.equal({
        modRevision: 3n,
        created: false,
        previous: undefined,
        previousValueOmitted: false,
        revision: 3n,
      });
    });

    it("takes a key of 1,024 bytes and a value of 1 MiB, and no more", async () => {
      const largest = { key: "\u00e9".repeat(512), value: Buffer.alloc(1_048_576, "x") };
      ok(await put(largest));
      expect(ok(await get({ key: largest.key })).value).have.length(1_048_576);
      const key = await put({ ...largest, key: `${largest.key}a` });
      expect(verdict(key)).deep.equal(["INVALID_ARGUMENT", "TOO_LARGE", "key"]);
      const value = await put({ ...largest, value: Buffer.alloc(1_048_577) });
      expect(verdict(value)).deep.equal(["INVALID_ARGUMENT", "TOO_LARGE", "value"]);
      expect(value.message).to.include("1048577").and.include("1048576");
      expect(verdict(await put({ key: "" }))).deep.equal(["INVALID_ARGUMENT", "BAD_FIELD", "key"]);
    });

    it("keeps keys apart that JavaScript would mix up (S19)", async () => {
      const keys = ["__proto__", "constructor", "hasOwnProperty", "toString", "\ufeffa", "a", "\0", "a\0b"];
      for (const key of keys) {
        expect(verdict(await get({ key }))).deep.equal(["NOT_FOUND", "KEY_NOT_FOUND"]);
      }
      for (const key of keys) {
        expect(ok(await put({ key, value: Buffer.from(`value of ${key}`) })).created).equal(true);
      }
      for (const key of keys) {
        expect(text(ok(await get({ key })).value)).equal(`value of ${key}`);
      }
      const [page] = await pages({});
      expect(page?.items.map(({ key }) => key)).have.members(keys);
    });

    it("compares the expected revision, 0 for a key that must not exist", async () => {
      expect(verdict(await put({ key: "k", expectedModRevision: 1 }))).deep.equal([
        ...["FAILED_PRECONDITION", "REVISION_MISMATCH"],
      ]);
      ok(await put({ key: "k", expectedModRevision: 0 }));
      const mismatch = await put({ key: "k", expectedModRevision: 0 });
      expect(verdict(mismatch)).deep.equal(["FAILED_PRECONDITION", "REVISION_MISMATCH"]);
      expect(mismatch.details?.metadata.get("mod_revision")).equal("2");
      ok(await put({ key: "k", expectedModRevision: 2 }));
      expect(verdict(await put({ key: "k", expectedModRevision: -1 }))).deep.equal([
        ...["INVALID_ARGUMENT", "BAD_FIELD", "expected_mod_revision"],
      ]);
    });

    it("returns the previous key, if requested", async () => {
      expect(
        ok(await put({ key: "k", value: Buffer.from("one"), ttlSeconds: 5, returnPrevious: true })).previous,
      ).equal(undefined);
      ports.replica.tickMs += 1_000;
      const { previous } = ok(await put({ key: "k", returnPrevious: true }));
      expect(text(previous?.value)).equal("one");
      expect({ ...previous, value: undefined }).deep.equal({
        key: "k",
        value: undefined,
        createRevision: 2n,
        modRevision: 2n,
        version: 1n,
        expiresInMs: 4_000n,
        sessionId: 0n,
      });
    });

    it("counts the remaining time to live down by the cluster tick, to 1 and not to 0 (S20, S21)", async () => {
      ok(await put({ key: "k", ttlSeconds: 10 }));
      for (const [ticks, left] of [
        [0, 10_000n],
        [3_000, 7_000n],
        [6_999, 1n],
        [1, 1n],
        [60_000, 1n],
      ] as const) {
        ports.replica.tickMs += ticks;
        ports.member.cluster.clock.wall += 1;
        expect(ok(await get({ key: "k" })).expiresInMs).equal(left);
      }
      ok(await put({ key: "k" }));
      expect(ok(await get({ key: "k" })).expiresInMs, "a put without a time to live removes an earlier one").equal(0n);
    });

    it("takes a time to live of up to a year", async () => {
      ok(await put({ key: "k", ttlSeconds: 31_536_000 }));
      expect(ok(await get({ key: "k" })).expiresInMs).equal(31_536_000_000n);
      for (const ttlSeconds of [-1, 31_536_001]) {
        expect(verdict(await put({ key: "k", ttlSeconds }))).deep.equal([
          "INVALID_ARGUMENT",
          "BAD_FIELD",
          "ttl_seconds",
        ]);
      }
    });

    it("writes under a guard only while that hold is live, checked after the namespace and before the key", async () => {
      const { createLock, acquireLock, releaseLock } = serviceDefinitions.LockService;
      const lock = { namespace: "default", name: "l" };
      const fenced = ["ABORTED", "FENCED"];
      const absent = { lockName: "l", fencingToken: 1n };
      expect(verdict(await remove({ key: "absent", guard: absent })), "no such lock").deep.equal(fenced);
      ok(await ports.owner.ask(createLock, lock));
      const { fencingToken } = ok(await ports.owner.ask(acquireLock, lock));
      const guard = { lockName: "l", fencingToken };
      expect(verdict(await put({ namespace: "nowhere", key: "k", guard }))).deep.equal([
        ...["NOT_FOUND", "NAMESPACE_NOT_FOUND"],
      ]);
      expect((await put({ key: "k", guard })).code).equal("OK");
      expect(verdict(await remove({ key: "absent", guard }))).deep.equal(["NOT_FOUND", "KEY_NOT_FOUND"]);
      const wrong = { lockName: "l", fencingToken: fencingToken + 1n };
      const otherKind = { ...guard, rw: true };
      for (const one of [wrong, otherKind]) {
        expect(verdict(await put({ key: "k", guard: one }))).deep.equal(fenced);
      }
      ok(await ports.owner.ask(releaseLock, { ...lock, fencingToken }));
      for (const call of [put, remove, swap]) {
        expect(verdict(await call({ key: "k", guard }))).deep.equal(fenced);
      }
      expect((await get({ key: "k" })).response?.version, "refused, it changed nothing").equal(1n);
    });
  });

  describe("DeleteKey", () => {
    it("removes a key, at its own revision", async () => {
      ok(await put({ key: "k", value: Buffer.from("v") }));
      const { previous, ...rest } = ok(await remove({ key: "k", returnPrevious: true }));
      expect(rest).deep.equal({ deleted: true, previousValueOmitted: false, revision: 3n });
      expect(text(previous?.value)).equal("v");
      expect(verdict(await get({ key: "k" }))).deep.equal(["NOT_FOUND", "KEY_NOT_FOUND"]);
      expect(verdict(await remove({ key: "k" }))).deep.equal(["NOT_FOUND", "KEY_NOT_FOUND"]);
      expect(ok(await put({ key: "k" })).created, "it starts again").equal(true);
      expect(ok(await get({ key: "k" })).version).equal(1n);
    });

    it("compares the expected revision, after it has found the key", async () => {
      ok(await put({ key: "k" }));
      expect(verdict(await remove({ key: "k", expectedModRevision: 1 }))).deep.equal([
        ...["FAILED_PRECONDITION", "REVISION_MISMATCH"],
      ]);
      expect(verdict(await remove({ key: "absent", expectedModRevision: 1 }))).deep.equal([
        "NOT_FOUND",
        "KEY_NOT_FOUND",
      ]);
      expect(ok(await remove({ key: "k", expectedModRevision: 2 })).previous).equal(undefined);
    });
  });

  describe("CompareAndSwap", () => {
    const bytes = (value: string) => Buffer.from(value);

    it("without an expectation requires that the key does not exist", async () => {
      expect(ok(await swap({ key: "k", newValue: bytes("one") }))).deep.include({ success: true, modRevision: 2n });
      const failed = ok(await swap({ key: "k", newValue: bytes("two") }));
      expect(text(failed.currentValue)).equal("one");
      expect(failed).deep.include({ success: false, currentExists: true, modRevision: 2n, revision: 2n });
    });

    it("distinguishes an empty expected value from none (S14)", async () => {
      const absent = ok(await swap({ key: "k", expectedValue: bytes(""), newValue: bytes("x") }));
      expect(absent).deep.include({ success: false, currentExists: false, modRevision: 0n });
      ok(await put({ key: "k" }));
      expect(ok(await swap({ key: "k", newValue: bytes("x") })).success, "must not exist").equal(false);
      const swapped = ok(await swap({ key: "k", expectedValue: bytes(""), newValue: bytes("x") }));
      expect(swapped).deep.include({ success: true, currentExists: true, modRevision: 3n, revision: 3n });
      expect(text(swapped.currentValue)).equal("x");
    });

    it("by value cannot see that a value was changed and changed back; by revision it can (S15)", async () => {
      for (const value of ["a", "b", "a"]) {
        ok(await put({ key: "k", value: bytes(value) }));
      }
      const byRevision = { key: "k", expectedModRevision: 2, newValue: bytes("c") };
      expect(ok(await swap(byRevision)).success).equal(false);
      expect(ok(await swap({ ...byRevision, expectedValue: bytes("a") })).success, "both must hold").equal(false);
      expect(ok(await swap({ key: "k", expectedValue: bytes("a"), newValue: bytes("c") })).success).equal(true);
    });

    it("checks its fields", async () => {
      const tooLarge = Buffer.alloc(1_048_577);
      const cases: readonly (readonly [Parameters<typeof swap>[0], readonly string[]])[] = [
        [{ newValue: tooLarge }, ["TOO_LARGE", "new_value"]],
        [{ expectedValue: tooLarge }, ["TOO_LARGE", "expected_value"]],
        [{ expectedModRevision: -1 }, ["BAD_FIELD", "expected_mod_revision"]],
        [{ ttlSeconds: -1 }, ["BAD_FIELD", "ttl_seconds"]],
        [{ key: "" }, ["BAD_FIELD", "key"]],
      ];
      for (const [fields, refused] of cases) {
        expect(verdict(await swap({ key: "k", ...fields }))).deep.equal(["INVALID_ARGUMENT", ...refused]);
      }
    });

    it("gives the new value a time to live", async () => {
      ok(await swap({ key: "k", ttlSeconds: 7 }));
      expect(ok(await get({ key: "k" })).expiresInMs).equal(7_000n);
    });
  });

  describe("TouchKey", () => {
    it("gives the key another time to live, at the revision that there is", async () => {
      ok(await put({ key: "k", value: Buffer.from("v"), ttlSeconds: 1 }));
      ok(await put({ key: "other" }));
      ports.replica.tickMs += 900;
      expect(ok(await touch({ key: "k", ttlSeconds: 10 }))).deep.equal({
        modRevision: 2n,
        expiresInMs: 10_000n,
        revision: 3n,
      });
      ports.replica.tickMs += 4_000;
      const { value, ...rest } = ok(await get({ key: "k" }));
      expect(text(value)).equal("v");
      expect(rest).deep.equal({
        createRevision: 2n,
        modRevision: 2n,
        version: 1n,
        expiresInMs: 6_000n,
        sessionId: 0n,
        revision: 3n,
      });
      expect(ok(await touch({ key: "k" })).expiresInMs, "without a time to live it does not expire").equal(0n);
      expect(ok(await get({ key: "k" })).expiresInMs).equal(0n);
    });

    it("compares the expected revision, and refuses fields that cannot be", async () => {
      ok(await put({ key: "k" }));
      const mismatch = await touch({ key: "k", expectedModRevision: 1 });
      expect(verdict(mismatch)).deep.equal(["FAILED_PRECONDITION", "REVISION_MISMATCH"]);
      expect(mismatch.details?.metadata.get("mod_revision")).equal("2");
      ok(await touch({ key: "k", ttlSeconds: 31_536_000, expectedModRevision: 2 }));
      for (const [fields, refusal] of [
        [{ key: "absent" }, ["NOT_FOUND", "KEY_NOT_FOUND"]],
        [{ key: "k", namespace: "nowhere" }, ["NOT_FOUND", "NAMESPACE_NOT_FOUND"]],
        [{ key: "" }, ["INVALID_ARGUMENT", "BAD_FIELD", "key"]],
        [{ key: "k", ttlSeconds: -1 }, ["INVALID_ARGUMENT", "BAD_FIELD", "ttl_seconds"]],
        [{ key: "k", ttlSeconds: 31_536_001 }, ["INVALID_ARGUMENT", "BAD_FIELD", "ttl_seconds"]],
        [{ key: "k", expectedModRevision: -1 }, ["INVALID_ARGUMENT", "BAD_FIELD", "expected_mod_revision"]],
      ] as const) {
        expect(verdict(await touch(fields)), JSON.stringify(fields)).deep.equal(refusal);
      }
    });
  });

  describe("CountKeys", () => {
    const count = (fields: FieldsOf<typeof service.countKeys>) =>
      ports.owner.ask(service.countKeys, { namespace: "default", ...fields });

    it("counts the keys with the prefix", async () => {
      for (const key of ["a", "ab", "b"]) {
        ok(await put({ key }));
      }
      expect(ok(await count({}))).deep.equal({ keys: 3n, more: false, revision: 4n });
      const serializable = { prefix: "a", consistency: ReadConsistency.SERIALIZABLE };
      expect(ok(await count(serializable))).deep.equal({ keys: 2n, more: false, revision: 4n });
      expect(ok(await count({ prefix: "none" })).keys).equal(0n);
      expect(verdict(await count({ namespace: "nowhere" }))).deep.equal(["NOT_FOUND", "NAMESPACE_NOT_FOUND"]);
      const long = await count({ prefix: "p".repeat(1_025) });
      expect(verdict(long)).deep.equal(["INVALID_ARGUMENT", "TOO_LARGE", "prefix"]);
    });
  });

  describe("ListKeys", () => {
    const keysOf = (all: readonly ListKeysResponse[]) =>
      all.flatMap(({ items }) => items.map(({ key }: KeyValue) => key));

    async function putAll(keys: readonly string[], value: Uint8Array = Buffer.from("v")): Promise<void> {
      for (const key of keys) {
        ok(await put({ key, value }));
      }
    }

    it("orders by the bytes of UTF-8: U+FFFF before U+1F600 (S16)", async () => {
      const ordered = ["\0", "A", "a", "aa", "\u00e9", "\uffff", "\u{1f600}", "\u{10ffff}"];
      await putAll(ordered.toReversed());
      expect(keysOf(await pages({}))).deep.equal(ordered);
      expect(keysOf(await pages({ pageSize: 1 }))).deep.equal(ordered);
      expect([...ordered].sort(), "JavaScript orders otherwise").not.deep.equal(ordered);
    });

    it("lists the keys with the prefix, also with the greatest prefix (S16)", async () => {
      await putAll(["a", "ab", "a\u{10ffff}", "b", "\u{10ffff}", "\u{10ffff}\u{10ffff}"]);
      expect(keysOf(await pages({ prefix: "a" }))).deep.equal(["a", "ab", "a\u{10ffff}"]);
      expect(keysOf(await pages({ prefix: "\u{10ffff}" }))).deep.equal(["\u{10ffff}", "\u{10ffff}\u{10ffff}"]);
      expect(keysOf(await pages({ prefix: "nothing" }))).deep.equal([]);
    });

    it("returns whole entries, or keys only", async () => {
      ok(await put({ key: "k", value: Buffer.from("v"), ttlSeconds: 1 }));
      const [entry] = ok(await list({})).items;
      const history = {
        key: "k",
        createRevision: 2n,
        modRevision: 2n,
        version: 1n,
        expiresInMs: 1_000n,
        sessionId: 0n,
      };
      expect({ ...entry, value: text(entry?.value) }).deep.equal({ ...history, value: "v" });
      const [bare] = ok(await list({ keysOnly: true })).items;
      expect({ ...bare, value: text(bare?.value) }).deep.equal({ ...history, value: "" });
    });

    it("pages by count: 100 by default, at most 1,000", async () => {
      const keys = Array.from({ length: 102 }, (_, at) => String(at).padStart(3, "0"));
      await putAll(keys);
      const byDefault = await pages({});
      expect(byDefault.map(({ items }) => items.length)).deep.equal([100, 2]);
      expect(keysOf(byDefault)).deep.equal(keys);
      expect(
        (await pages({ pageSize: 51 })).map(({ items }) => items.length),
        "no empty last page",
      ).deep.equal([51, 51]);
      expect((await pages({ pageSize: 1_000 })).map(({ items }) => items.length)).deep.equal([102]);
      for (const pageSize of [-1, 1_001]) {
        expect(verdict(await list({ pageSize }))).deep.equal(["INVALID_ARGUMENT", "BAD_FIELD", "page_size"]);
      }
    });

    it("pages by bytes: 256 KiB of keys and values, but at least one entry", async () => {
      await putAll(["a", "b", "c", "d", "e"], Buffer.alloc(100 * 1024));
      await putAll(["f"], Buffer.alloc(1_048_576));
      const all = await pages({});
      expect(all.map(({ items }) => items.map(({ key }) => key))).deep.equal([["a", "b"], ["c", "d"], ["e"], ["f"]]);
      const named = await pages({ keysOnly: true });
      expect(
        named.map(({ items }) => items.map(({ key }) => key)),
        "512 KiB of values that are read and left out",
      ).deep.equal([["a", "b", "c", "d", "e"], ["f"]]);
    });

    it("is true at the revision of each page (S48), and includes keys that are added after the cursor", async () => {
      await putAll(["a", "b", "d"]);
      const first = ok(await list({ pageSize: 2 }));
      expect(first.revision).equal(4n);
      await putAll(["c", "0"]);
      const second = ok(await list({ pageSize: 2, pageToken: first.nextPageToken }));
      expect(keysOf([second])).deep.equal(["c", "d"]);
      expect(second.revision).equal(6n);
    });

    it("refuses page tokens of another namespace or prefix, changed ones and made-up ones (S18)", async () => {
      await ports.owner.ask(service.createNamespace, { namespace: "prod" });
      await putAll(["aa", "ab", "ac"]);
      const { nextPageToken } = ok(await list({ prefix: "a", pageSize: 1 }));
      expect(keysOf([ok(await list({ prefix: "a", pageToken: nextPageToken }))])).deep.equal(["ab", "ac"]);
      const bytes = Buffer.from(nextPageToken, "base64url");
      const tampered = Buffer.from(bytes);
      tampered[tampered.length - 1] = (tampered.at(-1) ?? 0) ^ 1;
      const cases = [
        { namespace: "prod", prefix: "a", pageToken: nextPageToken },
        { prefix: "", pageToken: nextPageToken },
        { prefix: "aa", pageToken: nextPageToken },
        { prefix: "a", pageToken: tampered.toString("base64url") },
        { prefix: "a", pageToken: bytes.subarray(1).toString("base64url") },
        { prefix: "a", pageToken: `${nextPageToken}=` },
        { prefix: "a", pageToken: "made-up" },
        { prefix: "a", pageToken: "x".repeat(10_000) },
      ];
      for (const request of cases) {
        expect(verdict(await list(request))).deep.equal(["INVALID_ARGUMENT", "BAD_FIELD", "page_token"]);
      }
    });

    it("checks its other fields, and that the namespace exists", async () => {
      ok(await list({ prefix: "x".repeat(1_024) }));
      const prefix = await list({ prefix: "x".repeat(1_025) });
      expect(verdict(prefix)).deep.equal(["INVALID_ARGUMENT", "TOO_LARGE", "prefix"]);
      const consistency = await list({ consistency: 2 as ReadConsistency });
      expect(verdict(consistency)).deep.equal(["INVALID_ARGUMENT", "BAD_FIELD", "consistency"]);
      expect(verdict(await list({ namespace: "nowhere" }))).deep.equal(["NOT_FOUND", "NAMESPACE_NOT_FOUND"]);
    });
  });
});
