import { expect } from "chai";
import { FakeRuntime, failure, refuse, ScriptedMember } from "../../test/index.ts";
import { type Client, createClient } from "../index.ts";

interface MadeLog {
  readonly logId: string;
  readonly name: string;
  readonly namespace: string;
}

describe("logs by name", () => {
  let logs: MadeLog[];
  let member: ScriptedMember;
  let client: Client;
  let count = 0;

  /** The answer about a log, if there is one with this id. */
  const about = <Answer>(id: string, answer: Answer): Answer =>
    logs.some(({ logId }) => logId === id) ? answer : refuse({ code: "NOT_FOUND", reason: "LOG_NOT_FOUND" });

  beforeEach(async () => {
    logs = [];
    member = await ScriptedMember.start({
      listLogs: ({ name, namespace }) => ({
        logs: logs.filter((log) => log.name === name && ["", log.namespace].includes(namespace)),
      }),
      appendEvent: ({ logId }) => about(logId, { sequence: 7n }),
      readEvents: ({ logId }) => about(logId, {}),
      getLog: ({ logId }) => about(logId, { log: { logId } }),
    });
    client = createClient({
      endpoints: [member.endpoint],
      credentials: { token: "t" },
      runtime: new FakeRuntime(),
    });
  });

  afterEach(() => {
    client.close();
    member.stop();
  });

  function make(name: string, namespace = "default"): string {
    count += 1;
    const logId = `00000000-0000-4000-8000-${String(count).padStart(12, "0")}`;
    logs.push({ logId, name, namespace });
    return logId;
  }

  /** Each call with the log or the name in it. */
  const asked = () =>
    member.calls.map(({ method, request }) => {
      const { logId, name } = request as { readonly logId?: string; readonly name?: string };
      return `${method} ${logId ?? name}`;
    });

  it("are found once, by each method, and by an id without a request", async () => {
    const id = make("orders");
    expect(await client.logs.append("orders", "a")).to.deep.equal({ sequence: 7, replayed: false });
    await client.logs.append("orders", "b");
    await client.logs.read("orders", { fromSequence: 3 });
    await client.logs.describe(id);
    expect(asked()).to.deep.equal([
      "listLogs orders",
      `appendEvent ${id}`,
      `appendEvent ${id}`,
      `readEvents ${id}`,
      `getLog ${id}`,
    ]);
  });

  it("are found by NAMESPACE/NAME, also with a slash in the name", async () => {
    make("orders", "one");
    const id = make("orders", "two");
    const slashed = make("a/b", "two");
    await client.logs.append("two/orders", "a");
    await client.logs.append("two/a/b", "a");
    expect(asked().filter((call) => call.startsWith("append"))).to.deep.equal([
      `appendEvent ${id}`,
      `appendEvent ${slashed}`,
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
    expect(asked().at(-1)).to.equal(`appendEvent ${next}`);
    logs = [];
    const last = make("orders");
    await client.logs.append("orders", "c");
    expect(asked().slice(-3)).to.deep.equal([`appendEvent ${next}`, "listLogs orders", `appendEvent ${last}`]);
  });

  it("are refused if several namespaces have the name", async () => {
    make("orders", "one");
    make("orders", "two");
    const error = await failure(client.logs.append("orders", "a"));
    expect(error).to.include({ code: "INVALID_ARGUMENT", reason: "BAD_FIELD" });
    expect(error.message).to.include("give one/orders or two/orders");
  });
});
