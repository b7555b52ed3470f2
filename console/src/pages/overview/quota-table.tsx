/** The quotas of namespaces that are nearest to their limits. */

import type { JSX } from "preact";
import { getUsage, type Quota } from "../../api/index.ts";
import { usePolled } from "../../live/index.ts";
import { formatRoute } from "../../router/index.ts";
import { countText, sizeText } from "../../text/index.ts";
import { emptyText, Meter, Table } from "../../ui/index.ts";

/** The use changes slowly. */
const POLL_MS = 60_000;
const ROWS_MAX = 8;
/** Less is no reason to look. */
const SHARE_MIN = 0.01;
const PERCENT = 100;
const DAY_MS = 86_400_000;
const COLUMNS = [
  { name: "Namespace", width: 140 },
  { name: "Quota", width: 124 },
  { name: "Used", width: 92, isNumber: true },
  { name: "Limit", width: 92, isNumber: true },
  { name: "Share", width: 160 },
];

export interface QuotaRow extends Quota {
  readonly namespace: string;
  readonly name: string;
}

export function QuotaTable(): JSX.Element {
  const { loaded } = usePolled(
    async (signal) => {
      const yesterday = new Date(Date.now() - DAY_MS).toISOString();
      const { namespaces } = await getUsage(yesterday, "day", signal);
      return fullestQuotas(
        namespaces.flatMap(({ namespace, quotas }) =>
          Object.entries(quotas).map(([name, quota]) => ({ namespace, name, ...quota })),
        ),
      );
    },
    POLL_MS,
    [],
  );
  const rows = loaded.value.value ?? [];
  return (
    <section>
      <h2>Quotas nearest to their limits</h2>
      <Table
        caption="Quotas nearest to their limits"
        columns={COLUMNS}
        empty={emptyText(loaded.value, rows.length === 0, "No namespace uses one percent of a quota")}
      >
        {rows.map((row) => (
          <QuotaLine key={`${row.namespace}/${row.name}`} row={row} />
        ))}
      </Table>
    </section>
  );
}

function QuotaLine({ row: { namespace, name, used, limit } }: { readonly row: QuotaRow }): JSX.Element {
  const text = name.endsWith("bytes") ? sizeText : countText;
  const share = `${((used / Math.max(1, limit)) * PERCENT).toFixed(1)} %`;
  return (
    <tr>
      <th scope="row">
        <a href={formatRoute("keys", [namespace])}>{namespace}</a>
      </th>
      <td>{name.replaceAll("_", " ")}</td>
      <td class="number">{text(used)}</td>
      <td class="number">{text(limit)}</td>
      <td class="with-line">
        <span>{share}</span>
        <Meter used={used} limit={limit} label={`${name} of ${namespace}`} text={share} />
      </td>
    </tr>
  );
}

/** The quotas with the greatest share of their limits, the fullest first; those that are hardly used are left out. */
function fullestQuotas(rows: readonly QuotaRow[]): QuotaRow[] {
  const share = ({ used, limit }: QuotaRow): number => used / Math.max(1, limit);
  return rows
    .filter((row) => share(row) >= SHARE_MIN)
    .toSorted((a, b) => share(b) - share(a))
    .slice(0, ROWS_MAX);
}
