import { expect } from "chai";
import { tableOf } from "./index.ts";

describe("the table of scenarios", () => {
  it("has a row for each scenario and a column for each language, and the last result counts", () => {
    const scenarios = [
      { name: "keys/put", title: "A key | a value" },
      { name: "locks/hold", title: "A hold" },
    ];
    const result = (scenario: string, language: string, verdict: "passed" | "failed" | "unsupported") => {
      return { scenario, language, verdict, message: "", durationMs: 1 };
    };
    const results = [
      result("keys/put", "zig", "failed"),
      result("keys/put", "go", "failed"),
      result("keys/put", "go", "passed"),
      result("locks/hold", "typescript", "unsupported"),
    ];
    expect(tableOf(scenarios, results)).to.equal(
      [
        "| Scenario     | Promise          | TypeScript | Go | zig |",
        "| ------------ | ---------------- | ---------- | -- | --- |",
        "| `keys/put`   | A key \\| a value |            | ✓  | ✗   |",
        "| `locks/hold` | A hold           | –          |    |     |",
        "",
      ].join("\n"),
    );
  });
});
