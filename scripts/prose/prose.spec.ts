/** Each rule refuses its bad example and accepts the good one beside it. Skipped on a machine that cannot build Vale. */
import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { temporaryDirectory } from "../../testing/index.ts";
import { GoMissing } from "../go/index.ts";
import { buildVale, runVale } from "./index.ts";

/** The first run downloads modules and builds Vale. */
const BUILD_LIMIT_MS = 600_000;

describe("plain English", function () {
  this.timeout(BUILD_LIMIT_MS);
  let vale: string;
  let directory: string;

  before(async function () {
    try {
      vale = await buildVale();
    } catch (error) {
      if (!(error instanceof GoMissing)) {
        throw error;
      }
      console.log(`      skipped: ${error.message}`);
      this.skip();
    }
  });

  beforeEach(() => {
    directory = temporaryDirectory();
  });

  /** @returns the rules that a file of this content breaks, each with its line */
  async function broken(name: string, text: string): Promise<string[]> {
    writeFileSync(path.join(directory, name), text);
    const complaints = await runVale(vale, [name], directory);
    return complaints.map((line) => line.replace(/^.*?:(\d+):\d+:Quoin\.(\w+):.*$/, "$2 in line $1"));
  }

  for (const { rule, bad, good } of [
    { rule: "Words", bad: "A member that nobody needs leaves.", good: "A member that no quorum needs leaves." },
    { rule: "Words", bad: "The leader is told of it.", good: "The follower reports it to the leader." },
    { rule: "Terms", bad: "It stands for election.", good: "It becomes a candidate." },
    { rule: "Headless", bad: "It depends. Who sets them changes them.", good: "If you set one, set the other." },
    { rule: "Headless", bad: "The member to whom it belongs leads.", good: "Its member leads." },
  ]) {
    it(`refuses what ${rule} forbids in documents and comments: ${bad}`, async () => {
      expect(await broken("a.md", `# Title\n\n${bad}\n`)).to.deep.equal([`${rule} in line 3`]);
      expect(await broken("a.ts", `const a = 1;\n/** ${bad} */\nconst b = 2;\n`)).to.deep.equal([`${rule} in line 2`]);
      expect(await broken("b.md", `# Title\n\n${good}\n`)).to.deep.equal([]);
      expect(await broken("b.ts", `/** ${good} */\nconst a = 1;\n`)).to.deep.equal([]);
    });
  }

  it("refuses a sentence of more than 30 words in a document, and accepts two of 30, and any code", async () => {
    const words = (count: number) => `${"word ".repeat(count - 1)}end.`;
    expect(await broken("a.md", `# Title\n\n${words(31)}\n`)).to.deep.equal(["Sentences in line 3"]);
    expect(await broken("b.md", `# Title\n\n${words(30)} ${words(30)}\n`)).to.deep.equal([]);
    expect(await broken("c.md", `# Title\n\n    ${words(31)} nobody\n`)).to.deep.equal([]);
  });

  it("does not look at code: names and strings are no prose", async () => {
    expect(await broken("a.ts", 'export const nobody = "nobody";\n')).to.deep.equal([]);
  });
});
