/** Keys as folders: the part of a key up to the next slash after a prefix is a folder, as in a file system. */

const SEPARATOR = "/";

/** A folder or a key directly below a prefix. */
export type FolderEntry<Item> =
  | { readonly kind: "folder"; readonly prefix: string; readonly name: string; readonly count: number }
  | { readonly kind: "key"; readonly key: string; readonly name: string; readonly item: Item };

/** Returns the entries directly below the prefix, in the order of the items, whose keys all begin with the prefix. */
export function folderEntries<Item extends { readonly key: string }>(
  items: readonly Item[],
  prefix: string,
): FolderEntry<Item>[] {
  const entries: FolderEntry<Item>[] = [];
  for (const item of items) {
    const { key } = item;
    // A separator at the very beginning of the rest would make a folder without a name, in which the list never ends.
    const end = key.indexOf(SEPARATOR, prefix.length + 1);
    const last = entries.at(-1);
    if (end === -1 || end === key.length - 1) {
      entries.push({ kind: "key", key, name: key.slice(prefix.length), item });
    } else if (last?.kind === "folder" && key.startsWith(last.prefix)) {
      entries[entries.length - 1] = { ...last, count: last.count + 1 };
    } else {
      const folder = key.slice(0, end + 1);
      entries.push({ kind: "folder", prefix: folder, name: folder.slice(prefix.length), count: 1 });
    }
  }
  return entries;
}

/** The folders that lead to a prefix, from the outermost, each with the name of its last part. */
export function folderPath(prefix: string): { readonly prefix: string; readonly name: string }[] {
  const path: { prefix: string; name: string }[] = [];
  let start = 0;
  for (let at = prefix.indexOf(SEPARATOR, 1); at !== -1; at = prefix.indexOf(SEPARATOR, at + 1)) {
    path.push({ prefix: prefix.slice(0, at + 1), name: prefix.slice(start, at + 1) });
    start = at + 1;
  }
  if (start < prefix.length) {
    path.push({ prefix, name: prefix.slice(start) });
  }
  return path;
}
