import { expect } from "chai";
import { answerJson, FakeRuntime, failure, type ReceivedRequest, ScriptedHttpMember } from "../../test/index.ts";
import { type Client, createClient } from "../index.ts";

interface WireLog {
  readonly log_id: string;
  readonly name: string;
  readonly namespace: string;
}

describe("logs by name", () => {
  let logs: WireLog[];
  let member: ScriptedHttpMember;
  let client: Client;
  let count = 0;

  beforeEach(async () => {
    logs = [];
    member = await ScriptedHttpMember.start((response, request) => {
      const url = new URL(request.path, "http://member");
      if (url.pathname === "/logs") {
        const { name, namespace } = Object.fromEntries(url.searchParams);
        const found = logs.filter((log) => log.name === name && (namespace ?? log.namespace) === log.namespace);
        answerJson(response, 200, { logs: found.map((log) => ({ ...log, settings: {} })), next_cursor: null });
        return;
      }
      const [, , id = ""] = url.pathname.split("/");
      if (logs.some((log) => log.log_id === id)) {
        answerJson(response, 200, { sequence: 7, settings: {}, events: [] });
      } else {
        answerJson(response, 404, { error: "there is no such log", code: "log_not_found" });
      }
    });
    const options = { endpoints: ["127.0.0.1:1"], httpEndpoints: [member.url], runtime: new FakeRuntime() };
    client = createClient({ ...options, credentials: { token: "t" } });
  });

  afterEach(async () => {
    client.close();
    await member.stop();
  });

  function make(name: string, namespace = "default"): string {
    count += 1;
    const id = `00000000-0000-4000-8000-${String(count).padStart(12, "0")}`;
    logs.push({ log_id: id, name, namespace });
    return id;
  }

  const paths = () => member.requests.map(({ method, path }: ReceivedRequest) => `${method} ${path}`);

  it("are found once, by each method, and by an id without a request", async () => {
    const id = make("orders");
    expect(await client.logs.append("orders", "a")).to.deep.equal({ sequence: 7, replayed: false });
    await client.logs.append("orders", "b");
    await client.logs.read("orders", { fromSequence: 3 });
    await client.logs.describe(id);
    expect(paths()).to.deep.equal([
      "GET /logs?limit=100&name=orders&cursor=",
      `POST /logs/${id}/append`,
      `POST /logs/${id}/append`,
      `GET /logs/${id}/events?from_sequence=3&limit=100&wait_secs=0`,
      `GET /logs/${id}`,
    ]);
  });

  it("are found by NAMESPACE/NAME, also with a slash in the name", async () => {
    make("orders", "one");
    const id = make("orders", "two");
    const slashed = make("a/b", "two");
    await client.logs.append("two/orders", "a");
    await client.logs.append("two/a/b", "a");
    expect(paths().filter((path) => path.startsWith("POST"))).to.deep.equal([
      `POST /logs/${id}/append`,
      `POST /logs/${slashed}/append`,
    ]);
  });

  it("are looked up again if the log is gone and a new one has its name", async () => {
    make("orders");
    await client.logs.append("orders", "a");
    logs = [];
    const missing = await failure(client.logs.append("orders", "b"));
    expect(missing).to.include({ code: "NOT_FOUND", reason: "LOG_NOT_FOUND", outcome: "not-executed" });
    expect(missing.message).to.equal('there is no event log named "orders" in your namespaces');
    const next = make("orders");
    await client.logs.append("orders", "b");
    expect(paths().at(-1)).to.equal(`POST /logs/${next}/append`);
    logs = [];
    const last = make("orders");
    await client.logs.append("orders", "c");
    expect(paths().slice(-3)).to.deep.equal([
      `POST /logs/${next}/append`,
      "GET /logs?limit=100&name=orders&cursor=",
      `POST /logs/${last}/append`,
    ]);
  });

  it("are refused if several namespaces have the name", async () => {
    make("orders", "one");
    make("orders", "two");
    const error = await failure(client.logs.append("orders", "a"));
    expect(error).to.include({ code: "INVALID_ARGUMENT", reason: "BAD_FIELD" });
    expect(error.message).to.include("give one/orders or two/orders");
  });
});
