/** The open streams of all members, or of one: who watches what, since when, and how far behind. */

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { getCluster } from "../../api/index.ts";
import { useListing, usePolled } from "../../live/index.ts";
import { PageHead, type PageProps, useNamespace } from "../../page/index.ts";
import { Person } from "../../people/index.ts";
import { mayOperateCluster } from "../../session/index.ts";
import { countText, durationText } from "../../text/index.ts";
import { Alarms, Chip, emptyText, ListEnd, Select, Table } from "../../ui/index.ts";
import { loadStreams, type MemberStream, type StreamPage } from "./load-streams.ts";

const POLL_MS = 10_000;
const MEMBERS_POLL_MS = 60_000;
const COLUMNS = [
  { name: "User", width: 180 },
  { name: "Member", width: 96 },
  { name: "Watches", width: 84 },
  { name: "Namespace", width: 112 },
  { name: "Prefix or log", width: 150 },
  { name: "Open for", width: 88, isNumber: true },
  { name: "Delivered", width: 96, isNumber: true },
  { name: "Behind", width: 110, isNumber: true },
];

export function StreamsPage({ user, route }: PageProps): JSX.Element {
  const own = useNamespace(route, user);
  const isAll = mayOperateCluster(user);
  const namespace = isAll ? "" : own;
  const memberId = useSignal("");
  const cluster = usePolled((signal) => getCluster({ signal }), MEMBERS_POLL_MS, []);
  const listing = useListing<MemberStream, StreamPage>({
    load: async (next, options) => {
      // The members are asked for again only once a minute, and not at each poll.
      const { members } = cluster.loaded.peek().value ?? (await getCluster(options));
      const chosen = members.filter(({ id }) => memberId.value === "" || id === memberId.value);
      return await loadStreams(chosen, namespace, next, options.signal);
    },
    intervalMs: POLL_MS,
    dependencies: [memberId.value, namespace],
    keyOf: ({ memberId: member, id }) => `${member} ${id}`,
  });
  const { items: streams, loaded } = listing;
  const choices = (cluster.loaded.value.value?.members ?? []).map(({ id, name }) => [id, name] as const);
  return (
    <>
      <PageHead title="Watches">
        {!isAll && <span class="muted">Namespace {namespace}</span>}
        <Select label="Member" value={memberId} options={[["", "all members"], ...choices]} />
      </PageHead>
      <Alarms label="Members that do not answer" items={loaded.value?.silent ?? []} />
      <Table
        caption="Open streams"
        columns={COLUMNS}
        empty={emptyText(loaded, streams.length === 0, "No open streams")}
      >
        {streams.map((stream) => (
          <StreamRow key={`${stream.memberId} ${stream.id}`} stream={stream} />
        ))}
      </Table>
      <ListEnd listing={listing} words={["stream", "streams"]} />
    </>
  );
}

function StreamRow({ stream }: { readonly stream: MemberStream }): JSX.Element {
  const { memberName, kind, namespace, prefix, logId, email, userId, openMs, delivered, behind, sending } = stream;
  const target = logId || prefix;
  return (
    <tr>
      <th scope="row">
        <Person userId={userId} email={email} />
      </th>
      <td>{memberName}</td>
      <td>{kind.toLowerCase()}</td>
      <td class="mono">{namespace}</td>
      <td class="mono" title={target}>
        {target === "" ? <span class="muted">everything</span> : target}
      </td>
      <td class="number">{durationText(Number(openMs))}</td>
      <td class="number">{countText(Number(delivered))}</td>
      <td class="number">
        {sending && <Chip tone="warning">sending</Chip>} {countText(Number(behind))}
      </td>
    </tr>
  );
}
