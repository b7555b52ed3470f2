/** The sessions of a namespace, and beside them what belongs to the chosen one. */

import type { JSX } from "preact";
import { type ClientSession, listSessions } from "../../api/index.ts";
import { nowMs, useListing } from "../../live/index.ts";
import { NamespacePicker, PageHead, type PageProps, useNamespace } from "../../page/index.ts";
import { Owner } from "../../people/index.ts";
import { formatRoute, navigate } from "../../router/index.ts";
import { agoText, countText, durationText, remainingMs } from "../../text/index.ts";
import { emptyText, ListEnd, Table, TimeLeft } from "../../ui/index.ts";
import { SessionPanel } from "./session-panel.tsx";

const POLL_MS = 10_000;
/** Beside the panel of a session, which shows them, there is no room for some columns. */
const COLUMNS = [
  { name: "Session", width: 100, isEssential: true },
  { name: "Owner", width: 170, isEssential: true },
  { name: "Objects", width: 76, isEssential: true, isNumber: true },
  { name: "Time to live", width: 96, isEssential: false, isNumber: true },
  { name: "Time left", width: 132, isEssential: true },
  { name: "Created", width: 110, isEssential: false },
];

export function SessionsPage({ user, route }: PageProps): JSX.Element {
  const namespace = useNamespace(route, user);
  const chosen = route.query.get("session") ?? null;
  const listing = useListing<ClientSession>({
    load: async (pageToken, options) => {
      const page = await listSessions(namespace, pageToken, options);
      return { items: page.items, next: page.nextPageToken };
    },
    intervalMs: POLL_MS,
    dependencies: [namespace],
    keyOf: ({ sessionId }) => sessionId,
  });
  const { items: sessions, loaded, refresh } = listing;
  return (
    <>
      <PageHead title="Sessions">
        <NamespacePicker page="sessions" namespace={namespace} user={user} />
      </PageHead>
      <div class={chosen === null ? "split" : "split split-open"}>
        <section class="split-list" aria-label="List of sessions">
          <Table
            caption="Sessions"
            columns={COLUMNS.filter(({ isEssential }) => isEssential || chosen === null)}
            empty={emptyText(loaded, sessions.length === 0, "No sessions")}
          >
            {sessions.map((session) => (
              <SessionRow
                key={session.sessionId}
                session={session}
                isChosen={session.sessionId === chosen}
                isNarrow={chosen !== null}
                href={formatRoute("sessions", [namespace], { session: session.sessionId })}
                atMs={loaded.atMs}
              />
            ))}
          </Table>
          <ListEnd listing={listing} words={["session", "sessions"]} />
        </section>
        {chosen !== null && (
          <SessionPanel
            key={`${namespace} ${chosen}`}
            namespace={namespace}
            sessionId={chosen}
            user={user}
            onClose={() => navigate(formatRoute("sessions", [namespace]))}
            onEnded={refresh}
          />
        )}
      </div>
    </>
  );
}

function SessionRow({
  session,
  isChosen,
  isNarrow,
  href,
  atMs,
}: {
  readonly session: ClientSession;
  readonly isChosen: boolean;
  readonly isNarrow: boolean;
  readonly href: string;
  /** When the session was reported, Unix time in milliseconds. */
  readonly atMs: number;
}): JSX.Element {
  const { sessionId, owner, objects, ttlSeconds, expiresInMs, createdAtMs } = session;
  const wholeMs = Number(ttlSeconds) * 1_000;
  return (
    <tr class={isChosen ? "chosen" : undefined}>
      <th scope="row">
        <a class="mono" href={href} aria-current={isChosen ? "true" : undefined}>
          {sessionId}
        </a>
      </th>
      <td title={owner}>
        <Owner {...session} />
      </td>
      <td class="number">{countText(Number(objects))}</td>
      {!isNarrow && <td class="number">{durationText(wholeMs)}</td>}
      <td>
        <TimeLeft leftMs={remainingMs(expiresInMs, atMs, nowMs.value)} wholeMs={wholeMs} />
      </td>
      {!isNarrow && <td>{agoText(Number(createdAtMs), nowMs.value)}</td>}
    </tr>
  );
}
