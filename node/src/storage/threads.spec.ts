import { execFileSync } from "node:child_process";
import { basename } from "node:path";
import { expect } from "chai";

/** Prints the address of each module that the first argument loads, as the entry of a thread or else. */
const LISTS_MODULES = `
import { registerHooks } from "node:module";
registerHooks({
  load(url, context, nextLoad) {
    console.log(url);
    return nextLoad(url, context);
  },
});
await import(process.argv[1]).catch((error) => console.log(error.message));
`;

describe("the threads of the stores", () => {
  // Each member has both, so what they load is in its memory twice more, and each start waits for it.
  for (const thread of ["log/log-thread.ts", "state/state-thread.ts"]) {
    it(`load no state machine and no consensus: ${thread}`, () => {
      const entry = new URL(thread, import.meta.url).href;
      const args = ["--input-type=module", "--eval", LISTS_MODULES, entry];
      const lines = execFileSync(process.execPath, args, { encoding: "utf8" }).split("\n");
      expect(lines)
        .to.include(entry)
        .and.include(`${basename(thread)} is the entry of a worker thread`);
      const own = lines.filter((line) => line.includes("/node/src/")).map((line) => line.split("/node/src/")[1]);
      expect(own.includes("storage/rocks/rocks.ts"), "RocksDB").to.equal(thread.startsWith("state/"));
      expect(own.filter((name) => /^(state|raft|replica)\//.test(name ?? ""))).to.deep.equal([]);
    });
  }
});
