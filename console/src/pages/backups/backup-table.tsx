/** The backups in the store, and from when to when each can restore the cluster. */

import type { JSX } from "preact";
import type { BackupEntry } from "../../api/index.ts";
import { countText, instantText, sizeText } from "../../text/index.ts";
import { Table } from "../../ui/index.ts";

const COLUMNS = [
  { name: "Restores from (UTC)", width: 148 },
  { name: "Until (UTC)", width: 148 },
  { name: "Revisions", width: 120, isNumber: true },
  { name: "Snapshot", width: 88, isNumber: true },
  { name: "Archive", width: 168, isNumber: true },
  { name: "Id", width: 96 },
];

export interface BackupTableProps {
  readonly backups: readonly BackupEntry[];
  readonly empty: string | undefined;
}

export function BackupTable({ backups, empty }: BackupTableProps): JSX.Element {
  return (
    <Table caption="Backups in the store" columns={COLUMNS} empty={empty}>
      {backups.map((backup) => (
        <BackupRow key={backup.object} backup={backup} />
      ))}
    </Table>
  );
}

function BackupRow({ backup }: { readonly backup: BackupEntry }): JSX.Element {
  const { id, object, wallMs, endWallMs, revision, endRevision, sizeBytes, segments, segmentBytes } = backup;
  const last = Number(endRevision);
  return (
    <tr>
      <th scope="row">{instantText(Number(wallMs))}</th>
      {/* The name of an object does not always say when its last change was. */}
      <td>{Number(endWallMs) === 0 ? "end of the archive" : instantText(Number(endWallMs))}</td>
      <td class="number">
        {countText(Number(revision))}–{last === 0 ? "…" : countText(last)}
      </td>
      <td class="number">{sizeText(Number(sizeBytes))}</td>
      <td class="number">
        {Number(segments) === 0 ? (
          <span class="muted">none</span>
        ) : (
          `${countText(Number(segments))} segments, ${sizeText(Number(segmentBytes))}`
        )}
      </td>
      <td class="mono" title={object}>
        {id}
      </td>
    </tr>
  );
}
