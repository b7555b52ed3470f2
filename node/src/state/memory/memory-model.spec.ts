import { expect } from "chai";
import fc from "fast-check";
import {
  AppliedLog,
  answerOrRefusal,
  expectExactUsage,
  expectSameFromRestart,
  requestOf,
  stepOf,
} from "../../../test/index.ts";
import { CoordinationError, DEFAULT_STATE_LIMITS } from "../core/index.ts";
import type { ClientOperation } from "../index.ts";
import { listMemory, readMemory } from "./memory.ts";

const KIB = 1024;
const LIMITS = {
  ...DEFAULT_STATE_LIMITS,
  memoryRegionBytesMax: KIB * KIB + 20_000,
  memoryNamespaceBytesMax: 3 * KIB * KIB,
};
const NAMESPACES = ["default", "__proto__", "constructor"];
/** Sizes and offsets around the edges of pages (4 KiB) and segments (1 MiB), and above all limits. */
const PLACES = [
  0, 1, 100, 4_095, 4_096, 4_097, 9_000, 1_048_575, 1_048_576, 1_048_577, 1_060_000, 1_068_576, 1_068_577,
];
const DATA = [0, 1, 5, 4_096, 5_000, 13_000].flatMap((length) => [
  new Uint8Array(length),
  Uint8Array.from({ length }, (_, at) => (at % 251) + 1),
  // Zeros before, after and between.
  Uint8Array.from({ length }, (_, at) => (at % 4_500 === 4_400 ? 7 : 0)),
]);

/** The meaning of an expectation depends on the state when its operation comes. */
type Expected = "any" | "right" | "wrong";

const namespace = fc.constantFrom(...NAMESPACES, "default");
const expected = fc.constantFrom<Expected[]>("any", "any", "right", "wrong");
const place = fc.oneof(fc.constantFrom(...PLACES), fc.constant(Number.MAX_SAFE_INTEGER));
const sizeBytes = fc.constantFrom(...PLACES.filter((size) => size > 0));
const target = {
  /** An index into all regions so far, from the newest; beyond the end: a region that never existed. */
  region: fc.integer({ min: 0, max: 3 }),
  /** The namespace of the call: mostly the right one, so that regions get a history. */
  elsewhere: fc.option(namespace, { freq: 12, nil: undefined }).map((other) => other ?? null),
  expected,
};

const operation = fc.oneof(
  stepOf(1, "allocate", { namespace, sizeBytes }),
  stepOf(1, "free", { ...target }),
  stepOf(5, "resize", { ...target, sizeBytes }),
  stepOf(10, "write", {
    ...target,
    offset: place,
    data: fc.constantFrom(...DATA),
    guarded: fc.integer({ min: 0, max: 9 }).map((number) => number === 0),
  }),
  stepOf(6, "read", { ...target, offset: place, length: place }),
  stepOf(3, "erase", { rowsMax: fc.integer({ min: 0, max: 9 }) }),
  stepOf(1, "list", { namespace }),
  stepOf(1, "create-namespace", { namespace }),
  stepOf(2, "again", {}),
);
type Operation = typeof operation extends fc.Arbitrary<infer Value> ? Value : never;
type OperationOf<Kind> = Extract<Operation, { readonly kind: Kind }>;

interface ModelRegion {
  readonly namespace: string;
  readonly regionId: Uint8Array;
  bytes: Uint8Array;
  version: number;
  isFreed: boolean;
}

const NEVER: ModelRegion = {
  namespace: "default",
  regionId: new Uint8Array(16),
  version: 1,
  isFreed: true,
  bytes: new Uint8Array(0),
};

/** Regions in the simplest form: arrays of bytes. */
class Model {
  readonly namespaces = new Set(["default"]);
  readonly regions: ModelRegion[] = [];
  revision = 1;

  regionOf(counted: number): ModelRegion {
    return this.regions.at(-1 - counted) ?? NEVER;
  }

  find(space: string, region: ModelRegion): ModelRegion {
    this.requireNamespace(space);
    if (region.isFreed || region.namespace !== space) {
      throw new CoordinationError("REGION_NOT_FOUND", "");
    }
    return region;
  }

  requireNamespace(space: string): void {
    if (!this.namespaces.has(space)) {
      throw new CoordinationError("NAMESPACE_NOT_FOUND", "");
    }
  }

  requireVersion(region: ModelRegion, version: number | undefined): void {
    if (version !== undefined && version !== region.version) {
      throw new CoordinationError("VERSION_MISMATCH", "");
    }
  }

  requireQuota(space: string, present: number, size: number): void {
    const used = this.regionsIn(space).reduce((sum, { bytes }) => sum + bytes.length, 0);
    const grows = size > present;
    if (grows && (size > LIMITS.memoryRegionBytesMax || used - present + size > LIMITS.memoryNamespaceBytesMax)) {
      throw new CoordinationError("QUOTA", "");
    }
  }

  requireBounds(region: ModelRegion, offset: number, length: number): void {
    if (BigInt(offset) + BigInt(length) > BigInt(region.bytes.length)) {
      throw new CoordinationError("MEMORY_BOUNDS", "");
    }
  }

  regionsIn(space: string): ModelRegion[] {
    return this.regions.filter((region) => region.namespace === space && !region.isFreed);
  }
}

/** The part of an answer that is compared: the reason of a refusal. */
function contentOf(answer: unknown): unknown {
  return answer instanceof CoordinationError ? answer.reason : answer;
}

class Comparison {
  readonly log = new AppliedLog(LIMITS);
  readonly model = new Model();
  /** All kinds of answers that occurred. */
  readonly #seen: Set<string>;
  #last: (() => void) | null = null;
  #requests = 0;

  constructor(seen: Set<string>) {
    this.#seen = seen;
  }

  run(operations: readonly Operation[]): void {
    for (const each of operations) {
      this.#step(each);
      expect(this.log.revision).to.equal(this.model.revision);
    }
    const present = this.model.regions.filter(({ isFreed }) => !isFreed);
    for (const region of present) {
      this.#compareBytes(region, 0, region.bytes.length);
    }
    expectExactUsage(this.log.store);
    const { memoryRegions, memoryBytes } = this.log.progress.totals;
    expect(memoryRegions).to.equal(present.length);
    expect(memoryBytes).to.equal(present.reduce((sum, { bytes }) => sum + bytes.length, 0));
  }

  /** The rows left after everything is freed and erased, except progress, answers, and earlier rows. */
  rowsLeftAfterAll(): string[] {
    for (const { namespace: space, regionId } of this.model.regions.filter(({ isFreed }) => !isFreed)) {
      this.log.result({ kind: "free-memory", namespace: space, regionId, expectedVersion: undefined });
    }
    this.log.lead({ kind: "erase-memory", rowsMax: 1_000_000 });
    return this.log.dump().filter((row) => /^[fgmov]/.test(row));
  }

  #step(each: Operation): void {
    switch (each.kind) {
      case "allocate":
        this.#allocate(each);
        return;
      case "free":
        this.#free(each);
        return;
      case "resize":
        this.#resize(each);
        return;
      case "write":
        this.#write(each);
        return;
      case "read":
        this.#read(each);
        return;
      case "erase":
        this.log.lead({ kind: "erase-memory", rowsMax: each.rowsMax });
        return;
      case "list":
        this.#list(each.namespace);
        return;
      case "create-namespace":
        this.#createNamespace(each.namespace);
        return;
      case "again":
        this.#last?.();
        return;
    }
  }

  /** The state machine's answer must equal the model's, and be the same again when the request is repeated. */
  #compare<Answer>(operationOfLog: ClientOperation, answerOfModel: () => Answer): Answer | null {
    const wanted = answerOrRefusal(answerOfModel);
    this.model.revision += wanted instanceof CoordinationError ? 0 : 1;
    const request = requestOf(++this.#requests);
    const { answer, replayed } = this.log.execute(operationOfLog, { request });
    expect(replayed).to.equal("no");
    if (wanted instanceof CoordinationError) {
      expect(contentOf(answer)).to.equal(wanted.reason);
    } else {
      expect(answer).to.deep.include({ kind: operationOfLog.kind, revision: this.model.revision, ...wanted });
    }
    this.#seen.add(`${operationOfLog.kind}: ${wanted instanceof CoordinationError ? wanted.reason : "done"}`);
    this.#last = () => {
      const again = this.log.execute(operationOfLog, { request });
      expect(again.replayed).to.equal("yes");
      expect(contentOf(again.answer)).to.deep.equal(contentOf(answer));
    };
    return wanted instanceof CoordinationError ? null : wanted;
  }

  #createNamespace(space: string): void {
    this.#compare({ kind: "create-namespace", namespace: space }, () => {
      if (this.model.namespaces.has(space)) {
        throw new CoordinationError("NAMESPACE_EXISTS", "");
      }
      this.model.namespaces.add(space);
      return {};
    });
  }

  #allocate({ namespace: space, sizeBytes: size }: OperationOf<"allocate">): void {
    const fields = { namespace: space, sizeBytes: size, label: `of ${size}` };
    const allocated = this.#compare({ kind: "allocate-memory", ...fields }, () => {
      this.model.requireNamespace(space);
      this.model.requireQuota(space, 0, size);
      return { sizeBytes: size, version: 1 };
    });
    if (allocated !== null) {
      const known = new Set(this.model.regions.map(({ regionId }) => regionId.toHex()));
      const { regions } = listMemory(this.log.store, space, undefined, 1_000);
      const [added, ...others] = regions.filter(({ regionId }) => !known.has(regionId.toHex()));
      expect(others).to.deep.equal([]);
      expect(added).to.include({ ...allocated, label: fields.label });
      const regionId = added?.regionId ?? new Uint8Array(0);
      this.model.regions.push({ namespace: space, regionId, bytes: new Uint8Array(size), version: 1, isFreed: false });
    }
  }

  #free({ ...asked }: OperationOf<"free">): void {
    const region = this.model.regionOf(asked.region);
    const space = asked.elsewhere ?? region.namespace;
    const expectedVersion = versionOf(region, asked.expected);
    this.#compare({ kind: "free-memory", namespace: space, regionId: region.regionId, expectedVersion }, () => {
      const found = this.model.find(space, region);
      this.model.requireVersion(found, expectedVersion);
      found.isFreed = true;
      return {};
    });
  }

  #resize({ sizeBytes: size, ...asked }: OperationOf<"resize">): void {
    const region = this.model.regionOf(asked.region);
    const space = asked.elsewhere ?? region.namespace;
    const expectedVersion = versionOf(region, asked.expected);
    const fields = { namespace: space, regionId: region.regionId, expectedVersion, sizeBytes: size };
    this.#compare({ kind: "resize-memory", ...fields }, () => {
      const found = this.model.find(space, region);
      this.model.requireVersion(found, expectedVersion);
      this.model.requireQuota(space, found.bytes.length, size);
      const before = found.bytes;
      found.bytes = new Uint8Array(size);
      found.bytes.set(before.subarray(0, size));
      return { sizeBytes: size, previousSizeBytes: before.length, version: ++found.version };
    });
  }

  #write({ offset, data, guarded, ...asked }: OperationOf<"write">): void {
    const region = this.model.regionOf(asked.region);
    const space = asked.elsewhere ?? region.namespace;
    const expectedVersion = versionOf(region, asked.expected);
    const guard = guarded ? { guard: { lockName: "free", fencingToken: 1, rw: false } } : {};
    const fields = { namespace: space, regionId: region.regionId, expectedVersion, offset, data, ...guard };
    this.#compare({ kind: "write-memory", ...fields }, () => {
      this.model.requireNamespace(space);
      if (guarded) {
        throw new CoordinationError("FENCED", "");
      }
      const found = this.model.find(space, region);
      this.model.requireVersion(found, expectedVersion);
      this.model.requireBounds(found, offset, data.length);
      found.bytes.set(data, offset);
      return { bytesWritten: data.length, version: ++found.version };
    });
  }

  #read({ offset, length, ...asked }: OperationOf<"read">): void {
    const region = this.model.regionOf(asked.region);
    const space = asked.elsewhere ?? region.namespace;
    let wanted = "";
    try {
      const found = this.model.find(space, region);
      this.model.requireBounds(found, offset, length);
    } catch (error) {
      wanted = error instanceof CoordinationError ? error.reason : String(error);
    }
    this.#seen.add(`read: ${wanted || "done"}`);
    if (wanted === "") {
      this.#compareBytes(region, offset, length);
    } else {
      expect(() => readMemory(this.log.store, space, region.regionId, offset, length)).to.throw(CoordinationError);
    }
  }

  #compareBytes({ namespace: space, regionId, bytes, version }: ModelRegion, offset: number, length: number): void {
    const { region, data } = readMemory(this.log.store, space, regionId, offset, length);
    expect([region.sizeBytes, region.version]).to.deep.equal([bytes.length, version]);
    expect(data.length).to.equal(length);
    expect(Buffer.compare(data, bytes.subarray(offset, offset + length)), "the same bytes").to.equal(0);
  }

  #list(space: string): void {
    if (!this.model.namespaces.has(space)) {
      return;
    }
    const listed = listMemory(this.log.store, space, undefined, 1_000).regions;
    const wanted = this.model.regionsIn(space);
    expect(listed.map(({ regionId }) => regionId.toHex())).to.deep.equal(
      wanted.map(({ regionId }) => regionId.toHex()).sort(),
    );
  }
}

function versionOf(region: ModelRegion, meaning: Expected): number | undefined {
  return { any: undefined, right: region.version, wrong: region.version + 1 }[meaning];
}

describe("memory beside a model of plain arrays", () => {
  it("S31, S32, S33, S34: has the same answers and bytes over 10,000 random operations, and from every restart", function () {
    // Each log is applied twice, and megabytes are compared.
    this.timeout(60_000);
    const seen = new Set<string>();
    const operations = fc.array(operation, { minLength: 500, maxLength: 500 });
    fc.assert(
      fc.property(operations, fc.nat(), fc.integer({ min: 1, max: 40 }), (script, cut, sliceEntries) => {
        const comparison = new Comparison(seen);
        comparison.run(script);
        expectSameFromRestart(comparison.log, cut % comparison.log.rows.length, sliceEntries);
        expect(comparison.rowsLeftAfterAll()).to.deep.equal([]);
      }),
      { numRuns: 20 },
    );
    // Without these cases, agreement would mean little.
    const refusals = ["NAMESPACE_NOT_FOUND", "REGION_NOT_FOUND", "VERSION_MISMATCH"];
    expect([...seen].sort()).to.deep.equal(
      [
        ...["NAMESPACE_NOT_FOUND", "QUOTA", "done"].map((answer) => `allocate-memory: ${answer}`),
        ...["NAMESPACE_EXISTS", "done"].map((answer) => `create-namespace: ${answer}`),
        ...[...refusals, "done"].map((answer) => `free-memory: ${answer}`),
        ...["NAMESPACE_NOT_FOUND", "REGION_NOT_FOUND", "MEMORY_BOUNDS", "done"].map((answer) => `read: ${answer}`),
        ...[...refusals, "QUOTA", "done"].map((answer) => `resize-memory: ${answer}`),
        ...[...refusals, "FENCED", "MEMORY_BOUNDS", "done"].map((answer) => `write-memory: ${answer}`),
      ].sort(),
    );
  });
});
