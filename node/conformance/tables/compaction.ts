/** Watches before the start of the history. To test it, the history of all clients has to be dropped. */

import { expect } from "chai";
import { compact, NotApplicable, type Place, putKey, type Table, watchKeys, watchLocks } from "../harness/index.ts";

/** Drops the history before now, and returns the first revision that is kept. */
async function compacted(place: Place): Promise<bigint> {
  if (!place.visit.target.mayCompact) {
    throw new NotApplicable("the history of the cluster is not to be given up (--compact)");
  }
  const key = { namespace: place.namespace, key: place.name() };
  await place.ask(putKey, key);
  const { modRevision } = await place.ask(putKey, key);
  const { compactRevision } = await place.ask(compact, { revision: modRevision });
  expect(compactRevision).to.equal(modRevision);
  return modRevision;
}

export const compaction: Table = {
  name: "Watches of a history that was given up",
  alone: true,
  entries: {
    "are refused below it, and get the first possible revision": async (place) => {
      const kept = await compacted(place);
      const { namespace, prefix } = place;
      for (const startRevision of [1n, kept - 1n]) {
        const keys = await place.refuses(watchKeys, { namespace, prefix, startRevision }, "COMPACTED");
        const locks = await place.refuses(watchLocks, { namespace, namePrefix: prefix, startRevision }, "COMPACTED");
        const told = [keys, locks].map(({ details }) => details?.metadata.get("compact_revision"));
        expect(told).to.deep.equal([String(kept), String(kept)]);
      }
    },
    "begin at the first revision that is kept": async (place) => {
      const kept = await compacted(place);
      const { namespace, prefix } = place;
      const watch = place.here.stream(watchKeys, { namespace, prefix, startRevision: kept });
      try {
        const event = await watch.until("the first event", (messages) => messages.flatMap(({ events }) => events)[0]);
        expect(event.kv?.modRevision).to.equal(kept);
      } finally {
        watch.cancel();
      }
    },
  },
};
