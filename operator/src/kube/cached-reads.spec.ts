import { expect } from "chai";
import { ApiServer, configOf } from "../../test/api-server/index.ts";
import { ManualTiming, until } from "../../test/index.ts";
import { CachedReads, type Reads } from "./cached-reads.ts";
import { KubeClient } from "./client.ts";
import { type Connection, connect } from "./connection.ts";
import { KubeError } from "./kube-error.ts";
import { Reflector } from "./reflector.ts";
import type { Kind } from "./resources.ts";

const LABEL = "quoin.dev/cluster";

describe("cached reads", () => {
  let server: ApiServer;
  let connection: Connection;
  let timing: ManualTiming;
  let reflector: Reflector;
  let reads: CachedReads;

  beforeEach(async () => {
    server = new ApiServer();
    await server.listen();
    connection = await connect(configOf(server.url));
    timing = new ManualTiming();
    const client = new KubeClient(connection);
    reflector = new Reflector({
      client,
      kind: "Pod",
      namespace: "",
      labelSelector: LABEL,
      ignoresStatus: false,
      timing,
      onChange: () => {},
      onError: () => {},
    });
    reads = new CachedReads(client, [reflector], timing);
  });

  afterEach(async () => {
    await reflector.stop();
    await connection.close();
    await server.close();
  });

  function create(plural: string, namespace: string, name: string, cluster = "demo"): void {
    server.store.create(plural, namespace, { metadata: { name, labels: { [LABEL]: cluster } } });
  }

  async function get(kind: Kind, name: string): Promise<string | undefined> {
    return (await reads.get({ kind, namespace: "default", name }))?.metadata?.name;
  }

  it("ask the API server until its watch has listed everything, and nothing from then on", async () => {
    create("pods", "default", "demo-0");
    create("pods", "default", "other-0", "other");
    create("pods", "elsewhere", "demo-0");
    expect(await get("Pod", "demo-0")).to.equal("demo-0");
    expect(server.calls).to.have.length(1);
    reflector.start();
    await until(() => server.watches === 1);
    const asked = server.calls.length;
    expect([await get("Pod", "demo-0"), await get("Pod", "demo-1")]).to.deep.equal(["demo-0", undefined]);
    create("pods", "default", "demo-1");
    await until(() => reflector.find("default", "demo-1") !== undefined);
    const { items } = await reads.list("Pod", "default", `${LABEL}=demo`);
    expect(items.map(({ metadata }) => metadata?.name)).to.deep.equal(["demo-0", "demo-1"]);
    server.store.drop("pods", server.store.get("pods", "default", "demo-0"));
    await until(() => reflector.find("default", "demo-0") === undefined);
    expect(await get("Pod", "demo-0")).to.equal(undefined);
    expect(server.calls).to.have.length(asked);
  });

  it("remember a Secret for two minutes, or until it is to be forgotten, and never that there is none", async () => {
    expect(await get("Secret", "tokens")).to.equal(undefined);
    create("secrets", "default", "tokens");
    expect(await get("Secret", "tokens")).to.equal("tokens");
    server.store.drop("secrets", server.store.get("secrets", "default", "tokens"));
    timing.advance(119_999);
    expect(await get("Secret", "tokens")).to.equal("tokens");
    reads.forget({ kind: "Secret", namespace: "elsewhere", name: "tokens" });
    expect(await get("Secret", "tokens")).to.equal("tokens");
    timing.advance(1);
    expect(await get("Secret", "tokens")).to.equal(undefined);
    create("secrets", "default", "tokens");
    expect(await get("Secret", "tokens")).to.equal("tokens");
    server.store.drop("secrets", server.store.get("secrets", "default", "tokens"));
    reads.forget({ kind: "Secret", namespace: "default", name: "tokens" });
    expect(await get("Secret", "tokens")).to.equal(undefined);
  });

  /** `done`, or the kind of the error. */
  async function outcomeOf(asked: Reads, kind: Kind, namespace = "default"): Promise<string> {
    try {
      await asked.get({ kind, namespace, name: "demo" });
      return "done";
    } catch (error) {
      return error instanceof KubeError ? error.kind : "failed";
    }
  }

  it("remember that a kind is not served, for all namespaces, and no failure to answer", async () => {
    server.before = () => ({ status: 500 });
    expect(await outcomeOf(reads, "PodMonitor")).to.equal("unavailable");
    server.before = () => null;
    expect(await outcomeOf(reads, "PodMonitor")).to.equal("unknown-kind");
    expect(await outcomeOf(reads, "PodMonitor", "elsewhere")).to.equal("unknown-kind");
    expect(server.calls).to.have.length(2);
    server.served.add("podmonitors");
    timing.advance(2_000);
    expect(await outcomeOf(reads, "PodMonitor", "elsewhere")).to.equal("done");
    expect(await outcomeOf(reads, "PodMonitor")).to.equal("done");
  });

  const refused: readonly [kind: Kind, plural: string, asked: readonly number[]][] = [
    ["Certificate", "certificates", [0, 2, 6, 14, 30, 60, 90]],
    ["Secret", "secrets", [0, 2, 6, 14, 24, 34, 44, 54, 64, 74, 84, 94]],
  ];
  for (const [kind, plural, seconds] of refused) {
    it(`ask again after a refusal of a ${kind}, ever later, and forget it with the first answer`, async () => {
      server.served.add(plural);
      create(plural, "default", "demo");
      server.before = () => ({ status: 403 });
      const asked: number[] = [];
      for (; timing.nowMs < 100_000; timing.advance(1_000)) {
        const before = server.calls.length;
        expect(await outcomeOf(reads, kind)).to.equal("forbidden");
        asked.push(...(server.calls.length > before ? [timing.nowMs / 1_000] : []));
      }
      expect(asked).to.deep.equal(seconds);
      server.before = () => null;
      timing.advance(30_000);
      expect(await outcomeOf(reads, kind)).to.equal("done");
      server.before = () => ({ status: 403 });
      expect(await outcomeOf(reads.fresh, kind), "from the beginning").to.equal("forbidden");
      timing.advance(2_000);
      server.before = () => null;
      expect(await outcomeOf(reads, kind)).to.equal("done");
    });
  }

  it("ask for a kind that is not served ever later, at last once a minute", async () => {
    const asked: number[] = [];
    for (; timing.nowMs < 200_000; timing.advance(1_000)) {
      const before = server.calls.length;
      expect(await outcomeOf(reads, "PodMonitor")).to.equal("unknown-kind");
      asked.push(...(server.calls.length > before ? [timing.nowMs / 1_000] : []));
    }
    expect(asked).to.deep.equal([0, 2, 6, 14, 30, 62, 122, 182]);
  });

  it("return the result of the last uncached read: a refusal, and its end", async () => {
    create("secrets", "default", "demo");
    expect(await outcomeOf(reads, "Secret")).to.equal("done");
    server.before = () => ({ status: 403 });
    expect(await outcomeOf(reads.fresh, "Secret")).to.equal("forbidden");
    expect(await outcomeOf(reads, "Secret")).to.equal("forbidden");
    server.before = () => null;
    expect(await outcomeOf(reads, "Secret"), "as it was found last").to.equal("forbidden");
    expect(await outcomeOf(reads.fresh, "Secret")).to.equal("done");
    expect(await outcomeOf(reads, "Secret")).to.equal("done");
    expect(server.calls).to.have.length(3);
  });
});
