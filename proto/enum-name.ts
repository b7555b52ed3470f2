/** Names of enum values, for people and for JSON. */

/**
 * Returns the name of an enum value as in the protobuf definition, such as `WRITE_HELD`. If this version of the
 * contract does not know the value, it returns the number in decimal.
 *
 * @param enumeration the generated object of the enum, such as `LockState`.
 */
export function enumName(enumeration: Readonly<Record<string, number>>, value: number): string {
  for (const [name, number] of Object.entries(enumeration)) {
    if (number === value && name !== "UNRECOGNIZED") {
      return name;
    }
  }
  return String(value);
}
