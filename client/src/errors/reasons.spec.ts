import { readFileSync } from "node:fs";
import { expect } from "chai";
import { isQuoinError, isQuoinReason, QuoinError, quoinReasons } from "../index.ts";
import type * as errors from "./quoin-error.ts";

/** The names in one table of a source of the service. */
function namesIn(file: string, table: RegExp, name: RegExp): string[] {
  const source = readFileSync(new URL(`../../../node/src/${file}`, import.meta.url), "utf8");
  const [, rows = ""] = table.exec(source) ?? [];
  return [...rows.matchAll(name)].map(([, found = ""]) => found);
}

describe("the reasons of errors", () => {
  it("are those of the service, that of its bugs, and five of this package", () => {
    const service = namesIn(
      "state/core/coordination-error.ts",
      /const CODES: Record<Reason, Code> = \{([^}]+)\}/,
      /^ {2}([A-Z_]+): "[A-Z_]+",$/gm,
    );
    expect(service).to.have.length.greaterThan(50);
    const expected = new Set([
      ...service,
      "INTERNAL",
      "NOT_ACQUIRED",
      "SESSION_LOST",
      "NO_TOKEN",
      "API_KEY_LOST",
      "TRANSACTION_CONFLICT",
    ]);
    expect([...quoinReasons].sort()).to.deep.equal([...expected].sort());
  });

  it("are told from reasons of a newer release", () => {
    expect(quoinReasons.every(isQuoinReason)).to.equal(true);
    for (const other of ["", "key_not_found", "NEWER_REASON", "constructor"]) {
      expect(isQuoinReason(other), other).to.equal(false);
    }
  });
});

describe("isQuoinError", () => {
  const error = new QuoinError({ code: "NOT_FOUND", reason: "KEY_NOT_FOUND", message: "no such key" });

  it("finds errors of the SDK, with one of the given reasons if there are any", () => {
    expect(isQuoinError(error)).to.equal(true);
    expect(isQuoinError(error, "KEY_NOT_FOUND")).to.equal(true);
    expect(isQuoinError(error, "NAMESPACE_NOT_FOUND", "KEY_NOT_FOUND")).to.equal(true);
    expect(isQuoinError(error, "NAMESPACE_NOT_FOUND")).to.equal(false);
    for (const other of [new Error("KEY_NOT_FOUND"), { ...error }, "KEY_NOT_FOUND", null, undefined]) {
      expect(isQuoinError(other), String(other)).to.equal(false);
    }
  });

  it("finds errors of another copy of the SDK, which `instanceof` does not", async () => {
    const copy = new URL("./quoin-error.ts?copy", import.meta.url).href;
    const other: typeof errors = await import(copy);
    const foreign = new other.QuoinError({ code: "NOT_FOUND", reason: "KEY_NOT_FOUND", message: "no such key" });
    expect(foreign).not.to.be.instanceOf(QuoinError);
    expect(isQuoinError(foreign, "KEY_NOT_FOUND")).to.equal(true);
  });
});
