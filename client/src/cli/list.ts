/** Lists in one text, separated by commas, as variables and options have them. */

/** Splits a list; spaces around the items do not count. Undefined when there are no items. */
export function parseList(text: string | undefined): readonly string[] | undefined {
  const items = (text ?? "")
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
  return items.length === 0 ? undefined : items;
}
