/** Bugs in a member's reports about itself: its readiness, its log and its metrics. */

import type { Mutant } from "./mutant.ts";

export const TELEMETRY_MUTANTS: readonly Mutant[] = [
  {
    name: "ready-without-a-vote",
    pitfall: "S35",
    file: "replica/driver/replica-report.ts",
    find: '      voter: isVoter ? null : "this member has no vote",',
    replace: "      voter: null,",
  },
  {
    name: "ready-while-a-snapshot-comes",
    pitfall: "S35",
    file: "replica/driver/replica-report.ts",
    find: 'snapshots.isCatchingUp ? "this member is being caught up by a snapshot" : behind,',
    replace: "behind,",
  },
  {
    name: "ready-with-an-unfit-disk",
    pitfall: "P45",
    file: "replica/driver/replica-report.ts",
    find: '      disk: eligibility.mayServe ? null : eligibility.alarms.join("; "),',
    replace: "      disk: null,",
  },
  {
    name: "ready-long-after-the-leader-was-heard",
    pitfall: "S35",
    file: "replica/driver/freshness.ts",
    find: "    if (contactAgeMs > LAG_MS_MAX) {",
    replace: "    if (contactAgeMs > 100 * LAG_MS_MAX) {",
  },
  {
    name: "ready-before-the-first-commit-of-the-term",
    pitfall: "S35",
    file: "replica/driver/freshness.ts",
    find: "    return isLeader && !hasCommittedInTerm ?",
    replace: "    return isLeader && !hasCommittedInTerm && leader === 0 ?",
  },
  {
    name: "ready-before-it-has-caught-up",
    pitfall: "S35",
    file: "replica/driver/freshness.ts",
    find: "(this.#catchUpIndex === null || appliedIndex < this.#catchUpIndex)",
    replace: "this.#catchUpIndex === null",
  },
  {
    name: "ready-far-behind",
    pitfall: "S35",
    file: "replica/driver/freshness.ts",
    find: "    return lagMs > LAG_MS_MAX ?",
    replace: "    return lagMs > 100 * LAG_MS_MAX ?",
  },
  {
    name: "ready-while-it-stops",
    pitfall: "S47",
    file: "process/member-health.ts",
    find: 'isStopping() ? "the member is stopping" : null',
    replace: "null",
  },
  {
    name: "ready-only-for-the-first-reason",
    pitfall: "S47",
    file: "api/http/server/health.ts",
    find: "  const failed = checks.filter((check) => !check.ok);",
    replace: "  const failed = checks.slice(0, 1).filter((check) => !check.ok);",
  },
  {
    name: "request-id-logged-unseen",
    pitfall: "S42",
    file: "api/calls/metadata-contract.ts",
    find: "value !== undefined && UUID.test(value) ? value.toLowerCase() : null",
    replace: "value !== undefined ? value.toLowerCase() : null",
  },
];
