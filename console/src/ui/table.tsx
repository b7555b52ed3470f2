/** A table of data with a fixed layout, so that new rows move no column. */

import type { ComponentChildren, JSX } from "preact";

export interface Column {
  readonly name: string;
  /** Numbers are aligned at their right. */
  readonly isNumber?: boolean;
  /** Share of the width, such as `30%` or `8rem`. */
  readonly width?: string;
  /** Whether only screen readers read the name. */
  readonly isNameHidden?: boolean;
}

export interface TableProps {
  /** What the table contains, for screen readers. */
  readonly caption: string;
  readonly columns: readonly Column[];
  /** Rows of the table. */
  readonly children: ComponentChildren;
  /** What to show in the place of rows; absent = there are rows. */
  readonly empty?: ComponentChildren;
}

export function Table({ caption, columns, children, empty }: TableProps): JSX.Element {
  return (
    // The area scrolls, so the keyboard must reach it.
    <section class="table-area" tabindex={0} aria-label={caption}>
      <table class="table">
        <caption class="hidden">{caption}</caption>
        <colgroup>
          {columns.map(({ name, width }) => (
            <col key={name} style={width === undefined ? undefined : { width }} />
          ))}
        </colgroup>
        <thead>
          <tr>
            {columns.map(({ name, isNumber = false, isNameHidden = false }) => (
              <th key={name} scope="col" class={isNumber ? "number" : undefined}>
                <span class={isNameHidden ? "hidden" : undefined}>{name}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {children}
          {empty !== undefined && (
            <tr class="empty">
              <td colSpan={columns.length}>{empty}</td>
            </tr>
          )}
        </tbody>
      </table>
    </section>
  );
}
