/**
 * Brings members back into service, and changes the membership, while other faults continue. Like an operator, it
 * checks and retries refused and unknown steps until the goal is reached or the time is over.
 */

import { type AdminClient, type MemberSlot, QuoinError } from "@quoin/client";
import { type ClusterMember, type ClusterUnderTest, until } from "../../test/harness/index.ts";

/** Much longer than any step here takes between two network faults, in milliseconds. */
const LIMIT_MS = 180_000;
const CALL_TIMEOUT_MS = 5_000;
/** A member reports damage while it heals. A member that does so for longer will never serve. */
const DAMAGED_MS_MAX = 20_000;
/** Number of failed starts on the same data before the data is given up. */
const STARTS_MAX = 3;
const LOST_STATES: ReadonlySet<string> = new Set(["MEMBER_DATA_LOST", "MEMBER_REFUSED", "MEMBER_REMOVED"]);

/** The member that says that it leads, with the highest term; null if none does. */
export async function presentLeader(cluster: ClusterUnderTest): Promise<ClusterMember | null> {
  let leader: { readonly member: ClusterMember; readonly term: number } | null = null;
  const answers = await Promise.all(cluster.members.map(async (member) => ({ member, status: await member.status() })));
  for (const { member, status } of answers) {
    if (status?.role === "LEADER" && status.term > (leader?.term ?? 0)) {
      leader = { member, term: status.term };
    }
  }
  return leader?.member ?? null;
}

/**
 * Waits until a member serves without an alarm. Starts it if it does not run. If its data cannot be used, removes the
 * member and adds it again without data.
 *
 * @returns a description of the steps
 */
export async function revive(cluster: ClusterUnderTest, member: ClusterMember): Promise<string> {
  let starts = 0;
  let damagedSinceMs: number | null = null;
  let last = "";
  let verdict: "serves" | "lost";
  try {
    verdict = await until(
      `${member.name} to serve again`,
      async () => {
        if (!member.isAlive) {
          if (starts++ === STARTS_MAX) {
            return "lost";
          }
          member.start();
        }
        const status = await member.status();
        last = JSON.stringify(status);
        if (status === null) {
          return null;
        }
        damagedSinceMs = status.state === "MEMBER_DAMAGED" ? (damagedSinceMs ?? performance.now()) : null;
        const isDamaged = damagedSinceMs !== null && performance.now() - damagedSinceMs > DAMAGED_MS_MAX;
        if (LOST_STATES.has(status.state) || isDamaged) {
          last = status.state;
          return "lost";
        }
        const isFine = status.state === "RUNNING" && status.alarms.length === 0 && (await member.isReady());
        return isFine ? "serves" : null;
      },
      LIMIT_MS,
    );
  } catch (error) {
    throw new Error(`${member.name} did not serve again, its last answer was ${last}`, { cause: error });
  }
  if (verdict === "serves") {
    return starts > 1 ? `served again after ${starts} starts` : "served again";
  }
  await replace(cluster, member);
  return `was replaced, being ${last === "null" ? "unable to run" : last}`;
}

/** Removes the member from the cluster, and adds one with the same name and without data. */
export async function replace(cluster: ClusterUnderTest, member: ClusterMember): Promise<void> {
  await member.kill();
  member.wipe();
  await untilAbsent(cluster, member.name);
  await untilVoter(cluster, member.name);
}

/** Removes the slot of this name, and waits until it is gone. */
export async function untilAbsent(cluster: ClusterUnderTest, name: string): Promise<void> {
  await persist(cluster, `${name} to be removed`, name, async (admin, slot, leaderId) => {
    if (slot === undefined) {
      return true;
    }
    if (slot.id === leaderId) {
      await admin.transferLeadership({ timeoutMs: CALL_TIMEOUT_MS });
    } else {
      await admin.removeMembers([slot.id], { timeoutMs: CALL_TIMEOUT_MS });
    }
    return false;
  });
}

/** Adds the slot of this name, starts its process, and promotes it. Waits until it votes and its member serves. */
export async function untilVoter(cluster: ClusterUnderTest, name: string): Promise<void> {
  await persist(cluster, `${name} to vote`, name, async (admin, slot) => {
    if (slot === undefined) {
      await admin.addMember(name, { timeoutMs: CALL_TIMEOUT_MS });
      return false;
    }
    const member = await cluster.prepare(name);
    if (!member.isAlive) {
      member.start();
    }
    if (slot.voter) {
      return member.isReady();
    }
    await admin.promoteMembers([slot.id], { timeoutMs: CALL_TIMEOUT_MS });
    return false;
  });
}

/** Transfers the leadership to this member. Returns the id of the leader. */
export async function transferTo(cluster: ClusterUnderTest, name: string): Promise<string> {
  let ledBy = "";
  await persist(cluster, `${name} to lead`, name, async (admin, slot, leaderId) => {
    if (slot === undefined) {
      throw new Error(`there is no slot ${name}`);
    }
    ledBy = leaderId;
    if (slot.id === leaderId) {
      return true;
    }
    const result = await admin.transferLeadership({ targetId: slot.id, timeoutMs: CALL_TIMEOUT_MS });
    ledBy = result.leaderId;
    return ledBy === slot.id;
  });
  return ledBy;
}

/** Repeats a step at the current leader, with the current membership, until the goal is reached. */
async function persist(
  cluster: ClusterUnderTest,
  goal: string,
  name: string,
  step: (admin: AdminClient, slot: MemberSlot | undefined, leaderId: string) => Promise<boolean>,
): Promise<void> {
  let last = "there is no leader";
  try {
    await until(
      goal,
      async () => {
        const leader = await presentLeader(cluster);
        if (leader === null) {
          return false;
        }
        try {
          const membership = await leader.admin.listMembers({ timeoutMs: CALL_TIMEOUT_MS });
          const slot = membership.members.find((candidate) => candidate.name === name);
          return await step(leader.admin, slot, membership.leaderId);
        } catch (error) {
          if (!(error instanceof QuoinError)) {
            throw error;
          }
          last = `${error.code} ${error.reason}: ${error.message}`;
          return false;
        }
      },
      LIMIT_MS,
    );
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`${why}; the last refusal was: ${last}`, { cause: error });
  }
}
