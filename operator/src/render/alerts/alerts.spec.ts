/**
 * Each alert fires when it should and not otherwise, by Prometheus' own evaluation: of series of a healthy cluster, and
 * of these series with one fault. Skipped, with a message, where promtool is not installed.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { parse, stringify } from "yaml";
import { temporaryDirectory } from "../../../test/index.ts";
import { type Alert, ARCHIVE_ALERTS, alertRule, BACKUP_ALERTS, MEMBER_ALERTS } from "./index.ts";

const ROOT = path.join(import.meta.dirname, "../../../..");
const OPERATOR_RULES = readFileSync(path.join(ROOT, "charts/quoin-operator/files/rules.yaml"), "utf8");
const ALERTS: readonly Alert[] = [...MEMBER_ALERTS, ...BACKUP_ALERTS, ...ARCHIVE_ALERTS];
const LABELS = 'namespace="team",quoin_dev_cluster="prod"';
const CLUSTER = "team/prod";
const PLACE = {
  series: LABELS,
  pod: "pod",
  members: 3,
  seconds: 600,
  labels: { cluster: CLUSTER },
  manualUrl: "https://docs.example",
};
/** Each alert but one fires within this time. */
const MINUTES = 40;
/** For the alert that waits for an hour. */
const MANY_MINUTES = 80;
const PODS = ["prod-0", "prod-1", "prod-2"];
const LATE = "0x25 10+10x60";

/** A series of a test: its name with labels, and its values in promtool's notation, one a minute. */
type Series = Readonly<Record<string, string>>;

/** The label `pod` is added. */
const OF_EACH_MEMBER: Series = {
  up: steady(1),
  quoin_raft_leader_known: steady(1),
  'quoin_ready_check{check="voter"}': steady(1),
  'quoin_ready_check{check="disk"}': steady(1),
  'quoin_member_state{state="RUNNING"}': steady(1),
  'quoin_member_state{state="MEMBER_LOST_DATA"}': steady(0),
  quoin_raft_divergent_peers: steady(0),
  quoin_clock_seconds: growing(60),
  quoin_raft_leader_changes_total: steady(4),
  'quoin_raft_peer_lag_seconds{peer="2"}': steady(0),
  'quoin_storage_log_write_duration_seconds_bucket{le="0.05"}': growing(10),
  'quoin_storage_log_write_duration_seconds_bucket{le="0.5"}': growing(10),
  'quoin_storage_log_write_duration_seconds_bucket{le="+Inf"}': growing(10),
  quoin_storage_disk_free_bytes: steady(60e9),
  quoin_storage_disk_size_bytes: steady(100e9),
  'quoin_storage_disk_space{judgement="low"}': steady(0),
  'quoin_storage_disk_space{judgement="full"}': steady(0),
  'quoin_certificate_expiry_seconds{shown_to="clients"}': steady(60 * 86_400),
  'quoin_rocksdb_write_stopped{store="state"}': steady(0),
  'quoin_rocksdb_delayed_write_bytes_per_second{store="state"}': steady(0),
  'quoin_event_loop_delay_seconds_bucket{le="0.05"}': growing(10),
  'quoin_event_loop_delay_seconds_bucket{le="0.5"}': growing(10),
  'quoin_event_loop_delay_seconds_bucket{le="+Inf"}': growing(10),
  'quoin_grpc_requests_total{method="Put",code="OK"}': growing(100),
  'quoin_grpc_requests_total{method="Put",code="NOT_FOUND"}': growing(100),
  'quoin_http_requests_total{route="/v1/keys",status="200"}': growing(100),
  'quoin_lock_releases_total{reason="expired"}': steady(0),
  'quoin_watch_ended_total{reason="COMPACTED"}': steady(0),
  'quoin_backup_verified_timestamp_seconds{result="succeeded"}': growing(60),
  'quoin_backup_verified_timestamp_seconds{result="failed"}': steady(0),
  quoin_backup_last_success_timestamp_seconds: growing(60),
  quoin_archive_lag_seconds: steady(3),
  quoin_archive_chain_broken: steady(0),
  quoin_archive_failures_total: steady(0),
};

const OF_THE_OPERATOR: Series = {
  quoin_operator_is_leader: steady(1),
  'quoin_operator_reconcile_total{result="done"}': growing(9),
  'quoin_operator_reconcile_total{result="failed"}': steady(0),
  'quoin_operator_watch_age_seconds{kind="Pod"}': steady(20),
  ...condition("Ready", "True"),
  ...condition("Degraded", "False"),
  ...condition("QuorumLost", "False"),
  ...condition("SpecAccepted", "True"),
  ...condition("BackupHealthy", "True"),
  ...condition("ArchiveHealthy", "Unknown"),
  [`quoin_operator_cluster_members{cluster="${CLUSTER}",state="wanted"}`]: steady(3),
  [`quoin_operator_cluster_members{cluster="${CLUSTER}",state="healthy"}`]: steady(3),
  [`quoin_operator_cluster_failing_seconds{cluster="${CLUSTER}",action=""}`]: steady(0),
  [`quoin_operator_cluster_blocked_seconds{cluster="${CLUSTER}",gate="ManualUpdate"}`]: growing(60),
};

const HEALTHY: Series = {
  ...Object.fromEntries(
    PODS.flatMap((pod) => Object.entries(OF_EACH_MEMBER).map(([series, values]) => [ofMember(series, pod), values])),
  ),
  ...OF_THE_OPERATOR,
};

function steady(value: number): string {
  return `${value}x${MANY_MINUTES}`;
}

function growing(by: number): string {
  return `0+${by}x${MANY_MINUTES}`;
}

function condition(type: string, status: string): Series {
  return { [`quoin_operator_cluster_condition{cluster="${CLUSTER}",type="${type}",status="${status}"}`]: steady(1) };
}

function ofMember(series: string, pod: string): string {
  const [name, labels = ""] = series.replace(/\}$/, "").split("{");
  return `${name}{${[LABELS, `pod="${pod}"`, labels].filter((part) => part !== "").join(",")}}`;
}

/** @param isGone which series there are no more, after ten minutes in which there were */
function without(isGone: (series: string) => boolean): Series {
  return Object.fromEntries(
    Object.entries(HEALTHY).map(([series, values]) => [series, isGone(series) ? "1x10 _x70" : values]),
  );
}

/** @param changed values of series of the first member */
function withFirst(changed: Series): Series {
  return {
    ...HEALTHY,
    ...Object.fromEntries(Object.entries(changed).map(([series, values]) => [ofMember(series, PODS[0] ?? ""), values])),
  };
}

function withOperator(changed: Series): Series {
  return { ...HEALTHY, ...changed };
}

/** Another status of a condition. */
function became(type: string, status: string): Series {
  const others = Object.entries(HEALTHY).filter(([series]) => !series.includes(`type="${type}"`));
  return { ...Object.fromEntries(others), ...condition(type, status) };
}

const isOfMember = (series: string): boolean => series.includes('pod="');

/** What happens, the series then, and the alerts that fire. */
const FAULTS: readonly (readonly [what: string, series: Series, firing: readonly string[]])[] = [
  ["no member is left", without(isOfMember), ["QuoinBackupOverdue", "QuoinMembersMissing", "QuoinNoLeader"]],
  ["the pod of a member is gone", without((series) => series.includes('pod="prod-2"')), ["QuoinMembersMissing"]],
  ["a member cannot be scraped", withFirst({ up: steady(0) }), ["QuoinMemberDown"]],
  [
    "no member knows a leader",
    Object.fromEntries(
      Object.entries(HEALTHY).map(([series, values]) => [series, series.includes("leader_known") ? steady(0) : values]),
    ),
    ["QuoinNoLeader"],
  ],
  ["a member fails a check", withFirst({ 'quoin_ready_check{check="disk"}': steady(0) }), ["QuoinMemberNotReady"]],
  [
    "a member has lost its data",
    withFirst({ 'quoin_member_state{state="MEMBER_LOST_DATA"}': steady(1) }),
    ["QuoinMemberUnusable"],
  ],
  ["states differ", withFirst({ quoin_raft_divergent_peers: steady(1) }), ["QuoinStatesDiffer"]],
  ["a clock is ahead", withFirst({ quoin_clock_seconds: `6+60x${MANY_MINUTES}` }), ["QuoinClocksDiffer"]],
  ["a clock is a little late", withFirst({ quoin_clock_seconds: `-4+60x${MANY_MINUTES}` }), []],
  ["the leader changes often", withFirst({ quoin_raft_leader_changes_total: growing(1) }), ["QuoinLeaderChanges"]],
  ["the leader has changed three times", withFirst({ quoin_raft_leader_changes_total: "0x30 1x2 2x2 3x50" }), []],
  ["a member is behind", withFirst({ 'quoin_raft_peer_lag_seconds{peer="2"}': steady(6) }), ["QuoinMemberBehind"]],
  [
    "syncs are slow",
    withFirst({ 'quoin_storage_log_write_duration_seconds_bucket{le="0.05"}': growing(9) }),
    ["QuoinSlowDisk"],
  ],
  ["a disk fills", withFirst({ quoin_storage_disk_free_bytes: steady(19e9) }), ["QuoinDiskFilling"]],
  [
    "a disk fills fast",
    withFirst({ quoin_storage_disk_free_bytes: `${45e9}-${1e8}x${MANY_MINUTES}` }),
    ["QuoinDiskFullInADay"],
  ],
  ["a disk is low", withFirst({ 'quoin_storage_disk_space{judgement="low"}': steady(1) }), ["QuoinDiskLow"]],
  ["a disk is full", withFirst({ 'quoin_storage_disk_space{judgement="full"}': steady(1) }), ["QuoinDiskFull"]],
  [
    "a certificate is not renewed",
    withFirst({ 'quoin_certificate_expiry_seconds{shown_to="clients"}': steady(13 * 86_400) }),
    ["QuoinCertificateExpires"],
  ],
  [
    "a store delays writes",
    withFirst({ 'quoin_rocksdb_delayed_write_bytes_per_second{store="state"}': steady(1e6) }),
    ["QuoinStoreStalls"],
  ],
  [
    "a store stops writes",
    withFirst({ 'quoin_rocksdb_write_stopped{store="state"}': steady(1) }),
    ["QuoinStoreStalls"],
  ],
  [
    "an event loop is late",
    withFirst({ 'quoin_event_loop_delay_seconds_bucket{le="0.05"}': growing(9) }),
    ["QuoinEventLoopLate"],
  ],
  [
    "calls fail",
    withFirst({ 'quoin_grpc_requests_total{method="Put",code="UNAVAILABLE"}': growing(20) }),
    ["QuoinCallsFail"],
  ],
  [
    "the first call fails by a bug",
    withFirst({ 'quoin_grpc_requests_total{method="Put",code="INTERNAL"}': "_x32 1x50" }),
    ["QuoinBug"],
  ],
  [
    "another request fails by a bug",
    withFirst({ 'quoin_http_requests_total{route="/v1/keys",status="500"}': "1x32 2x50" }),
    ["QuoinBug"],
  ],
  [
    "a call failed by a bug half an hour ago",
    withFirst({ 'quoin_grpc_requests_total{method="Put",code="INTERNAL"}': "_x5 1x75" }),
    [],
  ],
  ["holds expire", withFirst({ 'quoin_lock_releases_total{reason="expired"}': LATE }), ["QuoinLocksExpire"]],
  ["watches are slow", withFirst({ 'quoin_watch_ended_total{reason="COMPACTED"}': LATE }), ["QuoinWatchesTooSlow"]],
  [
    "a backup cannot be used",
    Object.fromEntries(
      Object.entries(HEALTHY).map(([series, values]) => [
        series,
        series.includes("backup_verified") ? (series.includes("failed") ? growing(60) : growing(59)) : values,
      ]),
    ),
    ["QuoinBackupVerificationFailed"],
  ],
  [
    "no backup succeeds",
    Object.fromEntries(
      Object.entries(HEALTHY).map(([series, values]) => [
        series,
        series.includes("backup_last_success") ? "0+60x5 300x75" : values,
      ]),
    ),
    ["QuoinBackupOverdue"],
  ],
  ["the archive is late", withFirst({ quoin_archive_lag_seconds: steady(61) }), ["QuoinArchiveBehind"]],
  ["the archive has a gap", withFirst({ quoin_archive_chain_broken: steady(1) }), ["QuoinArchiveChainBroken"]],
  ["the archive cannot be written", withFirst({ quoin_archive_failures_total: growing(1) }), ["QuoinArchiveFails"]],

  ["no operator is left", without((series) => series.startsWith("quoin_operator_")), ["QuoinOperatorAbsent"]],
  ["no operator holds the Lease", withOperator({ quoin_operator_is_leader: steady(0) }), ["QuoinOperatorIdle"]],
  [
    "passes fail",
    withOperator({ 'quoin_operator_reconcile_total{result="failed"}': growing(1) }),
    ["QuoinOperatorFails"],
  ],
  [
    "a watch is silent",
    withOperator({ 'quoin_operator_watch_age_seconds{kind="Pod"}': growing(60) }),
    ["QuoinOperatorBlind"],
  ],
  ["the quorum is lost", became("QuorumLost", "True"), ["QuoinQuorumLost"]],
  [
    "a member is not healthy",
    withOperator({ [`quoin_operator_cluster_members{cluster="${CLUSTER}",state="healthy"}`]: steady(2) }),
    ["QuoinClusterIncomplete"],
  ],
  ["a cluster is not ready", became("Ready", "False"), ["QuoinClusterNotReady"]],
  ["the operator reaches no member", became("Ready", "Unknown"), ["QuoinClusterNotReady"]],
  ["a cluster is degraded", became("Degraded", "True"), ["QuoinClusterDegraded"]],
  [
    "a cluster waits",
    withOperator({ [`quoin_operator_cluster_blocked_seconds{cluster="${CLUSTER}",gate="Roll"}`]: growing(60) }),
    ["QuoinClusterBlocked"],
  ],
  [
    "an action fails",
    withOperator({ [`quoin_operator_cluster_failing_seconds{cluster="${CLUSTER}",action="evict"}`]: growing(60) }),
    ["QuoinActionFails"],
  ],
  ["a specification is refused", became("SpecAccepted", "False"), ["QuoinSpecRefused"]],
  ["backups fail", became("BackupHealthy", "False"), ["QuoinBackupsUnhealthy"]],
  ["the archive fails", became("ArchiveHealthy", "False"), ["QuoinBackupsUnhealthy"]],
  [
    "two members are on one node",
    withOperator(
      Object.fromEntries(
        PODS.flatMap((pod, at) => [
          [ofMember("quoin_member_info", pod), steady(1)],
          [`kube_pod_info{namespace="team",pod="${pod}",node="node-${at % 2}"}`, steady(1)],
        ]),
      ),
    ),
    ["QuoinMembersOnOneNode"],
  ],
];

function promtool(this: Mocha.Context, ...args: string[]): { status: number | null; output: string } {
  const { status, error, stdout, stderr } = spawnSync("promtool", args, { encoding: "utf8" });
  if (error !== undefined) {
    console.log("      skipped: promtool not found; on Debian and Ubuntu: apt-get install prometheus");
    this.skip();
  }
  return { status, output: `${stdout}${stderr}` };
}

describe("alerts", function () {
  // Usually seconds of another program: a limit for a busy machine.
  this.timeout(120_000);
  let directory: string;

  before(() => {
    directory = temporaryDirectory();
    const rules = ALERTS.map((alert) => alertRule(alert, PLACE));
    writeFileSync(path.join(directory, "members.yaml"), stringify({ groups: [{ name: "quoin-prod", rules }] }));
    writeFileSync(path.join(directory, "operator.yaml"), OPERATOR_RULES);
  });

  const files = (): string[] => ["members.yaml", "operator.yaml"].map((name) => path.join(directory, name));
  const ofOperator = (): { alert: string; annotations: Record<string, string> }[] =>
    parse(OPERATOR_RULES).groups.flatMap(({ rules }: { rules: object[] }) => rules);

  it("are rules that Prometheus accepts", function () {
    const { status, output } = promtool.call(this, "check", "rules", "--lint=all", "--lint-fatal", ...files());
    expect(status, output).to.equal(0);
  });

  it("have different names, and each has a fault that it tells", () => {
    const names = [...ALERTS.map(({ name }) => name), ...ofOperator().map(({ alert }) => alert)];
    expect(new Set(names).size).to.equal(names.length);
    expect([...new Set(FAULTS.flatMap(([, , firing]) => firing))].sort()).to.deep.equal(names.sort());
  });

  it("link to a section of the manual", () => {
    const links = [
      ...ALERTS.map(({ runbook }) => runbook),
      ...ofOperator().map(({ annotations }) => annotations.runbook_url?.replace("MANUAL/", "").replace(".html", ".md")),
    ];
    for (const link of links) {
      const [page = "", section = ""] = link?.split("#") ?? [];
      const headings = readFileSync(path.join(ROOT, "docs", page), "utf8").match(/^##+ .*$/gm) ?? [];
      const sections = headings.map((heading) => heading.replace(/^#+ /, "").toLowerCase().replaceAll(" ", "-"));
      expect(sections, link).to.include(section);
    }
  });

  it("name the member, the cluster as namespace/name, and where to read on", () => {
    const [alert] = MEMBER_ALERTS.filter(({ name }) => name === "QuoinMemberDown");
    expect(alert && alertRule(alert, PLACE)).to.deep.equal({
      alert: "QuoinMemberDown",
      expr: `up{${LABELS}} == 0`,
      for: "2m",
      labels: { severity: "warning", cluster: CLUSTER },
      annotations: {
        summary: "{{ $labels.pod }} cannot be scraped",
        description: "A cluster of three tolerates the loss of one member, and no second one.",
        runbook_url: "https://docs.example/troubleshooting.html#a-member-does-not-start",
      },
    });
    expect(alert && alertRule(alert, { ...PLACE, manualUrl: "" }).annotations).to.not.have.property("runbook_url");
  });

  it("are silent while all is well, and each fires at its fault", function () {
    const cases = [["all is well", HEALTHY, []] as const, ...FAULTS];
    const file = path.join(directory, "test.yaml");
    const tests = cases.map(([name, series, firing]) => ({
      name,
      interval: "1m",
      input_series: Object.entries(series).map(([each, values]) => ({ series: each, values })),
      promql_expr_test: [
        {
          expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
          eval_time: `${firing.some((alert) => alert === "QuoinDiskFullInADay") ? MANY_MINUTES : MINUTES}m`,
          exp_samples: firing.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 })),
        },
      ],
    }));
    writeFileSync(file, stringify({ rule_files: files(), evaluation_interval: "1m", tests }));
    const { status, output } = promtool.call(this, "test", "rules", file);
    expect(status, output).to.equal(0);
  });
});
