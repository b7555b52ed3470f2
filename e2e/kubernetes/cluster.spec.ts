/**
 * Properties of the test cluster on which the other tests rely: pods reach each other by address, by name and through
 * Services, volumes outlive pods, and nodes can be lost and return.
 */

import { expect } from "chai";
import { type Faults, TestCluster, until } from "../cluster/index.ts";
import { describeWithAll } from "./extent.ts";

const NAMESPACE = "quoin-e2e-cluster";
const NODES = 3;
const PORT = 8080;
/** Many times the usual duration on two idle cores. */
const LIMIT_MS = 240_000;
/** A node becomes NotReady 10 s after its last report; one or two reports may already be on their way. */
const NOT_READY_MIN_MS = 6_000;
/** Enough that a Service with three pods has routed to each of them, except once in 10^8 runs. */
const TRIES = 60;

/** Answers with the name of its pod, and logs the client. */
const SERVER = `require("node:http").createServer((request, response) => {
  console.log("asked for " + request.url);
  response.end(process.env.HOSTNAME);
}).listen(${PORT}); process.on("SIGTERM", () => process.exit())`;

interface Pod {
  readonly name: string;
  readonly address: string;
  readonly node: string;
}

describeWithAll("The cluster of the tests", function () {
  this.timeout(LIMIT_MS * 2);
  let cluster: TestCluster;

  before(async () => {
    cluster = new TestCluster();
    // An interrupted run may have left it in a cluster that stays.
    await deleteNamespace();
    await cluster.kubectl(["create", "namespace", NAMESPACE]);
    await create(
      { apiVersion: "v1", kind: "Service", metadata: { name: "web" }, spec: serviceSpec() },
      { apiVersion: "v1", kind: "Service", metadata: { name: "pods" }, spec: { ...serviceSpec(), clusterIP: "None" } },
      { apiVersion: "apps/v1", kind: "StatefulSet", metadata: { name: "web" }, spec: setSpec() },
    );
    await kubectl("rollout", "status", "statefulset/web", `--timeout=${LIMIT_MS / 1000}s`);
  });

  after(() => deleteNamespace("--wait=false"));

  it("has three nodes, which are Ready and of the version of the API server", async () => {
    const { items } = JSON.parse(await cluster.kubectl(["get", "nodes", "--output", "json"]));
    const { serverVersion } = JSON.parse(await cluster.kubectl(["version", "--output", "json"]));
    expect(items).to.have.lengthOf.at.least(NODES);
    for (const { metadata, status } of items) {
      expect(readinessOf(status), metadata.name).to.equal("True");
      expect(status.nodeInfo.kubeletVersion).to.equal(serverVersion.gitVersion);
    }
  });

  it("lets pods on different nodes reach each other by address", async () => {
    const pods = await findPods();
    expect(new Set(pods.map(({ node }) => node))).to.have.property("size", NODES);
    for (const from of pods) {
      const answers = await ask(from.name, ...pods.map(({ address }) => `http://${address}:${PORT}/`));
      expect(answers, `asked by ${from.name}`).to.deep.equal(pods.map(({ name }) => name));
    }
  });

  it("gives Services and their pods names", async () => {
    for (const from of await findPods()) {
      const names = ["web-0.pods", `web-1.pods.${NAMESPACE}`, `web-2.pods.${NAMESPACE}.svc.cluster.local`];
      const answers = await ask(from.name, ...names.map((name) => `http://${name}:${PORT}/`));
      expect(answers).to.deep.equal(["web-0", "web-1", "web-2"]);
    }
  });

  it("spreads what is sent to the address of a Service over its pods, from every node", async () => {
    const address = (await kubectl("get", "service/web", "--output", "jsonpath={.spec.clusterIP}")).trim();
    for (const from of await findPods()) {
      const answers = await ask(from.name, ...new Array<string>(TRIES).fill(`http://${address}/`));
      expect(new Set(answers)).to.deep.equal(new Set(["web-0", "web-1", "web-2"]));
    }
  });

  it("passes on what programs in pods print, input to them, and requests", async () => {
    await ask("web-1", `http://web-2.pods:${PORT}/a-mark-in-the-log`);
    const isNoted = async (): Promise<boolean> => (await kubectl("logs", "web-2")).includes("/a-mark-in-the-log");
    await until("the log to hold what was printed", isNoted, LIMIT_MS);
    const echoed = await cluster.kubectl(["--namespace", NAMESPACE, "exec", "--stdin", "web-0", "--", "cat"], {
      input: "through the API server\n",
    });
    expect(echoed).to.equal("through the API server\n");
    const path = `/api/v1/namespaces/${NAMESPACE}/pods/web-1:${PORT}/proxy/`;
    expect(await cluster.kubectl(["get", "--raw", path])).to.equal("web-1");
  });

  it("keeps volumes over the life of pods, lets them grow, and removes them with their claims", async () => {
    const volume = await volumeOf("data-web-0");
    const [before] = (await findPods()).filter(({ name }) => name === "web-0");
    await kubectl("exec", "web-0", "--", "sh", "-c", "echo kept > /data/file");
    await kubectl("delete", "pod", "web-0");
    await kubectl("rollout", "status", "statefulset/web", `--timeout=${LIMIT_MS / 1000}s`);
    expect(await kubectl("exec", "web-0", "--", "cat", "/data/file")).to.equal("kept\n");
    expect((await findPods()).find(({ name }) => name === "web-0")).to.include({ node: before?.node });
    if (cluster.faults === null) {
      return; // Whether volumes grow, and when they go, is up to the class of another cluster.
    }
    const larger = { spec: { resources: { requests: { storage: "2Gi" } } } };
    await kubectl("patch", "pvc/data-web-0", "--patch", JSON.stringify(larger));
    const capacity = ["get", "pvc/data-web-0", "--output", "jsonpath={.status.capacity.storage}"];
    await until("the volume to grow", async () => (await kubectl(...capacity)) === "2Gi", LIMIT_MS);
    await kubectl("delete", "pvc/data-web-0", "--wait=false");
    await kubectl("delete", "pod", "web-0");
    const left = ["get", "pv", volume, "--ignore-not-found", "--output", "name"];
    await until("the volume to go", async () => (await cluster.kubectl(left)) === "", LIMIT_MS);
    await kubectl("rollout", "status", "statefulset/web", `--timeout=${LIMIT_MS / 1000}s`);
    expect(await kubectl("exec", "web-0", "--", "ls", "/data")).to.equal("");
  });

  it("misses a node that is cut off, and takes it back", async function () {
    const faults = cluster.faults ?? this.skip();
    await expectMissed(
      "node-2",
      () => faults.cutNode("node-2"),
      () => faults.reconnectNode("node-2"),
    );
  });

  it("misses a node that is held up, and takes it back", async function () {
    const faults = cluster.faults ?? this.skip();
    await expectMissed(
      "node-3",
      async () => faults.pauseNode("node-3"),
      async () => faults.resumeNode("node-3"),
    );
  });

  it("lets one pod be cut from the API server alone", async function () {
    const faults: Faults = cluster.faults ?? this.skip();
    const [one, other] = (await findPods()) as [Pod, Pod, Pod];
    const api = "https://kubernetes.default.svc/version";
    await faults.cutFromApiServer(one.node, one.address);
    try {
      expect(await ask(one.name, api, `http://${other.address}:${PORT}/`)).to.deep.equal(["no answer", other.name]);
      expect((await ask(other.name, api))[0]).to.include("gitVersion");
    } finally {
      await faults.reconnectToApiServer(one.node);
    }
    expect((await ask(one.name, api))[0]).to.include("gitVersion");
  });

  it("goes on without its API server, which comes back with all that it knew", async function () {
    const faults = cluster.faults ?? this.skip();
    const before = await findPods();
    const names = before.map(({ name }) => name);
    await faults.stopApiServer();
    try {
      const failure = await cluster.kubectl(["get", "nodes"]).then(
        () => "no failure",
        (error: Error) => error.message,
      );
      expect(failure).to.include("refused");
    } finally {
      faults.startApiServer();
    }
    await until("the API server to answer", () => isAnswered(), LIMIT_MS);
    expect(await findPods()).to.deep.equal(before);
    expect(await ask("web-1", ...before.map(({ address }) => `http://${address}:${PORT}/`))).to.deep.equal(names);
  });

  async function deleteNamespace(...flags: readonly string[]): Promise<void> {
    await cluster.kubectl(["delete", "namespace", NAMESPACE, "--ignore-not-found", ...flags], { limitMs: LIMIT_MS });
  }

  async function isAnswered(): Promise<boolean> {
    return await cluster.kubectl(["get", "--raw", "/readyz"]).then(
      () => true,
      () => false,
    );
  }

  /** Breaks a node, waits until it is NotReady, repairs it, and waits until it and its pods are back. */
  async function expectMissed(node: string, fault: () => Promise<void>, end: () => Promise<void>): Promise<void> {
    const others = (await findPods()).filter((pod) => pod.node !== node);
    const startedMs = performance.now();
    await fault();
    try {
      await until(`${node} to be missed`, async () => (await readinessOfNode(node)) === "Unknown", LIMIT_MS);
      const missedMs = performance.now() - startedMs;
      console.log(`      missed after ${(missedMs / 1000).toFixed(1)} s`);
      expect(missedMs).to.be.above(NOT_READY_MIN_MS);
      for (const { node: other } of others) {
        expect(await readinessOfNode(other), other).to.equal("True");
      }
      const [one, two] = others as [Pod, Pod];
      expect(await ask(one.name, `http://${two.address}:${PORT}/`)).to.deep.equal([two.name]);
    } finally {
      await end();
    }
    await until(`${node} to come back`, async () => (await readinessOfNode(node)) === "True", LIMIT_MS);
    await kubectl("rollout", "status", "statefulset/web", `--timeout=${LIMIT_MS / 1000}s`);
  }

  function kubectl(...args: readonly string[]): Promise<string> {
    return cluster.kubectl(["--namespace", NAMESPACE, ...args], { limitMs: LIMIT_MS + 30_000 });
  }

  async function create(...items: readonly object[]): Promise<void> {
    const input = JSON.stringify({ apiVersion: "v1", kind: "List", items });
    await cluster.kubectl(["--namespace", NAMESPACE, "create", "--filename", "-"], { input });
  }

  async function findPods(): Promise<Pod[]> {
    const { items } = JSON.parse(await kubectl("get", "pods", "--selector", "app=web", "--output", "json"));
    return items
      .map((pod: { metadata: { name: string }; status: { podIP: string }; spec: { nodeName: string } }) => ({
        name: pod.metadata.name,
        address: pod.status.podIP,
        node: pod.spec.nodeName,
      }))
      .sort((a: Pod, b: Pod) => (a.name < b.name ? -1 : 1));
  }

  async function volumeOf(claim: string): Promise<string> {
    return (await kubectl("get", `pvc/${claim}`, "--output", "jsonpath={.spec.volumeName}")).trim();
  }

  async function readinessOfNode(name: string): Promise<string> {
    const { status } = JSON.parse(await cluster.kubectl(["get", "node", name, "--output", "json"]));
    return readinessOf(status);
  }

  /** The servers' answers to a pod, each once; "no answer" if a server does not answer within five seconds. */
  async function ask(from: string, ...urls: readonly string[]): Promise<string[]> {
    const program = `process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0"; process.removeAllListeners("warning");
      const answers = [];
      for (const url of ${JSON.stringify(urls)}) {
        const asked = fetch(url, { headers: { connection: "close" }, signal: AbortSignal.timeout(5000) });
        answers.push(await asked.then((answer) => answer.text(), () => "no answer"));
      }
      console.log(JSON.stringify(answers));`;
    return JSON.parse(await kubectl("exec", from, "--", "node", "--input-type=module", "--eval", program));
  }

  function setSpec(): object {
    const labels = { app: "web" };
    const apart = { labelSelector: { matchLabels: labels }, topologyKey: "kubernetes.io/hostname" };
    const container = {
      name: "web",
      image: cluster.nodeImage,
      command: ["node", "--eval", SERVER],
      readinessProbe: { tcpSocket: { port: PORT }, periodSeconds: 1 },
      volumeMounts: [{ name: "data", mountPath: "/data" }],
    };
    return {
      replicas: NODES,
      serviceName: "pods",
      podManagementPolicy: "Parallel",
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [apart] } },
          terminationGracePeriodSeconds: 5,
          containers: [container],
        },
      },
      volumeClaimTemplates: [
        {
          metadata: { name: "data" },
          spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
        },
      ],
    };
  }
});

function serviceSpec(): object {
  return { selector: { app: "web" }, ports: [{ port: 80, targetPort: PORT }] };
}

function readinessOf(status: { readonly conditions: readonly { type: string; status: string }[] }): string {
  return status.conditions.find(({ type }) => type === "Ready")?.status ?? "none";
}
