import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { parseScenarios, readOperations, readScenarios } from "./scenario-file.ts";

const FOLDER = fileURLToPath(new URL("..", import.meta.url));
const OPERATIONS = readOperations(FOLDER);

/** The problems of a file with one scenario, whose steps are these lines. */
function problemsOf(...steps: readonly string[]): readonly string[] {
  const lines = ["subject: s", "scenarios:", "  - name: row", "    title: It works", "    steps:"];
  return parseScenarios("file.yaml", [...lines, ...steps.map((step) => `      - ${step}`)].join("\n"), OPERATIONS)
    .problems;
}

describe("scenario files", () => {
  it("are all right in this folder, and their names are unique", () => {
    const names = readScenarios(FOLDER).map(({ name }) => name);
    expect(names).to.have.length.greaterThan(60);
    expect(new Set(names)).to.have.property("size", names.length);
  });

  it("name the file, the scenario, the step and what is wrong", () => {
    expect(problemsOf("{ call: kv.get, with: { key: k } }", "{ call: kv.gett }")).to.deep.equal([
      "file.yaml: row.steps[1]: unknown operation kv.gett",
    ]);
  });

  const wrong: readonly (readonly [string, string])[] = [
    ["{ call: kv.get, with: { kee: k } }", "unknown field kee"],
    ["{ call: kv.get, wth: {} }", "unknown field wth"],
    ["{ call: kv.get, close: main }", "exactly one of"],
    ["{ cal: kv.get }", "exactly one of"],
    ["text", "exactly one of"],
    ["{ call: hold.state, on: main }", "belongs to a hold"],
    ["{ call: kv.get, of: hold }", "belongs to a client"],
    ["{ call: kv.get, keep: it }", "returns nothing that can be kept"],
    ["{ call: transact, keep: tx }", "runs blocks"],
    ["{ call: transact, blocks: [[{ cal: kv.get }]] }", "row.steps[0].blocks[0][0]: must have exactly one of"],
    ["{ call: kv.get, error: { resaon: X } }", "unknown field resaon"],
    ["{ fault: { on: PutKye, hang: true } }", "no method PutKye"],
    ["{ fault: { on: PutKey } }", "exactly one of"],
    ["{ fault: { on: PutKey, hang: true, cut: true } }", "exactly one of"],
    ["{ fault: { on: PutKey, answer: { reason: X } } }", "the field code is missing"],
    ["{ fault: { hang: true } }", "the field on is missing"],
    ["{ sent: { method: PutKey, cals: 1 } }", "unknown field cals"],
    ["{ sent: { calls: 1 } }", "the field method is missing"],
    ["{ await_sent: { method: PutKey, tokens: 1 } }", "unknown field tokens"],
    ["{ cluster: explode }", "unknown action explode"],
    ["{ cluster: kill }", "needs a member"],
    ["{ cluster: settled, member: q-0 }", "takes no member"],
    ["{ client: other, options: { endpoint: x } }", "unknown field endpoint"],
    ["{ repeat: 2, steps: [{ cal: kv.get }] }", "row.steps[0].steps[0]: must have exactly one of"],
  ];
  for (const [step, problem] of wrong) {
    it(`refuse ${step}`, () => {
      expect(problemsOf(step).join("\n")).to.include(problem).and.to.include("file.yaml: row.steps[0]");
    });
  }

  it("refuse two scenarios of one name, and missing fields", () => {
    const text = "subject: s\nscenarios:\n  - { name: a, title: t, steps: [] }\n  - { name: a, steps: [] }\nmore: 1";
    expect(parseScenarios("file.yaml", text, OPERATIONS).problems).to.deep.equal([
      "file.yaml: the file: unknown field more; the fields are subject, scenarios",
      "file.yaml: a: the field title is missing",
      "file.yaml: a: another scenario of the file has this name",
    ]);
  });
});
