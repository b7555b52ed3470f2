/** Whether the member that serves this page has a store of backups, for hiding a page that would be empty. */

import { computed, signal } from "@preact/signals";
import { ApiError, getBackupStatus } from "../../api/index.ts";
import { mayOperateCluster, type SessionUser } from "../../session/index.ts";

const found = signal(false);

export const hasBackupStore = computed(() => found.value);

/** Asks the member, if the user may know it. A member of an earlier release refuses, and shows no backups. */
export async function lookForBackupStore(user: SessionUser, signal: AbortSignal): Promise<void> {
  found.value = false;
  if (!mayOperateCluster(user)) {
    return;
  }
  try {
    const { store } = await getBackupStatus("", { signal });
    if (!signal.aborted) {
      found.value = store !== "";
    }
  } catch (error) {
    if (!(error instanceof ApiError) && !signal.aborted) {
      throw error;
    }
  }
}
