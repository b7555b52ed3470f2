import { expect } from "chai";
import { AppliedLock, AppliedLog, FOUNDING, refused, requestOf } from "../../../test/index.ts";
import { DEFAULT_STATE_LIMITS } from "../core/index.ts";
import { describeMemory, listMemory, readMemory } from "./memory.ts";
import type { FreeMemory, ResizeMemory, WriteMemory } from "./memory-command.ts";

const NAMESPACE = "default";
const KIB = 1024;
const MIB = KIB * KIB;

/** A region with its operations. */
class Region {
  readonly log: AppliedLog;
  readonly regionId: Uint8Array;

  constructor(log: AppliedLog, sizeBytes: number, label = "") {
    this.log = log;
    this.regionId = log.result<"allocate-memory">({
      kind: "allocate-memory",
      namespace: NAMESPACE,
      sizeBytes,
      label,
    }).regionId;
  }

  write(offset: number, data: Uint8Array, changes: Partial<WriteMemory> = {}): WriteMemory {
    return { kind: "write-memory", ...this.#target, offset, data, ...changes };
  }

  resize(sizeBytes: number, changes: Partial<ResizeMemory> = {}): ResizeMemory {
    return { kind: "resize-memory", ...this.#target, sizeBytes, ...changes };
  }

  free(changes: Partial<FreeMemory> = {}): FreeMemory {
    return { kind: "free-memory", ...this.#target, ...changes };
  }

  read(offset: number, length: number): Uint8Array {
    return readMemory(this.log.store, NAMESPACE, this.regionId, offset, length).data;
  }

  get stored() {
    return describeMemory(this.log.store, NAMESPACE, this.regionId);
  }

  get #target() {
    return { namespace: NAMESPACE, regionId: this.regionId, expectedVersion: undefined };
  }
}

function ones(length: number): Uint8Array {
  return new Uint8Array(length).fill(1);
}

/** Number of rows in the table of this letter. */
function rowsIn(log: AppliedLog, table: string): number {
  return log.dump().filter((row) => row.startsWith(table)).length;
}

const PAGES = "v";
const ERASURES = "f";
const SEGMENTS = "g";
const USAGES = "o";

describe("allocating memory", () => {
  it("makes a region of zeros, of version 1, at the next revision", () => {
    const log = new AppliedLog();
    const revision = log.revision + 1;
    const result = log.result({ kind: "allocate-memory", namespace: NAMESPACE, sizeBytes: 10_000, label: "é" });
    expect({ ...result, regionId: null }).to.deep.equal({
      kind: "allocate-memory",
      regionId: null,
      sizeBytes: 10_000,
      version: 1,
      revision,
    });
    const { region, data } = readMemory(log.store, NAMESPACE, result.regionId, 0, 10_000);
    expect(region).to.deep.equal({
      regionId: result.regionId,
      sizeBytes: 10_000,
      version: 1,
      createRevision: revision,
      label: "é",
      createdAtMs: log.wallMs,
      updatedAtMs: log.wallMs,
    });
    expect(data).to.deep.equal(new Uint8Array(10_000));
    expect(rowsIn(log, PAGES)).to.equal(0);
  });

  it("identifies it by a UUID of the cluster and the revision, which is never reused", () => {
    const log = new AppliedLog();
    const ids = new Set<string>();
    for (let count = 0; count < 20; count++) {
      const region = new Region(log, 1);
      const digits = FOUNDING.clusterId.replaceAll("-", "");
      const suffix = log.revision.toString(16).padStart(14, "0");
      expect(region.regionId.toHex()).to.equal(`${digits.slice(0, 12)}8${digits.slice(13, 16)}80${suffix}`);
      ids.add(region.regionId.toHex());
      log.result(region.free());
    }
    expect(ids.size).to.equal(20);
  });

  it("needs a namespace that exists", () => {
    const log = new AppliedLog();
    const refusal = log.refusal({ kind: "allocate-memory", namespace: "nowhere", sizeBytes: 1, label: "" });
    expect(refusal.reason).to.equal("NAMESPACE_NOT_FOUND");
  });

  it("is executed once for one request id", () => {
    const log = new AppliedLog();
    const operation = { kind: "allocate-memory", namespace: NAMESPACE, sizeBytes: 1, label: "" } as const;
    const request = requestOf(1);
    const first = log.execute(operation, { request });
    const again = log.execute(operation, { request });
    expect(again).to.deep.equal({ answer: first.answer, replayed: "yes" });
    expect(listMemory(log.store, NAMESPACE, undefined, 10).regions).to.have.length(1);
    const other = log.refusal({ ...operation, sizeBytes: 2 }, { request: requestOf(1, 2) });
    expect(other.reason).to.equal("REQUEST_ID_REUSED");
  });
});

describe("writing memory", () => {
  it("overwrites exactly these bytes, makes a version, and keeps the size", () => {
    const log = new AppliedLog();
    const region = new Region(log, 3 * MIB);
    log.wallMs += 5;
    const data = Uint8Array.from({ length: 10_000 }, (_, at) => (at % 255) + 1);
    const wanted = new Uint8Array(3 * MIB);
    for (const [at, offset] of [0, 4_095, MIB - 5_000, 3 * MIB - 10_000].entries()) {
      const result = log.result(region.write(offset, data));
      expect(result).to.deep.equal({
        kind: "write-memory",
        bytesWritten: 10_000,
        version: at + 2,
        revision: log.revision,
      });
      wanted.set(data, offset);
      expect(region.read(offset, 10_000)).to.deep.equal(data);
      expect(Buffer.compare(region.read(0, 3 * MIB), wanted)).to.equal(0);
    }
    const { sizeBytes, version, createdAtMs, updatedAtMs } = region.stored;
    expect([sizeBytes, version, updatedAtMs - createdAtMs]).to.deep.equal([3 * MIB, 5, 5]);
  });

  it("S31: out of bounds is refused as a whole: nothing is written, nothing grows", () => {
    const log = new AppliedLog();
    const region = new Region(log, 10_000);
    const before = log.revision;
    const MAX = Number.MAX_SAFE_INTEGER;
    for (const [offset, length] of [
      [10_000, 1],
      [9_999, 2],
      [0, 10_001],
      [10_001, 0],
      [MAX, 1],
      [MAX, 0],
    ] as const) {
      const refusal = log.refusal(region.write(offset, ones(length)));
      expect([refusal.code, refusal.reason]).to.deep.equal(["OUT_OF_RANGE", "MEMORY_BOUNDS"]);
      expect(refusal.details).to.deep.equal(new Map([["size_bytes", "10000"]]));
    }
    expect(log.revision).to.equal(before);
    expect(region.stored.version).to.equal(1);
    expect(rowsIn(log, PAGES)).to.equal(0);
  });

  it("S34: of no bytes is a write within bounds, up to the very end", () => {
    const log = new AppliedLog();
    const region = new Region(log, 10_000);
    expect(log.result(region.write(0, ones(0))).version).to.equal(2);
    expect(log.result(region.write(10_000, ones(0)))).to.include({ bytesWritten: 0, version: 3 });
    expect(region.read(10_000, 0)).to.have.length(0);
    expect(rowsIn(log, SEGMENTS)).to.equal(0);
  });

  it("happens only at the expected version", () => {
    const log = new AppliedLog();
    const region = new Region(log, 10);
    const refusal = log.refusal(region.write(0, ones(1), { expectedVersion: 7 }));
    expect([refusal.code, refusal.reason]).to.deep.equal(["FAILED_PRECONDITION", "VERSION_MISMATCH"]);
    expect(refusal.details).to.deep.equal(new Map([["version", "1"]]));
    expect(log.refusal(region.write(0, ones(1), { expectedVersion: 0 })).reason).to.equal("VERSION_MISMATCH");
    expect(region.read(0, 1)).to.deep.equal(new Uint8Array(1));
    expect(log.result(region.write(0, ones(1), { expectedVersion: 1 })).version).to.equal(2);
    expect(log.refusal(region.free({ expectedVersion: 1 })).reason).to.equal("VERSION_MISMATCH");
    expect(log.refusal(region.resize(5, { expectedVersion: 1 })).reason).to.equal("VERSION_MISMATCH");
  });

  it("costs the pages that it touches, however large the region is", () => {
    const log = new AppliedLog();
    const region = new Region(log, 64 * MIB);
    const rows = log.dump().length;
    log.result(region.write(32 * MIB, ones(4 * KIB)));
    expect(rowsIn(log, PAGES)).to.equal(1);
    log.result(region.write(32 * MIB + 4 * KIB + 1, ones(4 * KIB)));
    expect(rowsIn(log, PAGES)).to.equal(3);
    // Pages, one segment, and the answers.
    expect(log.dump().length - rows).to.equal(3 + 1 + 2);
  });

  it("stores no zeros after the last other byte of a page, and no pages of zeros", () => {
    const log = new AppliedLog();
    const region = new Region(log, 2 * MIB);
    log.result(region.write(0, new Uint8Array(2 * MIB)));
    expect([rowsIn(log, PAGES), rowsIn(log, SEGMENTS)]).to.deep.equal([0, 0]);
    log.result(region.write(10, ones(3)));
    const [page] = log.dump().filter((row) => row.startsWith(PAGES));
    expect(page?.split(" = ")[1]).to.equal(`${"00".repeat(10)}010101`);
    log.result(region.write(5, new Uint8Array(8 * KIB)));
    expect(rowsIn(log, PAGES)).to.equal(0);
  });

  it("under a guard whose hold is not live is refused, before the region is looked up", () => {
    const log = new AppliedLog();
    const region = new Region(log, 10);
    const guard = { lockName: "l", fencingToken: 1, rw: false };
    for (const operation of [
      region.write(0, ones(1), { guard }),
      region.resize(5, { guard }),
      region.free({ guard }),
    ]) {
      const refusal = log.refusal(operation);
      expect([refusal.code, refusal.reason]).to.deep.equal(["ABORTED", "FENCED"]);
      const absent = { ...operation, regionId: new Uint8Array(16) };
      expect(log.refusal(absent).reason).to.equal("FENCED");
      expect(log.refusal({ ...absent, namespace: "nowhere" }).reason).to.equal("NAMESPACE_NOT_FOUND");
    }
    expect(region.stored.version).to.equal(1);
  });

  it("under a guard with a live hold succeeds, and no longer once the hold has ended", () => {
    const lock = new AppliedLock();
    const { log } = lock;
    const region = new Region(log, 10);
    const { hold } = lock.result();
    const guard = { lockName: "l", fencingToken: hold?.token ?? 0, rw: false };
    log.result(region.write(0, ones(1), { guard }));
    log.result(region.resize(5, { guard }));
    expect(region.stored.version).to.equal(3);
    expect(lock.releaseHold({ fencingToken: guard.fencingToken })).to.equal("release-lock");
    for (const operation of [
      region.write(0, ones(1), { guard }),
      region.resize(6, { guard }),
      region.free({ guard }),
    ]) {
      expect(log.refusal(operation).reason).to.equal("FENCED");
    }
    expect(region.stored.version).to.equal(3);
    const next = lock.result().hold?.token ?? 0;
    log.result(region.free({ guard: { ...guard, fencingToken: next } }));
  });
});

describe("reading memory", () => {
  it("S31: returns exactly the requested bytes, or none", async () => {
    const log = new AppliedLog();
    const region = new Region(log, 10_000);
    for (const [offset, length] of [
      [10_000, 1],
      [0, 10_001],
      [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
    ] as const) {
      expect((await refused(() => region.read(offset, length))).reason).to.equal("MEMORY_BOUNDS");
    }
    expect(region.read(9_999, 1)).to.have.length(1);
  });

  it("finds no region by an id of another namespace", async () => {
    const log = new AppliedLog();
    log.result({ kind: "create-namespace", namespace: "other" });
    const { regionId } = new Region(log, 10);
    const refusal = await refused(() => readMemory(log.store, "other", regionId, 0, 1));
    expect([refusal.code, refusal.reason]).to.deep.equal(["NOT_FOUND", "REGION_NOT_FOUND"]);
    expect(refusal.message).to.match(/"other\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"/);
    expect((await refused(() => describeMemory(log.store, "nowhere", regionId))).reason).to.equal(
      "NAMESPACE_NOT_FOUND",
    );
  });
});

describe("resizing memory", () => {
  it("S32: reads zeros where a larger region was cut, at any byte of a page or a segment", () => {
    for (const kept of [1, 4_095, 4_096, 4_097, MIB - 1, MIB, MIB + 1, 2 * MIB + 5]) {
      const log = new AppliedLog();
      const region = new Region(log, 3 * MIB);
      log.result(region.write(0, ones(3 * MIB)));
      const cut = log.result(region.resize(kept));
      expect(cut).to.include({ sizeBytes: kept, previousSizeBytes: 3 * MIB, version: 3 });
      expect(log.refusal(region.write(kept, ones(1))).reason).to.equal("MEMORY_BOUNDS");
      log.result(region.resize(3 * MIB));
      const bytes = region.read(0, 3 * MIB);
      expect(bytes.lastIndexOf(1), "kept").to.equal(kept - 1);
      expect(bytes.indexOf(0), "and zeros from there on").to.equal(kept);
    }
  });

  it("S32: reads zeros, and later writes, while the cut pages are being erased", () => {
    const log = new AppliedLog();
    const region = new Region(log, 3 * MIB);
    log.result(region.write(0, ones(3 * MIB)));
    log.result(region.resize(1));
    log.result(region.resize(3 * MIB));
    log.result(region.write(2 * MIB + 7, Uint8Array.of(9)));
    const wanted = new Uint8Array(3 * MIB);
    wanted[0] = 1;
    wanted[2 * MIB + 7] = 9;
    for (let steps = 0; rowsIn(log, ERASURES) > 0; steps++) {
      expect(Buffer.compare(region.read(0, 3 * MIB), wanted)).to.equal(0);
      expect(steps, "ends").to.be.lessThan(20);
      log.lead({ kind: "erase-memory", rowsMax: 100 });
    }
    expect(Buffer.compare(region.read(0, 3 * MIB), wanted)).to.equal(0);
    expect(rowsIn(log, PAGES)).to.equal(2);
  });

  it("to the same size makes a version", () => {
    const log = new AppliedLog();
    const region = new Region(log, 10);
    expect(log.result(region.resize(10))).to.include({ previousSizeBytes: 10, version: 2 });
  });
});

describe("freeing memory", () => {
  it("is visible at once, and erased in bounded steps", () => {
    const log = new AppliedLog();
    const region = new Region(log, 2 * MIB);
    log.result(region.write(0, ones(2 * MIB)));
    expect(rowsIn(log, PAGES)).to.equal(512);
    const { revision } = log.result(region.free());
    expect(revision).to.equal(log.revision);
    expect(listMemory(log.store, NAMESPACE, undefined, 10).regions).to.deep.equal([]);
    for (const operation of [region.write(0, ones(1)), region.resize(1), region.free()]) {
      expect(log.refusal(operation).reason).to.equal("REGION_NOT_FOUND");
    }
    expect([rowsIn(log, PAGES), rowsIn(log, ERASURES), rowsIn(log, SEGMENTS)]).to.deep.equal([512, 2, 0]);
    for (const [rowsMax, pages, erasures] of [
      [0, 512, 2],
      [256, 256, 2],
      [1, 256, 1],
      [255, 1, 1],
      [1, 0, 1],
      [100, 0, 0],
    ] as const) {
      log.lead({ kind: "erase-memory", rowsMax });
      expect([rowsIn(log, PAGES), rowsIn(log, ERASURES)]).to.deep.equal([pages, erasures]);
    }
    expect(log.revision, "erasing is not a visible change").to.equal(revision);
  });

  it("leaves nothing behind", () => {
    const log = new AppliedLog();
    const empty = log.dump();
    const region = new Region(log, 2 * MIB, "label");
    log.result(region.write(MIB - 1, ones(2)));
    log.result(region.free());
    log.lead({ kind: "erase-memory", rowsMax: 100 });
    log.tickMs += 400_000;
    log.lead({ kind: "drop-replays" });
    // Except the progress, and the counts.
    const rest = (rows: readonly string[]): string[] => rows.filter((row) => !row.startsWith("a") && row[0] !== "U");
    expect(rest(log.dump())).to.deep.equal(rest(empty));
    expect(log.progress.dataBytes).to.equal(0);
  });
});

describe("listing memory", () => {
  it("returns the regions of a namespace in the order of their ids, page by page", () => {
    const log = new AppliedLog();
    log.result({ kind: "create-namespace", namespace: "other" });
    const regions = Array.from({ length: 5 }, (_, at) => new Region(log, at + 1, `label ${at}`));
    log.result({ kind: "allocate-memory", namespace: "other", sizeBytes: 1, label: "" });
    const listed: string[] = [];
    for (let more = true, after: Uint8Array | undefined; more; ) {
      const page = listMemory(log.store, NAMESPACE, after, 2);
      expect(page.regions.length).to.equal(page.more ? 2 : 1);
      listed.push(...page.regions.map(({ label }) => label));
      after = page.regions.at(-1)?.regionId;
      more = page.more;
    }
    expect(listed).to.deep.equal(regions.map((_, at) => `label ${at}`));
  });
});

describe("quotas of memory", () => {
  const LIMITS = { ...DEFAULT_STATE_LIMITS, memoryRegionBytesMax: 1_000, memoryNamespaceBytesMax: 2_500 };
  const allocate = (sizeBytes: number, namespace = NAMESPACE) =>
    ({ kind: "allocate-memory", namespace, sizeBytes, label: "" }) as const;

  it("bound a region: above the limit, the answer is QUOTA", () => {
    const log = new AppliedLog(LIMITS);
    const refusal = log.refusal(allocate(1_001));
    expect([refusal.code, refusal.reason]).to.deep.equal(["RESOURCE_EXHAUSTED", "QUOTA"]);
    expect(refusal.details).to.deep.equal(new Map([["limit", "1000"]]));
    const region = new Region(log, 1_000);
    expect(log.refusal(region.resize(1_001)).reason).to.equal("QUOTA");
    expect(log.refusal(allocate(Number.MAX_SAFE_INTEGER)).reason).to.equal("QUOTA");
  });

  it("bound each namespace separately; freed and cut bytes are available again at once", () => {
    const log = new AppliedLog(LIMITS);
    log.result({ kind: "create-namespace", namespace: "other" });
    const regions = [new Region(log, 1_000), new Region(log, 1_000), new Region(log, 500)] as const;
    expect(log.refusal(allocate(1)).details.get("limit")).to.equal("2500");
    expect(log.refusal(regions[2].resize(501)).reason).to.equal("QUOTA");
    log.result(allocate(1_000, "other"));
    log.result(regions[0].resize(400));
    expect(log.refusal(allocate(601)).reason).to.equal("QUOTA");
    log.result(allocate(600));
    log.result(regions[1].free());
    log.result(allocate(1_000));
    expect(rowsIn(log, USAGES)).to.equal(2);
  });

  it("let a region above them shrink", () => {
    const log = new AppliedLog();
    const region = new Region(log, 64 * MIB);
    expect(log.refusal(region.resize(64 * MIB + 1)).reason).to.equal("QUOTA");
    expect(log.result(region.resize(1)).version).to.equal(2);
  });

  it("count the rows of regions into the data of the cluster, so that a namespace cannot be filled with tiny ones", () => {
    const log = new AppliedLog({ ...DEFAULT_STATE_LIMITS, dataBytesMax: 1_000 });
    const refusals: string[] = [];
    for (let count = 0; count < 10; count++) {
      const { answer } = log.execute(allocate(1));
      refusals.push("reason" in answer ? answer.reason : "done");
    }
    expect(refusals[0]).to.equal("done");
    expect(refusals.at(-1)).to.equal("QUOTA");
  });
});
