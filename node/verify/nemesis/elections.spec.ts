import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { temporaryDirectory } from "../../../testing/index.ts";
import { countElections } from "./elections.ts";

function line(role: string, term: number, message = "role changed"): string {
  return `${JSON.stringify({ level: "info", member: "q-0", role, term, leaderId: 1, msg: message })}\n`;
}

describe("the count of elections", () => {
  it("counts each term with a leader once", () => {
    const logs = temporaryDirectory();
    // A leader logs its role again when it learns of a change.
    writeFileSync(join(logs, "q-0.log"), line("candidate", 2) + line("leader", 2) + line("leader", 2));
    writeFileSync(join(logs, "q-1.log"), line("follower", 2) + line("leader", 5) + line("leader", 7, "something else"));
    writeFileSync(join(logs, "history.jsonl"), line("leader", 9));
    expect(countElections(logs)).to.equal(2);
  });
});
