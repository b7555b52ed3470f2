/** Parses comma-separated lists, as in variables and options. */

/** Splits a list; spaces around the items are ignored. Undefined without items. */
export function parseList(text: string | undefined): readonly string[] | undefined {
  const items = (text ?? "")
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
  return items.length === 0 ? undefined : items;
}
