import { expect } from "chai";
import { FakeRuntime, runProgram } from "../../test/index.ts";
import { run } from "./program.ts";

async function outputOf(...parameters: string[]): Promise<string> {
  const { code, out, err } = await runProgram(run, new FakeRuntime(), parameters, {});
  expect({ code, err }, parameters.join(" ")).to.deep.equal({ code: 0, err: "" });
  return out;
}

describe("the help of quoinctl", function () {
  // It prints the help of every command.
  this.timeout(60_000);

  /** The words that may follow each command. */
  let commands: Map<string, readonly string[]>;
  let helps: Map<string, string>;

  before(async () => {
    const lines = (await outputOf("__commands")).trimEnd().split("\n");
    commands = new Map(
      lines.map((line) => line.split("\t")).map(([path = "", words = ""]) => [path, words.split(" ")]),
    );
    helps = new Map();
    for (const path of commands.keys()) {
      helps.set(path, await outputOf(...path.split(" ").filter((word) => word !== ""), "--help"));
    }
  });

  it("describes every command, and says where the options of every command are", () => {
    expect(commands.size).to.be.greaterThan(80);
    for (const [path, help] of helps) {
      const [usage = "", , description = ""] = help.split("\n");
      expect(usage).to.match(new RegExp(`^Usage: quoinctl ${path}`.trimEnd()));
      expect(description, path).to.match(/^\w.{5,}/);
      expect(help.includes("are in: quoinctl --help"), path).to.equal(path !== "");
    }
  });

  it("has examples that name existing commands and options", () => {
    const examples = [...helps].flatMap(([path, help]) =>
      [...help.matchAll(/^ {2}(?:\w+=\$\()?quoinctl ([^|)\n]+)/gm)].map(([, example = ""]) => ({ path, example })),
    );
    expect(examples).to.have.lengthOf.at.least(25);
    for (const { path, example } of examples) {
      const [own = ""] = example.split(" -- ");
      const words = own.trim().split(/\s+/);
      let place = "";
      while (words.length > 0 && commands.has(`${place} ${words[0]}`.trim())) {
        place = `${place} ${words.shift()}`.trim();
      }
      expect(place, `${path}: ${example}`).to.not.equal("");
      expect(`${place} `, `an example stands at its own command: ${example}`).to.satisfy(
        (at: string) => at.startsWith(`${path} `.trimStart()) || path.split(" ")[0] === at.split(" ")[0],
      );
      for (const option of words.filter((word) => word.startsWith("-"))) {
        expect(commands.get(place), `${path}: ${example}`).to.include(option);
      }
    }
  });
});
