/** Each member's backups since its process started: the last one, the next one, and what reading them back showed. */

import type { JSX } from "preact";
import type { BackupStatus } from "../../api/index.ts";
import { nowMs } from "../../live/index.ts";
import { agoText, countdownText, durationText, sizeText } from "../../text/index.ts";
import { Chip, Table, type Tone } from "../../ui/index.ts";
import { isDamaged, type MemberBackupState } from "./backup-state.ts";

const COLUMNS = [
  { name: "Member", width: 96 },
  { name: "Archive", width: 96 },
  { name: "Last backup", width: 260 },
  { name: "Next snapshot", width: 116 },
  { name: "Last verification", width: 180 },
];
const PHASES: Readonly<Record<string, readonly [tone: Tone, text: string]>> = {
  BACKUP_PENDING: ["neutral", "waiting"],
  BACKUP_RUNNING: ["accent", "running"],
  BACKUP_SUCCEEDED: ["good", "complete"],
  BACKUP_FAILED: ["bad", "failed"],
};

export interface MemberBackupTableProps {
  readonly members: readonly MemberBackupState[];
  readonly empty: string | undefined;
}

export function MemberBackupTable({ members, empty }: MemberBackupTableProps): JSX.Element {
  return (
    <Table caption="Backups of members" columns={COLUMNS} empty={empty}>
      {members.map(({ id, name, status, problem }) => (
        <tr key={id}>
          <th scope="row">{name}</th>
          {status === null ? (
            <td colSpan={COLUMNS.length - 1} class="muted" title={problem}>
              {problem}
            </td>
          ) : (
            <StatusCells id={id} status={status} />
          )}
        </tr>
      ))}
    </Table>
  );
}

function StatusCells({ id, status }: { readonly id: string; readonly status: BackupStatus }): JSX.Element {
  const { archive, run, nextSnapshotMs } = status;
  const dueMs = Number(nextSnapshotMs) - nowMs.value;
  return (
    <>
      <td>
        {archive === undefined ? (
          <Chip>off</Chip>
        ) : (
          <Chip tone={archive.archiverId === id ? "accent" : "neutral"}>
            {archive.archiverId === id ? "archives" : "stands by"}
          </Chip>
        )}
      </td>
      <td title={run?.error || run?.object}>
        {run === undefined ? <span class="muted">none</span> : <Run run={run} />}
      </td>
      <td>
        {Number(nextSnapshotMs) === 0 ? (
          <span class="muted">–</span>
        ) : dueMs <= 0 ? (
          "due"
        ) : (
          `in ${countdownText(dueMs)}`
        )}
      </td>
      <td>
        <Verification status={status} />
      </td>
    </>
  );
}

function Run({ run }: { readonly run: NonNullable<BackupStatus["run"]> }): JSX.Element {
  const [tone, text] = PHASES[run.phase] ?? (["neutral", run.phase] as const);
  const [startedMs, endedMs] = [Number(run.startedMs), Number(run.endedMs)];
  const when = endedMs === 0 ? `for ${durationText(nowMs.value - startedMs)}` : agoText(endedMs, nowMs.value);
  return (
    <>
      <Chip tone={tone}>{text}</Chip> {when}, {run.error || sizeText(Number(run.bytes))}
      {run.leaderless && " (without a leader)"}
    </>
  );
}

function Verification({ status }: { readonly status: BackupStatus }): JSX.Element {
  if (isDamaged(status)) {
    return (
      <>
        <Chip tone="bad">damage</Chip> {agoText(Number(status.damageFoundMs), nowMs.value)}
      </>
    );
  }
  const verifiedMs = Number(status.verifiedMs);
  return verifiedMs === 0 ? (
    <span class="muted">none</span>
  ) : (
    <>
      <Chip tone="good">no damage</Chip> {agoText(verifiedMs, nowMs.value)}
    </>
  );
}
