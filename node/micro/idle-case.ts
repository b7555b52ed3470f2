/**
 * What a member does when there is nothing to do: one tick of the driver with the turns that follow from it, of a
 * leader and two followers whose connections and stores are in memory. One operation is one tick of one member.
 */

import { ReplicaCluster } from "../test/harness/index.ts";
import type { MicroCase } from "./measurement.ts";

const TICK_MS = 50;
const MEMBERS = 3;
const SHORT_ROUND_OPERATIONS = 60;

export function idleCase(): MicroCase {
  const cluster = ReplicaCluster.ledBy(1);
  return {
    name: "a tick with nothing to do",
    roundMultiple: SHORT_ROUND_OPERATIONS,
    shortRoundOperations: SHORT_ROUND_OPERATIONS,
    prepare: (count) => () => {
      for (let at = 0; at < count / MEMBERS; at++) {
        cluster.time.advance(TICK_MS);
      }
      cluster.network.frames.length = 0;
    },
  };
}
