/** Conditions that a cluster must meet some time after the last fault has ended. */

import type { ClusterUnderTest } from "../../test/harness/index.ts";
import type { Loads } from "./loads.ts";
import { revive } from "./recovery.ts";

const NAMESPACE = "default";
const CALL_TIMEOUT_MS = 30_000;

/**
 * Waits until every member serves, ends the loads, and checks these conditions: keys with a time to live and
 * sessions are gone, locks are free, every other key, region, event log and account is readable, watchers have received all changes, each member
 * takes a write and reads it back, there is one leader, all members have the same state, and no member raises an alarm.
 *
 * @returns descriptions of the conditions that are not met
 */
export async function converge(
  cluster: ClusterUnderTest,
  { keys, lifetimes, counters, locks, regions, appends, transfers, sessions, watches, lockWatches }: Loads,
): Promise<readonly string[]> {
  const steps: readonly (() => Promise<readonly string[]>)[] = [
    async () => {
      await Promise.all(cluster.members.map((member) => revive(cluster, member)));
      return [];
    },
    ...[lifetimes, locks, sessions].map((load) => async () => {
      await load.stop();
      return [];
    }),
    // The other loads continue meanwhile: their acknowledgements show when there was a leader.
    async () => {
      await lifetimes.untilAllGone();
      return [];
    },
    async () => {
      await locks.untilAllFree();
      return [];
    },
    async () => {
      await sessions.untilAllGone();
      return [];
    },
    ...[keys, counters, regions, appends, transfers].map((load) => async () => {
      await load.stop();
      return [];
    }),
    ...[keys, counters, regions, appends, transfers].map((load) => async () => {
      await load.readAll();
      return [];
    }),
    ...[watches, lockWatches].map((load) => async () => {
      await load.stopAt(await presentRevision(cluster));
      return [];
    }),
    () => writeThroughEach(cluster),
    () => compareAll(cluster),
  ];
  const untrue: string[] = [];
  for (const step of steps) {
    try {
      untrue.push(...(await step()));
    } catch (error) {
      // Every failure is a finding. The other steps may show more about it.
      untrue.push(`after the last fault: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return untrue;
}

/** The current revision, from a write made for this purpose. */
async function presentRevision(cluster: ClusterUnderTest): Promise<number> {
  const timeoutMs = CALL_TIMEOUT_MS;
  const { revision } = await cluster.client().keyValue.put(NAMESPACE, "written-last", "", { timeoutMs });
  return revision;
}

async function writeThroughEach(cluster: ClusterUnderTest): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const { name, grpc } of cluster.members) {
    const client = cluster.client([grpc]);
    const key = `written-through-${name}`;
    await client.keyValue.put(NAMESPACE, key, name, { timeoutMs: CALL_TIMEOUT_MS });
    const { value } = await client.keyValue.get(NAMESPACE, key, { timeoutMs: CALL_TIMEOUT_MS });
    if (Buffer.from(value).toString() !== name) {
      wrong.push(`${name} reads ${JSON.stringify(Buffer.from(value).toString())} where it has written ${name}`);
    }
  }
  return wrong;
}

async function compareAll(cluster: ClusterUnderTest): Promise<readonly string[]> {
  await cluster.untilStable();
  const statuses = await Promise.all(cluster.members.map((member) => member.status()));
  const states = statuses.map((status) => `${status?.name} ${status?.stateHash} at ${status?.stateHashIndex}`);
  const wrong: string[] = [];
  if (new Set(statuses.map((status) => `${status?.stateHash} ${status?.stateHashIndex}`)).size !== 1) {
    wrong.push(`states differ after the last fault: ${states.join(", ")}`);
  }
  if (statuses.filter((status) => status?.role === "LEADER").length !== 1) {
    wrong.push(`there must be one leader, but ${statuses.filter((status) => status?.role === "LEADER").length} lead`);
  }
  for (const status of statuses) {
    wrong.push(...(status?.alarms ?? []).map((alarm) => `${status?.name} still raises: ${alarm}`));
  }
  return wrong;
}
