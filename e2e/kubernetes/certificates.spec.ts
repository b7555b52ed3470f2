/**
 * Certificates and their authority are replaced while clients read and write. Members show the new certificates without
 * a restart, trust each other all the time, and no client that retries notices.
 */

import { expect } from "chai";
import { until } from "../cluster/index.ts";
import { describeWithAll } from "./extent.ts";
import type { KubeObject } from "./kubernetes-api.ts";
import { nowMs } from "./load/index.ts";
import type { LoadPod } from "./load-pod.ts";
import { conditionOf, LIMIT_MS } from "./quoin-cluster.ts";
import { report, Scene, seconds } from "./scene.ts";

const MEMBERS = 3;
/** As long the operator lets the next authority wait for the files that clients mount. */
const NEXT_MOUNTED_MS = 120_000;
const EXTRA_NAME = "quoin.example.com";

/** The certificate that a member shows to clients. */
interface Shown {
  readonly serial: string;
  /** Digest of the authority's key. */
  readonly issuer: string;
  readonly names: string;
  /** Whether it is valid for the member's name and comes from an authority that the cluster trusts. */
  readonly isTrusted: boolean;
}

/** Runs in a member's pod: connects to each given host, and prints its certificate. */
const LOOK = `
  const { connect } = require("node:tls");
  const { readFileSync } = require("node:fs");
  const ca = readFileSync("/etc/quoin/ca/ca.crt");
  const look = (host) => new Promise((resolve, reject) => {
    const socket = connect({ host, port: 7401, servername: host, ca, rejectUnauthorized: false }, () => {
      const { serialNumber: serial, subjectaltname: names, issuerCertificate } = socket.getPeerCertificate(true);
      resolve({ serial, names, issuer: issuerCertificate?.fingerprint256 ?? "", isTrusted: socket.authorized });
      socket.destroy();
    });
    socket.once("error", reject);
  });
  Promise.all(process.argv.slice(1).map(look)).then((shown) => console.log(JSON.stringify(shown)));`;

describeWithAll("A cluster whose certificates are replaced under load", function () {
  this.timeout(LIMIT_MS * 2);
  let scene: Scene;
  let load: LoadPod;
  let runsBefore: readonly object[];
  let fromMs = 0;

  before(async () => {
    scene = await Scene.set("quoin-e2e-certificates");
    await scene.cluster.create({ replicas: MEMBERS });
    await scene.cluster.untilReady();
    ({ load } = await scene.startLoad());
    runsBefore = await runs();
    fromMs = nowMs();
  });

  after(() => scene?.clear());

  it("shows another certificate after a change of the DNS names", async () => {
    const { cluster } = scene;
    const [first] = await shown();
    await cluster.patch({ spec: { tls: { extraDnsNames: [EXTRA_NAME] } } });
    const tookMs = await untilAllShow(({ serial, names }) => serial !== first?.serial && names.includes(EXTRA_NAME));
    const after = await shown();
    report(`all show the next certificate after ${seconds(tookMs)}`);
    expect(after.map(({ issuer }) => issuer)).to.deep.equal(Array(MEMBERS).fill(first?.issuer));
    await load.untilMoreWrites();
  });

  it("makes another certificate when the one that it has is deleted", async () => {
    const [first] = await shown();
    await remove(`secrets/${scene.cluster.name}-server-tls`);
    report(
      `all show the next certificate after ${seconds(await untilAllShow(({ serial }) => serial !== first?.serial))}`,
    );
    await load.untilMoreWrites();
  });

  it("makes another authority when the key of the one that it has is deleted", async () => {
    const { cluster, kubernetes } = scene;
    const [first] = await shown();
    const { caNotAfter } = (await cluster.get()).status.tls;
    await remove(`secrets/${cluster.name}-ca`);
    const tookMs = await untilAllShow(({ issuer }) => issuer !== first?.issuer, LIMIT_MS + NEXT_MOUNTED_MS);
    report(`all show a certificate of the next authority after ${seconds(tookMs)}`);
    const { data } = await kubernetes.get(`/api/v1/namespaces/${cluster.namespace}/configmaps/${cluster.name}-ca`);
    expect(data["ca.crt"].match(/BEGIN CERTIFICATE/g), "both are trusted").to.have.lengthOf(2);
    const { object } = await cluster.untilReady();
    expect(conditionOf(object, "TLSReady").status).to.equal("True");
    expect(object.status.tls.caNotAfter > caNotAfter).to.equal(true);
    await load.untilMoreWrites();
  });

  it("has restarted no member", async () => {
    expect(await runs()).to.deep.equal(runsBefore);
  });

  it("lets clients connect anew when members restart, with the authority that their file has got", async () => {
    const { cluster } = scene;
    await cluster.patch({ metadata: { annotations: { "quoin.dev/restart": "1" } } });
    await until(
      "all members to have restarted",
      async () => (await runs()).every((run, at) => JSON.stringify(run) !== JSON.stringify(runsBefore[at])),
      LIMIT_MS,
    );
    await cluster.untilReady();
    await load.untilMoreWrites();
  });

  it("has lost nothing, and has failed no client that retries", async () => {
    const toMs = nowMs();
    await load.stop();
    const { acknowledgedWrites, gapMs, failedWithRetries, failedWithout } = load.between(fromMs, toMs);
    report(
      `${acknowledgedWrites} writes acknowledged, longest gap between writes ${seconds(gapMs)}, ` +
        `without retries failed ${failedWithout}`,
    );
    expect(load.judge()).to.deep.equal([]);
    expect(failedWithRetries).to.deep.equal([]);
  });

  /** From the members, by ordinal; each must be trusted at any time. */
  async function shown(): Promise<readonly Shown[]> {
    const { name, namespace, kubernetes } = scene.cluster;
    const hosts = Array.from({ length: MEMBERS }, (_, at) => `${name}-${at}.${name}-peers.${namespace}.svc`);
    const exec = ["exec", "--namespace", namespace, `${name}-0`, "--", "node", "--eval", LOOK];
    const found: Shown[] = JSON.parse(await kubernetes.cluster.kubectl([...exec, ...hosts]));
    expect(found.map(({ isTrusted }) => isTrusted)).to.deep.equal(Array(MEMBERS).fill(true));
    return found;
  }

  /** Returns how long it took, in milliseconds. */
  async function untilAllShow(isIt: (shown: Shown) => boolean, limitMs = LIMIT_MS): Promise<number> {
    const startedMs = performance.now();
    await until("all members to show another certificate", async () => (await shown()).every(isIt), limitMs);
    return performance.now() - startedMs;
  }

  async function remove(object: string): Promise<void> {
    const { kubernetes, namespace } = scene.cluster;
    await kubernetes.send("DELETE", `/api/v1/namespaces/${namespace}/${object}`);
  }

  async function runs(): Promise<readonly object[]> {
    return (await scene.cluster.pods()).map(({ metadata, status }: KubeObject) => ({
      uid: metadata.uid,
      // A pod that has just been made has no container yet.
      restarts: status.containerStatuses?.[0]?.restartCount ?? 0,
    }));
  }
});
