/** Short announcements of what has happened, which leave by themselves. */

import { signal } from "@preact/signals";
import type { JSX } from "preact";

const SHOWN_MS = 5_000;
const announcements = signal<readonly { readonly id: number; readonly text: string }[]>([]);
let lastId = 0;

/** Shows a text for some seconds; screen readers say it. */
export function announce(text: string): void {
  const id = ++lastId;
  announcements.value = [...announcements.value, { id, text }];
  setTimeout(() => {
    announcements.value = announcements.value.filter((one) => one.id !== id);
  }, SHOWN_MS);
}

export function Toasts(): JSX.Element {
  return (
    <div class="toasts" role="status">
      {announcements.value.map(({ id, text }) => (
        <p key={id} class="toast">
          {text}
        </p>
      ))}
    </div>
  );
}
