/** The backups of the cluster: from when to when it can be restored, each member's backups, and the store. */

import type { JSX } from "preact";
import { usePolled } from "../../live/index.ts";
import { PageHead } from "../../page/index.ts";
import { Alarms, emptyText, LiveState } from "../../ui/index.ts";
import { backupProblems } from "./backup-state.ts";
import { BackupTable } from "./backup-table.tsx";
import { BackupTiles } from "./backup-tiles.tsx";
import { loadBackups } from "./load-backups.ts";
import { MemberBackupTable } from "./member-backup-table.tsx";

/** Backups change slowly, and each poll reads the list of the store. */
const POLL_MS = 60_000;

export function BackupsPage(): JSX.Element {
  const { loaded, refresh } = usePolled(loadBackups, POLL_MS, []);
  const { value } = loaded.value;
  const problems = value === undefined ? [] : backupProblems(value);
  const backups = value?.list?.backups ?? [];
  const members = value?.members ?? [];
  return (
    <>
      <PageHead title="Backups">
        <LiveState loaded={loaded.value} onRefresh={() => void refresh()} />
      </PageHead>
      {value !== undefined && <BackupTiles state={value} />}
      <Alarms label="Problems" items={problems} />
      <MemberBackupTable members={members} empty={emptyText(loaded.value, members.length === 0, "No member")} />
      <section>
        <h2>In the store</h2>
        <BackupTable
          backups={backups.toReversed()}
          empty={emptyText(loaded.value, backups.length === 0, "No backup of this cluster")}
        />
      </section>
    </>
  );
}
