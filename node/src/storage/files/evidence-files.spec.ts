import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { temporaryDirectory } from "../../../test/harness/index.ts";
import { dropEvidence, evidenceDirectory, preserveEvidence } from "./evidence-files.ts";

describe("kept files", () => {
  function storeWith(...names: readonly string[]): string {
    const store = join(temporaryDirectory(), "raft");
    mkdirSync(store);
    for (const name of names) {
      writeFileSync(join(store, name), name);
    }
    return store;
  }

  it("keeps logs, tables, manifests and the current one, though the store deletes them", () => {
    const store = storeWith("000004.log", "000008.sst", "MANIFEST-000005", "CURRENT", "LOG", "LOCK", "OPTIONS-000007");
    expect(preserveEvidence(store)).to.equal(true);
    rmSync(store, { recursive: true });
    const kept = evidenceDirectory(store);
    expect(readdirSync(kept).sort()).to.deep.equal(["000004.log", "000008.sst", "CURRENT", "MANIFEST-000005"]);
    expect(readFileSync(join(kept, "000004.log"), "utf8")).to.equal("000004.log");
    expect(statSync(kept).mode & 0o777).to.equal(0o700);
  });

  it("leaves older evidence alone", () => {
    const store = storeWith("000004.log");
    preserveEvidence(store);
    writeFileSync(join(store, "000009.log"), "later");
    expect(preserveEvidence(store)).to.equal(false);
    expect(readdirSync(evidenceDirectory(store))).to.deep.equal(["000004.log"]);
  });

  it("keeps nothing of a store that is not there", () => {
    const store = join(temporaryDirectory(), "raft");
    expect(preserveEvidence(store)).to.equal(false);
    expect(existsSync(evidenceDirectory(store))).to.equal(false);
  });

  it("drops what was kept and what a start that was cut short left of it, and nothing else", () => {
    const store = storeWith("000004.log");
    const parent = join(store, "..");
    mkdirSync(join(parent, "raft-before-recovery.4711.new"));
    mkdirSync(join(parent, "raft-before"));
    preserveEvidence(store);
    dropEvidence(store);
    expect(readdirSync(parent).sort()).to.deep.equal(["raft", "raft-before"]);
    dropEvidence(store);
    expect(preserveEvidence(store)).to.equal(true);
  });
});
