/** One lock: its holds, its queue in the order in which it is served, and its properties. */

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import type { Lock, LockHold } from "../../api/index.ts";
import { SessionLink } from "../../page/index.ts";
import { Owner, Subject } from "../../people/index.ts";
import { mayAdminister, mayWrite, type SessionUser } from "../../session/index.ts";
import {
  agoText,
  bytesOfBase64,
  countdownText,
  countText,
  durationText,
  plainValue,
  remainingMs,
} from "../../text/index.ts";
import { Button, Chip, Panel, Properties, TimeLeft } from "../../ui/index.ts";
import { AcquireDialog } from "./acquire-dialog.tsx";
import { DeleteLockDialog } from "./delete-lock-dialog.tsx";
import { ForceReleaseDialog } from "./force-release-dialog.tsx";
import { LockQueue } from "./lock-queue.tsx";
import {
  endsWithSession,
  isAcquirable,
  kindText,
  permitCount,
  permitsText,
  stateText,
  stateTone,
} from "./lock-text.ts";
import { ReleaseDialog } from "./release-dialog.tsx";

export interface LockPanelProps {
  readonly namespace: string;
  readonly lock: Lock;
  /** When the lock was reported, Unix time in milliseconds. */
  readonly atMs: number;
  readonly nowMs: number;
  /** How long the member has counted refused guards, in milliseconds. */
  readonly refusedForMs: number;
  readonly user: SessionUser;
  readonly onClose: () => void;
  readonly onChanged: () => void;
}

export function LockPanel(props: LockPanelProps): JSX.Element {
  const { namespace, lock, atMs, nowMs, refusedForMs, user, onClose, onChanged } = props;
  const isAcquiring = useSignal(false);
  const isDeleting = useSignal(false);
  const released = useSignal<LockHold | null>(null);
  const forced = useSignal<LockHold | null>(null);
  const hidden = lock.holderCount - lock.holders.length;
  return (
    <Panel
      label={`Lock ${lock.name}`}
      title={<span class="mono">{lock.name}</span>}
      tools={<Chip tone={stateTone(lock)}>{stateText(lock)}</Chip>}
      onClose={onClose}
    >
      <Properties
        items={[
          ["Kind", kindText(lock)],
          ...(lock.permits > 0 ? [["Permits", `${permitsText(lock)} held`] as const] : []),
          ["Time to live", durationText(Number(lock.ttlSeconds) * 1_000)],
          ["Delay after expiry", `${lock.lockDelaySeconds} s`],
          ["Last token", lock.lastFencingToken],
          ["Refused guards", refusedText(lock, refusedForMs)],
          ["Created", agoText(Number(lock.createdAtMs), nowMs)],
        ]}
      />
      {mayWrite(user) && (
        <div class="actions">
          {isAcquirable(lock) && (
            <Button
              onClick={() => {
                isAcquiring.value = true;
              }}
            >
              Acquire
            </Button>
          )}
          <Button
            kind="danger"
            onClick={() => {
              isDeleting.value = true;
            }}
          >
            Delete
          </Button>
        </div>
      )}
      <h3>{lock.holderCount === 1 ? "Holder" : `Holders (${countText(lock.holderCount)})`}</h3>
      {lock.holderCount === 0 && (
        <p class="muted">
          {lock.state === "COOLDOWN"
            ? `Free in ${countdownText(remainingMs(lock.cooldownMs, atMs, nowMs))}, when the delay has passed.`
            : "No one holds it."}
        </p>
      )}
      <ul class="holds">
        {lock.holders.map((hold) => (
          <li key={hold.fencingToken} class="hold">
            <div class="hold-text">
              <span>
                <strong>
                  <Owner {...hold} />
                </strong>{" "}
                {lock.rw && <Chip>{hold.mode === "READ" ? "reads" : "writes"}</Chip>}
                {lock.permits > 0 && <Chip>{permitCount(hold)}</Chip>}
              </span>
              <span class="muted">
                token <span class="mono">{hold.fencingToken}</span>, since {agoText(Number(hold.acquiredAtMs), nowMs)}
              </span>
              <Subject {...hold} />
              {hold.value !== "" && (
                <span>
                  value <span class="mono">{plainValue(bytesOfBase64(hold.value))}</span>
                </span>
              )}
              {endsWithSession(hold) ? (
                <span>
                  ends with session <SessionLink namespace={namespace} id={hold.sessionId} />
                </span>
              ) : (
                <TimeLeft
                  leftMs={remainingMs(hold.expiresInMs, atMs, nowMs)}
                  wholeMs={Number(lock.ttlSeconds) * 1_000}
                />
              )}
            </div>
            <div class="hold-actions">
              {mayWrite(user) && hold.subject === user.userId && (
                <Button
                  onClick={() => {
                    released.value = hold;
                  }}
                >
                  Release
                </Button>
              )}
              {mayAdminister(user) && (
                <Button
                  kind="danger"
                  onClick={() => {
                    forced.value = hold;
                  }}
                >
                  Force release
                </Button>
              )}
            </div>
          </li>
        ))}
      </ul>
      {hidden > 0 && <p class="muted">and {countText(hidden)} more</p>}
      <LockQueue namespace={namespace} lock={lock} atMs={atMs} nowMs={nowMs} />
      {isAcquiring.value && (
        <AcquireDialog
          namespace={namespace}
          lock={lock}
          owner={user.email}
          onAcquired={onChanged}
          onClose={() => {
            isAcquiring.value = false;
          }}
        />
      )}
      {isDeleting.value && (
        <DeleteLockDialog
          namespace={namespace}
          lock={lock}
          mayForce={mayAdminister(user)}
          onDeleted={() => {
            onChanged();
            onClose();
          }}
          onClose={() => {
            isDeleting.value = false;
          }}
        />
      )}
      {released.value !== null && (
        <ReleaseDialog
          namespace={namespace}
          lock={lock}
          hold={released.value}
          onClose={() => {
            released.value = null;
            onChanged();
          }}
        />
      )}
      {forced.value !== null && (
        <ForceReleaseDialog
          namespace={namespace}
          lock={lock}
          hold={forced.value}
          onClose={() => {
            forced.value = null;
            onChanged();
          }}
        />
      )}
    </Panel>
  );
}

/** Writes with a guard of this lock that came too late. */
function refusedText({ refusedGuards }: Lock, forMs: number): string {
  return `${countText(Number(refusedGuards))} in ${durationText(forMs)}`;
}
