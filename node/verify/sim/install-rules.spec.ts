import { expect } from "chai";
import { InstallRules } from "./install-rules.ts";

describe("the rules of snapshots that are received", () => {
  let isWriting: boolean;
  let rules: InstallRules;
  const receive = (index: number, entryTerm: number): void => {
    rules.onOffer({ index, entryTerm });
    rules.onBegun();
  };

  beforeEach(() => {
    isWriting = false;
    rules = new InstallRules({
      id: 1,
      status: () => ({ commitIndex: 5, lastIndex: 9 }),
      termOf: (index) => (index <= 12 ? 3 : undefined),
      isWriting: () => isWriting,
    });
  });

  it("P25: hold for one that is ahead of the log, or beside it", () => {
    receive(20, 3);
    receive(8, 4);
  });

  it("P25: are broken by one that ends at what is committed, or that the log holds", () => {
    expect(() => receive(5, 4)).to.throw("P25 no snapshot is received that ends at what is committed");
    expect(() => receive(8, 3)).to.throw("P25 no snapshot is received that ends at an entry of the log");
  });

  it("P25: know nothing of entries that are being replaced, or were already", () => {
    receive(11, 3);
    isWriting = true;
    receive(8, 3);
  });

  it("P25: are broken by a state that is not newer than the one it replaces", () => {
    rules.onInstalled(7, 8);
    expect(() => rules.onInstalled(7, 7)).to.throw("P25 a snapshot never takes a member back");
  });

  it("P25: judge by what was there when it was offered", () => {
    rules.onOffer({ index: 8, entryTerm: 4 });
    rules.onBegun();
    expect(() => {
      rules.onOffer({ index: 8, entryTerm: 3 });
      rules.onBegun();
    }).to.throw("P25");
  });
});
