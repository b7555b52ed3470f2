/** Alarms of members, and members that do not answer. Nothing if all is well. */

import type { JSX } from "preact";
import { Alarms } from "../../ui/index.ts";
import type { MemberSeries } from "./member-series.ts";

export function AlarmList({ members }: { readonly members: readonly MemberSeries[] }): JSX.Element {
  const alarms = members.flatMap(({ member: { name, problem, status } }) => [
    ...(problem === "" ? [] : [`${name} does not answer: ${problem}`]),
    ...(status?.alarms ?? []).map((alarm) => `${name}: ${alarm}`),
  ]);
  return <Alarms label="Alarms" items={alarms} />;
}
