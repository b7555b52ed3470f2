/** The ports and paths of one member of a local cluster. */

import { join } from "node:path";
import { type MemberPorts, portsOf } from "./ports.ts";

export interface MemberLayout {
  readonly name: string;
  readonly ports: MemberPorts;
  readonly dataDirectory: string;
  readonly logFile: string;
  /** Contains the process id of a separately restarted member, while it runs. */
  readonly pidFile: string;
}

const NAME = /^q-(0|[1-9][0-9]*)$/;

/** The layouts of that many members, the first of which takes the base port. */
export function layoutsOf(directory: string, basePort: number, members: number): readonly MemberLayout[] {
  return Array.from({ length: members }, (_, at) => {
    const name = `q-${at}`;
    return {
      name,
      ports: portsOf(basePort, at),
      dataDirectory: join(directory, name),
      logFile: join(directory, `${name}.log`),
      pidFile: join(directory, `${name}.pid`),
    };
  });
}

/** The number of the member that the launcher gives this name, from 0; null if it gives no member such a name. */
export function numberOf(name: string): number | null {
  const digits = NAME.exec(name)?.[1];
  return digits === undefined ? null : Number(digits);
}
