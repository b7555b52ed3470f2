import { crc32 } from "node:zlib";
import { expect } from "chai";
import { AppliedLog, MemoryStateStore, refused } from "../../../test/index.ts";
import { InvariantViolation } from "../../primitives/index.ts";
import { DEFAULT_NAMESPACE } from "../cluster/index.ts";
import { DEFAULT_STATE_LIMITS } from "./limits.ts";
import { readNamespace, requireNamespace, writeNamespace } from "./namespaces.ts";
import { namespaceRow } from "./rows.ts";
import { Transaction } from "./transaction.ts";

describe("namespaces", () => {
  it("are created once, at the entry's wall clock, by a visible change", () => {
    const log = new AppliedLog();
    const revision = log.revision + 1;
    const created = log.result({ kind: "create-namespace", namespace: "prod" });
    expect(created).to.deep.equal({ kind: "create-namespace", createdAtMs: log.wallMs, revision });
    expect(readNamespace(log.store, "prod")).to.deep.equal({
      createdAtMs: log.wallMs,
      createRevision: revision,
      deleteRevision: 0,
    });
    const again = log.refusal({ kind: "create-namespace", namespace: "prod" });
    expect([again.code, again.reason]).to.deep.equal(["ALREADY_EXISTS", "NAMESPACE_EXISTS"]);
    expect(again.message).to.include('"prod"');
    expect(log.revision, "a refusal is no visible change").to.equal(revision);
    expect(readNamespace(log.store, "prod")?.createRevision).to.equal(revision);
  });

  it("are not prefixes of one another", () => {
    const log = new AppliedLog();
    log.result({ kind: "create-namespace", namespace: "prod-eu" });
    expect(readNamespace(log.store, "prod")).to.equal(undefined);
    expect(readNamespace(log.store, "prod-eu-1")).to.equal(undefined);
  });

  it("S19: exist if they were created, whatever their names mean elsewhere", async () => {
    const log = new AppliedLog();
    for (const namespace of ["__proto__", "constructor", "toString"]) {
      expect(readNamespace(log.store, namespace)).to.equal(undefined);
      const error = await refused(() => requireNamespace(log.store, namespace));
      expect([error.code, error.reason]).to.deep.equal(["NOT_FOUND", "NAMESPACE_NOT_FOUND"]);
      log.result({ kind: "create-namespace", namespace });
      requireNamespace(log.store, namespace);
      expect(log.refusal({ kind: "create-namespace", namespace }).reason).to.equal("NAMESPACE_EXISTS");
    }
  });

  it("count into the quota", () => {
    const before = new AppliedLog().progress.dataBytes;
    const log = new AppliedLog({ ...DEFAULT_STATE_LIMITS, dataBytesMax: before + 4 });
    expect(log.refusal({ kind: "create-namespace", namespace: "12345" }).reason).to.equal("QUOTA");
    expect(readNamespace(log.store, "12345")).to.equal(undefined);
    const other = new AppliedLog({ ...DEFAULT_STATE_LIMITS, dataBytesMax: before + 5 });
    other.result({ kind: "create-namespace", namespace: "12345" });
  });

  it("come back as written, in these bytes", () => {
    const store = new MemoryStateStore();
    const transaction = new Transaction(store, (previous, bytes) => crc32(bytes, previous), 0);
    const written = { createdAtMs: 0x1_0000_0002, createRevision: 3, deleteRevision: 0 };
    const deleting = { ...written, deleteRevision: 4 };
    writeNamespace(transaction, "ns", written);
    writeNamespace(transaction, "going", deleting);
    store.write(transaction.take());
    expect(readNamespace(store, "ns")).to.deep.equal(written);
    expect(store.get(namespaceRow("ns"))).to.deep.equal(Uint8Array.fromHex("00000001000000020000000000000003"));
    expect(readNamespace(store, "going")).to.deep.equal(deleting);
    const marked = "000000010000000200000000000000030000000000000004";
    expect(store.get(namespaceRow("going"))).to.deep.equal(Uint8Array.fromHex(marked));
  });

  it("contain no NUL byte, which would make two keys equal", () => {
    const transaction = new Transaction(new MemoryStateStore(), (previous) => previous, 0);
    for (const name of ["\0", "a\0b"]) {
      expect(() =>
        writeNamespace(transaction, name, { createdAtMs: 1, createRevision: 1, deleteRevision: 0 }),
      ).to.throw(InvariantViolation, "NUL");
    }
  });

  it("begin with one", () => {
    requireNamespace(new AppliedLog().store, DEFAULT_NAMESPACE);
  });
});
