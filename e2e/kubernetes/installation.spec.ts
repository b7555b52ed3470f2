/** Does what a new user does: installs both charts, waits, looks at the cluster, and runs helm test. */

import { join } from "node:path";
import { expect } from "chai";
import { LIMIT_MS } from "./quoin-cluster.ts";
import { CHARTS, report, Scene, seconds } from "./scene.ts";

const READY_MS_MAX = 120_000;
const HELM_SECONDS = 100;
/** Prints status and type of the page at the URL, and of each file that it names. */
const LOOK_AT_PAGE = `
  const [url] = process.argv.slice(1);
  const page = await fetch(url);
  const names = [...(await page.clone().text()).matchAll(/assets\\/[^"]+/g)].map(([name]) => name);
  const files = await Promise.all(names.map((name) => fetch(new URL(name, url))));
  for (const { status, headers } of [page, ...files]) console.log(status, headers.get("content-type"));`;

describe("An installation by the charts", function () {
  this.timeout(LIMIT_MS * 2);
  let scene: Scene;

  before(async () => {
    scene = await Scene.set("quoin-e2e-installation");
  });

  after(() => scene?.clear());

  it("is Ready soon, with the values of the charts alone", async () => {
    const { cluster, kubernetes } = scene;
    const from = ["--namespace", cluster.namespace];
    await kubernetes.cluster.helm(["install", cluster.name, join(CHARTS, "quoin-cluster"), ...from]);
    const { object, tookMs } = await cluster.untilReady();
    report(`Ready after ${seconds(tookMs)}`);
    expect(tookMs).to.be.below(READY_MS_MAX);
    expect(object.status).to.include({ voters: 3, learners: 0, membersSummary: "3/3", readyReplicas: 3 });
  });

  it("reads well in a table", async () => {
    const { cluster, kubernetes } = scene;
    const printed = await kubernetes.cluster.kubectl(["get", "qc", "--namespace", cluster.namespace]);
    const [head, row] = printed
      .trim()
      .split("\n")
      .map((line) => line.trim().split(/\s+/));
    expect(head).to.deep.equal(["NAME", "READY", "MEMBERS", "QUORATE", "LEADER", "VERSION", "STATUS", "AGE"]);
    const { leader, version } = (await cluster.get()).status;
    expect(row?.slice(0, -1)).to.deep.equal(["demo", "True", "3/3", "True", leader, version.current, "Ready"]);
    expect(leader).to.match(/^demo-[0-2]$/);
  });

  it("passes the test of its chart", async () => {
    const { cluster, kubernetes } = scene;
    const from = ["--namespace", cluster.namespace, "--timeout", `${HELM_SECONDS}s`];
    const printed = await kubernetes.cluster.helm(["test", cluster.name, ...from]);
    expect(printed).to.match(/^Phase:\s+Succeeded$/m);
  });

  it("serves the web console through the Service", async () => {
    const { cluster, kubernetes } = scene;
    const url = `https://${cluster.name}:7401/console/`;
    const environment = "NODE_EXTRA_CA_CERTS=/etc/quoin/ca/ca.crt";
    const program = ["env", environment, "node", "--input-type=module", "--eval", LOOK_AT_PAGE, url];
    const member = ["--namespace", cluster.namespace, "exec", `${cluster.name}-0`, "--container", "quoin"];
    const printed = await kubernetes.cluster.kubectl([...member, "--", ...program]);
    expect(printed.trim().split("\n")).to.have.members([
      "200 text/html; charset=utf-8",
      "200 text/javascript; charset=utf-8",
      "200 text/css; charset=utf-8",
      "200 image/svg+xml",
    ]);
  });
});
