/** One session: its properties, its keys and its holds. */

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { type ClientSession, describeSession, endSession, type SessionHold } from "../../api/index.ts";
import { nowMs, usePolled } from "../../live/index.ts";
import { Owner, Person } from "../../people/index.ts";
import { formatRoute } from "../../router/index.ts";
import { mayAdminister, mayWrite, type SessionUser } from "../../session/index.ts";
import { agoText, bytesOfBase64, countText, durationText, lockKey, plainValue, remainingMs } from "../../text/index.ts";
import { Button, FormDialog, Panel, Problem, Properties, TimeLeft } from "../../ui/index.ts";

export interface SessionPanelProps {
  readonly namespace: string;
  readonly sessionId: string;
  readonly user: SessionUser;
  readonly onClose: () => void;
  readonly onEnded: () => void;
}

const POLL_MS = 10_000;

export function SessionPanel({ namespace, sessionId, user, onClose, onEnded }: SessionPanelProps): JSX.Element {
  const isEnding = useSignal(false);
  const { loaded, refresh } = usePolled(
    (signal, isBackground) => describeSession(namespace, sessionId, { signal, isBackground }),
    POLL_MS,
    [namespace, sessionId],
  );
  const { value, error, atMs } = loaded.value;
  const isGone = error?.reason === "SESSION_NOT_FOUND";
  const { session, keys = [], holds = [] } = isGone ? {} : (value ?? {});
  return (
    <Panel label={`Session ${sessionId}`} title={<span class="mono">{sessionId}</span>} tools={null} onClose={onClose}>
      {error !== undefined && <Problem message={isGone ? "The session has ended." : error.message} />}
      {session !== undefined && (
        <>
          <SessionProperties session={session} atMs={atMs} />
          {(session.subject === user.userId ? mayWrite(user) : mayAdminister(user)) && (
            <div class="actions">
              <Button
                kind="danger"
                onClick={() => {
                  isEnding.value = true;
                }}
              >
                {session.subject === user.userId ? "End" : "Force end"}
              </Button>
            </div>
          )}
          <h3>Keys ({countText(keys.length)})</h3>
          {keys.length === 0 && <p class="muted">No key ends with it.</p>}
          <ul>
            {keys.map((key) => (
              <li key={key}>
                <a class="mono" href={formatRoute("keys", [namespace], { key })}>
                  {key}
                </a>
              </li>
            ))}
          </ul>
          <h3>Holds of locks ({countText(holds.length)})</h3>
          {holds.length === 0 && <p class="muted">No hold ends with it.</p>}
          <ul class="holds">
            {holds.map((hold) => (
              <Hold key={hold.fencingToken} namespace={namespace} hold={hold} />
            ))}
          </ul>
          {isEnding.value && (
            <EndDialog
              namespace={namespace}
              session={session}
              isForced={session.subject !== user.userId}
              onEnded={async () => {
                onEnded();
                await refresh();
              }}
              onClose={() => {
                isEnding.value = false;
              }}
            />
          )}
        </>
      )}
    </Panel>
  );
}

function SessionProperties({ session, atMs }: { readonly session: ClientSession; readonly atMs: number }): JSX.Element {
  const wholeMs = Number(session.ttlSeconds) * 1_000;
  return (
    <Properties
      items={[
        ["Owner", <Owner {...session} />],
        ["User", <Person userId={session.subject} />],
        ["Metadata", <span class="mono">{plainValue(bytesOfBase64(session.metadata))}</span>],
        ["Time to live", durationText(wholeMs)],
        ["Time left", <TimeLeft leftMs={remainingMs(session.expiresInMs, atMs, nowMs.value)} wholeMs={wholeMs} />],
        ["Created", agoText(Number(session.createdAtMs), nowMs.value)],
      ]}
    />
  );
}

function Hold({ namespace, hold }: { readonly namespace: string; readonly hold: SessionHold }): JSX.Element {
  const { lockName, fencingToken, rw } = hold;
  return (
    <li class="hold">
      <div class="hold-text">
        <a
          class="mono"
          href={formatRoute("locks", [namespace], { prefix: lockName, lock: lockKey({ name: lockName, rw }) })}
        >
          {lockName}
        </a>
        <span class="muted">
          token <span class="mono">{fencingToken}</span>
        </span>
      </div>
    </li>
  );
}

interface EndDialogProps {
  readonly namespace: string;
  readonly session: ClientSession;
  /** Whether it belongs to another user. */
  readonly isForced: boolean;
  readonly onEnded: () => Promise<void>;
  readonly onClose: () => void;
}

function EndDialog({ namespace, session, isForced, onEnded, onClose }: EndDialogProps): JSX.Element {
  const { sessionId, objects } = session;
  return (
    <FormDialog
      title="End the session"
      action={isForced ? "Force end" : "End"}
      isDanger
      confirmation={sessionId}
      done={`Session ${sessionId} has ended`}
      onSubmit={async () => {
        await endSession(namespace, sessionId, isForced);
        await onEnded();
      }}
      onClose={onClose}
    >
      <p>
        This ends the session of{" "}
        <strong>
          <Owner {...session} />
        </strong>{" "}
        with its {countText(Number(objects))} keys and holds, at once. Its client may not notice: make sure that it has
        stopped.
      </p>
    </FormDialog>
  );
}
