import { expect } from "chai";
import type { MemberReport } from "../clusters/index.ts";
import { compare, type Point } from "../measuring/index.ts";
import { ClusterInMemory } from "../test/index.ts";
import { requireFair, UnfairError } from "./fairness.ts";
import { jsonReport, markdownReport, type Row, type Setup, terminalTable } from "./report.ts";

describe("a fair comparison", () => {
  const SYNC_MS = 0.2;
  const members = [1, 2, 3].map((pid) => ({ endpoint: `127.0.0.1:${pid}`, pid }));
  const cluster = (name: string, of = members) => Object.assign(new ClusterInMemory(), { name, members: of });
  const unlimited = "node main.ts --rate-limit grpc=0 --rate-limit http=0 ";

  const unfairness = async (...args: Parameters<typeof requireFair>): Promise<string> => {
    const error = await requireFair(...args).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(UnfairError);
    return (error as UnfairError).message;
  };

  it("has three members on each side, without rate limits, on a disk that syncs", async () => {
    await requireFair([cluster("quoin"), cluster("etcd")], SYNC_MS, 0, () => unlimited);
  });

  it("is refused with each reason in one line", async () => {
    const commandLines = ["--rate-limit http=0", null, unlimited];
    const clusters = [cluster("quoin"), cluster("etcd", members.slice(1)), cluster("other")];
    const message = await unfairness(clusters, 0.003, 0, (pid) => commandLines[pid - 1] ?? null);
    expect(message).to.equal(
      "quoin at 127.0.0.1:1 runs without --rate-limit grpc=0; " +
        "the command line of quoin at 127.0.0.1:2 cannot be read; etcd has 2 members, not 3; " +
        "the command line of etcd at 127.0.0.1:2 cannot be read; " +
        "the required configuration of other is unknown; " +
        "the disk takes 0.003 ms to sync, so it does not: set TMPDIR to a folder on a real disk",
    );
    const unsynced = unfairness([cluster("etcd")], SYNC_MS, 0, () => "etcd --unsafe-no-fsync=true");
    expect(await unsynced).to.include("etcd at 127.0.0.1:1 runs with --unsafe-no-fsync");
  });

  const stream = { name: "log", replicas: 3, isInFiles: true, isAsynchronous: false };
  const reported = (change: (at: number) => Partial<MemberReport>) => {
    const reports = members.map(({ endpoint }, at) => ({
      endpoint,
      isSynced: true,
      clusterSize: 3,
      streams: [stream],
      ...change(at),
    }));
    return [Object.assign(cluster("nats"), { reports })];
  };

  it("has streams of three replicas in files that sync every write, as each member reports", async () => {
    await requireFair(
      reported(() => ({})),
      SYNC_MS,
      1,
      () => "nats",
    );
  });

  for (const [fault, change] of [
    ["nats at 127.0.0.1:2 does not sync every write", { isSynced: false }],
    ["nats at 127.0.0.1:2 is in a cluster of 1, not 3", { clusterSize: 1 }],
    ["nats at 127.0.0.1:2: stream log has no replica there", { streams: [] }],
    ["nats at 127.0.0.1:2: stream log has 1 replicas, not 3", { streams: [{ ...stream, replicas: 1 }] }],
    ["nats at 127.0.0.1:2: stream log is not kept in files", { streams: [{ ...stream, isInFiles: false }] }],
    [
      "nats at 127.0.0.1:2: stream log is not synced before it is acknowledged",
      { streams: [{ ...stream, isAsynchronous: true }] },
    ],
  ] as const) {
    it(`is refused when ${fault}`, async () => {
      const clusters = reported((at) => (at === 1 ? change : {}));
      expect(await unfairness(clusters, SYNC_MS, 1, () => "nats")).to.equal(fault);
    });
  }

  it("is refused when a required report is missing", async () => {
    expect(await unfairness([cluster("nats")], SYNC_MS, 0, () => "nats")).to.include("do not report their settings");
    const withoutStreams = reported(() => ({ streams: [] }));
    expect(await unfairness(withoutStreams, SYNC_MS, 1, () => "nats")).to.include("nats has 0 streams, not 1 or more");
  });

  it("reads the command lines of real processes", async () => {
    const own = { endpoint: "here", pid: process.pid };
    const gone = { endpoint: "nowhere", pid: 2 ** 30 };
    const clusters = [cluster("quoin", [own, gone])];
    expect(await unfairness(clusters, SYNC_MS, 0)).to.include(
      "quoin at here runs without --rate-limit grpc=0; quoin at here runs without --rate-limit http=0; " +
        "the command line of quoin at nowhere cannot be read",
    );
  });
});

describe("the report of a comparison", () => {
  const point = (system: string, perSecond: number, cpu: number | null): Point => ({
    system,
    concurrency: 64,
    runs: 2,
    operations: 1_000,
    perSecond,
    timings: [{ name: "put", p50Ms: 2, p99Ms: 4, maxMs: 5 }],
    attemptsPerOperation: null,
    memberCpuSecondsPer1000: cpu,
    generatorCpuSecondsPer1000: 0.1,
    leaderMainMicrosPerOperation: system === "quoin" ? 120 : null,
    generatorCpuPercent: 10,
    memoryMiBMax: 200,
    memberLoopDelayMs: null,
    elections: 0,
  });
  const ours = point("quoin", 3_000, 0.3);
  const theirs = point("etcd", 4_000, 0.2);
  const rows: Row[] = [{ scenario: "put", concurrencyName: "in flight", ours, theirs, ratio: compare(ours, theirs) }];
  const setup: Setup = {
    startedAt: new Date(0),
    systems: ["quoin 1", "etcd 3.7.3"],
    settings: ["etcd: quiet"],
    members: 3,
    generator: "node",
    cpus: 2,
    syncMs: 0.2,
    syncMsAfter: 0.25,
    disturbedRuns: 1,
    runs: 4,
  };

  it("has a row for each point, with both figures and the ratio", () => {
    const cells =
      "put | 64 in flight | 3000 / 4000 | 0.75× | 2.00 / 2.00 | 1.00× | 4.00 / 4.00 | 1.00× | 300 / 200 | 1.50× | 120";
    expect(markdownReport(setup, rows).split("\n")).to.include(`| ${cells} |`);
    expect(terminalTable(rows)).to.include("0.75×").and.to.include("300 / 200");
  });

  it("marks unknown figures", () => {
    const unknown = { ...point("quoin", 3_000, null), leaderMainMicrosPerOperation: null };
    const row: Row = { ...(rows[0] as Row), ours: unknown, ratio: compare(unknown, theirs) };
    expect(markdownReport(setup, [row])).to.include("| ? / 200 | ? |  |");
  });

  it("names the setup, and is complete as JSON", () => {
    const text = markdownReport(setup, rows);
    expect(text).to.include("# quoin 1 beside etcd 3.7.3").and.to.include("Disturbed: 1 of 4 runs.");
    expect(text.split("\n")).to.include("- etcd: quiet");
    expect(markdownReport({ ...setup, settings: [] }, rows)).not.to.include("Not by default");
    const { rows: read } = JSON.parse(jsonReport(setup, rows));
    expect(read).to.deep.equal(rows);
  });
});
