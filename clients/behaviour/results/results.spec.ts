import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { readScenarios } from "../driver/index.ts";
import { pageOf, type ScenarioResult, tableOf } from "./index.ts";

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
        "| Scenario     | Promise          | TypeScript | Go  | zig |",
        "| ------------ | ---------------- | ---------- | --- | --- |",
        "| `keys/put`   | A key \\| a value |            | ✓   | ✗   |",
        "| `locks/hold` | A hold           | –          |     |     |",
        "",
      ].join("\n"),
    );
  });

  it("is in the manual, with every scenario, and every language passes what it can do", () => {
    const page = readFileSync(new URL("../../../docs/sdk-behaviour.md", import.meta.url), "utf8");
    const signs: Readonly<Record<string, ScenarioResult["verdict"]>> = { "✓": "passed", "–": "unsupported" };
    const languages = ["typescript", "python", "python (asyncio)", "go"];
    const results = page.split("\n").flatMap((line) => {
      const [, name, , ...cells] = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
      const scenario = name?.replaceAll("`", "") ?? "";
      return cells.slice(0, -1).flatMap((sign, at): ScenarioResult[] => {
        const verdict = signs[sign];
        const language = languages[at] ?? "";
        return verdict === undefined ? [] : [{ scenario, language, verdict, message: "", durationMs: 0 }];
      });
    });
    const scenarios = readScenarios(fileURLToPath(new URL("..", import.meta.url)));
    expect(results).to.have.lengthOf(scenarios.length * languages.length);
    expect(pageOf(scenarios, results)).to.equal(page);
  });
});
