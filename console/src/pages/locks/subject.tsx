/** The user behind an owner label, if the label is another one. */

import type { JSX } from "preact";

export function Subject({ owner, subject }: { readonly owner: string; readonly subject: string }): JSX.Element | null {
  return owner === subject ? null : (
    <span class="muted subject" title={subject}>
      user <span class="mono">{subject}</span>
    </span>
  );
}
