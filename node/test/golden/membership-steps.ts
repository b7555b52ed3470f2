/** The part of the golden log about members, and about what a leader proposes to keep the state small. */

import { identityOf } from "./account-steps.ts";
import type { GoldenLog } from "./golden-log.ts";

/** Longer than answers are kept for retries. */
const REPLAY_WINDOW_MS = 11 * 60_000;

/** The cluster ends as it began, with one voter, and with a slot that no process has claimed. */
export function writeMembership(log: GoldenLog): void {
  const first = log.membership({ kind: "add-slot", name: "member-1" }, identityOf(201));
  log.membership({ kind: "add-slot", name: "member-1" }, identityOf(201));
  log.membership({ kind: "add-slot", name: "member-1" });
  const second = log.membership({ kind: "add-slot", name: "member-2" });
  const address = { peerEndpoint: "127.0.0.2:7402", grpcEndpoint: "127.0.0.2:7400", httpEndpoint: "127.0.0.2:7401" };
  const incarnation = new Uint8Array(16).fill(0x61);
  const claim = { kind: "claim-slot", name: "member-1", incarnation, address } as const;
  log.cluster(claim);
  log.cluster({ ...claim, incarnation: new Uint8Array(16).fill(0x62) });
  log.cluster({ ...claim, name: "member-9" });
  log.cluster({ ...claim, name: "member-2", incarnation: new Uint8Array(16).fill(0x63) });
  const moved = { ...address, peerEndpoint: "127.0.0.3:7402" };
  log.cluster({ kind: "update-member", id: first, incarnation, address: moved });

  const change = { kind: "reconfigure", promote: [], demote: [], remove: [] } as const;
  log.membership({ ...change, promote: [99] });
  log.membership({ ...change, promote: [first] }, null, 1);
  // More than one voter changes, so the configuration is joint until an entry ends that.
  log.membership({ ...change, promote: [first, second] });
  log.membership({ kind: "add-slot", name: "member-3" });
  log.leave();
  log.lead();
  log.membership({ ...change, demote: [second], remove: [first] }, identityOf(202));
  log.leave();
  log.membership({ ...change, remove: [second] });
  log.membership({ ...change, remove: [1] });
  log.membership({ kind: "add-slot", name: "member-3" });
}

export function writeMaintenance(log: GoldenLog): void {
  const { index, digest, revision } = log;
  log.cluster({ kind: "check-digest", index, digest });
  log.cluster({ kind: "tick" });
  log.cluster({ kind: "set-cluster-version", version: 3 });
  for (const version of [4, 5, 6]) {
    log.cluster({ kind: "set-cluster-version", version });
  }
  const compact = { kind: "compact-history", subject: "administrator" } as const;
  log.cluster({ ...compact, revision: revision - 12, request: identityOf(203) });
  log.cluster({ ...compact, revision: revision - 12, request: identityOf(203) });
  log.cluster({ ...compact, revision: revision + 1, request: null });
  // Some rows stay, to be dropped later.
  log.cluster({ kind: "trim-history", countMax: 3 });
  log.pass(REPLAY_WINDOW_MS);
  log.cluster({ kind: "drop-replays" });
}
