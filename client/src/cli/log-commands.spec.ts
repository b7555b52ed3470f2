import { expect } from "chai";
import {
  answerJson,
  FakeRuntime,
  type ProgramRun,
  type ReceivedRequest,
  runProgram,
  ScriptedHttpMember,
} from "../../test/index.ts";
import { run } from "./program.ts";

const LOG = {
  log_id: "00000000-0000-4000-8000-000000000001",
  name: "a\tlog",
  namespace: "n",
  first_sequence: 1,
  last_sequence: 2,
  event_count: 2,
  size_bytes: 3,
  created_by: "u",
  created_at: "2026-01-01T00:00:00.000Z",
  settings: { "retention.max_bytes": 10 },
};
/** Pages with one log each: `l` is only in namespace n, `twice` also in another one. */
function listed(query: URLSearchParams): object {
  const [name, namespace, cursor] = [query.get("name"), query.get("namespace"), query.get("cursor") ?? ""];
  const all = [LOG, { ...LOG, namespace: "o" }].slice(0, name === "twice" ? 2 : 1);
  const found = all.filter((log) => name !== "absent" && (namespace === null || log.namespace === namespace));
  return {
    logs: found.slice(Number(cursor), Number(cursor) + 1),
    next_cursor: found.length > 1 && cursor === "" ? "1" : null,
  };
}
const EVENT = { sequence: 2, timestamp: "2026-01-01T00:00:00.000Z", payload: "YQE=", idempotency_key: "k" };

describe("quoinctl log", () => {
  let member: ScriptedHttpMember;

  beforeEach(async () => {
    member = await ScriptedHttpMember.start((response, { method, path }) => {
      if (path.startsWith("/logs?")) {
        answerJson(response, 200, listed(new URLSearchParams(path.slice(6))));
      } else if (path.endsWith("/append")) {
        answerJson(response, 200, { success: true, sequence: 3 });
      } else if (path.includes("/append_batch")) {
        answerJson(response, 200, { sequences: [3, 4], last_sequence: 4 });
      } else if (path.includes("/events")) {
        answerJson(response, 200, { events: [EVENT], last_sequence: 2 });
      } else {
        answerJson(response, method === "POST" ? 201 : 200, LOG);
      }
    });
  });

  afterEach(() => member.stop());

  function quoinctl(parameters: readonly string[], input = ""): Promise<ProgramRun> {
    const environment = { QUOIN_ENDPOINTS: "127.0.0.1:1", QUOIN_HTTP_ENDPOINTS: member.url, QUOIN_TOKEN: "t" };
    return runProgram(run, new FakeRuntime(), ["log", ...parameters], { environment, input });
  }

  /** The last request, after the command has succeeded. */
  async function asked(parameters: readonly string[], input = ""): Promise<ReceivedRequest> {
    const { code, err } = await quoinctl(parameters, input);
    expect(code, err).to.equal(0);
    return member.requests.at(-1) as ReceivedRequest;
  }

  it("creates logs and changes settings, which may be unset", async () => {
    const created = await asked(["create", "orders", "--namespace", "n", "--max-age", "1h", "--duplicate-window", "0"]);
    expect(JSON.parse(String(created.body))).to.deep.equal({
      name: "orders",
      namespace: "n",
      settings: { "queue.duplicate_window_secs": 0, "retention.max_age_secs": 3_600 },
    });
    const changed = await asked(["settings", LOG.log_id, "--max-bytes", "none", "--max-age", "90s"]);
    expect([changed.method, changed.path]).to.deep.equal(["PATCH", `/logs/${LOG.log_id}`]);
    expect(JSON.parse(String(changed.body))).to.deep.equal({
      settings: { "retention.max_age_secs": 90, "retention.max_bytes": null },
    });
  });

  it("appends the given events, under the given conditions", async () => {
    const conditions = ["--idempotency-key", "k", "--if-sequence", "2", "--rw-guard", "ns/a/b=c=7"];
    const { path, headers, body } = await asked(["append", "l", ...conditions], "data\n");
    expect([path, String(body)]).to.deep.equal([`/logs/${LOG.log_id}/append`, "data\n"]);
    expect(headers).to.include({
      "idempotency-key": "k",
      "expected-sequence": "2",
      "lock-guard": "ns/a%2Fb%3Dc;token=7;rw",
    });
    const batch = await asked(["append-batch", "l", "--delimiter", "--"], "a--b--");
    expect([batch.path, String(batch.body)]).to.deep.equal([`/logs/${LOG.log_id}/append_batch?delimiter=%0A`, "a\nb"]);
  });

  it("lists logs and reads events, with unprintable characters escaped", async () => {
    expect((await quoinctl(["list"])).out).to.include("a\\tlog");
    expect((await quoinctl(["read", "l", "--from", "2"])).out).to.include("2026-01-01T00:00:00.000Z  k    a\\u{1}");
    expect(member.requests.at(-1)?.path).to.include("from_sequence=2&");
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

  it("requires the namespace for a name that several namespaces have", async () => {
    const { code, err } = await quoinctl(["describe", "twice"]);
    expect([code, err]).to.deep.equal([
      2,
      'quoinctl: 2 event logs are called "twice": name one of them\nhint: n/a\\tlog, o/a\\tlog\n',
    ]);
    expect((await asked(["describe", "n/twice"])).path).to.equal(`/logs/${LOG.log_id}`);
    const { path } = await asked(["list", "--namespace", "n", "--name", "l"]);
    expect(path).to.equal("/logs?limit=100&name=l&namespace=n&cursor=");
  });

  it("names a missing log, and an invalid guard", async () => {
    const absent = await quoinctl(["describe", "absent"]);
    expect([absent.code, absent.err]).to.deep.equal([
      1,
      'quoinctl: there is no event log "absent" (LOG_NOT_FOUND)\n' +
        "hint: list the event logs with: quoinctl log list\n",
    ]);
    const elsewhere = await quoinctl(["describe", "m/l/x"]);
    expect([elsewhere.code, member.requests.at(-1)?.path]).to.deep.equal([1, "/logs?name=l%2Fx&namespace=m"]);
    expect((await quoinctl(["append", "l", "x", "--guard", "lock=7"])).code).to.equal(2);
  });
});
