/** The field grpc-timeout: how long the client waits for the answer. */

const TIMEOUT = /^(\d{1,8})([HMSmun])$/;
const UNIT_MS: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 0.001,
  n: 0.000_001,
};

/** Returns whole milliseconds; Infinity without the field, null if it is malformed. */
export function timeoutMsOf(field: string | undefined): number | null {
  if (field === undefined) {
    return Number.POSITIVE_INFINITY;
  }
  const match = TIMEOUT.exec(field);
  return match === null ? null : Math.floor(Number(match[1]) * (UNIT_MS[match[2] as string] as number));
}
