/** Phase and conditions express one verdict: for every observation, they never contradict each other. */
import { expect } from "chai";
import fc from "fast-check";
import { NOW, Scene } from "../../test/index.ts";
import { type ClusterStatus, type Failure, outcomeOf, type Plan, plan } from "../plan/index.ts";
import { type Surroundings, statusOf, statusOfFailedReconcile } from "./index.ts";

const RUNS = 20_000;
const MINUTE_MS = 60_000;
const PROBLEM = { reason: "Soon", message: "soon" };
const TIMES = fc.constantFrom(0, MINUTE_MS - 1, MINUTE_MS, 20 * MINUTE_MS);
const FAILED_PASS = {
  gate: "Observe",
  reason: "PassFailed",
  action: "observe",
  target: "demo",
  message: "no",
} as const;
/**
 * Rules about the present observation. A pass that could not observe the cluster repeats the conditions of the previous
 * one.
 */
const OF_FACTS: ReadonlySet<string> = new Set([
  "a lost quorum is neither available nor ready, and degraded",
  "without a leader the phase says so, or that one is on its way",
  "what has not been looked at is neither ready nor unready",
]);
/** Phases in which the operator makes progress. */
const ACTIVE = ["Starting", "Scaling", "Updating", "Repairing"];

/** What a spec does to one member. */
const SPOILS: Record<string, (scene: Scene, ordinal: number, forMs: number) => unknown> = {
  nothing: () => null,
  away: (scene, at, forMs) => scene.silent(at).pod(at, { unreadySince: NOW - forMs }),
  unanswering: (scene, at) => scene.reports.delete(at),
  notReady: (scene, at, forMs) => scene.pod(at, { readySince: null, unreadySince: NOW - forMs }),
  gone: (scene, at) => scene.gone(at),
  noSlot: (scene, at) => scene.noSlot(at),
  learner: (scene, at) => scene.slot(at, { voter: false }),
  behind: (scene, at) => scene.slot(at, { lagMs: 5_000 }),
  outdated: (scene, at) => scene.outdated(at),
  terminating: (scene, at) => scene.pod(at, { terminating: true }),
  unscheduled: (scene, at) => scene.pod(at, { scheduled: false, runningSince: null, readySince: null }),
  empty: (scene, at) => scene.emptyMember(at),
  lost: (scene, at) => scene.emptyMember(at, "MEMBER_DATA_LOST"),
  damaged: (scene, at) => scene.report(at, { state: "MEMBER_DAMAGED" }),
  refused: (scene, at) => scene.report(at, { state: "MEMBER_REFUSED" }),
  foreign: (scene, at) => scene.report(at, { state: "WRONG_CLUSTER" }),
  notStarted: (scene, at) => scene.pod(at, { started: false }),
  stuck: (scene, at, forMs) =>
    scene.pod(at, { stuck: true, failedExit: { reason: "Error", exitCode: 1, at: NOW - forMs } }),
  outOfMemory: (scene, at, forMs) =>
    scene.pod(at, { failedExit: { reason: "OOMKilled", exitCode: 137, at: NOW - forMs } }),
  small: (scene, at) => scene.claim(at, { capacity: 1 }),
  fixed: (scene, at) => scene.claim(at, { capacity: 1, expandable: false }),
  notCreated: (scene, at) => scene.gone(at).obstacle(at, "PodNotCreated", "no"),
};

/** Mostly the facts of a healthy cluster, so that many situations have one problem, and some have several. */
function mostly<Value>(usual: Value, unusual: fc.Arbitrary<Value>): fc.Arbitrary<Value> {
  return fc.oneof({ weight: 7, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: unusual });
}

const spoil = fc.record({ what: fc.constantFrom(...Object.keys(SPOILS)), at: fc.nat(4), forMs: TIMES });
const situation = fc.record({
  wanted: fc.constantFrom(1 as const, 3 as const),
  surplus: mostly(0, fc.constantFrom(-9, -2, 1, 2)),
  spoils: fc.array(spoil, { maxLength: 3 }),
  leaderlessFor: mostly<number | null>(null, TIMES),
  hasIdentity: mostly(true, fc.constant(false)),
  set: mostly("caught up", fc.constantFrom("behind", "overwritten", "gone")),
  sparePods: mostly(0, fc.constant(1)),
  leftClaim: mostly(false, fc.constant(true)),
  drifts: mostly(false, fc.constant(true)),
  refusal: mostly<string | null>(null, fc.constantFrom("tended", "untended")),
  isPaused: mostly(false, fc.constant(true)),
  isDeleted: mostly(false, fc.constant(true)),
  isManual: fc.boolean(),
  tls: mostly(false, fc.constant(true)),
  monitoring: mostly(false, fc.constant(true)),
  failure: mostly<{ reason: string; forMs: number } | null>(
    null,
    fc.record({ reason: fc.constantFrom("StepFailed", "UpkeepFailed"), forMs: TIMES }),
  ),
  heldFor: TIMES,
});

type Situation = typeof situation extends fc.Arbitrary<infer Value> ? Value : never;

interface Shown {
  readonly status: ClusterStatus;
  readonly plan: Plan;
}

function sceneOf(given: Situation): Scene {
  const voters = Math.max(0, given.wanted + given.surplus);
  const scene = voters === 0 ? Scene.beginning(given.wanted) : new Scene(given.wanted, voters);
  const mode = given.isManual ? "Manual" : "Automatic";
  scene.spec({ update: { mode, soakSeconds: 5, startupBudgetSeconds: 600 } });
  for (const { what, at, forMs } of given.spoils) {
    SPOILS[what]?.(scene, at % Math.max(1, voters), forMs);
  }
  if (given.leaderlessFor !== null) {
    scene.leaderless(given.leaderlessFor);
  }
  scene.identity = given.hasIdentity ? scene.identity : null;
  scene.set = given.set === "gone" ? null : scene.set;
  scene.set = scene.set && {
    ...scene.set,
    caughtUp: given.set !== "behind",
    isOverwritten: given.set === "overwritten",
    replicas: scene.set.replicas + given.sparePods,
  };
  if (given.leftClaim) {
    scene.claim(6);
  }
  const refusal = { reason: "OverlayRejected", message: "no", keepsReconciling: given.refusal === "tended" } as const;
  scene.rest = {
    ...scene.rest,
    ...(given.refusal === null ? {} : { refusal }),
    ...(given.drifts ? { drift: [{ kind: "StatefulSet", name: "demo" }] } : {}),
  };
  scene.cluster = {
    ...scene.cluster,
    metadata: {
      ...scene.cluster.metadata,
      ...(given.isPaused ? { annotations: { "quoin.dev/paused": "true" } } : {}),
      ...(given.isDeleted ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {}),
    },
  };
  return scene;
}

/** The second of two passes with the same observation: the first gives the times. */
function show(given: Situation): Shown {
  const scene = sceneOf(given);
  const failures: Failure[] =
    given.failure === null
      ? []
      : [
          {
            reason: given.failure.reason,
            since: NOW - given.failure.forMs,
            gate: "Upkeep",
            target: "demo",
            message: "no",
            action: "apply",
          } as Failure,
        ];
  const surroundings: Surroundings = {
    tlsProblem: given.tls ? PROBLEM : null,
    monitoringProblem: given.monitoring ? PROBLEM : null,
    ownerProblem: null,
    backup: null,
    tls: null,
    failures,
  };
  const first = scene.observe();
  const before = statusOf(first, outcomeOf(plan(first), null, failures), surroundings);
  const since = new Date(NOW - given.heldFor).toISOString();
  scene.cluster = {
    ...scene.cluster,
    status: {
      ...before,
      ...(before.blocked === undefined ? {} : { blocked: { ...before.blocked, since } }),
      conditions: (before.conditions ?? []).map((each) => ({ ...each, lastTransitionTime: since })),
    },
  };
  const observed = scene.observe();
  const planned = outcomeOf(plan(observed), null, failures);
  return { status: statusOf(observed, planned, surroundings), plan: planned };
}

function conditionOf({ conditions = [] }: ClusterStatus, type: string): string {
  return conditions.find((each) => each.type === type)?.status ?? "absent";
}

/** Invariants of a status, by name. */
const RULES: Record<string, (status: ClusterStatus, is: (type: string) => string) => boolean> = {
  "the phase Ready means that nothing is wrong": ({ phase }, is) =>
    phase !== "Ready" ||
    [is("Ready"), is("Available"), is("SpecAccepted"), is("ReconcileSucceeded")].every((each) => each === "True"),
  "the phase Ready means that nothing is degraded, lost or paused": ({ phase }, is) =>
    phase !== "Ready" || [is("Degraded"), is("QuorumLost"), is("ReconcilePaused")].every((each) => each === "False"),
  "what is Ready has all that this promises": (_, is) =>
    is("Ready") !== "True" ||
    ["Available", "AllMembersReady", "AllMembersUpdated", "VolumesReady", "TLSReady", "ReconcileSucceeded"].every(
      (type) => is(type) === "True",
    ),
  "what is Ready is in a phase that says so, or that says why one looks at it all the same": ({ phase = "" }, is) =>
    is("Ready") !== "True" || ["Ready", "Degraded", "Paused", "Deleting"].includes(phase),
  "the phase QuorumLost is the condition": ({ phase }, is) =>
    phase === "Deleting" || (phase === "QuorumLost") === (is("QuorumLost") === "True"),
  "a lost quorum is neither available nor ready, and degraded": (_, is) =>
    is("QuorumLost") !== "True" ||
    (is("Available") === "False" && is("Ready") === "False" && is("Degraded") === "True"),
  "the phase Unavailable means that no leader is there": ({ phase }, is) =>
    phase !== "Unavailable" || is("Available") === "False",
  "without a leader the phase says so, or that one is on its way": ({ phase = "" }, is) =>
    is("Available") !== "False" || !["Ready", "Degraded", "Scaling", "Updating", "Unknown"].includes(phase),
  "the phase Unknown means that something is unknown": ({ phase }, is) =>
    phase !== "Unknown" || is("Ready") === "Unknown",
  "what is unknown is called so in both": ({ phase = "" }, is) =>
    is("Ready") !== "Unknown" || ["Unknown", "QuorumLost", "Paused", "Refused", "Deleting"].includes(phase),
  "what has not been looked at is neither ready nor unready": (_, is) =>
    is("Available") !== "Unknown" || is("Ready") === "Unknown",
  "the phase Degraded is that of a cluster that serves, and is degraded or not ready": ({ phase }, is) =>
    phase !== "Degraded" || (is("Available") === "True" && (is("Degraded") === "True" || is("Ready") === "False")),
  "the phase Refused is the condition": ({ phase }, is) => phase !== "Refused" || is("SpecAccepted") === "False",
  "the phase Paused is the condition": ({ phase }, is) => phase !== "Paused" || is("ReconcilePaused") === "True",
  "a phase of work means that there is some, and that the cluster is not ready": ({ phase = "" }, is) =>
    !ACTIVE.includes(phase) || (is("Progressing") === "True" && is("Ready") === "False"),
  "what is blocked is progressing, and waits": ({ blocked }, is) =>
    blocked === undefined || is("Progressing") === "True",
  "nothing is called settled that a person must still solve": ({ conditions = [] }, is) =>
    !conditions.some(({ reason }) => reason === "Settled") ||
    (["ReconcileSucceeded", "SpecAccepted"].every((type) => is(type) === "True") && is("ReconcilePaused") === "False"),
  "a leader is named only where one has confirmed its quorum": ({ leader }, is) =>
    leader === undefined || is("Available") === "True",
};

describe("phase and conditions", function () {
  this.timeout(120_000);
  let situations: readonly Situation[];
  let shown: readonly Shown[];
  let failed: readonly ClusterStatus[];

  before(() => {
    situations = fc.sample(situation, RUNS);
    shown = situations.map(show);
    failed = situations.map((given, at) => {
      const { cluster } = sceneOf(given);
      const known = at % 10 === 0 ? cluster : { ...cluster, status: shown[at]?.status ?? {} };
      return statusOfFailedReconcile(known, { ...FAILED_PASS, since: NOW - given.heldFor }, NOW);
    });
  });

  function expectNone(
    statuses: readonly ClusterStatus[],
    isWrong: (status: ClusterStatus, at: number) => boolean,
  ): void {
    const at = statuses.findIndex(isWrong);
    const [status, given] = [statuses[at], situations[at]];
    expect(at, status === undefined ? "" : `${textOf(status)}\n${JSON.stringify(given)}`).to.equal(-1);
  }

  for (const [rule, holds] of Object.entries(RULES)) {
    it(`agree: ${rule}`, () => {
      const isWrong = (status: ClusterStatus): boolean => !holds(status, (type) => conditionOf(status, type));
      expectNone(
        shown.map(({ status }) => status),
        isWrong,
      );
      if (!OF_FACTS.has(rule)) {
        expectNone(failed, isWrong);
      }
    });
  }

  it("agree: where a degraded cluster only waits, no phase says that something is done", () => {
    expectNone(
      shown.map(({ status }) => status),
      (status, at) =>
        ACTIVE.includes(status.phase ?? "") &&
        shown[at]?.plan.step === null &&
        conditionOf(status, "Degraded") === "True",
    );
  });

  it("are tried in every phase", () => {
    const phases = new Set([...shown.map(({ status }) => status), ...failed].map(({ phase }) => phase));
    expect([...phases]).to.have.members([
      ...["Ready", "Degraded", "Unavailable", "QuorumLost", "Unknown", "Paused", "Refused", "Deleting"],
      ...ACTIVE,
    ]);
  });
});

function textOf({ phase, blocked, conditions = [] }: ClusterStatus): string {
  const found = conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`);
  return `${phase}, ${found.join(", ")}, blocked by ${blocked?.gate} ${blocked?.reason}`;
}
