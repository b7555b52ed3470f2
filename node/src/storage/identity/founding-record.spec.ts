import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { temporaryDirectory } from "../../../test/harness/index.ts";
import { FoundingRecord } from "./founding-record.ts";

const CLUSTER = "6f0c9f6e-8a57-4d0e-9d0f-2f6f3c1f7a11";
const OTHER = "11111111-2222-4333-8444-555555555555";
const INCARNATION = "ab".repeat(16);
const WHOLE = { clusterId: CLUSTER, founder: "demo-0", founderIncarnation: INCARNATION };

describe("FoundingRecord", () => {
  let directory: string;
  let record: FoundingRecord;

  beforeEach(() => {
    directory = join(temporaryDirectory(), "identity");
    record = new FoundingRecord(directory);
  });

  function write(facts: object, at = directory): void {
    mkdirSync(at, { recursive: true });
    for (const [name, text] of Object.entries(facts)) {
      writeFileSync(join(at, name), text);
    }
  }

  it("says nothing where nothing is written down: no directory, or an empty one", () => {
    for (const make of [() => undefined, () => mkdirSync(directory)]) {
      make();
      expect([record.clusterId, record.problem]).to.deep.equal([null, null]);
      expect([record.objectionToFounding(CLUSTER, INCARNATION), record.objectionTo(CLUSTER)]).to.deep.equal([
        null,
        null,
      ]);
    }
  });

  it("lets the one found that it names, and objects to every other data directory and cluster", () => {
    write(WHOLE);
    expect([record.clusterId, record.problem]).to.deep.equal([CLUSTER, null]);
    expect(record.objectionToFounding(CLUSTER, INCARNATION)).to.equal(null);
    expect(record.objectionTo(CLUSTER)).to.equal(null);
    expect(record.objectionToFounding(CLUSTER, "cd".repeat(16)))
      .to.include(INCARNATION)
      .and.include("demo-0");
    expect(record.objectionToFounding(OTHER, INCARNATION)).to.include(CLUSTER);
    expect(record.objectionTo(OTHER)).to.include(CLUSTER).and.include(OTHER);
  });

  it("lets no directory found a cluster without a founder", () => {
    write({ ...WHOLE, founder: "-", founderIncarnation: "-" });
    expect(record.objectionToFounding(CLUSTER, INCARNATION)).to.include(CLUSTER);
    expect(record.objectionTo(CLUSTER)).to.equal(null);
  });

  it("forbids any founding, and denies no existing data, if it cannot be used", () => {
    write({ clusterId: CLUSTER });
    for (const wrong of [{}, { founder: "x" }, WHOLE, { clusterId: "demo" }, { ...WHOLE, founderIncarnation: "AB" }]) {
      write(wrong);
      const isWhole = wrong === WHOLE;
      expect(record.objectionToFounding(CLUSTER, INCARNATION) === null, JSON.stringify(wrong)).to.equal(isWhole);
      expect(record.problem === null, JSON.stringify(wrong)).to.equal(isWhole);
      expect(record.objectionTo(OTHER) === null).to.equal(!isWhole);
    }
    rmSync(join(directory, "clusterId"));
    mkdirSync(join(directory, "clusterId"));
    expect(record.problem).to.include("EISDIR");
  });

  it("is read at each question, also where one directory takes the place of another", () => {
    const versions = temporaryDirectory();
    write(WHOLE, join(versions, "1"));
    write({ ...WHOLE, clusterId: OTHER }, join(versions, "2"));
    symlinkSync(join(versions, "1"), directory);
    expect(record.clusterId).to.equal(CLUSTER);
    rmSync(directory);
    symlinkSync(join(versions, "2"), directory);
    expect(record.clusterId).to.equal(OTHER);
  });
});
