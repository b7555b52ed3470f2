import { expect } from "chai";
import { enumName, KeyEvent_Type, LockState } from "./index.ts";

describe("enumName", () => {
  it("names values as the protobuf definition does", () => {
    expect(enumName(LockState, LockState.WRITE_HELD)).to.equal("WRITE_HELD");
    expect(enumName(LockState, 0)).to.equal("LOCK_STATE_UNSPECIFIED");
    expect(enumName(KeyEvent_Type, 3)).to.equal("EXPIRE");
  });

  it("gives the number of a value that this version of the contract does not know", () => {
    expect(enumName(LockState, 99)).to.equal("99");
    expect(enumName(LockState, -1)).to.equal("-1");
  });
});
