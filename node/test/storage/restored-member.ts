/** The data directory of a member that founds its cluster from the golden backup. */

import { openStore, planRestore, readCatalog } from "@quoin/backup";
import { rebuild } from "../../src/rebuild/index.ts";
import { type MemberData, openDataDirectory, type Restoration } from "../../src/storage/index.ts";

const LATEST = { kind: "latest" } as const;

export const RESTORED = {
  clusterId: "11111111-2222-4333-8444-555555555555",
  formerId: "60000000-0000-4000-8000-00000000601d",
  name: "q-0",
  clusterName: "spec",
} as const;

const REVISION_JUMP = 1_000_000;

const MEMBER = {
  clusterName: RESTORED.clusterName,
  name: RESTORED.name,
  address: { peerEndpoint: "", grpcEndpoint: "", httpEndpoint: "" },
};

/** Opens the data directory; if it is empty, restores into it first from the store in that other directory. */
export async function openOrRestore(directory: string, store: string, onDecided: () => void): Promise<MemberData> {
  const opened = await openDataDirectory({
    directory,
    clusterName: RESTORED.clusterName,
    name: RESTORED.name,
    acceptMissingFence: false,
    onFatal: (error) => {
      throw error;
    },
  });
  switch (opened.phase) {
    case "empty":
      return opened.restore(async (restoration) => {
        await fill(restoration, store);
        onDecided();
      });
    case "member":
      return opened.data;
    case "refused":
      throw new Error(opened.reason);
  }
}

/** The expected result of the backup: the id of the member after the last entry, and the revision. */
export async function expectedOfBackup(
  directory: string,
): Promise<{ readonly memberId: number; readonly revision: number }> {
  const store = await openStore({ kind: "directory", directory }, { create: false });
  const { end } = planRestore(await readCatalog(store), LATEST);
  return { memberId: end.index + 1, revision: (end.revision ?? 0) + REVISION_JUMP };
}

async function fill(restoration: Restoration, directory: string): Promise<void> {
  const store = await openStore({ kind: "directory", directory }, { create: false });
  const objects = planRestore(await readCatalog(store), LATEST);
  await rebuild({ store, objects, decryptOptions: {}, point: LATEST, state: restoration.state });
  const { clusterId } = RESTORED;
  const secrets = { signingKey: null, pageTokenKey: new Uint8Array(32), owner: null };
  await restoration.complete(
    { cause: "restore", clusterId, revisionJump: REVISION_JUMP, wallMs: 1_780_000_000_000, ...secrets },
    MEMBER,
  );
}
