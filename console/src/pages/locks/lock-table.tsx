/** Locks in a table: state, holder, time left, queue. */

import type { JSX } from "preact";
import type { Lock } from "../../api/index.ts";
import { Owner } from "../../people/index.ts";
import { countdownText, countText, lockKey, remainingMs } from "../../text/index.ts";
import { Chip, Table, TimeLeft } from "../../ui/index.ts";
import { kindText, nextToEnd, permitsText, stateText, stateTone, waiting } from "./lock-text.ts";

export interface LockTableProps {
  readonly locks: readonly Lock[];
  readonly chosen: string | null;
  /** When the locks were reported, Unix time in milliseconds. */
  readonly atMs: number;
  readonly nowMs: number;
  readonly empty: string | undefined;
  readonly onShow: (key: string) => void;
}

/** Beside the panel of a lock, which shows them, there is no room for some columns. */
const COLUMNS = [
  { name: "Lock", width: 170, isEssential: true },
  { name: "Kind", width: 92, isEssential: false },
  { name: "State", width: 100, isEssential: true },
  { name: "Permits", width: 84, isEssential: false, isNumber: true },
  { name: "Holder", width: 170, isEssential: true },
  { name: "Token", width: 92, isEssential: false, isNumber: true },
  { name: "Time left", width: 132, isEssential: true },
  { name: "Waiting", width: 76, isEssential: true, isNumber: true },
];

export function LockTable({ locks, chosen, atMs, nowMs, empty, onShow }: LockTableProps): JSX.Element {
  const isNarrow = locks.some((lock) => lockKey(lock) === chosen);
  return (
    <Table caption="Locks" columns={COLUMNS.filter(({ isEssential }) => isEssential || !isNarrow)} empty={empty}>
      {locks.map((lock) => {
        const key = lockKey(lock);
        const ending = nextToEnd(lock.holders);
        const isChosen = key === chosen;
        const [first] = lock.holders;
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
            {!isNarrow && <td class="muted">{kindText(lock)}</td>}
            <td>
              <Chip tone={stateTone(lock)}>{stateText(lock)}</Chip>
            </td>
            {!isNarrow && <td class="number">{lock.permits > 0 ? permitsText(lock) : ""}</td>}
            <td title={first?.owner}>
              {first !== undefined && <Owner {...first} />}
              {lock.holderCount > 1 && ` + ${lock.holderCount - 1}`}
            </td>
            {!isNarrow && <td class="number mono">{first?.fencingToken ?? ""}</td>}
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
