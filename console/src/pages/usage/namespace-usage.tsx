/** What namespaces use of their quotas now. */

import type { JSX } from "preact";
import type { Quota } from "../../api/index.ts";
import type { Loaded } from "../../live/index.ts";
import { formatRoute } from "../../router/index.ts";
import { countText, sizeText } from "../../text/index.ts";
import { emptyText, Meter, Table } from "../../ui/index.ts";
import type { NamedUsage } from "./key-usage-table.tsx";

const QUOTAS = [
  ["bytes", "Bytes"],
  ["keys", "Keys"],
  ["locks", "Locks"],
  ["memory_bytes", "Memory"],
  ["memory_regions", "Regions"],
  ["event_bytes", "Event bytes"],
  ["event_logs", "Event logs"],
  ["sessions", "Sessions"],
] as const;
const COLUMNS = [{ name: "Namespace", width: 130 }, ...QUOTAS.map(([, name]) => ({ name, width: 96 }))];

export function NamespaceUsage({ loaded }: { readonly loaded: Loaded<NamedUsage> }): JSX.Element {
  const rows = loaded.value?.usage.namespaces ?? [];
  return (
    <section>
      <h2>Namespaces now</h2>
      <Table
        caption="Use of the quotas of namespaces"
        columns={COLUMNS}
        empty={emptyText(loaded, rows.length === 0, "No namespace uses anything")}
      >
        {rows.map(({ namespace, quotas }) => (
          <tr key={namespace}>
            <th scope="row">
              <a href={formatRoute("keys", [namespace])}>{namespace}</a>
            </th>
            {QUOTAS.map(([name, label]) => (
              <td key={name}>
                <QuotaCell name={name} label={`${label} of ${namespace}`} quota={quotas[name]} />
              </td>
            ))}
          </tr>
        ))}
      </Table>
    </section>
  );
}

function QuotaCell({
  name,
  label,
  quota,
}: {
  readonly name: string;
  readonly label: string;
  readonly quota: Quota | undefined;
}): JSX.Element | null {
  if (quota === undefined) {
    return null;
  }
  const text = name.endsWith("bytes") ? sizeText : countText;
  return (
    <span class="quota-cell">
      <span>{text(quota.used)}</span>
      <Meter {...quota} label={label} text={`${text(quota.used)} of ${text(quota.limit)}`} />
    </span>
  );
}
