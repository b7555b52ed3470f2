import { expect } from "chai";
import { isSpecified } from "./specified-end.ts";

const NOTHING = { isExcused: false, mayBeKilled: false };
const EXCUSED = { ...NOTHING, isExcused: true };
const STARVED = { ...NOTHING, mayBeKilled: true };

function ended(code: number | null, signal: NodeJS.Signals | null = null, isKilled = false, output = "") {
  return { code, signal, isKilled, output };
}

describe("the specified ends of a process", () => {
  it("are an end in order, a removal, and what the run itself has killed", () => {
    for (const end of [ended(0), ended(74), ended(null, "SIGKILL", true)]) {
      expect(isSpecified(end, NOTHING), JSON.stringify(end)).to.equal(true);
    }
  });

  it("are a failed store and refused data where something was done to the disk, and nowhere else", () => {
    for (const code of [71, 73]) {
      expect(isSpecified(ended(code), EXCUSED), `${code}`).to.equal(true);
      expect(isSpecified(ended(code), NOTHING), `${code}`).to.equal(false);
      expect(isSpecified(ended(code), STARVED), `${code}`).to.equal(false);
    }
  });

  it("are never a broken invariant, wrong flags, an unknown code or a crash", () => {
    for (const end of [ended(70), ended(76), ended(1), ended(null, "SIGSEGV"), ended(null, "SIGABRT")]) {
      expect(isSpecified(end, { isExcused: true, mayBeKilled: true }), JSON.stringify(end)).to.equal(false);
    }
  });

  it("are a kill by the system where there was too little memory, and by itself where a write does not come back", () => {
    const killed = ended(null, "SIGKILL");
    expect(isSpecified(killed, STARVED)).to.equal(true);
    expect(isSpecified(killed, EXCUSED)).to.equal(false);
    const stuck = ended(null, "SIGKILL", false, "quoin-node: exit 72: a write to the disk does not come back");
    expect(isSpecified(stuck, EXCUSED)).to.equal(true);
    expect(isSpecified(stuck, NOTHING)).to.equal(false);
  });
});
