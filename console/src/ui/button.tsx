/** Buttons. */

import type { ComponentChildren, JSX } from "preact";

export interface ButtonProps {
  readonly children: ComponentChildren;
  readonly onClick?: () => void;
  /** `primary`: the main action of a view; `danger`: destroys something; `quiet`: without a frame. */
  readonly kind?: "plain" | "primary" | "danger" | "quiet";
  readonly type?: "button" | "submit";
  readonly isDisabled?: boolean;
  /** What it does, if its content does not say that. */
  readonly label?: string;
  readonly isPressed?: boolean;
  /** Whether what it unfolds is shown; absent = it unfolds nothing. */
  readonly isExpanded?: boolean;
}

export function Button({
  children,
  onClick,
  kind = "plain",
  type = "button",
  isDisabled = false,
  label,
  isPressed,
  isExpanded,
}: ButtonProps): JSX.Element {
  return (
    <button
      class={`button button-${kind}`}
      type={type}
      disabled={isDisabled}
      onClick={onClick}
      aria-label={label}
      title={label}
      aria-pressed={isPressed}
      aria-expanded={isExpanded}
    >
      {children}
    </button>
  );
}
