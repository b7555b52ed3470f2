/**
 * The life of both charts: upgrade, rollback, uninstallation and reinstallation by an administrator. Then an operator
 * for one namespace, installed by a user who has rights only in that namespace and in the operator's.
 */

import { join } from "node:path";
import { expect } from "chai";
import { until } from "../cluster/index.ts";
import { describeWithAll } from "./extent.ts";
import type { KubeObject } from "./kubernetes-api.ts";
import { isPodReady, LIMIT_MS, QuoinCluster } from "./quoin-cluster.ts";
import { quoinctl } from "./quoinctl.ts";
import { restartIdentityOf } from "./restarts.ts";
import { CHARTS, OPERATOR_NAMESPACE, Scene } from "./scene.ts";

const DEFINITION = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/coordinationclusters.quoin.dev";
const CLUSTER_CHART = join(CHARTS, "quoin-cluster");
const OPERATOR_CHART = join(CHARTS, "quoin-operator");
const OTHER_RELEASE = "quoin-other";
const HELM_SECONDS = 100;

describeWithAll("The charts", function () {
  this.timeout(LIMIT_MS * 2);
  let scene: Scene;
  let lives: object[] = [];
  let clusterId = "";

  before(async () => {
    scene = await Scene.set("quoin-e2e-charts");
    const { cluster } = scene;
    await helm("install", cluster.name, CLUSTER_CHART, "--set", "cluster.replicas=1");
    clusterId = (await cluster.untilReady()).object.status.clusterId;
    await quoinctl(cluster, "kv", "put", "default/kept", "as it was");
    lives = (await cluster.pods()).map(restartIdentityOf);
  });

  after(() => scene?.clear());

  it("upgrade the operator and roll it back, and no member notices", async () => {
    const revision = await scene.operatorRevision();
    await scene.installOperator("--set", "replicas=1", "--set", "logLevel=debug");
    await expectOperatorWorks(3);
    await scene.rollBackOperator(revision);
    await expectOperatorWorks(4);
    await expectUntouched();
  });

  it("leave definition, clusters and data when the operator is uninstalled, and go on with them", async () => {
    await scene.removeOperator();
    expect(await scene.kubernetes.get(DEFINITION)).not.to.equal(null);
    await expectUntouched();
    await scene.installOperator();
    await expectOperatorWorks(5);
    await expectUntouched();
  });

  it("go on with them under another release name that takes over the definition", async () => {
    const { cluster } = scene.kubernetes;
    const own = ["--namespace", OPERATOR_NAMESPACE, "--wait", "--timeout", `${HELM_SECONDS}s`];
    await scene.removeOperator();
    let refusal = "";
    await cluster.helm(["install", OTHER_RELEASE, OPERATOR_CHART, ...own]).catch((error: Error) => {
      refusal = error.message;
    });
    expect(refusal).to.include("invalid ownership metadata");
    try {
      await cluster.helm(["install", OTHER_RELEASE, OPERATOR_CHART, ...own, "--take-ownership"]);
      await expectOperatorWorks(6);
      await expectUntouched();
    } finally {
      await cluster.helm([
        "uninstall",
        OTHER_RELEASE,
        "--namespace",
        OPERATOR_NAMESPACE,
        "--ignore-not-found",
        "--wait",
      ]);
      // The following scenarios install it under the former name.
      await scene.installOperator("--take-ownership");
    }
  });

  it("upgrade a cluster and roll it back, and keep what the operator has written down", async () => {
    const { cluster } = scene;
    const { version, image } = (await cluster.get()).spec;
    await helm("upgrade", cluster.name, CLUSTER_CHART, "--set", "cluster.replicas=1,cluster.update.soakSeconds=7");
    expect((await cluster.untilReady()).object.spec).to.deep.include({ version, image });
    expect((await cluster.get()).spec.update.soakSeconds).to.equal(7);
    await helm("rollback", cluster.name, "1");
    expect((await cluster.untilReady()).object.spec).to.deep.include({ version, image });
    expect((await cluster.get()).spec.update.soakSeconds).to.equal(5);
    await expectUntouched();
  });

  it("bring a cluster back with its data that was uninstalled", async () => {
    const { cluster } = scene;
    await helm("uninstall", cluster.name, "--wait");
    const isGone = async (): Promise<boolean> => (await cluster.get()) === null && (await cluster.pods()).length === 0;
    await until("the cluster and its pods to be gone", isGone, LIMIT_MS);
    expect(await cluster.claims()).to.have.length(1);
    await helm("install", cluster.name, CLUSTER_CHART, "--set", "cluster.replicas=1");
    expect((await cluster.untilReady()).object.status.clusterId).to.equal(clusterId);
    expect(await quoinctl(cluster, "kv", "get", "default/kept")).to.include("as it was");
  });

  async function helm(...args: readonly string[]): Promise<string> {
    return scene.kubernetes.cluster.helm([...args, "--namespace", scene.cluster.namespace]);
  }

  /** It follows a change that restarts no member. */
  async function expectOperatorWorks(soakSeconds: number): Promise<void> {
    await scene.cluster.patch({ spec: { update: { soakSeconds } } });
    await scene.cluster.untilReady();
  }

  async function expectUntouched(): Promise<void> {
    expect((await scene.cluster.pods()).map(restartIdentityOf)).to.deep.equal(lives);
    expect(await quoinctl(scene.cluster, "kv", "get", "default/kept")).to.include("as it was");
  }
});

/** A user who owns two namespaces, and has no other rights. */
const TENANT = "quoin-e2e-tenant";
const OPERATOR = `system:serviceaccount:${OPERATOR_NAMESPACE}:quoin-operator`;

describeWithAll("An operator for one namespace", function () {
  this.timeout(LIMIT_MS * 2);
  let scene: Scene;
  let stranger: QuoinCluster;

  before(async () => {
    scene = await Scene.set("quoin-e2e-own");
    const { kubernetes, cluster } = scene;
    await scene.removeOperator();
    stranger = new QuoinCluster(kubernetes, "quoin-e2e-others", "stranger");
    await kubernetes.removeNamespace(stranger.namespace, LIMIT_MS);
    await kubernetes.cluster.kubectl(["create", "namespace", stranger.namespace]);
    await stranger.create({ replicas: 1 });
    for (const namespace of [OPERATOR_NAMESPACE, cluster.namespace]) {
      await kubernetes.apply(namespace, tenantOf(namespace));
    }
  });

  after(async () => {
    await scene?.kubernetes.removeNamespace(stranger.namespace, LIMIT_MS);
    await scene?.kubernetes.cluster.kubectl([
      ...["delete", "rolebinding", TENANT, "--namespace", OPERATOR_NAMESPACE, "--ignore-not-found"],
    ]);
    await scene?.clear();
  });

  it("is installed by a user who has no rights elsewhere", async () => {
    const own = scene.cluster.namespace;
    const values = ["--set", `watchNamespaces={${own}}`, "--set", "crds.install=false"];
    // Creating a missing namespace needs a separate right.
    await scene.installOperator(...values, "--kube-as-user", TENANT, "--create-namespace=false");
    for (const verb of ["list", "watch", "patch"]) {
      expect(await mayOperator(verb, "pods", own), `${verb} pods of its own`).to.equal(true);
      expect(await mayOperator(verb, "pods", stranger.namespace), `${verb} pods of others`).to.equal(false);
      expect(await mayOperator(verb, "pods", ""), `${verb} all pods`).to.equal(false);
    }
    expect(await mayOperator("list", "secrets", own)).to.equal(false);
    expect(await mayOperator("get", "customresourcedefinitions.apiextensions.k8s.io", "")).to.equal(false);
    expect(await mayOperator("get", "storageclasses.storage.k8s.io", "")).to.equal(false);
  });

  it("founds, grows, restarts, shrinks and removes a cluster there", async () => {
    const { cluster } = scene;
    await cluster.create({ replicas: 1, networkPolicy: { enabled: true }, storage: { whenDeleted: "Delete" } });
    await cluster.untilReady();
    await cluster.scale(3);
    expect((await cluster.untilReady()).object.status).to.include({ voters: 3, membersSummary: "3/3" });
    await restartAll();
    await cluster.scale(1);
    await cluster.untilReady();
    await until(
      "claims of members that have left to be gone",
      async () => (await cluster.claims()).length === 1,
      LIMIT_MS,
    );
    await cluster.patch({ spec: { networkPolicy: { enabled: false } } });
    await cluster.untilReady();
    const policy = `/apis/networking.k8s.io/v1/namespaces/${cluster.namespace}/networkpolicies/${cluster.name}`;
    await until("the network policy to be gone", async () => (await scene.kubernetes.get(policy)) === null, LIMIT_MS);
    await scene.kubernetes.send("DELETE", cluster.path);
    await until("its claim to be gone", async () => (await cluster.claims()).length === 0, LIMIT_MS);
  });

  it("was refused no request, and has left the clusters of others alone", async () => {
    const logs = await scene.kubernetes.cluster.kubectl([
      ...["logs", "--namespace", OPERATOR_NAMESPACE, "--selector", "app.kubernetes.io/name=quoin-operator"],
      ...["--tail=-1"],
    ]);
    expect(logs).to.include("this operator is active now");
    expect(logs.split("\n").filter((line) => /forbidden/i.test(line))).to.deep.equal([]);
    expect(await stranger.get()).to.satisfy(({ spec, status }: KubeObject) => spec.version === undefined && !status);
    expect(await stranger.pods()).to.deep.equal([]);
  });

  /** All rights in a namespace, as an owner of the namespace gets them. */
  function tenantOf(namespace: string): object {
    return {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "RoleBinding",
      metadata: { name: TENANT, namespace },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: TENANT }],
    };
  }

  /**
   * The API server's answer about the operator's rights.
   *
   * @param kind with its group, such as `pods` or `storageclasses.storage.k8s.io`
   * @param namespace empty = all, or none
   */
  async function mayOperator(verb: string, kind: string, namespace: string): Promise<boolean> {
    const [resource, ...group] = kind.split(".");
    const review = await scene.kubernetes.send("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      spec: { user: OPERATOR, resourceAttributes: { verb, resource, group: group.join("."), namespace } },
    });
    return review.status.allowed;
  }

  async function restartAll(): Promise<void> {
    const { cluster } = scene;
    const before = new Set((await cluster.pods()).map(({ metadata }) => metadata.uid));
    await cluster.patch({ metadata: { annotations: { "quoin.dev/restart": "1" } } });
    const areOthers = async (): Promise<boolean> => {
      const pods = await cluster.pods();
      return pods.length === before.size && pods.every((pod) => !before.has(pod.metadata.uid) && isPodReady(pod));
    };
    await until("all pods to be others", areOthers, LIMIT_MS);
    await cluster.untilReady();
  }
});
