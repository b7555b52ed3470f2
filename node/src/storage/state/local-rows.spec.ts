import { expect } from "chai";
import { STATE_TABLES } from "../../state/index.ts";
import { LOCAL_ROWS_FROM } from "./local-rows.ts";

describe("local rows of a state store", () => {
  it("are behind all tables of the replicated state, so snapshots have all tables", () => {
    const local = LOCAL_ROWS_FROM[0] as number;
    expect([...STATE_TABLES].filter(([, letter]) => letter >= local)).to.deep.equal([]);
  });
});
