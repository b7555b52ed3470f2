import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Figures } from "@quoin/node/micro";
import { expect } from "chai";
import { temporaryDirectory } from "../../testing/index.ts";
import { FiguresError, readFigures, writeFigures } from "./figures.ts";
import { microTable } from "./table.ts";

const PUT = { threadMicros: 100, processMicros: 120, heapBytes: 2000, externalBytes: 30, operations: 10 };

describe("figures of micro-benchmarks", () => {
  let directory = "";
  const file = (): string => join(directory, "figures.json");

  beforeEach(() => {
    directory = temporaryDirectory();
  });

  it("are read as they were written", () => {
    const figures = new Map<string, Figures>([
      ["put", PUT],
      ["get", { ...PUT, externalBytes: null }],
    ]);
    writeFigures(file(), figures);
    expect([...readFigures(file())]).to.deep.equal([...figures]);
  });

  for (const [name, content] of [
    ["no JSON", "put 100"],
    ["another format", JSON.stringify({ format: 2, cases: [] })],
    ["no cases", JSON.stringify({ format: 1 })],
    ["a case without a name", JSON.stringify({ format: 1, cases: [PUT] })],
    ["a case without a figure", JSON.stringify({ format: 1, cases: [{ ...PUT, name: "put", heapBytes: undefined }] })],
  ] as const) {
    it(`refuse a file with ${name}, by its name`, () => {
      writeFileSync(file(), content);
      expect(() => readFigures(file())).to.throw(FiguresError, file());
    });
  }

  it("refuse a missing file", () => {
    expect(() => readFigures(file())).to.throw(FiguresError, file());
  });
});

describe("the table of micro-benchmarks", () => {
  const rowsOf = (table: string): string[][] =>
    table
      .split("\n")
      .filter((line) => line.includes("put") || line.includes("get"))
      .map((line) =>
        line
          .split("│")
          .map((cell) => cell.trim())
          .slice(1, -1),
      );

  it("has a row for each case", () => {
    expect(rowsOf(microTable(new Map([["put", { ...PUT, externalBytes: null }]]), null))).to.deep.equal([
      ["put", "100.00", "120.00", "2000", "?"],
    ]);
  });

  it("shows changes since an earlier run, in percent", () => {
    const before = new Map([["put", { ...PUT, threadMicros: 200, heapBytes: 1000 }]]);
    const now = new Map([
      ["put", PUT],
      ["get", PUT],
    ]);
    expect(rowsOf(microTable(now, before)).map((row) => row.slice(5))).to.deep.equal([
      ["-50", "+100"],
      ["new", "new"],
    ]);
  });
});
