/**
 * Two clusters in one namespace; the name of one is the name of a pod of the other. They stay separate: neither admits
 * the other's clients or data.
 */

import { expect } from "chai";
import { until } from "../cluster/index.ts";
import { describeWithAll } from "./extent.ts";
import type { KubeObject } from "./kubernetes-api.ts";
import { LIMIT_MS, type QuoinCluster } from "./quoin-cluster.ts";
import { quoinctl } from "./quoinctl.ts";
import { report, Scene } from "./scene.ts";

const KEY = "default/whose";

describeWithAll("Two clusters, one named like a pod of the other", function () {
  this.timeout(LIMIT_MS * 2);
  let scene: Scene;
  let one: QuoinCluster;
  let other: QuoinCluster;

  before(async () => {
    scene = await Scene.set("quoin-e2e-neighbours");
    one = scene.cluster;
    other = one.beside(`${one.name}-0`);
    for (const cluster of [one, other]) {
      await cluster.create({ replicas: 1, storage: { whenDeleted: "Delete" } });
    }
    for (const cluster of [one, other]) {
      await cluster.untilReady();
      await quoinctl(cluster, "kv", "put", KEY, `of ${cluster.name}`);
    }
  });

  after(() => scene?.clear());

  it("do not notice when one of them grows", async () => {
    const before = await traces(other);
    await one.scale(3);
    const { object } = await one.untilReady();
    expect(object.status).to.include({ voters: 3, learners: 0 });
    expect(await traces(other)).to.deep.equal(before);
    expect((await other.get()).status).to.include({ voters: 1, learners: 0, phase: "Ready" });
    for (const cluster of [one, other]) {
      const wanted = (await cluster.pods()).map(({ metadata }) => metadata.name);
      for (const service of [cluster.name, `${cluster.name}-peers`]) {
        await until(
          `${service} to lead to ${wanted.join()}`,
          async () => (await ledTo(service)).join() === wanted.join(),
          LIMIT_MS,
        );
      }
      expect(await quoinctl(cluster, "kv", "get", KEY)).to.equal(`of ${cluster.name}\n`);
    }
  });

  it("refuse each other's keys and tokens", async () => {
    for (const [from, to] of [
      [one, other],
      [other, one],
    ] as const) {
      const { "api-key": key = "" } = await secretOf(from);
      const token = (await quoinctl(from, "token")).trim();
      expect(await asked(to, "QUOIN_TOKEN", (await quoinctl(to, "token")).trim())).to.equal(`of ${to.name}\n`);
      for (const [variable, secret] of Object.entries({ QUOIN_TOKEN: token, QUOIN_API_KEY: key })) {
        const refusal = await asked(to, variable, secret).then(
          () => null,
          (error: Error) => error.message,
        );
        expect(refusal, `${variable} of ${from.name} at ${to.name}`).to.match(/the token or API key is not valid here/);
      }
    }
  });

  it("do not serve under the other's identity, and are there again under their own", async () => {
    const { kubernetes, namespace } = one;
    const identity = `/api/v1/namespaces/${namespace}/configmaps/${other.name}-identity`;
    const { clusterId } = (await kubernetes.get(identity)).data;
    const { clusterId: foreign } = (await one.get()).status;
    expect(clusterId).not.to.equal(foreign);
    await kubernetes.send("PATCH", identity, { data: { clusterId: foreign } });
    await restart();
    await until(
      "the member to say that this is not its cluster",
      async () => (await stateOf()) === "WRONG_CLUSTER",
      LIMIT_MS,
    );
    report(`${other.name}-0 with the identity of ${one.name}: WRONG_CLUSTER`);
    expect(await ledTo(other.name)).to.deep.equal([]);
    expect((await one.get()).status).to.include({ voters: 3, learners: 0 });
    await kubernetes.send("PATCH", identity, { data: { clusterId } });
    await restart();
    await until("the member to run", async () => (await stateOf()) === "RUNNING", LIMIT_MS);
    await other.untilReady();
    expect(await quoinctl(other, "kv", "get", KEY)).to.equal(`of ${other.name}\n`);
  });

  it("do not notice when one of them is deleted with its data", async () => {
    const before = await traces(one);
    await one.kubernetes.send("DELETE", other.path);
    const isGone = async (): Promise<boolean> =>
      (await other.set()) === null && (await other.pods()).length === 0 && (await other.claims()).length === 0;
    await until(`${other.name} to be gone`, isGone, LIMIT_MS);
    expect(await traces(one)).to.deep.equal(before);
    expect((await one.untilReady()).object.status).to.include({ voters: 3, learners: 0 });
    expect(await quoinctl(one, "kv", "get", KEY)).to.equal(`of ${one.name}\n`);
  });

  /** Facts that would differ if someone had touched a cluster's pods and volumes. */
  async function traces(cluster: QuoinCluster): Promise<object> {
    const pods = (await cluster.pods()).map(({ metadata, status }) => ({
      uid: metadata.uid,
      restarts: status.containerStatuses[0].restartCount,
    }));
    return { pods, claims: (await cluster.claims()).map(({ metadata }) => metadata.uid) };
  }

  /** Names of the ready pods behind a Service. */
  async function ledTo(service: string): Promise<readonly string[]> {
    const slices = `/apis/discovery.k8s.io/v1/namespaces/${one.namespace}/endpointslices`;
    const { items } = await one.kubernetes.get(`${slices}?labelSelector=kubernetes.io/service-name=${service}`);
    const endpoints: KubeObject[] = items.flatMap(({ endpoints }: KubeObject) => endpoints ?? []);
    return endpoints
      .filter(({ conditions }) => conditions?.ready !== false)
      .map(({ targetRef }) => targetRef.name)
      .sort();
  }

  async function secretOf(cluster: QuoinCluster): Promise<Readonly<Record<string, string>>> {
    const { data } = await one.kubernetes.get(`/api/v1/namespaces/${one.namespace}/secrets/${cluster.name}-owner`);
    return Object.fromEntries(
      Object.entries<string>(data).map(([name, value]) => [name, Buffer.from(value, "base64").toString()]),
    );
  }

  /** A cluster's answer to a client with this key or token. */
  async function asked(cluster: QuoinCluster, variable: string, secret: string): Promise<string> {
    const { kubernetes, namespace, name } = cluster;
    const program = `
      export ${variable}="$(cat)" QUOIN_CA_PEM="$(cat /etc/quoin/ca/ca.crt)" QUOIN_ENDPOINTS=${name}.${namespace}.svc:7400
      exec quoinctl kv get ${KEY}`;
    const exec = ["exec", "--namespace", namespace, "--stdin", `${name}-0`, "--", "sh", "-c", program];
    return await kubernetes.cluster.kubectl(exec, { input: secret });
  }

  /** Gives the other cluster's member another process, which loads the mounted files. */
  async function restart(): Promise<void> {
    const [pod] = await other.pods();
    await other.kubernetes.send("DELETE", `/api/v1/namespaces/${other.namespace}/pods/${pod.metadata.name}`);
    await until(
      "another pod to run",
      async () => {
        const [next] = await other.pods();
        return next !== undefined && next.metadata.uid !== pod.metadata.uid && next.status.phase === "Running";
      },
      LIMIT_MS,
    );
  }

  /** Report of the other cluster's member about itself; null while it does not answer. */
  async function stateOf(): Promise<string | null> {
    const { kubernetes, namespace } = other;
    const path = `/api/v1/namespaces/${namespace}/pods/${other.name}-0:7404/proxy/metrics`;
    const text = await kubernetes.cluster.kubectl(["get", "--raw", path]).catch(() => "");
    return /^quoin_member_state\{[^}]*state="(\w+)"[^}]*\} 1$/m.exec(text)?.[1] ?? null;
  }
});
