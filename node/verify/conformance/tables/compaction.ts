/** Watches before the start of the history. To test it, the history of all clients has to be dropped. */

import { expect } from "chai";
import {
  compact,
  follow,
  NotApplicable,
  putKey,
  type Table,
  type TestContext,
  watchKeys,
  watchLocks,
} from "../harness/index.ts";

/** Drops the history before now, and returns the first revision that is kept. */
async function compacted(context: TestContext): Promise<bigint> {
  if (!context.testRun.target.mayCompact) {
    throw new NotApplicable("the history of the cluster is not to be given up (--compact)");
  }
  const key = { namespace: context.namespace, key: context.name() };
  await context.ask(putKey, key);
  const { modRevision } = await context.ask(putKey, key);
  const { compactRevision } = await context.ask(compact, { revision: modRevision });
  expect(compactRevision).to.equal(modRevision);
  return modRevision;
}

export const compaction: Table = {
  name: "Watches of a history that was given up",
  alone: true,
  entries: {
    "are refused below it, and get the first possible revision": async (context) => {
      const kept = await compacted(context);
      const { namespace, prefix } = context;
      for (const startRevision of [1n, kept - 1n]) {
        const keys = await context.refuses(watchKeys, { namespace, prefix, startRevision }, "COMPACTED");
        const locks = await context.refuses(watchLocks, { namespace, namePrefix: prefix, startRevision }, "COMPACTED");
        const told = [keys, locks].map(({ details }) => details?.metadata.get("compact_revision"));
        expect(told).to.deep.equal([String(kept), String(kept)]);
      }
    },
    "begin at the first revision that is kept": async (context) => {
      const kept = await compacted(context);
      const { namespace, prefix } = context;
      const watch = follow(context.here, watchKeys, { namespace, prefix, startRevision: kept });
      try {
        const event = await watch.until("the first event", (messages) => messages.flatMap(({ events }) => events)[0]);
        expect(event.kv?.modRevision).to.equal(kept);
      } finally {
        watch.cancel();
      }
    },
  },
};
