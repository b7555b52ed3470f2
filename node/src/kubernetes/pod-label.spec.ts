import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { ApiServer, temporaryDirectory, until } from "../../test/harness/index.ts";
import { TestAuthority, whyNoCertificates } from "../../test/peers/index.ts";
import { PodClient } from "./pod-client.ts";
import { PodLabel, type PodRole } from "./pod-label.ts";

const NAMESPACE = "team-a";
const PODS = ["demo-0", "demo-1", "demo-2"];

/** Pauses that end when the spec ends them. */
class Pauses {
  readonly lengthsMs: number[] = [];
  #end: (() => void) | null = null;

  readonly pause = (ms: number, signal: AbortSignal): Promise<void> => {
    this.lengthsMs.push(ms);
    return new Promise((resolve, reject) => {
      this.#end = resolve;
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  };

  /** Waits until there were this many pauses, and ends the last one. */
  async next(count: number): Promise<void> {
    await this.untilResting(count);
    this.#end?.();
  }

  untilResting(count: number): Promise<unknown> {
    return until(`pause ${count}`, () => this.lengthsMs.length >= count);
  }
}

describe("the label of a member's pod", function () {
  this.timeout(30_000);
  let authority: TestAuthority;
  let account: string;
  let server: ApiServer;
  let labels: PodLabel[];
  let lines: string[];

  before(function () {
    const reason = whyNoCertificates();
    if (reason !== null) {
      console.log(`      skipped: ${reason}`);
      this.skip();
    }
    authority = new TestAuthority(temporaryDirectory(), "cluster");
  });

  beforeEach(async () => {
    labels = [];
    lines = [];
    account = temporaryDirectory();
    writeFileSync(join(account, "token"), "token\n");
    copyFileSync(authority.certificate, join(account, "ca.crt"));
    server = await ApiServer.open(NAMESPACE, authority.issue("apiserver", ["IP:127.0.0.1"]));
    for (const pod of PODS) {
      server.put(pod, null, null);
    }
  });

  afterEach(async () => {
    for (const label of labels) {
      label.stop();
    }
    await server.close();
  });

  function labelOf(pod: string, pauses = new Pauses()): PodLabel {
    const options = { host: "127.0.0.1", port: server.port, namespace: NAMESPACE, accountDirectory: account };
    const note = (fields: object, message: string) => lines.push(`${message} ${JSON.stringify(fields)}`);
    const log = { info: note, warn: note };
    const label = new PodLabel({ pod, pods: new PodClient(options), log, pause: pauses.pause });
    labels.push(label);
    return label;
  }

  function report(role: PodRole, term: number, own = "demo-0") {
    const others = PODS.filter((pod) => pod !== own).map((pod) => [pod, "follower"] as const);
    return { role, term, others: () => new Map(others) };
  }

  /** The requests so far, as in `GET demo-0`. */
  const asked = (): string[] => server.calls.map(({ method, pod }) => `${method} ${pod}`);

  it("writes the role of a member when it changes, and writes nothing twice", async () => {
    const pauses = new Pauses();
    const label = labelOf("demo-0", pauses);
    label.update(report("none", 0));
    await pauses.untilResting(1);
    expect(server.roleAndTermOf("demo-0")).to.equal("none 0");
    label.update(report("follower", 3));
    await pauses.untilResting(2);
    expect(server.roleAndTermOf("demo-0")).to.equal("follower 3");
    label.update(report("learner", 3));
    await pauses.untilResting(3);
    expect(server.roleAndTermOf("demo-0")).to.equal("learner 3");
    expect(asked()).to.deep.equal(Array.from({ length: 3 }, () => ["GET demo-0", "PATCH demo-0"]).flat());
    label.update(report("learner", 4));
    await pauses.next(3);
    await pauses.untilResting(4);
    expect(server.roleAndTermOf("demo-0")).to.equal("learner 4");
    await pauses.next(4);
    await pauses.untilResting(5);
    expect(asked().at(-1)).to.equal("GET demo-0");
    expect(new Set(pauses.lengthsMs)).to.deep.equal(new Set([30_000]));
  });

  it("corrects every 30 s a label that another client has changed", async () => {
    const pauses = new Pauses();
    labelOf("demo-0", pauses).update(report("follower", 3));
    await pauses.untilResting(1);
    server.put("demo-0", "leader", null);
    await pauses.next(1);
    await pauses.untilResting(2);
    expect([server.roleAndTermOf("demo-0"), pauses.lengthsMs]).to.deep.equal(["follower 3", [30_000, 30_000]]);
  });

  it("takes the label from the last leader before it is written for the new one: none in between, never two", async () => {
    const first = labelOf("demo-1");
    first.update(report("leader", 5, "demo-1"));
    await until("the first leader", () => server.roleAndTermOf("demo-1") === "leader 5");
    expect([server.roleAndTermOf("demo-0"), server.roleAndTermOf("demo-2")]).to.deep.equal([
      "follower 5",
      "follower 5",
    ]);
    labelOf("demo-0").update(report("leader", 6));
    await until("the second leader", () => server.roleAndTermOf("demo-0") === "leader 6");
    expect([server.roleAndTermOf("demo-1"), server.roleAndTermOf("demo-2")]).to.deep.equal([
      "follower 6",
      "follower 6",
    ]);
    expect(server.leaders.filter((pods) => pods.length > 1)).to.deep.equal([]);
    expect(server.leaders.at(-1)).to.deep.equal(["demo-0"]);
  });

  it("cannot label a former leader that read its pod before the new one did", async () => {
    const slow = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    server.before = async ({ method, pod }) => {
      if (method === "PATCH" && pod === "demo-1" && !asked().includes("PATCH demo-0")) {
        reached.resolve();
        await slow.promise;
      }
      return null;
    };
    const pauses = new Pauses();
    labelOf("demo-1", pauses).update({ ...report("leader", 5, "demo-1"), others: () => new Map() });
    await reached.promise;
    server.before = async () => null;
    labelOf("demo-0").update(report("leader", 6));
    await until("the new leader", () => server.roleAndTermOf("demo-0") === "leader 6");
    slow.resolve();
    await pauses.next(1);
    await pauses.untilResting(2);
    expect(server.roleAndTermOf("demo-1")).to.equal("follower 6");
    expect(pauses.lengthsMs).to.deep.equal([100, 30_000]);
    expect(server.leaders.filter((pods) => pods.length > 1)).to.deep.equal([]);
    expect(lines.join()).to.not.include("cannot be labelled");
  });

  it("stops where a later term has been written: on its own pod, or for another leader", async () => {
    server.put("demo-0", "follower", 9);
    const own = new Pauses();
    labelOf("demo-0", own).update(report("leader", 8));
    await own.untilResting(1);
    expect([server.roleAndTermOf("demo-0"), own.lengthsMs]).to.deep.equal(["follower 9", [30_000]]);
    server.put("demo-0", null, null);
    server.put("demo-1", "leader", 9);
    const other = new Pauses();
    labelOf("demo-0", other).update(report("leader", 8));
    await other.untilResting(1);
    expect(["demo-0", "demo-1", "demo-2"].map((pod) => server.roleAndTermOf(pod))).to.deep.equal([
      ...["undefined undefined", "leader 9", "follower 8"],
    ]);
  });

  it("is not stopped by a pod of a later term that does not lead, nor by a missing pod", async () => {
    server.put("demo-1", "follower", 9);
    const others = new Map([
      ["demo-1", "follower"],
      ["demo-7", "learner"],
    ] as const);
    labelOf("demo-0").update({ role: "leader", term: 8, others: () => others });
    await until("its label", () => server.roleAndTermOf("demo-0") === "leader 8");
    expect(server.roleAndTermOf("demo-1")).to.equal("follower 9");
  });

  it("tries again from 100 ms, doubled to 2 s, until the server answers, and logs that once", async () => {
    server.before = async () => 503;
    const pauses = new Pauses();
    const label = labelOf("demo-0", pauses);
    label.update(report("follower", 1));
    for (let count = 1; count <= 6; count++) {
      await pauses.next(count);
    }
    await pauses.untilResting(7);
    server.before = async () => null;
    await pauses.next(7);
    await until("the label", () => server.roleAndTermOf("demo-0") === "follower 1");
    await pauses.untilResting(8);
    expect(pauses.lengthsMs).to.deep.equal([100, 200, 400, 800, 1_600, 2_000, 2_000, 30_000]);
    expect(lines.filter((line) => line.includes("cannot be labelled"))).to.have.length(1);
  });

  it("gives up a pending write when the role of the member changes", async () => {
    const reading = Promise.withResolvers<void>();
    server.before = async ({ method }) => {
      if (method === "GET" && server.calls.length === 1) {
        await reading.promise;
      }
      return null;
    };
    const label = labelOf("demo-0");
    label.update(report("follower", 1));
    await until("the first call", () => server.calls.length === 1);
    label.update(report("learner", 2));
    reading.resolve();
    await until("the label", () => server.roleAndTermOf("demo-0") === "learner 2");
    expect(asked().filter((call) => call.startsWith("PATCH"))).to.have.length(1);
  });

  it("reads the account's token and authorities at each call, and logs neither", async () => {
    const pauses = new Pauses();
    const label = labelOf("demo-0", pauses);
    label.update(report("follower", 1));
    await pauses.untilResting(1);
    server.tokens = ["another token"];
    label.update(report("learner", 1));
    await until("a refusal", () => lines.join().includes("answers 401"));
    writeFileSync(join(account, "token"), "another token");
    await pauses.next(2);
    await until("the label", () => server.roleAndTermOf("demo-0") === "learner 1");
    expect(new Set(server.calls.map(({ token }) => token))).to.deep.equal(new Set(["token", "another token"]));
    copyFileSync(new TestAuthority(temporaryDirectory(), "stranger").certificate, join(account, "ca.crt"));
    label.update(report("follower", 1));
    await until("a refusal of the server", () => lines.join().includes("certificate"));
    expect(server.roleAndTermOf("demo-0")).to.equal("learner 1");
    expect(lines.join()).to.not.include("another token");
  });

  it("ends its calls when it is stopped, and makes no more", async () => {
    const never = Promise.withResolvers<number>();
    server.before = () => never.promise;
    const pauses = new Pauses();
    const label = labelOf("demo-0", pauses);
    label.update(report("follower", 1));
    await until("a call", () => server.calls.length === 1);
    label.stop();
    label.update(report("learner", 2));
    never.resolve(503);
    expect(server.calls).to.have.length(1);
    expect([pauses.lengthsMs, lines]).to.deep.equal([[], []]);
  });
});
