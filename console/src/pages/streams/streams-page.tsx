/** The open streams of a member: who watches what, since when, and how far behind. */

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { getCluster, listStreams, type OpenStream } from "../../api/index.ts";
import { useListing, usePolled } from "../../live/index.ts";
import { PageHead, type PageProps, useNamespace } from "../../page/index.ts";
import { Person } from "../../people/index.ts";
import { mayOperateCluster } from "../../session/index.ts";
import { countText, durationText } from "../../text/index.ts";
import { Chip, emptyText, ListEnd, Select, Table } from "../../ui/index.ts";

const POLL_MS = 10_000;
const MEMBERS_POLL_MS = 60_000;
const COLUMNS = [
  { name: "User", width: 190 },
  { name: "Watches", width: 84 },
  { name: "Namespace", width: 112 },
  { name: "Prefix or log", width: 160 },
  { name: "Open for", width: 88, isNumber: true },
  { name: "Delivered", width: 96, isNumber: true },
  { name: "Behind", width: 110, isNumber: true },
];

export function StreamsPage({ user, route }: PageProps): JSX.Element {
  const own = useNamespace(route, user);
  const isAll = mayOperateCluster(user);
  const namespace = isAll ? "" : own;
  const memberId = useSignal("");
  const members = usePolled((signal) => getCluster({ signal }), MEMBERS_POLL_MS, []);
  const listing = useListing<OpenStream>({
    load: async (pageToken, options) => {
      const page = await listStreams(memberId.value, namespace, pageToken, options);
      return { items: page.streams, next: page.nextPageToken };
    },
    intervalMs: POLL_MS,
    dependencies: [memberId.value, namespace],
    keyOf: ({ id }) => id,
  });
  const { items: streams, loaded } = listing;
  const choices = (members.loaded.value.value?.members ?? []).map(({ id, name }) => [id, name] as const);
  return (
    <>
      <PageHead title="Watches">
        {!isAll && <span class="muted">Namespace {namespace}</span>}
        <Select label="Member" value={memberId} options={[["", "the member of this page"], ...choices]} />
      </PageHead>
      <Table
        caption="Open streams"
        columns={COLUMNS}
        empty={emptyText(loaded, streams.length === 0, "No open streams on this member")}
      >
        {streams.map((stream) => (
          <StreamRow key={stream.id} stream={stream} />
        ))}
      </Table>
      <ListEnd listing={listing} words={["stream", "streams"]} />
    </>
  );
}

function StreamRow({ stream }: { readonly stream: OpenStream }): JSX.Element {
  const { kind, namespace, prefix, logId, email, userId, openMs, delivered, behind, sending } = stream;
  const target = logId || prefix;
  return (
    <tr>
      <th scope="row">
        <Person userId={userId} email={email} />
      </th>
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
