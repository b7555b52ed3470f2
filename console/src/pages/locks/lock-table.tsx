/** Locks in a table: state, holder, time left, queue. */

import type { JSX } from "preact";
import type { Lock } from "../../api/index.ts";
import { countdownText, countText } from "../../text/index.ts";
import { Chip, Table } from "../../ui/index.ts";
import { holderText, lockKey, nextToEnd, remainingMs, stateText, stateTone, waiting } from "./lock-text.ts";
import { TimeLeft } from "./time-left.tsx";

export interface LockTableProps {
  readonly locks: readonly Lock[];
  readonly chosen: string | null;
  /** When the locks were reported, Unix time in milliseconds. */
  readonly atMs: number;
  readonly nowMs: number;
  readonly empty: string | undefined;
  readonly onShow: (key: string) => void;
}

const COLUMNS = [
  { name: "Lock", width: "23%" },
  { name: "Kind", width: "86px" },
  { name: "State", width: "92px" },
  { name: "Holder", width: "26%" },
  { name: "Token", width: "13%", isNumber: true },
  { name: "Time left", width: "128px" },
  { name: "Waiting", width: "70px", isNumber: true },
];

export function LockTable({ locks, chosen, atMs, nowMs, empty, onShow }: LockTableProps): JSX.Element {
  return (
    <Table caption="Locks" columns={COLUMNS} empty={empty}>
      {locks.map((lock) => {
        const key = lockKey(lock);
        const ending = nextToEnd(lock.holders);
        const isChosen = key === chosen;
        return (
          <tr key={key} class={isChosen ? "chosen" : undefined}>
            <th scope="row">
              <button
                type="button"
                class="link mono"
                title={lock.name}
                aria-pressed={isChosen}
                onClick={() => onShow(key)}
              >
                {lock.name}
              </button>
            </th>
            <td class="muted">{lock.rw ? "read-write" : "exclusive"}</td>
            <td>
              <Chip tone={stateTone(lock)}>{stateText(lock)}</Chip>
            </td>
            <td class="mono" title={lock.holders[0]?.owner}>
              {holderText(lock)}
            </td>
            <td class="number mono">{lock.holders[0]?.fencingToken ?? ""}</td>
            <td>
              {ending !== undefined && (
                <TimeLeft
                  leftMs={remainingMs(ending.expiresInMs, atMs, nowMs)}
                  wholeMs={Number(lock.ttlSeconds) * 1_000}
                />
              )}
              {lock.state === "COOLDOWN" && countdownText(remainingMs(lock.cooldownMs, atMs, nowMs))}
            </td>
            <td class="number">{waiting(lock) === 0 ? "" : countText(waiting(lock))}</td>
          </tr>
        );
      })}
    </Table>
  );
}
