/** The replicated settings of the cluster. The console only shows them: they concern everyone, so a command changes them. */

import type { JSX } from "preact";
import { getSettings } from "../../api/index.ts";
import { usePolled } from "../../live/index.ts";
import { emptyText, LiveState, Table } from "../../ui/index.ts";

const POLL_MS = 60_000;
const COLUMNS = [
  { name: "Setting", width: 260 },
  { name: "Value", width: 110, isNumber: true },
  { name: "Default", width: 110, isNumber: true },
  { name: "Least", width: 84, isNumber: true },
  { name: "Greatest", width: 130, isNumber: true },
];

export function ClusterSettings(): JSX.Element {
  const { loaded, refresh } = usePolled((signal) => getSettings({ signal }), POLL_MS, []);
  const { value } = loaded.value;
  const settings = value?.settings ?? [];
  return (
    <section>
      <div class="bar">
        <h2>Settings of the cluster</h2>
        <LiveState loaded={loaded.value} onRefresh={() => void refresh()} />
      </div>
      <Table
        caption="Settings of the cluster"
        columns={COLUMNS}
        empty={emptyText(loaded.value, settings.length === 0, "No settings")}
      >
        {settings.map(({ name, value: set, defaultValue, min, max }) => (
          <tr key={name}>
            <th scope="row" class="mono" title={name}>
              {name}
            </th>
            <td class="number">{set === "" ? <span class="muted">default</span> : <strong>{set}</strong>}</td>
            <td class="number">{defaultValue || "by flags"}</td>
            <td class="number">{min}</td>
            <td class="number">{max}</td>
          </tr>
        ))}
      </Table>
      <p class="hint">
        Change one with <code>quoinctl settings put NAME=VALUE</code>, and go back to its default with{" "}
        <code>NAME=default</code>. “By flags” means: as the flags of each member say.
      </p>
    </section>
  );
}
