/**
 * A table of data with a fixed layout, so that new rows move no column. Where its columns do not fit, it scrolls within
 * its area, and the first column, which names the row, stays in view.
 */

import type { ComponentChildren, JSX } from "preact";

export interface Column {
  readonly name: string;
  /** Numbers are aligned at their right. */
  readonly isNumber?: boolean;
  /** Its least width in pixels: that of its name and its usual content. What is left is divided in proportion. */
  readonly width: number;
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
      <table class="table" style={{ minWidth: `${columns.reduce((sum, { width }) => sum + width, 0)}px` }}>
        <caption class="hidden">{caption}</caption>
        <colgroup>
          {columns.map(({ name, width }) => (
            <col key={name} style={{ width: `${width}px` }} />
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
