import { expect } from "chai";
import { configOf, installDefinitions } from "../../test/api-server/index.ts";
import { until } from "../../test/index.ts";
import { Drive } from "../../test/world/index.ts";
import { type Connection, connect, systemTiming } from "../kube/index.ts";
import { createLogger } from "../telemetry/index.ts";
import { Operator } from "./operator.ts";

describe("operator", () => {
  let drive: Drive;
  const running = new Map<Operator, Connection>();
  let url: string;

  beforeEach(async () => {
    drive = new Drive();
    await drive.begin();
    drive.world.now = Date.now();
    installDefinitions(drive.world.api.store);
  });

  afterEach(async () => {
    for (const [operator, connection] of running) {
      await operator.stop();
      await connection.close();
    }
    running.clear();
    await drive.end();
  });

  async function start(instance: string): Promise<{ operator: Operator; end: Promise<string> }> {
    const connection = await connect(configOf(drive.world.api.url));
    const operator = new Operator({
      connection,
      instance,
      leaseName: "quoin-operator",
      watchNamespaces: [],
      timing: systemTiming,
      settings: { operatorNamespace: "quoin-system", clusterDomain: "cluster.local", manualUrl: "" },
      defaults: { version: "1.4.0", repository: "quoin" },
      planCertificates: async () => ({ writes: [], problem: null, tls: null, renewed: false }),
      endpointOf: ({ metadata }) => {
        const port = drive.world.portOf(metadata?.uid ?? "");
        return port === null ? null : `127.0.0.1:${port}`;
      },
      logger: createLogger("silent", instance),
    });
    url = `http://127.0.0.1:${await operator.listen("127.0.0.1", 0)}`;
    const end = operator.run();
    running.set(operator, connection);
    return { operator, end };
  }

  function holder(): string | undefined {
    return drive.world.api.store.find("leases", "quoin-system", "quoin-operator")?.spec.holderIdentity;
  }

  async function isReady(): Promise<boolean> {
    return (await fetch(`${url}/readyz`)).status === 200;
  }

  it("reconciles a new cluster, and changes of it", async () => {
    await start("one");
    await until(() => holder() === "one");
    drive.create({ replicas: 1 });
    await until(() => drive.condition("Ready") === "True AsAsked");
    const { store } = drive.world.api;
    store.drop("services", store.get("services", "default", "demo"));
    await until(() => store.find("services", "default", "demo") !== undefined);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).to.match(/quoin_operator_reconcile_total\{result="done"\} \d+/);
    expect(metrics).to.include("quoin_operator_is_leader 1");
    expect(store.list("events").map(({ reason }) => reason)).to.include("Founded");
  });

  it("ignores objects whose label names no cluster", async () => {
    drive.world.api.store.create("configmaps", "default", {
      metadata: { name: "somebodys", labels: { "quoin.dev/cluster": "" } },
    });
    await start("one");
    await until(() => holder() === "one");
    drive.create({ replicas: 1 });
    await until(() => drive.condition("Ready") === "True AsAsked");
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).not.to.include('quoin_operator_reconcile_total{result="failed"}');
  });

  it("is ready only with a definition that is new enough, and works only then", async () => {
    const { store } = drive.world.api;
    const definition = store.get("customresourcedefinitions", "", "coordinationclusters.quoin.dev");
    store.merge("customresourcedefinitions", definition, {
      metadata: { annotations: { "quoin.dev/schema-version": "0" } },
    });
    drive.create({ replicas: 1 });
    await start("one");
    await until(() => drive.world.api.watches === 14);
    expect(await isReady()).to.equal(false);
    expect([holder(), drive.world.writes]).to.deep.equal([undefined, []]);
    const old = store.get("customresourcedefinitions", "", "coordinationclusters.quoin.dev");
    store.merge("customresourcedefinitions", old, { metadata: { annotations: { "quoin.dev/schema-version": "2" } } });
    await until(() => holder() === "one");
    expect(await isReady()).to.equal(true);
  });

  it("waits, ready, while another operator is active, and takes over when that one stops", async () => {
    const first = await start("one");
    await until(() => holder() === "one");
    await start("two");
    await until(() => drive.world.api.watches === 28);
    while (!(await isReady())) {
      // It also checks the definitions.
    }
    expect(holder()).to.equal("one");
    await first.operator.stop();
    expect(await first.end).to.equal("stopped");
    await until(() => holder() === "two");
    drive.create({ replicas: 1 });
    await until(() => drive.condition("Ready") === "True AsAsked");
  });

  it("ends at once when another one holds the Lease", async () => {
    const { end } = await start("one");
    await until(() => holder() === "one");
    const { store } = drive.world.api;
    store.merge("leases", store.get("leases", "quoin-system", "quoin-operator"), { spec: { holderIdentity: "two" } });
    expect(await end).to.equal("lost");
  });
});
