import { expect } from "chai";
import { MemberEpisodes } from "./episodes.ts";

function metrics(logEntries: number, compactions: number): string {
  return [
    "# TYPE quoin_raft_log_entries gauge",
    `quoin_raft_log_entries ${logEntries}`,
    "# TYPE quoin_rocksdb_running_compactions gauge",
    `quoin_rocksdb_running_compactions{store="log"} ${compactions}`,
    'quoin_rocksdb_running_compactions{store="state"} 0',
  ].join("\n");
}

describe("episodes of other work", () => {
  it("are as long as the work can have lasted", () => {
    const member = new MemberEpisodes();
    for (const [atMs, logEntries, compactions] of [
      [0, 10, 0],
      [100, 20, 1],
      [200, 30, 2],
      [300, 12, 0],
      [400, 12, 0],
    ] as const) {
      member.add(atMs, metrics(logEntries, compactions));
    }
    expect(member.episodes(500)).to.deep.equal([
      { work: "log", startMs: 200, endMs: 300 },
      { work: "rocks", startMs: 0, endMs: 300 },
    ]);
  });

  it("may not be over", () => {
    const member = new MemberEpisodes();
    member.add(100, metrics(5, 1));
    expect(member.episodes(200)).to.deep.equal([{ work: "rocks", startMs: 100, endMs: 200 }]);
  });
});
