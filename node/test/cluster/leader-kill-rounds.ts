/** Rounds in which the leader of a cluster is killed under load and started again. */

import type { ClusterUnderTest, ConcurrentLoad } from "../harness/index.ts";

/** Acknowledged writes before and after each kill. */
const WRITES = 100;

/**
 * Kills the leader this many times. Returns for each kill the longest time without an acknowledged write, in
 * milliseconds, from the kill until writes went on. Each round begins with all members ready.
 */
export async function killLeaders(
  cluster: ClusterUnderTest,
  load: ConcurrentLoad,
  rounds: number,
  onRound: (round: number, gapMs: number) => void = () => undefined,
): Promise<number[]> {
  const gapsMs: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    await cluster.untilReady();
    load.renewKeys();
    await load.untilAcknowledged(WRITES);
    const leader = await cluster.leader();
    const killedMs = performance.now();
    await leader.kill();
    await load.untilAcknowledged(WRITES);
    const { writeGapMs } = load.statistics(killedMs, performance.now());
    leader.start();
    gapsMs.push(writeGapMs);
    onRound(round, writeGapMs);
  }
  await cluster.untilReady();
  return gapsMs;
}
