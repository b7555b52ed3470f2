/**
 * Members with a network policy: strangers reach only the port for health and metrics, clients reach theirs, and
 * operator and members reach each other. Skipped if the network does not enforce NetworkPolicies, which is checked
 * first.
 */

import { expect } from "chai";
import { until } from "../cluster/index.ts";
import { describeWithAll } from "./extent.ts";
import { isPodReady, LIMIT_MS } from "./quoin-cluster.ts";
import { report, Scene } from "./scene.ts";

const PROBED = "probed";
const PROBED_PORT = 8080;
const UNAUTHORIZED = "stranger";
const CLIENT = "client";
/** A network that enforces policies does so within moments. */
const ENFORCED_WITHIN_MS = 20_000;
const PORTS = { grpc: 7400, http: 7401, peer: 7402, admin: 7403, health: 7404 } as const;

/** Prints whether an address can be reached. */
const KNOCK = `
  const [host, port] = process.argv.slice(1);
  const socket = require("node:net").connect({ host, port: Number(port), timeout: 2000 });
  const say = (word) => { console.log(word); process.exit(); };
  socket.once("connect", () => say("open")).once("timeout", () => say("shut")).once("error", () => say("shut"));`;

describeWithAll("Members behind a NetworkPolicy", function () {
  this.timeout(LIMIT_MS * 2);
  let scene: Scene;

  before(async function () {
    scene = await Scene.set("quoin-e2e-network-policy");
    const { cluster, kubernetes } = scene;
    const listen = `require("node:http").createServer().listen(${PROBED_PORT})`;
    const idle = "setInterval(() => undefined, 1000)";
    const { nodeImage } = kubernetes.cluster;
    await kubernetes.apply(
      cluster.namespace,
      pod(PROBED, nodeImage, listen),
      pod(UNAUTHORIZED, nodeImage, idle),
      pod(CLIENT, nodeImage, idle),
    );
    await until(
      "three pods to be ready",
      async () =>
        (await Promise.all([PROBED, UNAUTHORIZED, CLIENT].map((name) => cluster.pod(name)))).every(isPodReady),
      LIMIT_MS,
    );
    if (!(await isEnforced())) {
      report("skipped: the network of this Kubernetes does not enforce NetworkPolicies");
      this.skip();
    }
    await cluster.create({
      replicas: 3,
      networkPolicy: { enabled: true, clients: [{ podSelector: { matchLabels: { app: CLIENT } } }] },
    });
  });

  after(() => scene?.clear());

  it("become a cluster: members and operator reach each other", async () => {
    const { object } = await scene.cluster.untilReady();
    expect(object.status).to.include({ voters: 3, learners: 0 });
  });

  it("are reached by strangers at the port of health and metrics alone", async () => {
    expect(await openPorts(UNAUTHORIZED)).to.deep.equal(["health"]);
  });

  it("are reached by clients at theirs, too", async () => {
    expect(await openPorts(CLIENT)).to.deep.equal(["grpc", "http", "health"]);
  });

  /** Whether a policy that admits no traffic affects a pod that is reachable without it. */
  async function isEnforced(): Promise<boolean> {
    const { cluster, kubernetes } = scene;
    const address = (await cluster.pod(PROBED)).status.podIP;
    await until("an open port", async () => (await knock(UNAUTHORIZED, address, PROBED_PORT)) === "open", LIMIT_MS);
    await kubernetes.apply(cluster.namespace, {
      apiVersion: "networking.k8s.io/v1",
      kind: "NetworkPolicy",
      metadata: { name: PROBED },
      spec: { podSelector: { matchLabels: { app: PROBED } }, policyTypes: ["Ingress"] },
    });
    const untilMs = performance.now() + ENFORCED_WITHIN_MS;
    while (performance.now() < untilMs) {
      if ((await knock(UNAUTHORIZED, address, PROBED_PORT)) === "shut") {
        return true;
      }
    }
    return false;
  }

  /** Names of the ports of a member that a pod reaches. */
  async function openPorts(from: string): Promise<readonly string[]> {
    const [member] = await scene.cluster.pods();
    const found = await Promise.all(
      Object.entries(PORTS).map(async ([name, port]) => [name, await knock(from, member.status.podIP, port)] as const),
    );
    return found.filter(([, word]) => word === "open").map(([name]) => name);
  }

  async function knock(from: string, address: string, port: number): Promise<string> {
    const { kubernetes, namespace } = scene.cluster;
    const exec = ["exec", "--namespace", namespace, from, "--", "node", "--eval", KNOCK, address, String(port)];
    return (await kubernetes.cluster.kubectl(exec)).trim();
  }
});

function pod(name: string, image: string, program: string): object {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, labels: { app: name } },
    spec: {
      containers: [{ name, image, command: ["node", "--eval", program] }],
      terminationGracePeriodSeconds: 1,
    },
  };
}
