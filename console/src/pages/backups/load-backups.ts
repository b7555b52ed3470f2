/** Asks all members about their backups, and this one for the contents of the store. */

import { getBackupStatus, getCluster, listBackups, orProblem } from "../../api/index.ts";
import type { BackupState } from "./backup-state.ts";

/** A member that does not answer, and a store that cannot be read, are a part of the answer. */
export async function loadBackups(signal: AbortSignal): Promise<BackupState> {
  const [{ members }, list] = await Promise.all([getCluster({ signal }), orProblem(listBackups({ signal }))]);
  const states = members.map(async ({ id, name }) => {
    const { value: status, problem } = await orProblem(getBackupStatus(id, { signal, isRepeatable: false }));
    return { id, name, status, problem };
  });
  return { members: await Promise.all(states), list: list.value, problem: list.problem };
}
