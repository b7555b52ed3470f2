import { expect } from "chai";
import { ServerStream } from "./server-stream.ts";
import { StreamTable } from "./stream-table.ts";

function tableWith(lastId: number): StreamTable {
  const table = new StreamTable();
  table.lastId = lastId;
  return table;
}

describe("a table of streams", () => {
  it("distinguishes streams that ended, were reset, were skipped, or were never opened", () => {
    const table = tableWith(9);
    for (const id of [1, 3]) {
      table.add(new ServerStream(id, -1, 1, 1));
    }
    table.end(1);
    table.reset(3);
    table.reset(5);
    expect([1, 3, 5, 7, 9, 11, 4].map((id) => table.closedStateOf(id))).to.deep.equal([
      ...["ended", "reset", "reset", "skipped", "skipped", "idle", "idle"],
    ]);
    expect(table.size).to.equal(0);
  });

  it("remembers only the last resets and ends", () => {
    const table = tableWith(100_001);
    for (let id = 1; id <= 10_001; id += 2) {
      table.reset(id);
    }
    for (let id = 20_001; id <= 20_201; id += 2) {
      table.end(id);
    }
    expect(table.closedStateOf(1)).to.equal("skipped");
    expect(table.closedStateOf(10_001)).to.equal("reset");
    expect(table.closedStateOf(10_001 - 2 * 4_095)).to.equal("reset");
    expect(table.closedStateOf(10_001 - 2 * 4_096)).to.equal("skipped");
    expect(table.closedStateOf(20_201)).to.equal("ended");
    expect(table.closedStateOf(20_201 - 2 * 63)).to.equal("ended");
    expect(table.closedStateOf(20_201 - 2 * 64)).to.equal("skipped");
  });
});
