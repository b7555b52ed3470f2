/** A view of a state in memory: its rows, which its reader takes piece by piece. */

import { invariant } from "../src/primitives/index.ts";
import type { Row } from "../src/state/index.ts";
import type { StateView } from "../src/storage/index.ts";

/** `onClosed` is called once, when the view is closed. */
export function viewOf(rows: readonly Row[], onClosed: () => void): StateView {
  let next = 0;
  let isOpen = true;
  return {
    read: (maxBytes) => {
      invariant(isOpen, "a view is read before it is closed");
      const from = next;
      let bytes = 0;
      for (let row = rows[next]; row !== undefined; row = rows[++next]) {
        bytes += row.key.length + row.value.length;
        if (bytes > maxBytes && next > from) {
          break;
        }
      }
      return rows.slice(from, next);
    },
    close: () => {
      if (isOpen) {
        isOpen = false;
        onClosed();
      }
    },
  };
}
