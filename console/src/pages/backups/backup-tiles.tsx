/** What can be restored, in a few numbers. */

import type { JSX } from "preact";
import { nowMs } from "../../live/index.ts";
import { agoText, countText, durationText, sizeText } from "../../text/index.ts";
import { Tile } from "../../ui/index.ts";
import { archiveOf, type BackupState, isDamaged } from "./backup-state.ts";

export function BackupTiles({ state: { members, list } }: { readonly state: BackupState }): JSX.Element {
  const backups = list?.backups ?? [];
  const newest = backups.at(-1);
  const bytes = backups.reduce((sum, { sizeBytes, segmentBytes }) => sum + Number(sizeBytes) + Number(segmentBytes), 0);
  const archive = archiveOf(members);
  const verifiedMs = Math.max(0, ...members.map(({ status }) => Number(status?.verifiedMs ?? 0)));
  const store = list?.store ?? members.find(({ status }) => status?.store)?.status?.store ?? "";
  const isEncrypted = members.some(({ status }) => status?.encrypted === true);
  return (
    <dl class="tiles">
      <Tile name="Backups">
        {countText(backups.length)}
        <small>{sizeText(bytes)} in the store</small>
      </Tile>
      <Tile name="Newest backup">
        {newest === undefined ? "none" : agoText(Number(newest.wallMs), nowMs.value)}
        <small>
          {newest === undefined ? "nothing can be restored" : `revision ${countText(Number(newest.revision))}`}
        </small>
      </Tile>
      <Tile name="Archive">
        {archive === undefined
          ? "off"
          : archive.chainBroken
            ? "broken"
            : `${durationText(Number(archive.lagMs))} behind`}
        <small>
          {archive === undefined
            ? "only whole backups can be restored"
            : `up to revision ${countText(Number(archive.archivedRevision))}`}
        </small>
      </Tile>
      <Tile name="Last verification">
        {verifiedMs === 0 ? "none" : agoText(verifiedMs, nowMs.value)}
        <small>{members.some(({ status }) => isDamaged(status)) ? "a member found damage" : "no damage found"}</small>
      </Tile>
      <Tile name="Store">
        <small class="tile-text" title={store}>
          {store}
        </small>
        <small>{isEncrypted ? "encrypted" : "not encrypted"}</small>
      </Tile>
    </dl>
  );
}
