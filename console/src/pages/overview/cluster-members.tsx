/** The members of the cluster, as every user may know them. */

import type { JSX } from "preact";
import { getCluster } from "../../api/index.ts";
import { usePolled } from "../../live/index.ts";
import { PageHead } from "../../page/index.ts";
import { Chip, emptyText, LiveState, Table } from "../../ui/index.ts";

const POLL_MS = 10_000;
const COLUMNS = [
  { name: "Member", width: 140 },
  { name: "Role", width: 110 },
  { name: "HTTP address", width: 220 },
];

export function ClusterMembers(): JSX.Element {
  const { loaded, refresh } = usePolled((signal) => getCluster({ signal }), POLL_MS, []);
  const { value } = loaded.value;
  const members = value?.members ?? [];
  return (
    <>
      <PageHead title="Overview">
        <LiveState loaded={loaded.value} onRefresh={() => void refresh()} />
      </PageHead>
      <Table caption="Members" columns={COLUMNS} empty={emptyText(loaded.value, members.length === 0, "No member")}>
        {members.map(({ id, name, httpEndpoint, learner, leader }) => (
          <tr key={id}>
            <th scope="row">{name}</th>
            <td>{leader ? <Chip tone="accent">leader</Chip> : <Chip>{learner ? "learner" : "follower"}</Chip>}</td>
            <td class="mono">{httpEndpoint || "not known yet"}</td>
          </tr>
        ))}
      </Table>
    </>
  );
}
