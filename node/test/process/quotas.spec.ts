/**
 * Quotas at a real member, by gRPC and by HTTP: requests beyond a limit are refused, and freed resources can be used
 * again.
 */

import { type Client, QuoinError } from "@quoin/client";
import { expect } from "chai";
import { ClusterUnderTest, until } from "../harness/index.ts";

const NAMESPACE = "team.a";

async function refusalOf(work: Promise<unknown>): Promise<QuoinError> {
  return work.then(
    () => expect.fail("it was not refused"),
    (error: unknown) => {
      if (error instanceof QuoinError) {
        return error;
      }
      throw error;
    },
  );
}

describe("quotas of a member", function () {
  // A process is started: a limit for a busy machine.
  this.timeout(120_000);

  let cluster: ClusterUnderTest;
  let client: Client;

  before(async () => {
    cluster = await ClusterUnderTest.start(1);
    client = cluster.client();
    await client.keyValue.createNamespace(NAMESPACE);
  });

  after(() => cluster.dispose());

  async function set(values: Readonly<Record<string, number | null>>): Promise<void> {
    const [member] = cluster.members;
    await member?.admin.putSettings(new Map(Object.entries(values)));
  }

  const limit = (quota: string, value: number) => set({ [`quota.namespace.${NAMESPACE}.${quota}`]: value });

  /** By gRPC, the error's details name the quota, the namespace, the limit and the use. */
  async function expectFull(work: Promise<unknown>, quota: string, max: number): Promise<void> {
    const { code, reason, details, message } = await refusalOf(work);
    expect([code, reason]).to.deep.equal(["RESOURCE_EXHAUSTED", "QUOTA"]);
    expect(Object.fromEntries(details ?? [])).to.include({
      quota: `quota.namespace.${quota}`,
      namespace: NAMESPACE,
      limit: String(max),
      used: String(max),
    });
    expect(message).to.include(`namespace "${NAMESPACE}" has ${max} of at most ${max}`);
  }

  async function http(
    method: string,
    path: string,
    body?: object | string,
  ): Promise<{ readonly status: number; readonly body: unknown }> {
    const [endpoint] = cluster.httpEndpoints;
    const type = typeof body === "string" ? "application/octet-stream" : "application/json";
    const headers = { authorization: `Bearer ${await cluster.tokens.token()}`, "content-type": type };
    const sent = body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) };
    const response = await fetch(`${endpoint}${path}`, { method, headers, ...sent });
    return { status: response.status, body: await response.json() };
  }

  it("refuse keys, locks, regions and watches by gRPC, until there is room", async () => {
    await limit("keys", 1);
    await client.keyValue.put(NAMESPACE, "a", "1");
    await expectFull(client.keyValue.put(NAMESPACE, "b", "1"), "keys", 1);
    await client.keyValue.put(NAMESPACE, "a", "2");
    await client.keyValue.delete(NAMESPACE, "a");
    await client.keyValue.put(NAMESPACE, "b", "1");

    await limit("bytes", 2);
    await expectFull(client.keyValue.put(NAMESPACE, "b", "12"), "bytes", 2);
    await limit("bytes", 1_000_000);

    await limit("locks", 1);
    await client.locks.create(NAMESPACE, "l");
    await expectFull(client.locks.create(NAMESPACE, "m"), "locks", 1);
    await expectFull(client.readWriteLocks.create(NAMESPACE, "m"), "locks", 1);

    await limit("memory_regions", 1);
    const { regionId } = await client.memory.allocate(NAMESPACE, 8);
    await expectFull(client.memory.allocate(NAMESPACE, 8), "memory_regions", 1);
    await client.memory.free(NAMESPACE, regionId);
    await client.memory.allocate(NAMESPACE, 8);
    await limit("memory_bytes", 8);
    await limit("memory_regions", 10);
    await expectFull(client.memory.allocate(NAMESPACE, 1), "memory_bytes", 8);

    await limit("watches", 0);
    await expectFull(client.watch.keys(NAMESPACE), "watches", 0);
  });

  it("refuse event logs, events and API keys by HTTP with 507, and say why", async () => {
    await limit("event_logs", 1);
    const created = await http("POST", "/logs", { name: "one", namespace: NAMESPACE });
    expect(created.status).to.equal(201);
    const { log_id: logId } = created.body as { log_id: string };
    const refused = await http("POST", "/logs", { name: "two", namespace: NAMESPACE });
    expect(refused.status).to.equal(507);
    expect(JSON.stringify(refused.body)).to.include("has 1 of at most 1 event logs").and.include("storage_full");
    await limit("event_bytes", 10);
    const tooMuch = await http("POST", `/logs/${logId}/append`, "0123456789-");
    expect(tooMuch.status).to.equal(507);
    expect(JSON.stringify(tooMuch.body)).to.include("has 0 of at most 10 bytes of events");
    expect((await http("DELETE", `/logs/${logId}`)).status).to.equal(200);
    expect((await http("POST", "/logs", { name: "two", namespace: NAMESPACE })).status).to.equal(201);

    // The owner has the API key of the founding.
    await set({ "quota.user.api_keys": 2 });
    const key = await client.keys.create("second");
    const full = await http("POST", "/keys", { name: "third" });
    expect(full.status).to.equal(507);
    expect(JSON.stringify(full.body)).to.include("has 2 of at most 2 API keys");
    await client.keys.revoke(key.apiKeyId);
    expect((await http("POST", "/keys", { name: "third" })).status).to.equal(201);
  });

  it("count watches and tails together: too many of one kind leave none of the other", async () => {
    await limit("event_logs", 10);
    const { body } = await http("POST", "/logs", { name: "tailed", namespace: NAMESPACE });
    const { log_id: logId } = body as { log_id: string };
    const tail = async (): Promise<Response> => {
      const headers = { authorization: `Bearer ${await cluster.tokens.token()}`, accept: "text/event-stream" };
      return fetch(`${cluster.httpEndpoints[0]}/logs/${logId}/events`, { headers });
    };
    await limit("watches", 2);
    const watch = await client.watch.keys(NAMESPACE);
    const open = await tail();
    expect(open.status).to.equal(200);
    await expectFull(client.watch.keys(NAMESPACE), "watches", 2);
    const refused = await tail();
    expect(refused.status).to.equal(507);
    expect(await refused.text()).to.include("has 2 of at most 2 watches and followers of event logs");
    await watch.return();
    const next = await until("the watch to be over", async () => {
      const again = await tail();
      return again.ok && again;
    });
    await expectFull(client.watch.keys(NAMESPACE), "watches", 2);
    await Promise.all([open, next].map(({ body: stream }) => stream?.cancel()));
  });

  it("show what namespaces have, and which of them are near a limit", async () => {
    await limit("keys", 4);
    await client.keyValue.put(NAMESPACE, "c", "1");
    await client.keyValue.put(NAMESPACE, "d", "1");
    const { namespaces } = await client.usage.read();
    const own = namespaces.find(({ namespace }) => namespace === NAMESPACE);
    expect(own?.keys).to.deep.equal({ used: 3, limit: 4 });
    const [member] = cluster.members;
    const metrics = await fetch(`http://127.0.0.1:${member?.ports.health}/metrics`).then((answer) => answer.text());
    expect(metrics).to.include(`quoin_namespace_quota_used_ratio{quota="keys"} 0.75`);
  });
});
