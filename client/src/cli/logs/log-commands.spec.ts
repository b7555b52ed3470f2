import { expect } from "chai";
import { FakeRuntime, type ProgramRun, runProgram, ScriptedMember } from "../../../test/index.ts";
import { run } from "../index.ts";

const ID = "00000000-0000-4000-8000-000000000001";
const atMs = BigInt(Date.parse("2026-01-01"));
const LOG = { logId: ID, name: "a\tlog", namespace: "n", createdAtMs: atMs };
const EVENT = { sequence: 2n, appendedAtMs: atMs, payload: Buffer.from("a\u0001"), idempotencyKey: "k" };

/** Pages with one log each: `l` is only in namespace n, `twice` also in another one. */
function listed({ name, namespace, pageToken }: { name: string; namespace: string; pageToken: string }): object {
  const all = [LOG, { ...LOG, namespace: "o" }].slice(0, name === "twice" ? 2 : 1);
  const found = all.filter((log) => name !== "absent" && ["", log.namespace].includes(namespace));
  return {
    logs: found.slice(Number(pageToken), Number(pageToken) + 1),
    nextPageToken: found.length > 1 && pageToken === "" ? "1" : "",
  };
}

describe("quoinctl log", () => {
  let member: ScriptedMember;

  beforeEach(async () => {
    member = await ScriptedMember.start({
      createLog: () => ({ log: LOG }),
      getLog: () => ({ log: LOG }),
      listLogs: listed,
      updateLog: () => ({ log: LOG }),
      appendEvent: () => ({ sequence: 3n }),
      appendEvents: ({ payloads }) => ({
        runs: [{ firstSequence: 3n, count: BigInt(payloads.length) }],
        lastSequence: 4n,
      }),
      readEvents: () => ({ events: [EVENT], lastSequence: 2n }),
    });
  });

  afterEach(() => member.stop());

  function quoinctl(parameters: readonly string[], input = ""): Promise<ProgramRun> {
    const environment = { QUOIN_ENDPOINTS: member.endpoint, QUOIN_TOKEN: "t" };
    return runProgram(run, new FakeRuntime(), ["log", ...parameters], { environment, input });
  }

  /** The last request, after the command has succeeded. */
  async function asked(parameters: readonly string[], input = ""): Promise<unknown> {
    const { code, err } = await quoinctl(parameters, input);
    expect(code, err).to.equal(0);
    return member.calls.at(-1)?.request;
  }

  it("creates logs and changes settings, which may be unset", async () => {
    const options = ["--namespace", "n", "--max-age", "1h", "--duplicate-window", "0"];
    expect(await asked(["create", "orders", ...options])).to.deep.equal({
      name: "orders",
      namespace: "n",
      settings: new Map([
        ["queue.duplicate_window_secs", 0n],
        ["retention.max_age_secs", 3_600n],
      ]),
    });
    expect(await asked(["settings", ID, "--max-bytes", "none", "--max-age", "90s"])).to.deep.equal({
      logId: ID,
      settings: new Map([["retention.max_age_secs", 90n]]),
      unsetSettings: ["retention.max_bytes"],
    });
  });

  it("appends the given events, under the given conditions", async () => {
    const conditions = ["--idempotency-key", "k", "--if-sequence", "2", "--rw-guard", "ns/a/b=c=7"];
    expect(await asked(["append", "l", ...conditions], "data\n")).to.deep.equal({
      logId: ID,
      payload: Buffer.from("data\n"),
      idempotencyKey: "k",
      expectedSequence: 2n,
      guard: { namespace: "ns", lockName: "a/b=c", fencingToken: 7n, rw: true, sessionId: undefined },
    });
    expect(await asked(["append-batch", "l", "--delimiter", "--"], "a--b--")).to.deep.include({
      logId: ID,
      payloads: [Buffer.from("a"), Buffer.from("b")],
    });
    const { code, err } = await quoinctl(["append-batch", "l"], "x\n".repeat(10_001));
    expect([code, err]).to.deep.equal([2, "quoinctl: payloads must be an array of 1 to 10,000 events (BAD_FIELD)\n"]);
    const printed = await quoinctl(["append-batch", "l", "-o", "json"], "a\nb");
    expect(JSON.parse(printed.out)).to.deep.equal({
      success: true,
      sequences: [3, 4],
      last_sequence: 4,
      replayed: false,
    });
  });

  it("lists logs and reads events, with unprintable characters escaped", async () => {
    expect((await quoinctl(["list"])).out).to.include("a\\tlog");
    expect((await quoinctl(["read", "l", "--from", "2"])).out).to.include("2026-01-01T00:00:00.000Z  k    a\\u{1}");
    expect(member.calls.at(-1)?.request).to.include({ fromSequence: 2n });
    const { events } = JSON.parse((await quoinctl(["read", "l", "-o", "json"])).out);
    expect(events).to.deep.equal([
      {
        sequence: 2,
        timestamp: "2026-01-01T00:00:00.000Z",
        idempotency_key: "k",
        payload: "YQE=",
        payload_text: "a\u0001",
      },
    ]);
  });

  it("follows a log only after an answer, as a tail itself waits for members that are away", async () => {
    const { code, err } = await runProgram(run, new FakeRuntime(), ["log", "tail", LOG.logId, "--from", "1"], {
      environment: { QUOIN_ENDPOINTS: "127.0.0.1:1,127.0.0.1:2", QUOIN_TOKEN: "t" },
    });
    expect(code).to.equal(3);
    expect(err).to.match(/^quoinctl: no connection to .*; the endpoints are 127\.0\.0\.1:1, 127\.0\.0\.1:2 /);
  });

  it("requires the namespace for a name that several namespaces have", async () => {
    const { code, err } = await quoinctl(["describe", "twice"]);
    expect([code, err]).to.deep.equal([
      2,
      'quoinctl: 2 event logs are called "twice": name one of them\nhint: n/a\\tlog, o/a\\tlog\n',
    ]);
    expect(await asked(["describe", "n/twice"])).to.include({ logId: ID });
    expect(await asked(["list", "--namespace", "n", "--name", "l"])).to.include({ name: "l", namespace: "n" });
  });

  it("names a missing log, and an invalid guard", async () => {
    const absent = await quoinctl(["describe", "absent"]);
    expect([absent.code, absent.err]).to.deep.equal([
      1,
      'quoinctl: there is no event log "absent" (LOG_NOT_FOUND)\n' +
        "hint: list the event logs with: quoinctl log list\n",
    ]);
    const elsewhere = await quoinctl(["describe", "m/l/x"]);
    expect(elsewhere.code).to.equal(1);
    expect(member.calls.at(-1)?.request).to.include({ name: "l/x", namespace: "m" });
    const guarded = await quoinctl(["append", "l", "x", "--guard", "lock=7"]);
    expect(guarded.code).to.equal(2);
    expect(guarded.err).to.include(
      "option '--guard <NAMESPACE/LOCK=TOKEN>' argument 'lock=7' is invalid. " +
        "Give a lock and the token of its hold, as in NAMESPACE/LOCK=TOKEN.",
    );
  });
});
