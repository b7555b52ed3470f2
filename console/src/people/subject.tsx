/** Who holds a lock, waits for it, or has a session: the label that the client gave, and the user behind it. */

import type { JSX } from "preact";
import { Person } from "./person.tsx";

export interface SubjectProps {
  /** The label; the id of the user if the client gave none. */
  readonly owner: string;
  /** Id of the user. */
  readonly subject: string;
}

/** The label, or the user if the client gave none. */
export function Owner({ owner, subject }: SubjectProps): JSX.Element {
  return owner === subject ? <Person userId={subject} /> : <span class="mono">{owner}</span>;
}

/** The user behind a label. Nothing if there is no label. */
export function Subject({ owner, subject }: SubjectProps): JSX.Element | null {
  return owner === subject ? null : (
    <span class="muted subject">
      user <Person userId={subject} />
    </span>
  );
}
