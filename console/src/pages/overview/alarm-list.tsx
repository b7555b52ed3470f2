/** Alarms of members, and members that do not answer. Nothing if all is well. */

import type { JSX } from "preact";
import type { MemberSeries } from "./member-series.ts";

export function AlarmList({ members }: { readonly members: readonly MemberSeries[] }): JSX.Element | null {
  const alarms = members.flatMap(({ member: { name, problem, status } }) => [
    ...(problem === "" ? [] : [`${name} does not answer: ${problem}`]),
    ...(status?.alarms ?? []).map((alarm) => `${name}: ${alarm}`),
  ]);
  if (alarms.length === 0) {
    return null;
  }
  return (
    <section class="alarms" aria-label="Alarms">
      <ul>
        {alarms.map((alarm) => (
          <li key={alarm}>{alarm}</li>
        ))}
      </ul>
    </section>
  );
}
