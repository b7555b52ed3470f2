/** The state of the cluster for administrators: members, requests, alarms, and quotas that are nearly used up. */

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { getMemberCounters } from "../../api/index.ts";
import { usePolled } from "../../live/index.ts";
import { PageHead } from "../../page/index.ts";
import { emptyText, LiveState } from "../../ui/index.ts";
import { AlarmList } from "./alarm-list.tsx";
import { LeaderDialog } from "./leader-dialog.tsx";
import { type MemberSeries, mergedSeries, WINDOW_MS } from "./member-series.ts";
import { MemberTable } from "./member-table.tsx";
import { QuotaTable } from "./quota-table.tsx";
import { Tiles } from "./tiles.tsx";

const POLL_MS = 10_000;
const SECOND_MS = 1_000;
/** After the first answer, this covers a few missed polls. A poll after a longer pause asks for everything again. */
const LATEST_MS = 30_000;

export function ClusterState(): JSX.Element {
  const series = useRef<readonly MemberSeries[]>([]);
  const lastAskedAtMs = useRef(0);
  const newLeader = useSignal<MemberSeries | null>(null);
  const { loaded, refresh } = usePolled(
    async (signal) => {
      const askedAtMs = Date.now();
      const windowMs = askedAtMs - lastAskedAtMs.current < LATEST_MS ? LATEST_MS : WINDOW_MS;
      const { members } = await getMemberCounters(windowMs / SECOND_MS, { signal });
      lastAskedAtMs.current = askedAtMs;
      series.current = mergedSeries(series.current, members);
      return series.current;
    },
    POLL_MS,
    [],
  );
  const members = loaded.value.value ?? [];
  return (
    <>
      <PageHead title="Overview">
        <LiveState loaded={loaded.value} onRefresh={() => void refresh()} />
      </PageHead>
      <Tiles members={members} />
      <AlarmList members={members} />
      <MemberTable
        members={members}
        empty={emptyText(loaded.value, members.length === 0, "No member")}
        onLead={(member) => {
          newLeader.value = member;
        }}
      />
      <QuotaTable />
      {newLeader.value !== null && (
        <LeaderDialog
          member={newLeader.value}
          onClose={() => {
            newLeader.value = null;
            void refresh();
          }}
        />
      )}
    </>
  );
}
