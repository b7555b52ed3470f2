/**
 * Does what `tilt up` does, without Tilt: evaluates the Tiltfile, and runs the programs that Tilt itself would call.
 * Changed files of the repository run in the pods at once, and every button works.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { canReadTiltfile, readTiltfile, type TiltCall } from "../../tilt/index.ts";
import { REPOSITORY, until } from "../cluster/index.ts";
import { describeWithAll } from "./extent.ts";
import { type KubeObject, Kubernetes } from "./kubernetes-api.ts";
import { LIMIT_MS, QuoinCluster } from "./quoin-cluster.ts";
import { leaveNamespace, removeOperator, report } from "./scene.ts";

const NAMESPACE = "quoin-e2e-development";
const CLUSTER = "demo";
const DEFINITION = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/coordinationclusters.quoin.dev";
/** Splits a rendered chart as Tilt does. */
const DOCUMENTS = /^---\n/m;
const TESTS = /^# Source: .*\/tests\//m;
const BUTTONS = ["scale-1", "scale-3", "status", "test", "transfer"];

describeWithAll("What the Tiltfile asks for", function () {
  this.timeout(LIMIT_MS * 2);
  let kubernetes: Kubernetes;
  let cluster: QuoinCluster;
  let calls: readonly TiltCall[];
  let hadDefinition = true;

  before(async function () {
    kubernetes = await Kubernetes.connect();
    cluster = new QuoinCluster(kubernetes, NAMESPACE, CLUSTER);
    const tag = await kubernetes.cluster.provideDevelopmentImage();
    if (tag === null || !canReadTiltfile()) {
      report("skipped: it takes Python, and a cluster whose nodes can be given an image");
      this.skip();
    }
    calls = readTiltfile({ NAMESPACE, CLUSTER });
    hadDefinition = (await kubernetes.get(DEFINITION)) !== null;
    await kubernetes.removeNamespace(NAMESPACE, LIMIT_MS);
    // There would be two operators, each with its own Lease.
    await removeOperator(kubernetes);
    await kubernetes.cluster.kubectl(["create", "namespace", NAMESPACE]);
    for (const { args } of callsOf("k8s_yaml")) {
      const input = await manifestOf(args[0], tag);
      await kubernetes.cluster.kubectl(["apply", "--filename", "-"], { input });
    }
  });

  after(async () => {
    try {
      // Without rights, its operator does nothing to later clusters.
      const ofOperator = ["--selector", "app.kubernetes.io/name=quoin-operator"];
      await kubernetes.cluster.kubectl(["delete", "clusterroles,clusterrolebindings", ...ofOperator]);
      await leaveNamespace(kubernetes, NAMESPACE);
      if (!hadDefinition) {
        // Helm would refuse to take over objects that it has not created.
        await kubernetes.send("DELETE", DEFINITION);
      }
    } finally {
      kubernetes.close();
    }
  });

  it("is a cluster that works", async () => {
    const { object } = await cluster.untilReady();
    expect(object.status).to.include({ membersSummary: "3/3" });
  });

  it("runs what has changed: members and operator start again with what is synced", async () => {
    const paths = callsOf("sync").map(({ args }) => args.map(String));
    for (const [source, selector] of [
      ["node/src", `quoin.dev/cluster=${CLUSTER}`],
      ["operator/src", "app.kubernetes.io/name=quoin-operator"],
    ] as const) {
      const [from = "", to = ""] = paths.find(([folder]) => folder === source) ?? [];
      const [pod = ""] = (await kubectl("get", "pods", "--selector", selector, "--output", "name")).trim().split("\n");
      const said = `changed: ${source}`;
      const text = `console.error(${JSON.stringify(said)});\n${readFileSync(join(REPOSITORY, from, "main.ts"), "utf8")}`;
      const write = ["exec", "--stdin", pod, "--", "sh", "-c", 'cat > "$0"', `${to}/main.ts`];
      await kubernetes.cluster.kubectl(["--namespace", NAMESPACE, ...write], { input: text });
      const hasSaid = async (): Promise<boolean> => (await kubectl("logs", pod)).includes(said);
      await until(`${pod} to run what was synced`, hasSaid, LIMIT_MS);
      const { items } = JSON.parse(await kubectl("get", "pods", "--selector", selector, "--output", "json"));
      expect(items.map((item: KubeObject) => item.status.containerStatuses[0].restartCount)).to.include(0);
    }
    await cluster.untilReady();
  });

  for (const button of BUTTONS) {
    it(`has a button that does it: ${button}`, async () => {
      const [{ named }] = callsOf("local_resource").filter(({ args }) => args[0] === button) as [TiltCall];
      const before = (await cluster.get()).status.leader;
      const [program = "", ...args] = named.cmd as string[];
      const printed = await kubernetes.cluster.run(program, args);
      if (button === "transfer") {
        const isAnother = async (): Promise<boolean> => (await cluster.get()).status.leader !== before;
        await until("another leader", isAnother, LIMIT_MS);
      } else if (button === "test") {
        expect(printed).to.match(/^all is well$/m);
      } else if (button === "status") {
        expect(printed).to.include(`${CLUSTER}-0`);
      } else {
        const members = Number(button.split("-")[1]);
        const { object } = await cluster.untilReady();
        expect(object.status).to.include({ voters: members });
      }
    });
  }

  it("has no other buttons but one for five members", () => {
    const buttons = callsOf("local_resource").map(({ args }) => String(args[0]));
    expect(buttons.sort()).to.deep.equal([...BUTTONS, "scale-5"].sort());
  });

  const callsOf = (name: string) => calls.filter((call) => call.name === name);

  const kubectl = (...args: readonly string[]) => kubernetes.cluster.kubectl(["--namespace", NAMESPACE, ...args]);

  /** The text of a file, or of a rendered chart, with the image that was just built. */
  async function manifestOf(from: unknown, tag: string): Promise<string> {
    if (typeof from === "string") {
      return readFileSync(join(REPOSITORY, from), "utf8");
    }
    const { args, named } = from as TiltCall;
    const files = (named.values as string[]).flatMap((file) => ["--values", join(REPOSITORY, file)]);
    const { name, namespace, kube_version: version } = named as Record<string, string>;
    const where = ["--namespace", String(namespace), "--kube-version", String(version), "--include-crds"];
    const image = ["--set", `${name === CLUSTER ? "cluster.image" : "image"}.tag=${tag}`];
    const chart = [String(name), join(REPOSITORY, String(args[0]))];
    const rendered = await kubernetes.cluster.helm(["template", ...chart, ...where, ...files, ...image]);
    return rendered
      .split(DOCUMENTS)
      .filter((document) => !TESTS.test(document))
      .join("---\n");
  }
});
