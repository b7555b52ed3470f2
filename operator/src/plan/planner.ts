/**
 * The planner: from an observation to the next single step, or to the hold that stops it.
 *
 * Pure and total. The first rule with a step wins. A rule with a hold stops all rules after it, except holds that
 * concern one member only: a volume that a person must give up does not block the other members.
 */
import { Facts, Membership } from "./facts.ts";
import { recycleFormer } from "./former-volumes.ts";
import { adopt, foundCluster } from "./founding-rules.ts";
import { freeze } from "./freeze-rule.ts";
import { addSlot, awaitLearner, cancelSlot, promote, replaceLost, scaleDown } from "./member-rules.ts";
import type { Observed } from "./observed.ts";
import { withObstacle } from "./obstacles.ts";
import type { Blocker, Plan, Step } from "./plan.ts";
import { recreateBroken, resizeRestart, roll } from "./pod-rules.ts";
import { finishRecovery, recoverQuorum } from "./recovery-rules.ts";
import { growSet, shrinkSet } from "./set-rules.ts";
import { changeStorageClass } from "./storage-class-rule.ts";
import { blockerOfTemplate, upkeepOf } from "./upkeep.ts";
import { dropClaim, recycleVolume } from "./volume-rules.ts";

const BLOCKED_REQUEUE_MS = 2_000;
const IDLE_REQUEUE_MS = 10_000;
const PAUSED = "quoin.dev/paused";
const NOTHING: Plan = { upkeep: [], step: null, blocker: null, requeueMs: IDLE_REQUEUE_MS };

type Outcome = Step | Blocker | null;

/** Rules that need no leader, in order. */
const LEADERLESS: readonly ((facts: Facts) => Outcome)[] = [
  ...[changeStorageClass, recoverQuorum, adopt, recreateBroken],
  ...[foundCluster, growSet, freeze],
];
/** Rules about members that a quorum has just confirmed, in order. `stops`: whether a hold stops the rules after it. */
const CONFIRMED: readonly { readonly rule: (membership: Membership) => Outcome; readonly stops: boolean }[] = [
  { rule: finishRecovery, stops: true },
  { rule: cancelSlot, stops: true },
  { rule: replaceLost, stops: false },
  { rule: recycleVolume, stops: false },
  { rule: recycleFormer, stops: false },
  { rule: shrinkSet, stops: true },
  { rule: dropClaim, stops: true },
  { rule: promote, stops: true },
  { rule: addSlot, stops: false },
  { rule: scaleDown, stops: true },
  { rule: awaitLearner, stops: true },
  { rule: roll, stops: true },
  { rule: resizeRestart, stops: true },
];

export function plan(observed: Observed): Plan {
  const { cluster, refusal } = observed;
  if (cluster.metadata.deletionTimestamp !== undefined || cluster.metadata.annotations?.[PAUSED] === "true") {
    return NOTHING;
  }
  const facts = new Facts(observed);
  if (refusal !== null && !refusal.keepsReconciling) {
    return planOf([], recreateBroken(facts), null);
  }
  const { step, blocker } = nextStep(facts);
  return planOf(upkeepOf(facts), step, withObstacle(facts, blocker ?? blockerOfTemplate(facts)));
}

function planOf(upkeep: Plan["upkeep"], step: Step | null, blocker: Blocker | null): Plan {
  const requeueMs = step !== null ? 0 : blocker !== null ? BLOCKED_REQUEUE_MS : IDLE_REQUEUE_MS;
  return { upkeep, step, blocker, requeueMs };
}

function nextStep(facts: Facts): { step: Step | null; blocker: Blocker | null } {
  for (const rule of LEADERLESS) {
    const outcome = rule(facts);
    if (outcome !== null) {
      return resultOf(outcome);
    }
  }
  const { configuration } = facts.observed;
  return configuration === null
    ? { step: null, blocker: null }
    : nextConfirmedStep(new Membership(facts, configuration));
}

function nextConfirmedStep(membership: Membership): { step: Step | null; blocker: Blocker | null } {
  let passed: Blocker | null = null;
  for (const { rule, stops } of CONFIRMED) {
    const outcome = rule(membership);
    if (outcome !== null && isStep(outcome)) {
      return { step: outcome, blocker: passed };
    }
    passed ??= outcome;
    if (outcome !== null && stops) {
      break;
    }
  }
  return { step: null, blocker: passed };
}

function resultOf(outcome: Step | Blocker): { step: Step | null; blocker: Blocker | null } {
  return isStep(outcome) ? { step: outcome, blocker: null } : { step: null, blocker: outcome };
}

function isStep(outcome: Step | Blocker): outcome is Step {
  return "action" in outcome;
}
