/** Replaces the certificates of running members by those of a new authority. */

import { pause, until } from "../../test/harness/index.ts";
import { authorityShownAt } from "./certificates.ts";
import { type FaultContext, type FaultKind, type FaultResult, landed, skipped, unclear } from "./fault.ts";

/** A member reads its files every ten seconds; a paused member does so when it continues. */
const READ_MS = 12_000;

/** Other faults may stop every member meanwhile, and for long. */
const ROTATION_LIMIT_MS = 180_000;

export const CERTIFICATE_FAULTS: readonly FaultKind[] = [
  { name: "rotation of the certificates", lane: "certificates", needs: ["certificates"], make: rotate },
];

async function rotate({ cluster, certificates }: FaultContext): Promise<FaultResult> {
  if (certificates === null) {
    return skipped("members meet in plain TCP");
  }
  const former = certificates.authority;
  certificates.announce();
  await pause(READ_MS);
  certificates.replace();
  const { authority } = certificates;
  const shown = new Map<string, string>();
  await until(
    `all members to show certificates of ${authority}`,
    async () => {
      for (const { name, host, ports, isAlive } of cluster.members) {
        const by = isAlive ? await authorityShownAt(host, ports.peer) : null;
        if (by !== null) {
          shown.set(name, by);
        }
      }
      // A stopped member reads the files when it starts.
      const present = cluster.members.filter(({ name }) => shown.has(name));
      return present.length > 0 && present.every(({ name }) => shown.get(name) === authority);
    },
    ROTATION_LIMIT_MS,
  );
  certificates.retire();
  await pause(READ_MS);
  const evidence = [...shown].map(([name, by]) => `${name} shows ${by}`).join(", ");
  const isNew = former !== authority && [...shown.values()].every((by) => by === authority);
  return isNew ? landed(`${evidence}; ${former} is not trusted any more`) : unclear(evidence);
}
