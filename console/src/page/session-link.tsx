/** A session of a client, which its page shows. */

import type { JSX } from "preact";
import { formatRoute } from "../router/index.ts";

export function SessionLink({ namespace, id }: { readonly namespace: string; readonly id: string }): JSX.Element {
  return (
    <a class="mono" href={formatRoute("sessions", [namespace], { session: id })}>
      {id}
    </a>
  );
}
