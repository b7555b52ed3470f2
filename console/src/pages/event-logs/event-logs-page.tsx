/** The event logs of a namespace, and beside them the events of the chosen log as they arrive. */

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { type EventLog, listLogs } from "../../api/index.ts";
import { useListing } from "../../live/index.ts";
import { NamespacePicker, PageHead, type PageProps, useNamespace } from "../../page/index.ts";
import { formatRoute, navigate } from "../../router/index.ts";
import { mayAdminister, mayWrite } from "../../session/index.ts";
import { countText, sizeText } from "../../text/index.ts";
import { Button, emptyText, ListEnd, Table } from "../../ui/index.ts";
import { LogDialog } from "./log-dialog.tsx";
import { LogPanel } from "./log-panel.tsx";

const POLL_MS = 10_000;
const COLUMNS = [
  { name: "Log", width: 140 },
  { name: "Events", width: 84, isNumber: true },
  { name: "Last sequence", width: 112, isNumber: true },
  { name: "Size", width: 88, isNumber: true },
];

export function EventLogsPage({ user, route }: PageProps): JSX.Element {
  const namespace = useNamespace(route, user);
  const chosen = route.query.get("log") ?? null;
  const isCreating = useSignal(false);
  const listing = useListing<EventLog>({
    load: (cursor, options) => listLogs(namespace, cursor, options),
    intervalMs: POLL_MS,
    dependencies: [namespace],
    keyOf: ({ log_id }) => log_id,
  });
  const { items: logs, loaded, refresh } = listing;
  const log = logs.find(({ log_id }) => log_id === chosen);
  const show = (logId: string): void => navigate(formatRoute("logs", [namespace], { log: logId }));
  return (
    <>
      <PageHead title="Event logs">
        <NamespacePicker page="logs" namespace={namespace} user={user} />
        {mayWrite(user) && (
          <Button
            kind="primary"
            onClick={() => {
              isCreating.value = true;
            }}
          >
            New log
          </Button>
        )}
      </PageHead>
      <div class={log === undefined ? "split" : "split split-open split-even"}>
        <section class="split-list" aria-label="List of event logs">
          <Table caption="Event logs" columns={COLUMNS} empty={emptyText(loaded, logs.length === 0, "No event logs")}>
            {logs.map(({ log_id, name, event_count, last_sequence, size_bytes }) => (
              <tr key={log_id} class={log_id === chosen ? "chosen" : undefined}>
                <th scope="row">
                  <a
                    class="mono"
                    href={formatRoute("logs", [namespace], { log: log_id })}
                    aria-current={log_id === chosen ? "true" : undefined}
                    title={name}
                  >
                    {name}
                  </a>
                </th>
                <td class="number">{countText(event_count)}</td>
                <td class="number">{countText(last_sequence)}</td>
                <td class="number">{sizeText(size_bytes)}</td>
              </tr>
            ))}
          </Table>
          <ListEnd listing={listing} words={["log", "logs"]} />
        </section>
        {log !== undefined && (
          <LogPanel
            key={log.log_id}
            log={log}
            isWritable={mayWrite(user)}
            isManageable={mayAdminister(user) || log.created_by === user.userId}
            onClose={() => show("")}
            onChanged={refresh}
          />
        )}
      </div>
      {isCreating.value && (
        <LogDialog
          namespace={namespace}
          log={null}
          onDone={(created) => {
            refresh();
            show(created.log_id);
          }}
          onClose={() => {
            isCreating.value = false;
          }}
        />
      )}
    </>
  );
}
