/** The key of a lock among those of its namespace: exclusive and read-write locks have separate names. */
export function lockKey({ name, rw }: { readonly name: string; readonly rw: boolean }): string {
  return `${rw ? "rw" : "x"} ${name}`;
}
