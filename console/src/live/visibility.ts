/** Whether a person can see this page now. A page in the background asks members for nothing. */

import { signal } from "@preact/signals";

const visible = signal(!document.hidden);

document.addEventListener("visibilitychange", () => {
  visible.value = !document.hidden;
});

export const isVisible = visible;
