import { networkInterfaces } from "node:os";
import { expect } from "chai";
import { EVERY_ADDRESS, HealthServer } from "./health-server.ts";
import { type ClusterState, OperatorMetrics } from "./metrics.ts";

type Condition = ClusterState["conditions"][number];

function condition(type: string, status: string): Condition {
  return { type, status };
}

/** A cluster that has waited at the gate for seven seconds, if there is one. */
function state(cluster: string, gate: string | null, conditions: readonly Condition[]): ClusterState {
  const blocked = gate === null ? null : { gate, seconds: 7 };
  return { cluster, blocked, conditions, wanted: 3, healthy: 3, lastBackupMs: null };
}

describe("port for probes and metrics", () => {
  let unready: string[];
  let dead: string[];
  let metrics: OperatorMetrics;
  let server: HealthServer;
  let url: string;

  beforeEach(async () => {
    [unready, dead] = [[], []];
    metrics = new OperatorMetrics({
      queueDepth: () => 3,
      isLeader: () => true,
      watchAges: () => new Map([["Pod", 12.5]]),
    });
    server = new HealthServer({ unready: () => unready, dead: () => dead }, metrics);
    url = `http://127.0.0.1:${await server.listen("127.0.0.1", 0)}`;
  });

  afterEach(() => server.close());

  async function get(path: string): Promise<[number, string]> {
    const answer = await fetch(`${url}${path}`);
    return [answer.status, await answer.text()];
  }

  it("answers probes, and names the problems", async () => {
    expect(await get("/readyz")).to.deep.equal([200, "ok\n"]);
    expect(await get("/livez")).to.deep.equal([200, "ok\n"]);
    unready = ["Pod has not been listed yet", "no definition"];
    expect(await get("/readyz")).to.deep.equal([503, "Pod has not been listed yet\nno definition\n"]);
    expect(await get("/livez")).to.deep.equal([200, "ok\n"]);
    dead = ["nothing was heard of Pod"];
    expect(await get("/livez")).to.deep.equal([503, "nothing was heard of Pod\n"]);
    expect((await get("/else"))[0]).to.equal(404);
  });

  it("is reached by IPv4 and by IPv6 when it listens on every address", async function () {
    if (!Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === "::1"))) {
      console.log("      skipped: this machine has no IPv6");
      this.skip();
    }
    const everywhere = new HealthServer({ unready: () => unready, dead: () => dead }, metrics);
    const port = await everywhere.listen(EVERY_ADDRESS, 0);
    try {
      for (const host of ["127.0.0.1", "[::1]"]) {
        expect((await fetch(`http://${host}:${port}/livez`)).status, host).to.equal(200);
      }
    } finally {
      await everywhere.close();
    }
  });

  it("exposes actions and the state of clusters to Prometheus", async () => {
    metrics.countReconcile("done", 0.3);
    metrics.countReconcile("failed", 30);
    metrics.countAction("promote");
    metrics.countRequest("GET", 200);
    const lastBackupMs = Date.now() - 90_000;
    const lost = [condition("QuorumLost", "True"), condition("Ready", "Unknown")];
    metrics.setCluster({ ...state("a/b", "Roll", lost), wanted: 3, healthy: 1, lastBackupMs });
    metrics.setCluster({ ...state("a/c", null, [condition("Ready", "True")]), wanted: 5, healthy: 5 });
    metrics.setCluster({ ...state("a/gone", "Roll", lost), lastBackupMs });
    metrics.setFailing("a/b", new Map([["evict", 12]]));
    metrics.setFailing("a/c", new Map([["promote", 3]]));
    metrics.setFailing("a/c", new Map());
    metrics.setFailing("a/gone", new Map([["evict", 12]]));
    metrics.forgetCluster("a/gone");
    const [, text] = await get("/metrics");
    const ages = [...text.matchAll(/^quoin_operator_cluster_backup_age_seconds\{(\S+)\} (\S+)$/gm)];
    expect(ages.map(([, cluster]) => cluster)).to.deep.equal(['cluster="a/b"']);
    expect(Number(ages[0]?.[2])).to.be.within(90, 120);
    const own = text
      .split("\n")
      .filter((line) => line.startsWith("quoin_operator_") && !/_bucket|backup_age/.test(line));
    expect(own).to.have.members([
      'quoin_operator_reconcile_total{result="done"} 1',
      'quoin_operator_reconcile_total{result="failed"} 1',
      "quoin_operator_reconcile_seconds_sum 30.3",
      "quoin_operator_reconcile_seconds_count 2",
      'quoin_operator_action_total{action="promote"} 1',
      'quoin_operator_api_requests_total{method="GET",code="200"} 1',
      'quoin_operator_cluster_blocked_seconds{cluster="a/b",gate="Roll"} 7',
      'quoin_operator_cluster_condition{cluster="a/b",type="QuorumLost",status="True"} 1',
      'quoin_operator_cluster_condition{cluster="a/b",type="Ready",status="Unknown"} 1',
      'quoin_operator_cluster_condition{cluster="a/c",type="Ready",status="True"} 1',
      'quoin_operator_cluster_members{cluster="a/b",state="wanted"} 3',
      'quoin_operator_cluster_members{cluster="a/b",state="healthy"} 1',
      'quoin_operator_cluster_members{cluster="a/c",state="wanted"} 5',
      'quoin_operator_cluster_members{cluster="a/c",state="healthy"} 5',
      'quoin_operator_cluster_failing_seconds{cluster="a/b",action="evict"} 12',
      'quoin_operator_cluster_failing_seconds{cluster="a/c",action=""} 0',
      "quoin_operator_queue_depth 3",
      "quoin_operator_is_leader 1",
      'quoin_operator_watch_age_seconds{kind="Pod"} 12.5',
    ]);
    expect(text).to.include("process_cpu_seconds_total");
  });

  it("shows a gate, a status and a backup no more that do not hold any longer", async () => {
    metrics.setCluster({ ...state("a/b", "Roll", [condition("Ready", "False")]), lastBackupMs: Date.now() });
    metrics.setCluster(state("a/b", "Freeze", [condition("Ready", "True")]));
    const [, text] = await get("/metrics");
    expect(text).to.include('{cluster="a/b",gate="Freeze"} 7');
    expect(text).to.include('{cluster="a/b",type="Ready",status="True"} 1');
    expect(text).to.not.match(/gate="Roll"|status="False"|backup_age_seconds\{/);
  });

  it("shows an action no more that succeeds again", async () => {
    metrics.setFailing("a/d", new Map([["evict", 12]]));
    metrics.setFailing("a/d", new Map());
    const [, text] = await get("/metrics");
    const shown = text.split("\n").filter((line) => line.includes('cluster="a/d"'));
    expect(shown).to.deep.equal(['quoin_operator_cluster_failing_seconds{cluster="a/d",action=""} 0']);
  });
});
