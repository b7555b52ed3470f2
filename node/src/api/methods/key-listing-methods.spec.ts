import { DeleteKeyRequest, KeyEvent_Type, type ReadConsistency, serviceDefinitions } from "@quoin/proto";
import { expect } from "chai";
import { type FieldsOf, GrpcPorts, ok, verdict } from "../../../test/harness/index.ts";
import { CoordinationError } from "../../state/index.ts";

const service = serviceDefinitions.KeyValueService;

describe("KeyValueService, listings", () => {
  let ports: GrpcPorts;

  beforeEach(async () => {
    ports = await GrpcPorts.founded();
  });

  afterEach(() => ports.close());

  const bad = (field: string) => ["INVALID_ARGUMENT", "BAD_FIELD", field];

  async function createNamespaces(...names: readonly string[]): Promise<void> {
    for (const namespace of names) {
      ok(await ports.owner.ask(service.createNamespace, { namespace }));
    }
  }

  async function put(fields: FieldsOf<typeof service.putKey>): Promise<bigint> {
    return ok(await ports.owner.ask(service.putKey, { namespace: "default", key: "k", ...fields })).modRevision;
  }

  describe("ListNamespaces", () => {
    const list = (fields: FieldsOf<typeof service.listNamespaces> = {}, caller = ports.owner) =>
      caller.ask(service.listNamespaces, fields);
    const names = async (fields: FieldsOf<typeof service.listNamespaces> = {}, caller = ports.owner) =>
      ok(await list(fields, caller)).namespaces.map(({ name }) => name);

    it("lists the namespaces with what they use, and their limits", async () => {
      await createNamespaces("prod");
      await put({ namespace: "prod", value: Buffer.from("value") });
      const values = [{ name: "quota.namespace.prod.keys", value: "5" }];
      ports.replica.lead({
        kind: "put-settings",
        values,
        ifRevision: 0,
        subject: ports.member.cluster.ownerId,
        request: null,
      });
      const { namespaces, nextPageToken, revision } = ok(await list());
      expect([nextPageToken, revision]).deep.equal(["", BigInt(ports.replica.revision)]);
      expect(namespaces.map(({ name }) => name)).deep.equal(["default", "prod"]);
      const [, prod] = namespaces;
      expect(prod).include({ createRevision: 2n, createdAtMs: BigInt(ports.member.cluster.clock.wall) });
      const quotas = new Map(prod?.quotas.map(({ name, used, limit }) => [name, [used, limit]]));
      expect([...quotas.keys()]).deep.equal([
        ...["bytes", "keys", "locks", "memory_bytes", "memory_regions", "event_bytes", "event_logs", "sessions"],
      ]);
      expect(quotas.get("keys")).deep.equal([1n, 5n]);
      expect(quotas.get("locks")).deep.equal([0n, 1_000_000n]);
      expect(quotas.get("bytes")?.[0]).equal(6n);
      const [named] = ok(await list({ namesOnly: true, prefix: "p" })).namespaces;
      expect(named).deep.equal({ name: "prod", createdAtMs: 0n, createRevision: 0n, quotas: [], deleting: false });
    });

    it("lists only what both the user and the token may read", async () => {
      await createNamespaces("a", "b", "c");
      const narrow = ports.caller(await ports.token({ namespaces: ["c", "a", "none"], role: "viewer" }));
      expect(await names({}, narrow), "a token that allows less than its user").deep.equal(["a", "c"]);
      ports.member.cluster.changeOwner({ namespaces: ["b", "c", "none"] });
      expect(await names()).deep.equal(["b", "c"]);
      expect(await names({}, narrow)).deep.equal(["c"]);
      ports.member.cluster.changeOwner({ namespaces: ["*"] });
      expect(await names()).deep.equal(["a", "b", "c", "default"]);
    });

    it("pages with a token that is good for this listing only", async () => {
      await createNamespaces("a", "b", "c");
      const first = ok(await list({ pageSize: 3 }));
      expect(first.namespaces.map(({ name }) => name)).deep.equal(["a", "b", "c"]);
      expect(await names({ pageToken: first.nextPageToken })).deep.equal(["default"]);
      expect(verdict(await list({ pageToken: first.nextPageToken, prefix: "d" }))).deep.equal(bad("page_token"));
    });

    it("refuses fields by name, and needs a token", async () => {
      expect(verdict(await list({ pageSize: -1 }))).deep.equal(bad("page_size"));
      for (const prefix of ["A", "-", "*", "x".repeat(64)]) {
        expect(verdict(await list({ prefix })), prefix).deep.equal(bad("prefix"));
      }
      expect(verdict(await list({ consistency: 2 as ReadConsistency }))).deep.equal(bad("consistency"));
      expect((await list({}, ports.caller("none"))).code).equal("UNAUTHENTICATED");
    });
  });

  describe("ListKeyVersions", () => {
    const list = (fields: FieldsOf<typeof service.listKeyVersions> = {}, caller = ports.owner) =>
      caller.ask(service.listKeyVersions, { namespace: "default", key: "k", ...fields });

    it("lists the versions of a key with their ages and values, the newest first", async () => {
      const first = await put({ value: Buffer.from("one"), ttlSeconds: 60n });
      ports.replica.tickMs += 1_500;
      const second = await put({ value: Buffer.from("two") });
      const request = DeleteKeyRequest.fromPartial({ namespace: "default", key: "k" });
      const { revision: removed } = ok(await ports.owner.call(service.deleteKey, request));
      ports.replica.tickMs += 500;
      const answer = ok(await list());
      expect(answer).include({ nextPageToken: "", searchedRevision: 0n, compactRevision: 0n, revision: removed });
      const kv = { key: "k", createRevision: first, expiresInMs: 0n, sessionId: 0n };
      expect(answer.versions.map(({ kv: shown, ...rest }) => ({ ...rest, value: String(shown?.value) }))).deep.equal([
        { type: KeyEvent_Type.DELETE, ageMs: 500n, value: "two" },
        { type: KeyEvent_Type.PUT, ageMs: 500n, value: "two" },
        { type: KeyEvent_Type.PUT, ageMs: 2_000n, value: "one" },
      ]);
      expect(answer.versions.map(({ kv: shown }) => ({ ...shown, value: undefined }))).deep.equal([
        { ...kv, value: undefined, modRevision: removed, version: 2n },
        { ...kv, value: undefined, modRevision: second, version: 2n },
        { ...kv, value: undefined, modRevision: first, version: 1n, expiresInMs: 60_000n },
      ]);
      const [keysOnly] = ok(await list({ keysOnly: true })).versions;
      expect(keysOnly?.kv?.value.length).equal(0);
    });

    it("pages with a token that is good for this key only, and reports how far it has searched", async () => {
      const revisions = [await put({}), await put({}), await put({})];
      const first = ok(await list({ pageSize: 2 }));
      expect(first.versions.map(({ kv }) => kv?.modRevision)).deep.equal([revisions[2], revisions[1]]);
      expect(first.searchedRevision).equal(revisions[1]);
      const { nextPageToken: pageToken } = first;
      const last = ok(await list({ pageSize: 2, pageToken }));
      expect(last.versions.map(({ kv }) => kv?.modRevision)).deep.equal([revisions[0]]);
      expect(last.nextPageToken).equal("");
      expect(verdict(await list({ key: "other", pageToken }))).deep.equal(bad("page_token"));
    });

    it("ends where the history was compacted, with the version before", async () => {
      const revisions = [await put({}), await put({}), await put({})];
      const revision = Number(revisions[2]);
      ports.replica.lead({ kind: "compact-history", revision, subject: ports.member.cluster.ownerId, request: null });
      const answer = ok(await list());
      expect(answer.versions.map(({ kv, ageMs }) => [kv?.modRevision, ageMs])).deep.equal([
        [revisions[2], 0n],
        [revisions[1], undefined],
      ]);
      expect(answer).include({ compactRevision: revisions[2], searchedRevision: revisions[1], nextPageToken: "" });
    });

    it("needs the access read in the namespace, and refuses fields by name", async () => {
      const elsewhere = ports.caller(await ports.token({ namespaces: ["elsewhere"] }));
      expect(verdict(await list({ key: "" }, elsewhere))).deep.equal(["PERMISSION_DENIED", "NAMESPACE_DENIED"]);
      const viewer = ports.caller(await ports.token({ role: "viewer" }));
      expect(ok(await list({}, viewer)).versions).deep.equal([]);
      expect(verdict(await list({ namespace: "none" }))).deep.equal(["NOT_FOUND", "NAMESPACE_NOT_FOUND"]);
      expect(verdict(await list({ key: "" }))).deep.equal(bad("key"));
      expect(verdict(await list({ pageSize: 1_001 }))).deep.equal(bad("page_size"));
      expect(verdict(await list({ consistency: 2 as ReadConsistency }))).deep.equal(bad("consistency"));
      ports.member.cluster.onBarrier = (done) => done(new CoordinationError("NO_LEADER", "no leader"));
      expect(verdict(await list())).deep.equal(["UNAVAILABLE", "NO_LEADER"]);
    });
  });
});
