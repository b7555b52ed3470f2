import { readdirSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { runScenario } from "./run.ts";

const folder = new URL("./", import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith(".txt"));

describe("scenarios", () => {
  it("exist", () => {
    expect(files.length).to.be.above(50);
  });

  for (const file of files) {
    it(`${file.slice(0, -4)} happens as written`, () => {
      const text = readFileSync(new URL(file, folder), "utf8");
      expect(runScenario(text)).to.equal(text);
    });
  }

  it("describe their purpose, and the reason", () => {
    for (const file of files) {
      const [first] = readFileSync(new URL(file, folder), "utf8").split("\n");
      expect(first, file).to.match(/^# .{20,}/);
    }
  });

  it("break no rule, and request nothing impossible", () => {
    const violated = files.filter((file) => /^(violation|error): /m.test(readFileSync(new URL(file, folder), "utf8")));
    expect(violated).to.deep.equal([]);
  });

  it("differ when something else happens", () => {
    const text = readFileSync(new URL("single-voter.txt", folder), "utf8");
    const altered = text.replace("campaign 1\n", "propose 1\n");
    expect(altered).not.to.equal(text);
    expect(runScenario(altered)).not.to.equal(text);
  });
});
